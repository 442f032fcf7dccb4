from .annotated_counts import AnnotatedCounts as AnnotatedCounts
from .features import candidate_features as candidate_features
from .model import MentionBatch as MentionBatch
from .model import build_reranker as build_reranker
from .ranking_loss import ranking_loss as ranking_loss
