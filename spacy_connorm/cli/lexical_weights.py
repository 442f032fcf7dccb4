"""`connorm evaluate --lexical-weight`: what n-grams should count in a hybrid encoder's scores."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path

from ..evaluation import read_gold
from ..evaluation.lexical_weight import score_weights, weight_rows
from ..evaluation.sections import Section
from .gold import find_known, find_seen
from .pipelines import find_normalizer, load_pipeline
from .questions import predict, read_questions


def weigh_pipeline(
    source: str, path: Path, weights: Sequence[float], *, component: str | None = None
) -> Section:
    """Score a pipeline with one lexical weight after the other.

    source (str): An installed package, or a folder; nothing in it is changed.
    path (Path): A `.spacy` file with gold ids.
    weights (Sequence[float]): The weights, beside the pipeline's own.
    component (Optional[str]): Which concept normalizer, if there are several.
    RETURNS (Section): One row a weight.
    RAISES (ConnormError): CN313 if the encoder is no hybrid, CN309 for a weight under 0, CN600 for
        a corpus without gold ids.
    """
    nlp = load_pipeline(source)
    normalizer = find_normalizer(nlp, component=component)
    questions = read_questions(path, nlp, normalizer)
    mentions = [question.mention for question in questions]
    known = find_known(normalizer.lookup, mentions)
    seen = find_seen(normalizer.lookup, mentions)
    pairs = zip(mentions, seen, strict=True)
    gold = [read_gold(mention, known, seen=each) for mention, each in pairs]
    ask = partial(predict, normalizer, questions)
    scores = score_weights(normalizer.lookup, gold, ask, weights)
    return Section(f"Lexical weights on {path.name}, percent", weight_rows(scores))
