"""What the trainer trains: an encoder, and what the objective learns beside it. Imports torch:
import it in functions."""

from collections.abc import Callable
from typing import Any, Protocol, cast

import numpy as np
import torch

from .micro_batches import BatchEncoder
from .relations import Rankings, Relations

# Vectors of a batch, raw, shape (B, width), and how its texts stand to each other, to a scalar.
Objective = Callable[[torch.Tensor, Any], torch.Tensor]


class LearningObjective(Protocol):
    """What an objective offers that is a `torch.nn.Module` with parameters of its own.

    learning_rate (float): Of these parameters.
    """

    learning_rate: float

    def learned(self) -> dict[str, float]:
        """RETURNS (Dict[str, float]): What it has learned by now, by name; it is logged and kept
        beside the encoder.
        """


class BatchLoss(torch.nn.Module):
    """Encodes a batch and scores it, so that the parameters of an objective are trained, saved and
    shared between processes as those of the encoder are.
    """

    def __init__(self, encoder: BatchEncoder, objective: Objective) -> None:
        """encoder (BatchEncoder): Encodes a batch.
        objective (Objective): Scores it.
        """
        super().__init__()
        self.encoder = encoder
        self.objective = objective

    def forward(
        self,
        micro_batches: list[dict[str, torch.Tensor]],
        places: torch.Tensor,
        relations: Relations | Rankings,
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """RETURNS (Tuple[torch.Tensor, torch.Tensor]): The loss, and the vectors."""
        vectors = self.encoder(micro_batches, places)
        with torch.autocast(vectors.device.type, enabled=False):
            return self.objective(vectors.float(), relations), vectors

    def own_parameters(self) -> list[torch.nn.Parameter]:
        """RETURNS (List[torch.nn.Parameter]): Those of the objective."""
        objective = self.objective
        return list(objective.parameters()) if isinstance(objective, torch.nn.Module) else []

    def learned(self) -> dict[str, float]:
        """RETURNS (Dict[str, float]): What the objective has learned by now, by name."""
        if not self.own_parameters():
            return {}
        return cast(LearningObjective, self.objective).learned()

    def separate(self, optimizer: torch.optim.Optimizer) -> None:
        """Let the objective's parameters be learned at a rate of their own, and not decay.

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
    """Encodes rows of the pool with the encoder as it is, and tells how the objective compares
    their vectors now."""

    def __init__(self, encode: Callable[[np.ndarray], np.ndarray], objective: Any) -> None:
        """encode (Callable): Rows to raw vectors, as `Vectors`.
        objective (Objective): Only one that ranks is asked how.
        """
        self._encode = encode
        self._objective = objective

    def __call__(self, rows: np.ndarray) -> np.ndarray:
        """RETURNS (Floats2d): float32 (n, width), raw."""
        return self._encode(rows)

    @property
    def normalized(self) -> bool:
        """RETURNS (bool): Whether vectors are scaled to unit length to be compared."""
        return self._objective.normalized

    @property
    def lexical_weight(self) -> float:
        """RETURNS (float): The weight of the n-grams' cosine beside the vectors' product."""
        return self._objective.learned()["lexical_weight"]
