"""From one vector a token to one vector a text. Imports torch: import it inside of functions."""

from collections.abc import Callable

import torch


def mean_pooling(tokens: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    """Average the tokens of each text.

    tokens (torch.Tensor): Shape (texts, tokens, width).
    mask (torch.Tensor): Shape (texts, tokens), bool: False where a token is padding. Padding
        stands at the end, and every text has a token.
    RETURNS (torch.Tensor): Shape (texts, width).
    """
    weights = mask.unsqueeze(-1).to(tokens.dtype)
    return (tokens * weights).sum(dim=1) / weights.sum(dim=1)


def cls_pooling(tokens: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    """Take the first token of each text; arguments as `mean_pooling`.

    RETURNS (torch.Tensor): Shape (texts, width).
    """
    return tokens[:, 0]


def max_pooling(tokens: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    """Take the greatest value of each dimension; arguments as `mean_pooling`.

    RETURNS (torch.Tensor): Shape (texts, width).
    """
    return tokens.masked_fill(~mask.unsqueeze(-1), float("-inf")).amax(dim=1)


POOLINGS: dict[str, Callable[[torch.Tensor, torch.Tensor], torch.Tensor]] = {
    "mean": mean_pooling,
    "cls": cls_pooling,
    "max": max_pooling,
}
