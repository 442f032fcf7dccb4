"""Distances whose gradients are finite everywhere: 0 at zero vectors and between equal vectors,
where those of pytorch-metric-learning are NaN or huge. Imports torch."""

import torch
from pytorch_metric_learning.distances import BaseDistance, CosineSimilarity

from .checks import COSINE, EUCLIDEAN, NORMALIZED_EUCLIDEAN

# Squared distances come from a float32 matrix product, which resolves this share of the squared
# lengths.
RESOLUTION = 1e-6


class StableCosine(CosineSimilarity):
    """Cosine similarity; the cosine with a zero vector is 0."""

    def normalize(self, embeddings: torch.Tensor, dim: int = 1, **kwargs) -> torch.Tensor:
        """RETURNS (torch.Tensor): The vectors scaled to length 1; zero vectors stay."""
        return to_unit_length(embeddings, dim=dim)


class StableEuclidean(BaseDistance):
    """Euclidean distance, of raw vectors or of vectors scaled to length 1."""

    def __init__(self, *, normalized: bool) -> None:
        """normalized (bool): Whether to scale vectors to length 1."""
        super().__init__(normalize_embeddings=normalized)

    def normalize(self, embeddings: torch.Tensor, dim: int = 1, **kwargs) -> torch.Tensor:
        """RETURNS (torch.Tensor): The vectors scaled to length 1; zero vectors stay."""
        return to_unit_length(embeddings, dim=dim)

    def compute_mat(self, query_emb: torch.Tensor, ref_emb: torch.Tensor) -> torch.Tensor:
        """RETURNS (torch.Tensor): (B, C). Distances below about a thousandth of the vectors'
        lengths cannot be told from 0, and are 0.
        """
        # Shifting all vectors changes no distance, and short vectors lose less to rounding.
        centre = ref_emb.detach().mean(dim=0)
        queries, references = query_emb - centre, ref_emb - centre
        lengths = queries.square().sum(dim=1, keepdim=True) + references.square().sum(dim=1)
        squared = torch.addmm(lengths, queries, references.T, alpha=-2)
        return _root(squared, squared.detach() > RESOLUTION * lengths.detach())

    def pairwise_distance(self, query_emb: torch.Tensor, ref_emb: torch.Tensor) -> torch.Tensor:
        """RETURNS (torch.Tensor): (B,), the distance of each row to the same row of the other,
        however small.
        """
        squared = (query_emb - ref_emb).square().sum(dim=1)
        return _root(squared, squared.detach() > 0)


DISTANCES = {
    COSINE: StableCosine,
    EUCLIDEAN: lambda: StableEuclidean(normalized=False),
    NORMALIZED_EUCLIDEAN: lambda: StableEuclidean(normalized=True),
}


def distance_matrix(distance: BaseDistance, points: torch.Tensor) -> torch.Tensor:
    """distance (BaseDistance): One of `DISTANCES`.
    points (torch.Tensor): float32 (B, d), scaled if the distance scales.
    RETURNS (torch.Tensor): (B, B), smaller is nearer: cosines are negated.
    """
    return distance.margin(distance.compute_mat(points, points), 0)


def to_unit_length(vectors: torch.Tensor, *, dim: int = 1) -> torch.Tensor:
    """vectors (torch.Tensor): float32, e.g. (B, d).
    dim (int): Along which lengths are measured.
    RETURNS (torch.Tensor): The vectors scaled to length 1; zero vectors stay, with gradients of 0.
    """
    # Divided first: the square of a small number underflows, that of a large one overflows.
    largest = vectors.detach().abs().amax(dim=dim, keepdim=True)
    some = largest > 0
    scaled = vectors / torch.where(some, largest, 1)
    squared = scaled.square().sum(dim=dim, keepdim=True)
    return scaled * torch.where(some, torch.where(some, squared, 1).rsqrt(), 0)


def chord_lengths(cosines: torch.Tensor) -> torch.Tensor:
    """cosines (torch.Tensor): Of pairs of vectors, any shape.
    RETURNS (torch.Tensor): The Euclidean distances of the vectors scaled to length 1, without
        gradients.
    """
    return cosines.detach().mul(-2).add_(2).clamp_(min=0).sqrt_()


def _root(squared: torch.Tensor, positive: torch.Tensor) -> torch.Tensor:
    # The root's gradient at 0 is infinite. Masks are numbers: see `masks`.
    keep = positive.to(squared.dtype)
    return (squared * keep + (1 - keep)).sqrt() * keep
