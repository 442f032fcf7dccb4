"""The registered objectives of the two papers. Light to import: torch comes with the call."""

from typing import TYPE_CHECKING

from .settings import (
    EUCLIDEAN,
    NORMALIZED_EUCLIDEAN,
    check_cosine,
    check_distance,
    check_not_negative,
    check_positive,
    require_libraries,
)

if TYPE_CHECKING:
    from .masks import OnRelations


def BatchHardTriplet(*, distance: str = EUCLIDEAN, margin: float | None = None) -> "OnRelations":
    """Build the objective of Xu and Bethard 2021, section 3.1: for each anchor the farthest
    positive and the nearest negative of the batch, `ln(1 + exp(d_ap - d_an))`, the mean over the
    anchors.

    distance (str): "euclidean" (the paper's), "normalized_euclidean" or "cosine" (1 - cos).
    margin (Optional[float]): `max(0, d_ap - d_an + margin)` instead, in the unit of the distance.
    RETURNS (OnRelations): The objective.
    RAISES (ConnormError): CN800 for a setting that will not do, CN801 if a library is missing.
    """
    check_distance(distance)
    check_not_negative(margin=margin)
    require_libraries()
    from .batch_hard_triplet import BatchHardTripletLoss

    return BatchHardTripletLoss(distance=distance, margin=margin)


def SemiHardTriplet(*, distance: str = NORMALIZED_EUCLIDEAN, margin: float = 0.2) -> "OnRelations":
    """Build the objective after FaceNet's mining (Schroff et al. 2015, section 3.2): for each pair
    of anchor and positive the nearest negative with `d_ap < d_an < d_ap + margin`, `d_ap - d_an +
    margin`, the mean over the pairs that have one.

    distance (str): "euclidean", "normalized_euclidean" or "cosine" (1 - cos).
    margin (float): In the unit of the distance.
    RETURNS (OnRelations): The objective.
    RAISES (ConnormError): CN800 for a setting that will not do, CN801 if a library is missing.
    """
    check_distance(distance)
    check_positive(margin=margin)
    require_libraries()
    from .semi_hard_triplet import SemiHardTripletLoss

    return SemiHardTripletLoss(distance=distance, margin=margin)


def MultiSimilarity(
    *,
    alpha: float = 2.0,
    beta: float = 50.0,
    base: float = 0.5,
    mining_margin: float | None = 0.2,
) -> "OnRelations":
    """Build the objective of SapBERT (Liu et al. 2021, section 2): with S the cosines, the mean
    over all texts i of `log(1 + sum_p exp(-alpha (S_ip - base))) / alpha + log(1 + sum_n exp(beta
    (S_in - base))) / beta` over the hard pairs of i. The paper prints alpha with the negatives and
    beta with the positives; its code and the loss's own paper (Wang et al. 2019) have them as here.

    alpha (float): Weighs positives by their similarity.
    beta (float): Weighs negatives by their similarity.
    base (float): The paper's epsilon.
    mining_margin (Optional[float]): Pairs are hard that are in a triplet with `d_ap + margin >=
        d_an`, in the Euclidean distance of the vectors scaled to length 1; the paper's lambda of
        -0.2. None keeps all pairs.
    RETURNS (OnRelations): The objective.
    RAISES (ConnormError): CN800 for a setting that will not do, CN801 if a library is missing.
    """
    check_positive(alpha=alpha, beta=beta)
    check_cosine(base=base)
    check_not_negative(mining_margin=mining_margin)
    require_libraries()
    from .multi_similarity import MultiSimilarityLoss

    return MultiSimilarityLoss(alpha=alpha, beta=beta, base=base, mining_margin=mining_margin)


def SupervisedContrastive(*, temperature: float = 0.05) -> "OnRelations":
    """Build the objective of Khosla et al. 2020, equation 2: with S the cosines over the
    temperature, the mean over the anchors i of `log(sum_a exp(S_ia)) - mean_p S_ip`, a being all
    other texts.

    temperature (float): Divides the cosines.
    RETURNS (OnRelations): The objective.
    RAISES (ConnormError): CN800 for a setting that will not do, CN801 if a library is missing.
    """
    check_positive(temperature=temperature)
    require_libraries()
    from .supervised_contrastive import SupervisedContrastiveLoss

    return SupervisedContrastiveLoss(temperature=temperature)
