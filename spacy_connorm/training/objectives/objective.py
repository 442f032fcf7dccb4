"""The base class of objectives. Imports torch."""

from abc import ABC, abstractmethod
from typing import Any, ClassVar

import torch

from ...index.search import COSINE, Metric
from ..batches import Memberships


class Objective(torch.nn.Module, ABC):
    """The loss of a batch. Its parameters are trained together with the encoder.

    relations (Type): The kind of relations that it reads, one of `batches.RelationKind`; the
        batcher must draw the same kind.
    metric (str): How an index must compare vectors to rank like the objective.
    learning_rate (float): The learning rate of its own parameters.
    """

    relations: ClassVar[type] = Memberships
    metric: Metric = COSINE
    learning_rate: float = 0.0

    def __init__(self) -> None:
        """Create an objective without parameters. Configs are checked by this signature."""
        super().__init__()

    def prepare(self, module: Any) -> None:
        """Get what it needs from the encoder, before training begins.

        module (TrainableModule): The encoder's module.
        """

    def learned(self) -> dict[str, float]:
        """Get the learned values, which are logged and saved with the encoder.

        RETURNS (Dict[str, float]): Values by name.
        """
        return {}

    def forward(self, vectors: torch.Tensor, relations: Any) -> torch.Tensor:
        """Compute the loss, in float32 even under autocast.

        vectors (torch.Tensor): (B, width), raw, of any floating type.
        relations (RelationKind): The relations between the B texts.
        RETURNS (torch.Tensor): A float32 scalar.
        """
        with torch.autocast(vectors.device.type, enabled=False):
            return self.loss(vectors.float(), relations)

    @abstractmethod
    def loss(self, vectors: torch.Tensor, relations: Any) -> torch.Tensor:
        """Compute the loss.

        vectors (torch.Tensor): float32 (B, width), raw.
        relations (RelationKind): The relations between the B texts.
        RETURNS (torch.Tensor): A float32 scalar.
        """


def mean_of(losses: torch.Tensor, vectors: torch.Tensor) -> torch.Tensor:
    """Compute the mean of losses.

    losses (torch.Tensor): (n,).
    vectors (torch.Tensor): The vectors, or their cosines, that they were computed from.
    RETURNS (torch.Tensor): The mean; `zero_loss` if there are no losses.
    """
    return losses.mean() if len(losses) else zero_loss(vectors)


def zero_loss(vectors: torch.Tensor) -> torch.Tensor:
    """Compute a loss of 0.

    RETURNS (torch.Tensor): 0, with gradients of 0 for all vectors.
    """
    return vectors.sum() * 0


def to_unit_length(vectors: torch.Tensor) -> torch.Tensor:
    """Scale vectors to length 1.

    vectors (torch.Tensor): float32 (B, d).
    RETURNS (torch.Tensor): The scaled vectors; zero vectors do not change, and have gradients of 0.
    """
    # Divided first, since the square of a small number underflows, and that of a large one
    # overflows.
    largest = vectors.detach().abs().amax(dim=1, keepdim=True)
    some = largest > 0
    scaled = vectors / torch.where(some, largest, 1)
    squared = scaled.square().sum(dim=1, keepdim=True)
    return scaled * torch.where(some, torch.where(some, squared, 1).rsqrt(), 0)
