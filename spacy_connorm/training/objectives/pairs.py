"""Objectives over pairs of texts: the texts in a batch that share a concept, distances, hard pairs,
and sums over them. Imports torch.

Values are multiplied by masks instead of selected: on a CPU, `where` and `masked_fill` take 10 to
100 times as long as arithmetic.
Gradients are finite everywhere: 0 at zero vectors and between equal vectors, where those of
pytorch-metric-learning are NaN or huge.
"""

from abc import abstractmethod
from typing import NamedTuple

import torch
from pytorch_metric_learning.losses.generic_pair_loss import GenericPairLoss

from ...errors import require_range
from ..batches import Memberships
from .objective import Objective, to_unit_length, zero_loss

# Added to masked values: below any number that can occur, and finite after a sum.
_OUT = -1e30
# Squared distances come from a float32 matrix product, which resolves this share of the squared
# lengths.
RESOLUTION = 1e-6


class Pairs(NamedTuple):
    """The texts in a batch of B that share a concept. A text with several concepts is a positive of
    the texts of each of them. No text is paired with itself.

    positives (torch.Tensor): bool (B, B): whether the anchor i and j share a concept, i != j.
    negatives (torch.Tensor): bool (B, B): whether the anchor i and j share no concept, i != j.
    """

    positives: torch.Tensor
    negatives: torch.Tensor


class PairObjective(Objective):
    """An objective over the pairs of a batch. Only anchors with a positive and a negative count;
    the loss is 0 if there are none.
    """

    def loss(self, vectors: torch.Tensor, relations: Memberships) -> torch.Tensor:
        """Compute the loss of a batch.

        vectors (torch.Tensor): float32 (B, width).
        relations (Memberships): The concepts of the B texts.
        RETURNS (torch.Tensor): A float32 scalar.
        """
        pairs = pair_up(relations, len(vectors))
        usable = pairs.positives.any(dim=1) & pairs.negatives.any(dim=1)
        if not usable.any():
            return zero_loss(vectors)
        return self.loss_of_pairs(vectors, Pairs(*(mask & usable.unsqueeze(1) for mask in pairs)))

    @abstractmethod
    def loss_of_pairs(self, vectors: torch.Tensor, pairs: Pairs) -> torch.Tensor:
        """Compute the loss.

        vectors (torch.Tensor): float32 (B, width).
        pairs (Pairs): The pairs of usable anchors, so they are not symmetric; there is at least
            one.
        RETURNS (torch.Tensor): A float32 scalar.
        """


class MinedPairObjective(PairObjective):
    """An objective that can be limited to hard pairs."""

    def __init__(self, mining_margin: float | None) -> None:
        """Store the margin.

        mining_margin (Optional[float]): As in `hard_pairs`.
        RAISES (ConnormError): CN006 for a margin below 0.
        """
        super().__init__()
        require_range(least=0, mining_margin=mining_margin)
        self._mining_margin = mining_margin

    def loss_of_pairs(self, vectors: torch.Tensor, pairs: Pairs) -> torch.Tensor:
        """Compute the loss of the hard pairs; see `PairObjective`.

        RETURNS (torch.Tensor): A float32 scalar.
        """
        cosines = cosines_of(vectors)
        return self.loss_of_cosines(cosines, hard_pairs(cosines, pairs, margin=self._mining_margin))

    @abstractmethod
    def loss_of_cosines(self, cosines: torch.Tensor, hard: Pairs) -> torch.Tensor:
        """Compute the loss.

        cosines (torch.Tensor): float32 (B, B), of all vectors.
        hard (Pairs): The pairs that count.
        RETURNS (torch.Tensor): A float32 scalar.
        """


def pair_up(memberships: Memberships, count: int) -> Pairs:
    """Compare the concepts of all texts in a batch, in O(B^2) memory.

    memberships (Memberships): The concepts of the texts, as tensors.
    count (int): B, the number of texts.
    RETURNS (Pairs): All pairs; they are symmetric.
    """
    texts, concepts = memberships
    one, other = (concepts.unsqueeze(1) == concepts).nonzero(as_tuple=True)
    shared = torch.eye(count, dtype=torch.bool, device=texts.device)
    shared[texts[one], texts[other]] = True
    negatives = ~shared
    return Pairs(shared.fill_diagonal_(False), negatives)


def anchors_of(pairs: Pairs) -> torch.Tensor:
    """Find the anchors that have a positive.

    RETURNS (torch.Tensor): int64 (n,), their rows.
    """
    return pairs.positives.any(dim=1).nonzero().squeeze(1)


def cosines_of(vectors: torch.Tensor) -> torch.Tensor:
    """Compute the cosines of all pairs of vectors.

    RETURNS (torch.Tensor): (B, B); 0 with a zero vector.
    """
    points = to_unit_length(vectors)
    return points @ points.T


def euclidean_distances(vectors: torch.Tensor) -> torch.Tensor:
    """Compute the Euclidean distances of all pairs of vectors.

    vectors (torch.Tensor): float32 (B, d).
    RETURNS (torch.Tensor): (B, B). Distances below about a thousandth of the vectors' lengths
        cannot be distinguished from 0, and are 0.
    """
    # Shifting all vectors does not change distances, and short vectors lose less to rounding.
    shifted = vectors - vectors.detach().mean(dim=0)
    lengths = shifted.square().sum(dim=1)
    lengths = lengths.unsqueeze(1) + lengths
    squared = torch.addmm(lengths, shifted, shifted.T, alpha=-2)
    return root(squared, squared.detach() > RESOLUTION * lengths.detach())


def root(squared: torch.Tensor, positive: torch.Tensor) -> torch.Tensor:
    """Compute the square root where a mask is set. The root's gradient at 0 is infinite.

    RETURNS (torch.Tensor): The root; 0 with gradients of 0 elsewhere.
    """
    keep = positive.to(squared.dtype)
    return (squared * keep + (1 - keep)).sqrt() * keep


def largest(values: torch.Tensor, mask: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Find the largest value in each row where a mask is set.

    values (torch.Tensor): float32 (B, C).
    mask (torch.Tensor): bool (B, C).
    RETURNS (Tuple[torch.Tensor, torch.Tensor]): (B,) the values, about -1e30 if the mask is not set
        anywhere, and their columns.
    """
    return (values + (1 - mask.float()) * _OUT).max(dim=1)


def hard_pairs(cosines: torch.Tensor, pairs: Pairs, *, margin: float | None) -> Pairs:
    """Keep the pairs of hard triplets (Liu et al. 2021, section 2, equation 1): by the Euclidean
    distances of the vectors scaled to length 1, a triplet is hard unless its positive is nearer
    than its negative by the margin. The nearest negative decides for a positive, and the farthest
    positive for a negative, so triplets are not listed as in the library's `TripletMarginMiner`.

    cosines (torch.Tensor): float32 (B, B).
    pairs (Pairs): Rows are anchors.
    margin (Optional[float]): In units of the distance; if None, all pairs are kept.
    RETURNS (Pairs): Positives with d_ap + margin >= min d_an, negatives with d_an <= max d_ap +
        margin.
    """
    if margin is None:
        return pairs
    distances = cosines.detach().mul(-2).add_(2).clamp_(min=0).sqrt_()
    nearest = -largest(-distances, pairs.negatives)[0].unsqueeze(1)
    farthest = largest(distances, pairs.positives)[0].unsqueeze(1)
    return Pairs(
        positives=pairs.positives & (nearest - distances <= margin),
        negatives=pairs.negatives & (distances - farthest <= margin),
    )


def library_losses(loss: GenericPairLoss, matrix: torch.Tensor, pairs: Pairs) -> torch.Tensor:
    """Compute a loss that the library defines over a matrix and two masks. Its `forward` takes one
    label per text, or lists of pairs: two million negatives for 1,500 texts.

    loss (GenericPairLoss): A loss with a `mat_based_loss`.
    matrix (torch.Tensor): float32 (B, B), in the loss's distance.
    pairs (Pairs): Rows are anchors.
    RETURNS (torch.Tensor): (B,), the loss of each anchor, NaN if the matrix has NaN. The library's
        reducers are not used: they leave out NaN with the losses of 0.
    """
    masks = pairs.positives.float(), pairs.negatives.float()
    losses = loss._compute_loss(matrix, *masks)["loss"]["losses"].flatten()
    # Mining and the library's masks drop NaN, but the trainer must see it.
    return losses + matrix.detach().sum() * 0


def masked_logsumexp(values: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    """Compute the logarithm of the sum of exponentials where a mask is set.

    values (torch.Tensor): float32 (B, C).
    mask (torch.Tensor): bool (B, C).
    RETURNS (torch.Tensor): (B,), far below any other value for rows where the mask is not set
        anywhere.
    """
    return (values + (1 - mask.float()) * _OUT).logsumexp(dim=1)
