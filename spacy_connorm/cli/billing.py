"""What the tables of `connorm search` and `connorm annotate` say of codes that can't be billed."""

from collections.abc import Callable
from functools import cache

from ..ontology.icd10cm import NOT_BILLABLE
from ..pipeline.concept_normalizer import ConceptNormalizer


def billing_of(normalizer: ConceptNormalizer) -> Callable[[str], str]:
    """Make a function that says whether a code can be billed.

    normalizer (ConceptNormalizer): The normalizer whose ontology marks such codes.
    RETURNS (Callable[[str], str]): Returns "not valid" for the id of a code that is too broad to be
        billed, and nothing for all other concepts.
    """

    @cache
    def billing(concept_id: str) -> str:
        is_broad = normalizer.concept(concept_id).definition == NOT_BILLABLE
        return "not valid" if is_broad else ""

    return billing
