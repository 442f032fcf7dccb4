"""`connorm evaluate --lexical-weight`: what n-grams should count in a hybrid encoder's scores."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

from spacy.language import Language

from ...encoders.hybrid import reweighed
from ...pipeline.concept_normalizer import ConceptNormalizer
from ...pipeline.loading import find_normalizer, load_pipeline
from .. import read_gold
from ..lexical_weight import best_weight, score_weights, weight_rows
from ..sections import Section
from .gold import find_known, find_seen
from .queries import answer_queries, read_queries


class Weighed(NamedTuple):
    """What came of several weights.

    section (Section): One row a weight.
    best (float): The best of them.
    """

    section: Section
    best: float


def weigh_pipeline(
    source: str, path: Path, weights: Sequence[float], *, component: str | None = None
) -> Weighed:
    """Score a pipeline with one lexical weight after the other.

    source (str): An installed package, or a folder; nothing in it is changed.
    path (Path): A `.spacy` file with gold ids.
    weights (Sequence[float]): The weights, beside the pipeline's own.
    component (Optional[str]): Which concept normalizer, if there are several.
    RETURNS (Weighed): What comes of each.
    RAISES (ConnormError): CN313 if the encoder is no hybrid, CN309 for a weight under 0, CN600 for
        a corpus without gold ids.
    """
    nlp = load_pipeline(source)
    normalizer = find_normalizer(nlp, component=component)
    queries = read_queries(path, nlp, normalizer)
    mentions = [query.mention for query in queries]
    known = find_known(normalizer.lookup, mentions)
    seen = find_seen(normalizer.lookup, mentions)
    pairs = zip(mentions, seen, strict=True)
    gold = [read_gold(mention, known, seen=each) for mention, each in pairs]
    ask = partial(answer_queries, normalizer, queries)
    scores = score_weights(normalizer.lookup, gold, ask, weights)
    section = Section(f"Lexical weights on {path.name}, percent", weight_rows(scores))
    return Weighed(section, best_weight(scores))


def reweigh(nlp: Language, normalizer: ConceptNormalizer, weight: float) -> None:
    """Give a pipeline's hybrid encoder another weight, and its config, so that it is saved.

    nlp (Language): The pipeline.
    normalizer (ConceptNormalizer): Its component.
    weight (float): What a lexical cosine is to count.
    """
    (name,) = (name for name, pipe in nlp.pipeline if pipe is normalizer)
    nlp.get_pipe_config(name)["encoder"]["lexical_weight"] = weight
    normalizer.lookup.use(reweighed(normalizer.lookup.encoder, weight))
