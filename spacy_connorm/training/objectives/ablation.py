"""The registered objectives that SapBERT's was compared with (Liu et al. 2021, appendix, table 6;
the defaults are those of table 9). All of that table were trained on hard pairs: `mining_margin =
0.2`, as in `MultiSimilarity`. Light to import: torch comes with the call."""

from typing import TYPE_CHECKING

from .settings import (
    NORMALIZED_EUCLIDEAN,
    check_cosine,
    check_distance,
    check_not_negative,
    check_positive,
    require_libraries,
)

if TYPE_CHECKING:
    from .masks import OnRelations


def Cosine(*, margin: float = 0.0, mining_margin: float | None = None) -> "OnRelations":
    """Build the cosine loss (Phan et al. 2019, as a loss of pairs): the mean of `1 - cos` over the
    pairs of positives, and the mean of `cos - margin` over the pairs of negatives where it is above
    0, added.

    margin (float): The cosine that negatives may have.
    mining_margin (Optional[float]): As in `MultiSimilarity`; None keeps all pairs.
    RETURNS (OnRelations): The objective.
    RAISES (ConnormError): CN800 for a setting that will not do, CN801 if a library is missing.
    """
    check_cosine(margin=margin)
    check_not_negative(mining_margin=mining_margin)
    require_libraries()
    from .cosine import CosineLoss

    return CosineLoss(margin=margin, mining_margin=mining_margin)


def MaxMarginTriplet(*, distance: str = NORMALIZED_EUCLIDEAN, margin: float = 0.2) -> "OnRelations":
    """Build the max-margin triplet loss (Basaldella et al. 2020): the mean of `d_ap - d_an +
    margin` over all triplets of the batch where it is above 0, which are the hard ones.

    distance (str): "euclidean", "normalized_euclidean" or "cosine" (1 - cos).
    margin (float): In the unit of the distance.
    RETURNS (OnRelations): The objective.
    RAISES (ConnormError): CN800 for a setting that will not do, CN801 if a library is missing.
    """
    check_distance(distance)
    check_positive(margin=margin)
    require_libraries()
    from .max_margin_triplet import MaxMarginTripletLoss

    return MaxMarginTripletLoss(distance=distance, margin=margin)


def Nca(*, scale: float = 20.0) -> "OnRelations":
    """Build the loss of neighbourhood components analysis (Goldberger et al. 2005): the mean over
    the anchors i of `-log(sum_p exp(-scale d_ip^2) / sum_a exp(-scale d_ia^2))`, a being all other
    texts and d the Euclidean distance of the vectors scaled to length 1.

    scale (float): Of the squared distances.
    RETURNS (OnRelations): The objective.
    RAISES (ConnormError): CN800 for a setting that will not do, CN801 if a library is missing.
    """
    check_positive(scale=scale)
    require_libraries()
    from .nca import NcaLoss

    return NcaLoss(scale=scale)


def LiftedStructure(*, margin: float = 0.5, mining_margin: float | None = None) -> "OnRelations":
    """Build the lifted structure loss (Oh Song et al. 2016): the mean over the pairs
    (a, p) of `max(0, J)^2 / 2`, where J is d_ap plus the log of the sum of `exp(margin - d)` over
    the negatives of both, d being the Euclidean distance of the vectors scaled to length 1.

    margin (float): In the unit of the distance.
    mining_margin (Optional[float]): As in `MultiSimilarity`; None keeps all pairs.
    RETURNS (OnRelations): The objective.
    RAISES (ConnormError): CN800 for a setting that will not do, CN801 if a library is missing.
    """
    check_positive(margin=margin)
    check_not_negative(mining_margin=mining_margin)
    require_libraries()
    from .lifted_structure import LiftedStructureLoss

    return LiftedStructureLoss(margin=margin, mining_margin=mining_margin)


def InfoNce(*, temperature: float = 0.07, mining_margin: float | None = None) -> "OnRelations":
    """Build InfoNCE (Oord et al. 2018): with S the cosines over the temperature, the mean over the
    pairs (a, p) of `-log(exp(S_ap) / (exp(S_ap) + sum_n exp(S_an)))`.

    temperature (float): Divides the cosines.
    mining_margin (Optional[float]): As in `MultiSimilarity`; None keeps all pairs.
    RETURNS (OnRelations): The objective.
    RAISES (ConnormError): CN800 for a setting that will not do, CN801 if a library is missing.
    """
    check_positive(temperature=temperature)
    check_not_negative(mining_margin=mining_margin)
    require_libraries()
    from .info_nce import InfoNceLoss

    return InfoNceLoss(temperature=temperature, mining_margin=mining_margin)


def Circle(
    *, m: float = 0.25, gamma: float = 256.0, mining_margin: float | None = None
) -> "OnRelations":
    """Build the circle loss (Sun et al. 2020): with S the cosines, the mean over
    the anchors of `log(1 + sum_n exp(gamma [S_an + m] (S_an - m)) sum_p exp(-gamma [1 + m - S_ap]
    (S_ap - 1 + m)))`. What is in brackets is not less than 0, and a weight through which no
    gradients flow.

    m (float): The relaxation.
    gamma (float): The scale.
    mining_margin (Optional[float]): As in `MultiSimilarity`; None keeps all pairs.
    RETURNS (OnRelations): The objective.
    RAISES (ConnormError): CN800 for a setting that will not do, CN801 if a library is missing.
    """
    check_not_negative(m=m, mining_margin=mining_margin)
    check_positive(gamma=gamma)
    require_libraries()
    from .circle import CircleLoss

    return CircleLoss(m=m, gamma=gamma, mining_margin=mining_margin)
