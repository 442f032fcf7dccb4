"""Which candidates of a mention should stand first. Imports torch: import it in functions."""

from typing import NamedTuple

import torch


class Rankings(NamedTuple):
    """M mentions of a batch of B texts, each with k candidates to be ranked; as `RankedRows`.

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
