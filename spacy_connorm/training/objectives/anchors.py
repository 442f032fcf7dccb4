"""The anchors of a batch that count, and means over them. Imports torch."""

from collections.abc import Callable
from functools import wraps

import torch

from ..relations import Relations

# Vectors of a batch, float32 (B, d), and relations without unusable anchors, to a scalar.
RelationLoss = Callable[[torch.Tensor, Relations], torch.Tensor]


def over_usable_anchors(loss: RelationLoss) -> RelationLoss:
    """Make an objective of a loss. The objective computes in float32 under any autocast, shows the
    loss only anchors with a positive and a negative, and is 0 if there are none.

    loss (Callable): Of vectors, float32 (B, d), and the relations of usable anchors.
    RETURNS (Callable): The same of vectors of any type and all relations of a batch.
    """

    @wraps(loss)
    def objective(vectors: torch.Tensor, relations: Relations) -> torch.Tensor:
        with torch.autocast(vectors.device.type, enabled=False):
            vectors = vectors.float()
            relations = _of_usable_anchors(relations)
            if not relations.positives.any():
                return zero_loss(vectors)
            return loss(vectors, relations)

    return objective


def _of_usable_anchors(relations: Relations) -> Relations:
    """The rows of other anchors are cleared, so the relations are no longer symmetric."""
    usable = relations.positives.any(dim=1, keepdim=True) & relations.negatives.any(
        dim=1, keepdim=True
    )
    return Relations(*(each & usable for each in relations))


def usable_anchors(relations: Relations) -> torch.Tensor:
    """relations (Relations): Cleared of unusable anchors, or mined.
    RETURNS (torch.Tensor): int64 (n,), the rows of the anchors that are left.
    """
    return relations.positives.any(dim=1).nonzero().squeeze(1)


def mean_of(losses: torch.Tensor, vectors: torch.Tensor) -> torch.Tensor:
    """losses (torch.Tensor): (n,).
    vectors (torch.Tensor): What they were computed from.
    RETURNS (torch.Tensor): The mean of the losses, `zero_loss` if there are none.
    """
    return losses.mean() if len(losses) else zero_loss(vectors)


def zero_loss(vectors: torch.Tensor) -> torch.Tensor:
    """RETURNS (torch.Tensor): 0, with gradients of 0 for all vectors."""
    return vectors.sum() * 0
