"""Batches as tensors, cut into micro-batches of texts of similar length. Imports torch: import it
in functions.
"""

from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any, cast

import numpy as np
import torch
from torch.utils.checkpoint import checkpoint
from torch.utils.data import Dataset

from ..encoders.padding import batches_by_length
from ..encoders.protocol import GroundedModule, TrainableModule
from .batchers import Batcher, Vectors
from .batches import BatchRows, GroundedRows, RankedRows, read_batches, rows_of, write_batches
from .pool import SynonymPool
from .relations import Groundings, Rankings, Relations, relate

_READ_AT_ONCE = 10_000


class TokenTable:
    """The tokens of all texts in one array: a tenth of the memory of lists."""

    def __init__(self, module: TrainableModule, texts: Sequence[str]) -> None:
        """module (TrainableModule): Tokenizes the texts.
        texts (Sequence[str]): n texts.
        """
        values: list[np.ndarray] = []
        lengths: list[int] = []
        for start in range(0, len(texts), _READ_AT_ONCE):
            rows = module.rows(list(texts[start : start + _READ_AT_ONCE]))
            lengths.extend(map(len, rows))
            values.append(np.fromiter((each for row in rows for each in row), dtype="int32"))
        self._values = np.concatenate(values) if values else np.zeros(0, dtype="int32")
        self._ends = np.cumsum(lengths, dtype="int64")
        self.lengths = np.asarray(lengths, dtype="int64")

    def __getitem__(self, row: int) -> list[int]:
        end = self._ends[row]
        return self._values[end - self.lengths[row] : end].tolist()


# A batch of B texts: under "micro_batches" the arguments of the encoder module's `forward`, under
# "places" int64 (B,), the position in the batch of each vector of the micro-batches, and the fields
# of one of `AnyRelations`. These are not nested: the trainer moves the tensors of dicts and lists
# to its device, but not those of named tuples.
Batch = dict[str, Any]
AnyRelations = Relations | Rankings | Groundings


def relations_in(batch: Batch) -> AnyRelations:
    """RETURNS (Union[Relations, Rankings, Groundings]): What is known of the texts of a batch."""
    kinds = (Rankings, Groundings, Relations)
    kind = next(each for each in kinds if batch.keys() >= set(each._fields))
    return kind(*(batch[field] for field in kind._fields))


class EpochBatches(Dataset):
    """The batches of one epoch; item i is the i-th batch. They are kept in a file, so that a run
    that is resumed within an epoch continues with the same batches.
    """

    def __init__(
        self,
        pool: SynonymPool,
        batcher: Batcher,
        module: TrainableModule,
        *,
        micro_batch_tokens: int,
        seed: int,
        folder: Path,
    ) -> None:
        """pool (SynonymPool): Texts and concepts.
        batcher (Batcher): Draws rows of the pool.
        module (TrainableModule): Tokenizes the texts.
        micro_batch_tokens (int): Tokens of a micro-batch, padding included.
        seed (int): Of the random draws.
        folder (Path): For the files of the epochs' batches.
        """
        self._pool = pool
        self._batcher = batcher
        self._module = module
        self._tokens = TokenTable(module, pool.texts)
        self._micro_batch_tokens = micro_batch_tokens
        self._seed = seed
        self._folder = folder
        self._digest = pool.digest()
        self._batches: list[BatchRows] = []

    def remove_old(self) -> None:
        """Remove the batches of an earlier run."""
        for path in self._folder.glob("epoch-*.npz"):
            path.unlink()

    def begin_epoch(self, epoch: int, vectors: Vectors) -> None:
        """Draw the batches of an epoch, or read those drawn before an interruption.

        epoch (int): Its number, from 0.
        vectors (Callable): As for `Batcher.batches`.
        RAISES (ConnormError): CN828 if those were drawn from another pool.
        """
        path = self._folder / f"epoch-{epoch}.npz"
        if not path.is_file():
            batches = self._batcher.batches(
                self._pool, seed=self._seed, epoch=epoch, vectors=vectors
            )
            write_batches(path, batches, pool=self._digest)
        self._batches = read_batches(path, pool=self._digest)

    def __len__(self) -> int:
        return len(self._batches)

    def micro_batches(self, rows: np.ndarray) -> Iterator[tuple[np.ndarray, dict[str, Any]]]:
        """Cut rows of the pool into micro-batches.

        rows (Ints1d): Rows of the pool.
        YIELDS (Tuple[Ints1d, Dict[str, torch.Tensor]]): Positions in `rows`, and the arguments of
            the module's `forward` for their texts.
        """
        for part in batches_by_length(self._tokens.lengths[rows], self._micro_batch_tokens):
            yield part, self._module.collate([self._tokens[row] for row in rows[part]])

    def __getitem__(self, item: int) -> Batch:
        rows = rows_of(self._batches[item])
        places, micro_batches = zip(*self.micro_batches(rows), strict=True)
        return Batch(
            micro_batches=list(micro_batches),
            places=torch.from_numpy(np.concatenate(places)),
            **self._relations(self._batches[item])._asdict(),
        )

    def _relations(self, batch: BatchRows) -> AnyRelations:
        if isinstance(batch, RankedRows):
            return Rankings(*map(torch.from_numpy, batch[1:]))
        if isinstance(batch, GroundedRows):
            tensors = {name: torch.from_numpy(each) for name, each in batch._asdict().items()}
            prototypes = cast(GroundedModule, self._module).prototypes[tensors["concepts"]]
            return Groundings(
                **{name: tensors.get(name, prototypes) for name in Groundings._fields}
            )
        concepts = [self._pool.concepts[row] for row in batch]
        return relate(concepts, "cpu")


class BatchEncoder(torch.nn.Module):
    """Encodes a batch one micro-batch at a time."""

    def __init__(self, module: Any, *, cache_gradients: bool) -> None:
        """module (TrainableModule): Encodes a micro-batch.
        cache_gradients (bool): Whether to keep the activations of only one micro-batch in memory.
            They are computed again in the backward pass, which costs a third of the speed;
            gradients are the same.
        """
        super().__init__()
        self.module: Any = module
        self._cache_gradients = cache_gradients

    def _encode(self, inputs: dict[str, torch.Tensor]) -> torch.Tensor:
        if self._cache_gradients:
            return checkpoint(partial(self.module, **inputs), use_reentrant=False)
        return self.module(**inputs)

    def forward(
        self, micro_batches: list[dict[str, torch.Tensor]], places: torch.Tensor
    ) -> torch.Tensor:
        """RETURNS (torch.Tensor): float32 (B, width), in the order of the batch."""
        vectors = torch.cat([self._encode(inputs).float() for inputs in micro_batches])
        return vectors.new_empty(vectors.shape).index_copy(0, places, vectors)
