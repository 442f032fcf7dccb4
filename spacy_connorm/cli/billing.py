"""What the tables of `connorm search` and `connorm annotate` say of codes that can't be billed."""

from ..ontology.icd10cm import NOT_BILLABLE
from ..pipeline.concept_normalizer import ConceptNormalizer


def billing_of(normalizer: ConceptNormalizer, concept_id: str) -> str:
    """Tell whether a code can be billed.

    normalizer (ConceptNormalizer): The normalizer whose ontology marks such codes.
    concept_id (str): The id of a concept.
    RETURNS (str): "not valid" for a code that is too broad to be billed; empty for all other
        concepts.
    """
    is_broad = normalizer.concept(concept_id).definition == NOT_BILLABLE
    return "not valid" if is_broad else ""
