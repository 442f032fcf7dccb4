"""From one vector a token to one vector a text. Imports torch: import it inside functions."""

from collections.abc import Callable

import torch


def mean(tokens: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    """tokens (torch.Tensor): Shape (texts, tokens, width).
    mask (torch.Tensor): Shape (texts, tokens), True for tokens, False for padding; every text has
        at least one token, and padding stands at its end.
    RETURNS (torch.Tensor): Shape (texts, width): the mean over the tokens of each text.
    """
    weights = mask.unsqueeze(-1).to(tokens.dtype)
    return (tokens * weights).sum(dim=1) / weights.sum(dim=1)


def cls(tokens: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    """RETURNS (torch.Tensor): Shape (texts, width): the first token of each text; see `mean`."""
    return tokens[:, 0]


def max(tokens: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    """RETURNS (torch.Tensor): Shape (texts, width): the greatest value over the tokens of each
    text, dimension by dimension; see `mean`.
    """
    return tokens.masked_fill(~mask.unsqueeze(-1), float("-inf")).amax(dim=1)


POOLINGS: dict[str, Callable[[torch.Tensor, torch.Tensor], torch.Tensor]] = {
    "mean": mean,
    "cls": cls,
    "max": max,
}
