"""A grounded deep averaging network as a torch module. Imports torch, so import this module only
inside functions.
"""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch
from torch.nn import functional

from ..protocol import Encoder, encode
from ..raw import unit_rows
from .network import GroundedDan, fit_cca


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
        self._dropout = dropout
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
            units = torch.relu(self.hidden(vectors))
            vectors = self.output(functional.dropout(units, self._dropout, self.training))
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
            offset, matrix = fit_cca(inputs[rows][known], concepts[known])
            self.cca.offset.copy_(torch.from_numpy(offset))
            self.cca.matrix.copy_(torch.from_numpy(matrix))
            projected = (inputs - offset) @ matrix
            inputs = np.where(inputs.any(axis=1, keepdims=True), projected, 0)
        self.prototypes = torch.from_numpy(_means(inputs, groups))

    def save(self, folder: Path) -> None:
        """Save the trained part for `GroundedDanEncoder(name=folder)`.

        folder (Path): The folder.
        """
        weights = {name: tensor.numpy(force=True) for name, tensor in self.state_dict().items()}
        GroundedDan(weights, self._dan.width, self._dan.input_fingerprint).save(Path(folder))


class _Projection(torch.nn.Module):
    """Maps x to (x - offset) @ matrix; not trained by gradients."""

    offset: torch.Tensor
    matrix: torch.Tensor

    def __init__(self, width: int) -> None:
        super().__init__()
        self.register_buffer("offset", torch.zeros(width))
        self.register_buffer("matrix", torch.zeros(width, width))

    def forward(self, vectors: torch.Tensor) -> torch.Tensor:
        return (vectors - self.offset) @ self.matrix


def _means(vectors: np.ndarray, groups: Sequence[np.ndarray]) -> np.ndarray:
    """Compute the mean vector of each group of rows, float32; 0 for an empty group."""
    means = np.zeros((len(groups), vectors.shape[1]), dtype="float32")
    for vector, rows in zip(means, groups, strict=True):
        if len(rows):
            vector[:] = vectors[rows].mean(axis=0)
    return means
