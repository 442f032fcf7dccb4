"""Gold ids, predictions and agreement of answers."""

from collections.abc import Sequence

import numpy as np

from _common.datasets import Data
from spacy_connorm.concepts import NIL, Candidate
from spacy_connorm.evaluation import Gold, KnownConcept, Prediction, read_gold
from spacy_connorm.evaluation.metrics import paired_bootstrap
from spacy_connorm.evaluation.report import Row, percent

# Candidates of a mention. For MRR, a right concept further down counts as missing.
DEPTH = 20


def read_standard(data: Data) -> list[Gold]:
    """RETURNS (List[Gold]): The gold ids of each mention to score."""
    gold_ids = {gold_id for mention in data.mentions for gold_id in mention.concept_ids}
    concepts = {gold_id: data.ontology[gold_id] for gold_id in gold_ids if gold_id in data.ontology}
    known = {
        gold_id: KnownConcept(concept.concept_id, concept.canonical_name, in_ontology=True)
        for gold_id, concept in concepts.items()
    }
    seen = {_key(text) for text, _ in data.synonyms}
    return [read_gold(mention, known, seen=_key(mention.text) in seen) for mention in data.mentions]


def _key(text: str) -> str:
    return " ".join(text.lower().split())


def predict(found: Sequence[Sequence[Candidate]]) -> list[Prediction]:
    """RETURNS (List[Prediction]): The predictions of a pipeline that finds these candidates."""
    return [
        Prediction(candidates, candidates[0].concept_id if candidates else NIL)
        for candidates in found
    ]


def compare_with_published(right: np.ndarray, score: str, published: float) -> Row:
    """Compare a score with a published number.

    right (Floats1d): (n,) 1.0 for a right mention, 0.0 for others.
    score (str): The score's name.
    published (float): The number, in percent.
    RETURNS (Dict[str, Any]): The columns of `--against`: what it is compared with, the difference,
        its 95 % interval in percent, and p.
    """
    # The run alone is resampled, as in Xu and Bethard (2021, section 6). What chance had in the
    # other number is not known, so p is smaller than that of a paired comparison would be.
    other = np.full(len(right), published / 100)
    difference, (low, high), p = paired_bootstrap(right, other)
    return {
        "against": f"{score}={published:g}",
        "difference": percent(difference),
        "difference_low": percent(low),
        "difference_high": percent(high),
        "p": f"{p:.4f}",
    }
