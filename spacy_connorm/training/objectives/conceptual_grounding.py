"""Names near their synonyms, and around the prototypes of their concepts."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from .checks import require_above_zero, require_libraries

if TYPE_CHECKING:
    import torch

    from ..relations import Groundings


def ConceptualGrounding(*, margin: float = 0.1) -> "GroundingLoss":
    """Build the objective of Fivez et al. 2021, section 3.2. It needs the triplets and names of
    `spacy-connorm.GroundingBatcher.v1`; pytorch-metric-learning has no loss over such batches.

    With d = 1 - cos, triplets of a name a, its synonym p and another name n, and concepts c whose
    prototype is u_c and some of whose names are N_c, it is the mean over the triplets plus the mean
    over the concepts:

        mean(max(d(v_a, v_p) - d(v_a, v_n) + margin, 0)) + mean(d(mean of v_m for m in N_c, u_c))

    margin (float): Of the triplets.
    RETURNS (GroundingLoss): The objective.
    RAISES (ConnormError): CN006 for an invalid setting, CN126 if a library is missing.
    """
    require_above_zero(margin=margin)
    require_libraries()
    return GroundingLoss(margin)


@dataclass(frozen=True)
class GroundingLoss:
    """Computes the objective.

    margin (float): Of the triplets.
    """

    margin: float

    # The batcher must draw triplets and concepts.
    grounded = True

    def __call__(self, vectors: "torch.Tensor", groundings: "Groundings") -> "torch.Tensor":
        """vectors (torch.Tensor): (B, d), of any length.
        groundings (Groundings): Triplets and concepts of the B texts.
        RETURNS (torch.Tensor): A float32 scalar.
        """
        import torch

        from .distances import to_unit_length

        with torch.autocast(vectors.device.type, enabled=False):
            vectors = vectors.float()
            points = to_unit_length(vectors)
            anchors = points[groundings.anchors]
            near = (anchors * points[groundings.positives]).sum(dim=1)
            far = (anchors * points[groundings.negatives]).sum(dim=1)
            triplets = (far - near + self.margin).clamp(min=0).mean()
            sums = torch.zeros_like(groundings.prototypes)
            # Of a sum and a mean the direction is the same.
            sums = sums.index_add(0, groundings.owners, vectors[groundings.members])
            cosines = (to_unit_length(sums) * to_unit_length(groundings.prototypes)).sum(dim=1)
            return triplets + (1 - cosines).mean()
