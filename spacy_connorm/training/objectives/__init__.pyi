from .conceptual_grounding import ConceptualGrounding as ConceptualGrounding
from .pair_losses import BatchHardTriplet as BatchHardTriplet
from .pair_losses import InfoNce as InfoNce
from .pair_losses import MultiSimilarity as MultiSimilarity
from .pair_losses import SupervisedContrastive as SupervisedContrastive
from .ranking import Bcnh as Bcnh
from .ranking import BioSyn as BioSyn
