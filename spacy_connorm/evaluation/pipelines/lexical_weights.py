"""What n-grams should count in the scores of a pipeline's hybrid encoder."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

from spacy.language import Language

from ...encoders.hybrid import reweighed
from ...pipeline.concept_normalizer import ConceptNormalizer
from ...pipeline.loading import find_normalizer, load_pipeline
from ..lexical_weight import best_weight, score_weights, weight_rows
from ..sections import Section
from .gold import read_all_gold
from .queries import answer_queries, read_queries


class Weighed(NamedTuple):
    """Scores by lexical weight.

    section (Section): One row a weight.
    best (float): The best weight.
    """

    section: Section
    best: float


def weigh_pipeline(
    pipeline: str | Path, path: Path, weights: Sequence[float], *, component: str | None = None
) -> Weighed:
    """Score a pipeline with several lexical weights.

    pipeline (Union[str, Path]): An installed package, or a pipeline's folder; it is not changed.
    path (Path): A `.spacy` file with gold ids.
    weights (Sequence[float]): The weights; the pipeline's own is scored too.
    component (Optional[str]): Which concept normalizer, if there are several.
    RETURNS (Weighed): The scores.
    RAISES (ConnormError): CN313 if the encoder is no hybrid, CN309 for a weight under 0, CN600 for
        a corpus without gold ids.
    """
    nlp = load_pipeline(pipeline)
    normalizer = find_normalizer(nlp, component=component)
    queries = read_queries(path, nlp, normalizer)
    gold = read_all_gold(normalizer.lookup, [query.mention for query in queries])
    ask = partial(answer_queries, normalizer, queries)
    scores = score_weights(normalizer.lookup, gold, ask, weights)
    section = Section(f"Lexical weights on {path.name}, percent", weight_rows(scores))
    return Weighed(section, best_weight(scores))


def reweigh(nlp: Language, normalizer: ConceptNormalizer, weight: float) -> None:
    """Set the lexical weight of a pipeline's hybrid encoder, in its config too.

    nlp (Language): The pipeline.
    normalizer (ConceptNormalizer): Its component.
    weight (float): What a lexical cosine counts.
    """
    (name,) = (name for name, pipe in nlp.pipeline if pipe is normalizer)
    nlp.get_pipe_config(name)["encoder"]["lexical_weight"] = weight
    normalizer.lookup.use(reweighed(normalizer.lookup.encoder, weight))
