"""The module that the trainer trains: an encoder with its objective. Imports torch: import it in
functions."""

from collections.abc import Callable
from typing import Any, Protocol, cast

import numpy as np
import torch

from .micro_batches import AnyRelations, BatchEncoder

# Raw vectors of a batch, float32 (B, width), and its relations, to a scalar.
Objective = Callable[[torch.Tensor, Any], torch.Tensor]


class LearningObjective(Protocol):
    """An objective that is a `torch.nn.Module` with parameters of its own.

    learning_rate (float): Of these parameters.
    """

    learning_rate: float

    def learned(self) -> dict[str, float]:
        """RETURNS (Dict[str, float]): The learned values by name; they are logged and saved with
        the encoder.
        """


class BatchLoss(torch.nn.Module):
    """Encodes a batch and computes its loss. Parameters of the objective are trained, saved and
    shared between processes like those of the encoder.
    """

    def __init__(self, encoder: BatchEncoder, objective: Objective) -> None:
        """encoder (BatchEncoder): Encodes a batch.
        objective (Objective): Computes the loss from the vectors.
        """
        super().__init__()
        self.encoder = encoder
        self.objective = objective

    def forward(
        self,
        micro_batches: list[dict[str, torch.Tensor]],
        places: torch.Tensor,
        relations: AnyRelations,
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """RETURNS (Tuple[torch.Tensor, torch.Tensor]): The loss, and the vectors."""
        vectors = self.encoder(micro_batches, places)
        with torch.autocast(vectors.device.type, enabled=False):
            return self.objective(vectors.float(), relations), vectors

    def own_parameters(self) -> list[torch.nn.Parameter]:
        """RETURNS (List[torch.nn.Parameter]): The objective's parameters."""
        objective = self.objective
        return list(objective.parameters()) if isinstance(objective, torch.nn.Module) else []

    def learned(self) -> dict[str, float]:
        """RETURNS (Dict[str, float]): The values that the objective has learned, by name."""
        if not self.own_parameters():
            return {}
        return cast(LearningObjective, self.objective).learned()

    def separate_parameters(self, optimizer: torch.optim.Optimizer) -> None:
        """Give the objective's parameters their own learning rate, without weight decay.

        optimizer (torch.optim.Optimizer): Changed in place.
        """
        own = self.own_parameters()
        if not own:
            return
        for group in optimizer.param_groups:
            group["params"] = [p for p in group["params"] if not any(p is each for each in own)]
        rate = cast(LearningObjective, self.objective).learning_rate
        optimizer.add_param_group({"params": own, "lr": rate, "weight_decay": 0.0})


class Ranker:
    """The `Ranking` that a batcher gets: the current encoder and objective."""

    def __init__(self, encode: Callable[[np.ndarray], np.ndarray], objective: Any) -> None:
        """encode (Callable): Rows of the pool to raw vectors, as `Vectors`.
        objective (Objective): Its weights are read only if the batcher ranks.
        """
        self._encode = encode
        self._objective = objective

    def __call__(self, rows: np.ndarray) -> np.ndarray:
        """RETURNS (Floats2d): float32 (n, width), raw."""
        return self._encode(rows)

    @property
    def normalized(self) -> bool:
        """RETURNS (bool): Whether vectors are compared at unit length."""
        return self._objective.normalized

    @property
    def lexical_weight(self) -> float:
        """RETURNS (float): The weight of the n-grams' cosine."""
        return self._objective.learned()["lexical_weight"]
