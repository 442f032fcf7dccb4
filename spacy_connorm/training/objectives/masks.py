"""Masked reductions over matrices. Imports torch.

Masks are multiplied instead of selected by, and exponents are kept from underflow: on a CPU
`where`, `masked_fill` and `exp` of very small numbers take 10 to 100 times as long as arithmetic.
"""

from typing import Any, NamedTuple

import torch
from torch.autograd.function import once_differentiable

# Added to what a mask leaves out: below any number that can occur, and finite after a sum.
OUT = -1e30
# e^-80 is 1e-35, still a normal float32: anything smaller is nothing beside the largest term.
LEAST_EXPONENT = -80.0


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
        RETURNS (Mask): The mask as numbers.
        """
        keep = mask.float()
        return cls(keep, (1 - keep) * OUT)

    def largest(self, values: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """values (torch.Tensor): (B, B).
        RETURNS (Tuple[torch.Tensor, torch.Tensor]): (B,) the largest set value of each row, about
            `OUT` if none is set, and its column.
        """
        return (values + self.penalty).max(dim=1)


def masked_logsumexp(values: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    """The logarithm of the sum of exponentials over the values that a mask sets.

    values (torch.Tensor): float32 (B, C).
    mask (torch.Tensor): bool (B, C).
    RETURNS (torch.Tensor): (B,), -inf with gradients of 0 for rows of which nothing is set.
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
        # A row with anything set has a total of at least 1.
        ctx.save_for_backward(weights.div_(total.clamp(min=1)))
        return (largest + total.log()).squeeze(1)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: torch.Tensor) -> tuple[torch.Tensor, None]:
        (weights,) = ctx.saved_tensors
        return weights * gradient.unsqueeze(1), None
