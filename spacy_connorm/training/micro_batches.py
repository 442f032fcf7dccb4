"""Batches as tensors, split into micro-batches of texts of similar length. Imports torch, so import
this module only inside functions.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any, TypedDict

import numpy as np
import torch
from torch.utils.checkpoint import checkpoint
from torch.utils.data import Dataset

from ..encoders.protocol import TrainableModule
from ..encoders.tokens import batches_by_length
from ..files.arrays import list_ranges
from .batchers import Batcher, Ranking
from .batches import Batch, RelationKind, read_batches, write_batches
from .objectives.objective import Objective
from .pool import SynonymPool

_READ_AT_ONCE = 10_000


class TokenTable:
    """The tokens of all texts in one array, which takes a tenth of the memory of lists."""

    def __init__(self, module: TrainableModule, texts: Sequence[str]) -> None:
        """Tokenize the texts.

        module (TrainableModule): Tokenizes the texts.
        texts (Sequence[str]): n texts.
        """
        values: list[np.ndarray] = []
        lengths: list[int] = []
        for start in range(0, len(texts), _READ_AT_ONCE):
            rows = module.rows(list(texts[start : start + _READ_AT_ONCE]))
            lengths.extend(map(len, rows))
            values.append(np.fromiter((token for row in rows for token in row), dtype="int32"))
        self._values = np.concatenate(values) if values else np.zeros(0, dtype="int32")
        self._ends = np.cumsum(lengths, dtype="int64")
        self.lengths = np.asarray(lengths, dtype="int64")

    def rows(self, rows: np.ndarray) -> list[list[int]]:
        """Get the tokens of texts.

        rows (Ints1d): int64 (n,), the numbers of the texts.
        RETURNS (List[List[int]]): The tokens of each of these texts.
        """
        lengths = self.lengths[rows]
        _, places = list_ranges(self._ends[rows] - lengths, self._ends[rows])
        # One list, cut into pieces: a list for each slice of the array takes five times as long.
        tokens = self._values[places].tolist()
        return [tokens[start:end] for start, end in pairwise([0, *np.cumsum(lengths).tolist()])]


class BatchTensors(TypedDict):
    """The arguments of `BatchLoss` for a batch of B texts.

    micro_batches (List[Dict[str, torch.Tensor]]): Arguments of the encoder module's `forward`.
    places (torch.Tensor): int64 (B,), the position in the batch of each of their vectors.
    relations (RelationKind): The relations in the batch.
    """

    micro_batches: list[dict[str, torch.Tensor]]
    places: torch.Tensor
    relations: RelationKind


@dataclass(eq=False)
class EpochBatches(Dataset):
    """The batches of one epoch; item i is the i-th batch. They are kept in a file, so that a run
    resumed within an epoch continues with the same batches.

    pool (SynonymPool): Texts and concepts.
    batcher (Batcher): Draws rows of the pool.
    module (TrainableModule): Tokenizes the texts.
    micro_batch_tokens (int): Tokens in a micro-batch, including padding.
    seed (int): The seed of the random draws.
    folder (Path): The folder for the files of batches.
    """

    pool: SynonymPool
    batcher: Batcher
    module: TrainableModule
    micro_batch_tokens: int
    seed: int
    folder: Path

    def __post_init__(self) -> None:
        self._tokens = TokenTable(self.module, self.pool.texts)
        self._digest = self.pool.digest()
        self._batches: list[Batch] = []

    def remove_old(self) -> None:
        """Remove the batches of an earlier run."""
        for path in self.folder.glob("epoch-*.npz"):
            path.unlink()

    def begin_epoch(self, epoch: int, ranking: Ranking) -> None:
        """Draw the batches of an epoch, or read those drawn before an interruption.

        epoch (int): The number of the epoch, from 0.
        ranking (Ranking): As for `Batcher.batches`.
        RAISES (ConnormError): CN828 if those were drawn from another pool.
        """
        path = self.folder / f"epoch-{epoch}.npz"
        if not path.is_file():
            batches = self.batcher.batches(self.pool, seed=self.seed, epoch=epoch, ranking=ranking)
            write_batches(path, batches, pool=self._digest)
        self._batches = read_batches(path, self.batcher.relations, pool=self._digest)

    def __len__(self) -> int:
        return len(self._batches)

    def micro_batches(self, rows: np.ndarray) -> Iterator[tuple[np.ndarray, dict[str, Any]]]:
        """Split rows of the pool into micro-batches.

        rows (Ints1d): Rows of the pool.
        YIELDS (Tuple[Ints1d, Dict[str, torch.Tensor]]): Positions in `rows`, and the arguments of
            the module's `forward` for their texts.
        """
        for part in batches_by_length(self._tokens.lengths[rows], self.micro_batch_tokens):
            yield part, self.module.collate(self._tokens.rows(rows[part]))

    def __getitem__(self, item: int) -> BatchTensors:
        rows, relations = self._batches[item]
        places, micro_batches = zip(*self.micro_batches(rows), strict=True)
        return BatchTensors(
            micro_batches=list(micro_batches),
            places=torch.from_numpy(np.concatenate(places)),
            relations=type(relations)(*map(torch.from_numpy, relations)),
        )


class BatchEncoder(torch.nn.Module):
    """Encodes a batch one micro-batch at a time."""

    def __init__(self, module: Any, *, cache_gradients: bool) -> None:
        """Store the module.

        module (TrainableModule): The module that encodes a micro-batch.
        cache_gradients (bool): Whether to keep the activations of only one micro-batch in memory.
            They are computed again in the backward pass, which costs a third of the speed;
            gradients are the same.
        """
        super().__init__()
        self.module: Any = module
        self._cache_gradients = cache_gradients

    def forward(
        self, micro_batches: list[dict[str, torch.Tensor]], places: torch.Tensor
    ) -> torch.Tensor:
        """Encode a batch.

        RETURNS (torch.Tensor): float32 (B, width), in the order of the batch.
        """
        encode = self.module
        if self._cache_gradients:
            encode = partial(checkpoint, self.module, use_reentrant=False)
        vectors = torch.cat([encode(**inputs).float() for inputs in micro_batches])
        return vectors.new_empty(vectors.shape).index_copy(0, places, vectors)


class BatchLoss(torch.nn.Module):
    """The module that is trained: it encodes a batch and computes its loss. Parameters of the
    objective are trained, saved and shared between processes like those of the encoder.
    """

    def __init__(self, encoder: BatchEncoder, objective: Objective) -> None:
        """Combine an encoder and an objective.

        encoder (BatchEncoder): Encodes a batch.
        objective (Objective): Computes the loss from the vectors.
        """
        super().__init__()
        self.encoder = encoder
        self.objective = objective

    def forward(
        self,
        micro_batches: list[dict[str, torch.Tensor]],
        places: torch.Tensor,
        relations: RelationKind,
    ) -> torch.Tensor:
        """Compute the loss of a batch.

        RETURNS (torch.Tensor): The loss.
        """
        return self.objective(self.encoder(micro_batches, places), relations)

    def separate_parameters(self, optimizer: torch.optim.Optimizer) -> None:
        """Set a separate learning rate for the objective's parameters, without weight decay.

        optimizer (torch.optim.Optimizer): Changed in place.
        """
        parameters = list(self.objective.parameters())
        if not parameters:
            return
        own = set(map(id, parameters))
        for group in optimizer.param_groups:
            group["params"] = [weights for weights in group["params"] if id(weights) not in own]
        rate = self.objective.learning_rate
        optimizer.add_param_group({"params": parameters, "lr": rate, "weight_decay": 0.0})
