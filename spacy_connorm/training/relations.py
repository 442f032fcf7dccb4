"""Relations and rankings among the texts of a batch. Imports torch: import it in functions."""

from collections import defaultdict
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import torch


class Relations(NamedTuple):
    """Which of the B texts of a batch share a concept. A text of several concepts is a positive of
    the texts of each of them. No text is related to itself.

    positives (torch.Tensor): bool (B, B): i and j share a concept, i != j.
    negatives (torch.Tensor): bool (B, B): i and j share no concept, i != j.
    """

    positives: torch.Tensor
    negatives: torch.Tensor


def relate(concepts: Sequence[tuple[int, ...]], device: torch.device | str) -> Relations:
    """Compare the concepts of all pairs of texts, in O(B^2) memory.

    concepts (Sequence[Tuple[int, ...]]): The concept numbers of each of the B texts.
    device (Union[torch.device, str]): Where to put the relations.
    RETURNS (Relations): The relations; they are symmetric.
    """
    members: dict[int, list[int]] = defaultdict(list)
    for row, own in enumerate(concepts):
        for concept in own:
            members[concept].append(row)
    shared = np.eye(len(concepts), dtype=bool)
    for rows in members.values():
        if len(rows) > 1:
            group = np.asarray(rows)
            shared[group[:, None], group] = True
    negatives = ~shared
    np.fill_diagonal(shared, False)
    return Relations(*(torch.from_numpy(each).to(device) for each in (shared, negatives)))


class Rankings(NamedTuple):
    """M mentions of a batch of B texts, each with k candidates to rank: `RankedRows` as tensors.

    mentions (torch.Tensor): int64 (M,), rows of the batch.
    candidates (torch.Tensor): int64 (M, k), rows of the batch.
    relevance (torch.Tensor): int64 (M, k), see `Relevance`.
    lexical (torch.Tensor): float32 (M, k), cosines of n-gram vectors.
    hypernyms (torch.Tensor): int64 (M, h), rows of the batch, -1 where a mention has fewer.
    """

    mentions: torch.Tensor
    candidates: torch.Tensor
    relevance: torch.Tensor
    lexical: torch.Tensor
    hypernyms: torch.Tensor


class Groundings(NamedTuple):
    """T triplets of a batch of B texts, and P concepts with some of their names and the points that
    these are grounded in: `GroundedRows` as tensors.

    anchors (torch.Tensor): int64 (T,), rows of the batch.
    positives (torch.Tensor): int64 (T,), rows of the batch.
    negatives (torch.Tensor): int64 (T,), rows of the batch.
    prototypes (torch.Tensor): float32 (P, width), of the concepts.
    members (torch.Tensor): int64 (M,), rows of the batch.
    owners (torch.Tensor): int64 (M,), the concept of each of these, from 0 to P.
    """

    anchors: torch.Tensor
    positives: torch.Tensor
    negatives: torch.Tensor
    prototypes: torch.Tensor
    members: torch.Tensor
    owners: torch.Tensor
