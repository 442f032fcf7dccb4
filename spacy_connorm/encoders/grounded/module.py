"""A grounded deep averaging network as a torch module. Imports torch, so import this module only
inside functions.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch.nn import functional

from ..protocol import Encoder, encode
from ..raw import unit_rows
from .network import MATRIX, OFFSET, GroundedDan, fit_cca

# Units are dropped with one of so many shares: 16 random bits each.
_SHARES = 2**16
# The integers of which 64 bits are drawn, and those as long as a unit.
_LOWEST = -(2**63)
_INTEGERS = {torch.bfloat16: torch.int16, torch.float16: torch.int16, torch.float32: torch.int32}


class GroundedDanModule(torch.nn.Module):
    """Computes the vectors of `GroundedDanEncoder`, with gradients; see `TrainableModule`. Input
    vectors are computed once; a row is the number of an input vector.
    """

    def __init__(self, dan: GroundedDan, part: Encoder, *, dropout: float) -> None:
        """Copy the weights of the trained part.

        dan (GroundedDan): The trained part.
        part (Model[List[str], Floats2d]): The encoder of the input vectors.
        dropout (float): The share of hidden units dropped in training.
        """
        super().__init__()
        self._dan, self._part = dan, part
        self._inputs = torch.zeros(0, dan.width)
        self._new: list[torch.Tensor] = []
        self._count = 0
        weights = {name: torch.tensor(array) for name, array in dan.weights.items()}
        self.cca = _Projection(dan.width) if dan.cca else None
        self.hidden = torch.nn.Linear(dan.width, dan.hidden) if dan.hidden else None
        self.output = torch.nn.Linear(dan.hidden, dan.width) if dan.hidden else None
        self.dropout = _DroppedRelu(dropout)
        self.load_state_dict(weights)
        self.prototypes = torch.zeros(0, dan.width)

    def rows(self, texts: list[str]) -> list[list[int]]:
        """Number the input vectors of texts.

        RETURNS (List[List[int]]): One number per text.
        """
        first = self._count
        self._new.append(torch.from_numpy(unit_rows(encode(self._part, texts))))
        self._count += len(texts)
        return [[number] for number in range(first, self._count)]

    def collate(self, rows: list[list[int]]) -> dict[str, torch.Tensor]:
        """Convert the numbers of input vectors.

        RETURNS (Dict[str, torch.Tensor]): `numbers`, shape (texts,), int64.
        """
        return {"numbers": torch.from_numpy(np.asarray(rows, dtype="int64").reshape(-1))}

    def forward(self, numbers: torch.Tensor) -> torch.Tensor:
        """Transform input vectors.

        numbers (torch.Tensor): Shape (texts,), int64.
        RETURNS (torch.Tensor): Shape (texts, width), float32 or, under autocast, half precision.
        """
        inputs = self._input_vectors(numbers.device)[numbers]
        vectors = inputs if self.cca is None else self.cca(inputs)
        if self.hidden is not None and self.output is not None:
            units = self.dropout(self.hidden(vectors))
            sums = functional.linear(units, self.output.weight)
            vectors = sums * self.dropout.scale + self.output.bias
        return vectors * inputs.any(dim=1, keepdim=True)

    def _input_vectors(self, device: torch.device) -> torch.Tensor:
        """Get all input vectors at unit length. They stay on the device, so that a batch is only
        numbers. They are not a buffer, which processes would exchange.
        """
        if self._new or self._inputs.device != device:
            self._inputs = torch.cat([self._inputs, *self._new]).to(device)
            self._new = []
        return self._inputs

    def fit(self, texts: Sequence[str], members: Sequence[np.ndarray]) -> None:
        """Fit CCA to names and their concepts, and compute the prototypes that names are grounded
        in (Fivez et al. 2021, equation 2 and section 3.2): the mean of each concept's names.

        texts (Sequence[str]): The names to train on.
        members (Sequence[Ints1d]): For each concept, the positions of its names.
        """
        inputs = unit_rows(encode(self._part, list(texts)))
        groups = [np.unique(rows) for rows in members]
        if self.cca is not None:
            rows = np.concatenate([np.empty(0, "int64"), *groups])
            concepts = np.repeat(unit_rows(_means(inputs, groups)), list(map(len, groups)), axis=0)
            known = inputs[rows].any(axis=1)
            fitted = fit_cca(inputs[rows][known], concepts[known])
            self.cca.offset.copy_(torch.from_numpy(fitted.offset))
            self.cca.matrix.copy_(torch.from_numpy(fitted.matrix))
            inputs = np.where(inputs.any(axis=1, keepdims=True), fitted(inputs), 0)
        self.prototypes = torch.from_numpy(_means(inputs, groups))

    def save(self, folder: Path) -> None:
        """Save the trained part for `GroundedDanEncoder(name=folder)`.

        folder (Path): The folder.
        """
        weights = {
            name: weights.detach().cpu().numpy() for name, weights in self.state_dict().items()
        }
        GroundedDan(weights, self._dan.width, self._dan.input_fingerprint).save(Path(folder))


class _DroppedRelu(torch.nn.Module):
    """Computes ReLU(x) and drops units in training; what remains is to be multiplied by `scale`. On
    a CPU, torch draws a number for each unit, which takes most of a training step; here one draw
    serves four units.
    """

    def __init__(self, share: float) -> None:
        super().__init__()
        self._share = share
        self._kept = min(max(round((1 - share) * _SHARES), 1), _SHARES - 1)

    @property
    def _drops(self) -> bool:
        return self.training and self._share > 0

    @property
    def scale(self) -> float:
        """What makes up for the dropped units.

        RETURNS (float): 1 outside of training.
        """
        return _SHARES / self._kept if self._drops else 1.0

    def forward(self, sums: torch.Tensor) -> torch.Tensor:
        if not self._drops:
            return torch.relu(sums)
        if sums.device.type == "cpu":
            return _KeptUnits.apply(sums, self._kept)
        return functional.dropout(torch.relu(sums), self._share) / self.scale


class _KeptUnits(torch.autograd.Function):
    """Keeps `kept` of `_SHARES` positive units, drawn at random."""

    @staticmethod
    def forward(ctx: Any, sums: torch.Tensor, kept: int) -> torch.Tensor:
        drawn = torch.empty(-(-sums.numel() // 4), dtype=torch.int64).random_(_LOWEST, None)
        levels = drawn.view(torch.int16)[: sums.numel()].view(sums.shape)
        bound = kept - _SHARES // 2
        # All bits below the bound, else none.
        mask = levels.clamp_(bound - 1, bound).sub_(bound)
        units = torch.relu(sums)
        integers = _INTEGERS[units.dtype]
        units.view(integers).bitwise_and_(mask.to(integers))
        ctx.save_for_backward(units)
        return units

    @staticmethod
    def backward(ctx: Any, gradients: torch.Tensor) -> tuple[torch.Tensor, None]:
        (units,) = ctx.saved_tensors
        return torch.ops.aten.threshold_backward(gradients, units, 0.0), None


class _Projection(torch.nn.Module):
    """Maps x to (x - offset) @ matrix; not trained by gradients."""

    offset: torch.Tensor
    matrix: torch.Tensor

    def __init__(self, width: int) -> None:
        super().__init__()
        for name, shape in ((OFFSET, (width,)), (MATRIX, (width, width))):
            self.register_buffer(name.rpartition(".")[2], torch.zeros(shape))

    def forward(self, vectors: torch.Tensor) -> torch.Tensor:
        return (vectors - self.offset) @ self.matrix


def _means(vectors: np.ndarray, groups: Sequence[np.ndarray]) -> np.ndarray:
    """Compute the mean vector of each group of rows, float32; 0 for an empty group."""
    means = np.zeros((len(groups), vectors.shape[1]), dtype="float32")
    for vector, rows in zip(means, groups, strict=True):
        if len(rows):
            vector[:] = vectors[rows].mean(axis=0)
    return means
