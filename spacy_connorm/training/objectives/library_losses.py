"""Losses of pytorch-metric-learning over relations instead of labels. Imports torch."""

import torch
from pytorch_metric_learning.losses.generic_pair_loss import GenericPairLoss

from ..relations import Relations


def library_losses(
    loss: GenericPairLoss, matrix: torch.Tensor, relations: Relations
) -> torch.Tensor:
    """Compute a loss that the library defines over a matrix and two masks. Its `forward` takes one
    label per text, or lists of pairs: two million negatives for 1,500 texts.

    loss (GenericPairLoss): One with a `mat_based_loss`.
    matrix (torch.Tensor): float32 (B, B), of the loss's distance.
    relations (Relations): Rows are anchors.
    RETURNS (torch.Tensor): (B,), the loss of each anchor, NaN if the matrix has NaN. The library's
        reducers are not used: they leave out NaN with the losses of 0.
    """
    masks = relations.positives.float(), relations.negatives.float()
    losses = loss._compute_loss(matrix, *masks)["loss"]["losses"].flatten()
    # Mining and the library's masks drop NaN; the trainer must see it.
    return losses + matrix.detach().sum() * 0
