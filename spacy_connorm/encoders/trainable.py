"""Encoders that can be trained, and the torch modules to train."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

import numpy as np

from ..errors import ConnormError, Errors
from .protocol import Encoder, loaded_shim, shim_of

if TYPE_CHECKING:
    import torch


class TrainableModule(Protocol):
    """A `torch.nn.Module` that computes an encoder's vectors with gradients. Train it, `save` it,
    and use the folder as the encoder's `name`.
    """

    def rows(self, texts: list[str]) -> list[list[int]]:
        """Tokenize texts.

        RETURNS (List[List[int]]): What the module reads of each text, e.g. token ids.
        """

    def collate(self, rows: list[list[int]]) -> "dict[str, torch.Tensor]":
        """Convert rows to the arguments of `forward`.

        RETURNS (Dict[str, torch.Tensor]): The arguments by name.
        """

    def forward(self, **inputs: "torch.Tensor") -> "torch.Tensor":
        """Compute vectors.

        RETURNS (torch.Tensor): Shape (rows, width), float32.
        """

    def save(self, folder: Path) -> None:
        """Save the module for the encoder's architecture.

        folder (Path): An empty folder.
        """


@runtime_checkable
class GroundedModule(TrainableModule, Protocol):
    """A module with a part that is fitted to names and concepts before the rest is trained by
    gradients.

    prototypes (torch.Tensor): float32 (concepts, width): what the vectors of a concept's names are
        grounded in, after fitting.
    """

    prototypes: "torch.Tensor"

    def fit(self, texts: Sequence[str], members: Sequence[np.ndarray]) -> None:
        """Fit the module to names and concepts.

        texts (Sequence[str]): The names to train on.
        members (Sequence[Ints1d]): For each concept, the positions of its names.
        """


def require_trainable(model: Encoder) -> None:
    """Refuse an encoder that can't be trained. It need not be initialized.

    model (Model[List[str], Floats2d]): The encoder.
    RAISES (ConnormError): CN300 for a model that is not an encoder, CN311 for one that can't be
        trained.
    """
    if not hasattr(shim_of(model), "trainable"):
        raise ConnormError(Errors.CN311.format(name=model.name))


def trainable(model: Encoder) -> TrainableModule:
    """Get the torch module to train.

    model (Model[List[str], Floats2d]): The encoder. Do not use it after training: the module may
        share its weights.
    RETURNS (TrainableModule): The module.
    RAISES (ConnormError): CN300 for a model that is not an encoder, CN301 for one not initialized,
        CN311 for one that can't be trained.
    """
    require_trainable(model)
    shim: Any = loaded_shim(model)
    return shim.trainable()
