"""What training minimizes. Each file holds one objective: its registered function, its equation and
its loss; `ranked_lists` holds the two that rank candidates. Importing them loads no torch.

Where pytorch-metric-learning has a loss over a matrix of similarities and masks of positives and
negatives, it computes the objective; the others say in a comment why none of its losses fits.
"""

from .batch_hard_triplet import BatchHardTriplet
from .circle import Circle
from .cosine import Cosine
from .info_nce import InfoNce
from .lifted_structure import LiftedStructure
from .max_margin_triplet import MaxMarginTriplet
from .multi_similarity import MultiSimilarity
from .nca import Nca
from .ranked_lists import Bcnh, BioSyn
from .semi_hard_triplet import SemiHardTriplet
from .supervised_contrastive import SupervisedContrastive

__all__ = [
    "BatchHardTriplet",
    "Bcnh",
    "BioSyn",
    "Circle",
    "Cosine",
    "InfoNce",
    "LiftedStructure",
    "MaxMarginTriplet",
    "MultiSimilarity",
    "Nca",
    "SemiHardTriplet",
    "SupervisedContrastive",
]
