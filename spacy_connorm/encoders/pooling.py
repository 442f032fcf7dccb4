"""Pooling of token vectors into text vectors. Imports torch: import it in functions."""

from collections.abc import Callable

import torch


def mean_pooling(tokens: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    """Average the token vectors of each text.

    tokens (torch.Tensor): Shape (texts, tokens, width).
    mask (torch.Tensor): Shape (texts, tokens), bool: False for padding. Padding is at the end, and
        every text has at least one token.
    RETURNS (torch.Tensor): Shape (texts, width).
    """
    weights = mask.unsqueeze(-1).to(tokens.dtype)
    return (tokens * weights).sum(dim=1) / weights.sum(dim=1)


def cls_pooling(tokens: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    """Take the vector of each text's first token. Arguments as in `mean_pooling`.

    RETURNS (torch.Tensor): Shape (texts, width).
    """
    return tokens[:, 0]


def max_pooling(tokens: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    """Take the maximum over each text's tokens, per dimension. Arguments as in `mean_pooling`.

    RETURNS (torch.Tensor): Shape (texts, width).
    """
    return tokens.masked_fill(~mask.unsqueeze(-1), float("-inf")).amax(dim=1)


POOLINGS: dict[str, Callable[[torch.Tensor, torch.Tensor], torch.Tensor]] = {
    "mean": mean_pooling,
    "cls": cls_pooling,
    "max": max_pooling,
}
