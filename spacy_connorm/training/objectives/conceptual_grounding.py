"""The objective that moves names towards their synonyms and the prototypes of their concepts."""

from typing import Any

import torch

from ...encoders.protocol import GroundedModule
from ...errors import Errors, require_range
from ..batches import Groundings
from .objective import Objective, to_unit_length


class ConceptualGrounding(Objective):
    """`spacy-connorm.ConceptualGrounding.v1`: the objective of Fivez et al. 2021, section 3.2. It
    needs the triplets and names of `spacy-connorm.GroundingBatcher.v1`; pytorch-metric-learning has
    no loss over such batches.

    With d = 1 - cos, triplets of a name a, its synonym p and another name n, and concepts c whose
    prototype is u_c and some of whose names are N_c, it is the mean over the triplets plus the mean
    over the concepts:

        mean(max(d(v_a, v_p) - d(v_a, v_n) + margin, 0)) + mean(d(mean of v_m for m in N_c, u_c))
    """

    relations = Groundings
    prototypes: torch.Tensor

    def __init__(self, *, margin: float = 0.1) -> None:
        """Store the margin.

        margin (float): The margin of the triplets.
        RAISES (ConnormError): CN006 for an invalid setting.
        """
        super().__init__()
        require_range(above=0, margin=margin)
        self._margin = margin

    def prepare(self, module: Any) -> None:
        """Get the prototypes of all concepts.

        module (TrainableModule): The encoder's module, after fitting.
        RAISES (ConnormError): CN830 if it has no prototypes.
        """
        if not isinstance(module, GroundedModule):
            raise Errors.CN830()
        self.register_buffer("prototypes", to_unit_length(module.prototypes), persistent=False)

    def loss(self, vectors: torch.Tensor, relations: Groundings) -> torch.Tensor:
        """Compute the loss; see `Objective`.

        RETURNS (torch.Tensor): A float32 scalar.
        """
        points = to_unit_length(vectors)
        anchors = points[relations.anchors]
        near = (anchors * points[relations.positives]).sum(dim=1)
        far = (anchors * points[relations.negatives]).sum(dim=1)
        triplets = (far - near + self._margin).clamp(min=0).mean()
        prototypes = self.prototypes[relations.concepts]
        # A sum has the same direction as a mean.
        sums = torch.zeros_like(prototypes)
        sums = sums.index_add(0, relations.owners, vectors[relations.members])
        cosines = (to_unit_length(sums) * prototypes).sum(dim=1)
        return triplets + (1 - cosines).mean()
