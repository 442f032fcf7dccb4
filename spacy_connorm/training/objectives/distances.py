"""Distances with gradients that are finite everywhere: 0 for zero vectors and between equal
ones."""

import torch
from pytorch_metric_learning.distances import BaseDistance, CosineSimilarity

from .settings import COSINE, EUCLIDEAN, NORMALIZED_EUCLIDEAN

# Squared distances come from a product of float32, which resolves this share of the squared
# lengths.
RESOLUTION = 1e-6


class Cosine(CosineSimilarity):
    """Cosine similarity; the cosine with a zero vector is 0. It is the larger the nearer, which
    `margin` minds."""

    def normalize(self, embeddings: torch.Tensor, dim: int = 1, **kwargs) -> torch.Tensor:
        """RETURNS (torch.Tensor): The same, of length 1; zero vectors stay."""
        return to_unit_length(embeddings, dim=dim)


class Euclidean(BaseDistance):
    """Euclidean distance, of the vectors as they are or scaled to length 1."""

    def __init__(self, *, normalized: bool) -> None:
        """normalized (bool): Whether vectors are scaled to length 1."""
        super().__init__(normalize_embeddings=normalized)

    def normalize(self, embeddings: torch.Tensor, dim: int = 1, **kwargs) -> torch.Tensor:
        """RETURNS (torch.Tensor): The same, of length 1; zero vectors stay."""
        return to_unit_length(embeddings, dim=dim)

    def compute_mat(self, query_emb: torch.Tensor, ref_emb: torch.Tensor) -> torch.Tensor:
        """RETURNS (torch.Tensor): (B, C). Distances under about a thousandth of the vectors'
        lengths can't be told from 0, and are 0."""
        # Shifting all vectors changes no distance, but short vectors lose less to rounding.
        centre = ref_emb.detach().mean(dim=0)
        queries, references = query_emb - centre, ref_emb - centre
        lengths = queries.square().sum(dim=1, keepdim=True) + references.square().sum(dim=1)
        squared = torch.addmm(lengths, queries, references.T, alpha=-2)
        return _root(squared, squared.detach() > RESOLUTION * lengths.detach())

    def pairwise_distance(self, query_emb: torch.Tensor, ref_emb: torch.Tensor) -> torch.Tensor:
        """RETURNS (torch.Tensor): (B,): of each row to the same row, exactly."""
        squared = (query_emb - ref_emb).square().sum(dim=1)
        return _root(squared, squared.detach() > 0)


DISTANCES = {
    COSINE: Cosine,
    EUCLIDEAN: lambda: Euclidean(normalized=False),
    NORMALIZED_EUCLIDEAN: lambda: Euclidean(normalized=True),
}


def to_unit_length(vectors: torch.Tensor, *, dim: int = 1) -> torch.Tensor:
    """vectors (torch.Tensor): float32, e.g. (B, d).
    dim (int): Along which the lengths are measured.
    RETURNS (torch.Tensor): Of length 1; zero vectors stay, with gradients of zero.
    """
    # Divided first, as the square of a small number underflows and that of a large one overflows.
    largest = vectors.detach().abs().amax(dim=dim, keepdim=True)
    some = largest > 0
    scaled = vectors / torch.where(some, largest, 1)
    squared = scaled.square().sum(dim=dim, keepdim=True)
    return scaled * torch.where(some, torch.where(some, squared, 1).rsqrt(), 0)


def chords(cosines: torch.Tensor) -> torch.Tensor:
    """cosines (torch.Tensor): Of vectors, any shape.
    RETURNS (torch.Tensor): The Euclidean distances of the vectors scaled to length 1, no gradients.
    """
    return cosines.detach().mul(-2).add_(2).clamp_(min=0).sqrt_()


def _root(squared: torch.Tensor, positive: torch.Tensor) -> torch.Tensor:
    # The root's gradient at 0 is infinite. Numbers as masks: see `masks`.
    keep = positive.to(squared.dtype)
    return (squared * keep + (1 - keep)).sqrt() * keep
