"""What all objectives share: the anchors that count, masked reductions, and the online condition.

Masks are multiplied, not selected by, and exponents are kept from underflow: on a CPU `where`,
`masked_fill` and `exp` to zero take 10 to 100 times as long as the arithmetic.
"""

from typing import Any, NamedTuple

import torch
from torch.autograd.function import once_differentiable

from ..relations import Relations
from .distances import chords

# Added to what a mask leaves out: under any number that can occur, and finite after a sum.
OUT = -1e30
# e^-80 is 1e-35, a normal float32 yet: what is smaller counts for nothing beside the largest term.
LEAST_EXPONENT = -80.0


class OnRelations:
    """Put before a loss of pytorch-metric-learning: the loss is called with the vectors and their
    relations, computes in float32 under any autocast, and implements `loss_of`."""

    def forward(self, vectors: torch.Tensor, relations: Relations) -> torch.Tensor:
        """vectors (torch.Tensor): (B, d), of any length.
        relations (Relations): Of the B texts.
        RETURNS (torch.Tensor): A float32 scalar; 0, with gradients of zero, if no anchor counts.
        """
        with torch.autocast(vectors.device.type, enabled=False):
            vectors = vectors.float()
            relations = of_usable_anchors(relations)
            if not relations.positives.any():
                return nothing(vectors)
            return self.loss_of(vectors, relations)

    def loss_of(self, vectors: torch.Tensor, relations: Relations) -> torch.Tensor:
        """vectors (torch.Tensor): float32 (B, d).
        relations (Relations): Rows are anchors; of those that do not count they are empty.
        RETURNS (torch.Tensor): The loss, a scalar.
        """
        raise NotImplementedError


class Mask(NamedTuple):
    """A mask (B, B) as numbers.

    keep (torch.Tensor): float32, 1 where it is set and 0 elsewhere.
    penalty (torch.Tensor): float32, 0 where it is set and `OUT` elsewhere.
    """

    keep: torch.Tensor
    penalty: torch.Tensor

    @classmethod
    def of(cls, mask: torch.Tensor) -> "Mask":
        """mask (torch.Tensor): bool (B, B).
        RETURNS (Mask): The same as numbers.
        """
        keep = mask.float()
        return cls(keep, (1 - keep) * OUT)

    def largest(self, values: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """values (torch.Tensor): (B, B).
        RETURNS (Tuple[torch.Tensor, torch.Tensor]): (B,) the largest value set in each row, about
            `OUT` where none is, and its column.
        """
        return (values + self.penalty).max(dim=1)


def nothing(vectors: torch.Tensor) -> torch.Tensor:
    """RETURNS (torch.Tensor): 0, with gradients of zero for all vectors."""
    return vectors.sum() * 0


def mean_of(losses: torch.Tensor, vectors: torch.Tensor) -> torch.Tensor:
    """RETURNS (torch.Tensor): The mean of the losses, `nothing` if there are none."""
    return losses.mean() if len(losses) else nothing(vectors)


def of_usable_anchors(relations: Relations) -> Relations:
    """An anchor counts if it has a positive and a negative.

    relations (Relations): The relations.
    RETURNS (Relations): The same without the rows of other anchors, so symmetric no longer.
    """
    usable = relations.positives.any(dim=1, keepdim=True) & relations.negatives.any(
        dim=1, keepdim=True
    )
    return Relations(relations.positives & usable, relations.negatives & usable)


def usable_anchors(relations: Relations) -> torch.Tensor:
    """RETURNS (torch.Tensor): int64 (n,): the rows that `of_usable_anchors` left."""
    return relations.positives.any(dim=1).nonzero().squeeze(1)


def mine(distances: torch.Tensor, relations: Relations, *, margin: float) -> Relations:
    """Keep the pairs that are in a hard triplet (Liu et al. 2021, section 2, equation 1: a triplet
    is hard if its positive is not nearer than its negative by the margin). The nearest
    negative decides for a positive and the farthest positive for a negative, so no triplet need be
    listed.

    distances (torch.Tensor): float32 (B, B), without gradients.
    relations (Relations): Rows are anchors.
    margin (float): In the unit of the distances.
    RETURNS (Relations): Positives with d_ap + margin >= min d_an, negatives with d_an <= max d_ap +
        margin.
    """
    nearest = -Mask.of(relations.negatives).largest(-distances)[0].unsqueeze(1)
    farthest = Mask.of(relations.positives).largest(distances)[0].unsqueeze(1)
    return Relations(
        relations.positives & (nearest - distances <= margin),
        relations.negatives & (distances - farthest <= margin),
    )


def hard_pairs(cosines: torch.Tensor, relations: Relations, *, margin: float | None) -> Relations:
    """As `mine`, by the Euclidean distances of the vectors scaled to length 1, as SapBERT mines.

    cosines (torch.Tensor): float32 (B, B).
    relations (Relations): Rows are anchors.
    margin (Optional[float]): In the unit of the distances; None keeps all pairs.
    RETURNS (Relations): What is kept.
    """
    if margin is None:
        return relations
    return mine(chords(cosines), relations, margin=margin)


def masked_logsumexp(values: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    """The logarithm of the sum of exponentials over what a mask sets.

    values (torch.Tensor): float32 (B, B).
    mask (torch.Tensor): bool (B, B).
    RETURNS (torch.Tensor): (B,), -inf with gradients of zero for rows of which nothing is set.
    """
    return _MaskedLogSumExp.apply(values, mask)


class _MaskedLogSumExp(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, values: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        numbers = Mask.of(mask)
        shifted = values + numbers.penalty
        largest = shifted.amax(dim=1, keepdim=True)
        weights = shifted.sub_(largest).clamp_(min=LEAST_EXPONENT).exp_().mul_(numbers.keep)
        total = weights.sum(dim=1, keepdim=True)
        # A row with anything set has a total of 1 at least.
        ctx.save_for_backward(weights.div_(total.clamp(min=1)))
        return (largest + total.log()).squeeze(1)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: torch.Tensor) -> tuple[torch.Tensor, None]:
        (weights,) = ctx.saved_tensors
        return weights * gradient.unsqueeze(1), None
