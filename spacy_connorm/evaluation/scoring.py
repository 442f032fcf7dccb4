"""Asking a pipeline about the mentions of a corpus, and scoring its answers."""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from spacy.language import Language

from ..documents.mentions import Mention
from ..errors import ConnormError, Errors
from ..index.metrics import COSINE, metric_of
from ..pipeline.concept_normalizer import ConceptNormalizer
from .gold import concept_facts, find_known, read_all_gold, read_data, warn_of_strange_ids
from .metrics import Evaluation, score_predictions
from .mistakes import list_mistakes
from .protocol import Gold, Prediction
from .queries import DEPTH, MentionQuery, answer_queries, join_parts, read_queries
from .report import Row, comparison_row, score_row
from .sections import AS_WRITTEN, OPEN


class Request(NamedTuple):
    """What to ask each pipeline.

    corpus_path (Path): A `.spacy` file with gold ids.
    train_path (Optional[Path]): D, to find unseen mentions; the index's if None.
    searches (Sequence[str]): Searches to score alone, besides the pipeline's sieve.
    grid (bool): Score the paper's fourteen searches instead.
    threshold (Optional[float]): Of the grid's sieves; the pipeline's first threshold if None.
    protocol (str): How mentions are read, see `queries.read_queries`.
    """

    corpus_path: Path
    train_path: Path | None = None
    searches: Sequence[str] = ()
    grid: bool = False
    threshold: float | None = None
    protocol: str = OPEN

    @property
    def shown_protocol(self) -> str:
        """RETURNS (str): The protocol's name in tables. The grid searches for mentions as they are
        written, without long forms and parts.
        """
        return AS_WRITTEN if self.grid and self.protocol == OPEN else self.protocol


class Run(NamedTuple):
    """One search or sieve, scored.

    name (str): The search or the sieve.
    threshold (Optional[float]): Of the sieve's first search; None for a search.
    evaluation (Evaluation): The scores.
    """

    name: str
    threshold: float | None
    evaluation: Evaluation


class Scored(NamedTuple):
    """A pipeline, scored on a corpus.

    mentions (List[Mention]): The mentions that it read.
    own (Run): Its sieve.
    runs (List[Run]): What was requested; without the grid, the sieve first.
    mistakes (List[Dict[str, Any]]): The wrong answers of its sieve and of requested searches, see
        `mistakes`.
    """

    mentions: list[Mention]
    own: Run
    runs: list[Run]
    mistakes: list[Row]


# The name of a run, the threshold of its first search, its answers.
Answered = tuple[str, float | None, list[Prediction]]


def score(nlp: Language, normalizer: ConceptNormalizer, request: Request) -> Scored:
    """Ask a pipeline, and score its answers.

    nlp (Language): The pipeline.
    normalizer (ConceptNormalizer): Answers, within its types and branches.
    request (Request): What to ask.
    RETURNS (Scored): The scores.
    RAISES (ConnormError): CN408 for a search that the index was built without, CN500 for an unknown
        one, CN502 for a threshold that is no cosine, CN600 for a corpus without gold ids.
    """
    path = request.corpus_path
    queries = read_queries(path, nlp, normalizer, protocol=request.protocol)
    mentions = [query.mention for query in queries]
    concepts = find_known(normalizer.lookup, mentions)
    if not concepts:
        ((example, _),) = normalizer.lookup.index.store.labels([0]).values()
        warn_of_strange_ids(mentions, path, example=example)
    data = None if request.train_path is None else read_data(request.train_path, normalizer)
    gold = read_all_gold(normalizer.lookup, mentions, data=data)
    answer = answer_grid if request.grid else answer_searches
    own, *others = answer(normalizer, queries, request)
    names = {concept.concept_id: concept.name for concept in concepts.values()}
    facts = concept_facts(normalizer, data=data)
    listed = [own] if request.grid else [own, *others]
    mistakes = [
        {"run": name, "protocol": request.shown_protocol, **row}
        for name, _, predictions in listed
        for row in list_mistakes(gold, predictions, names, facts)
    ]
    first = _score(gold, own)
    runs = [_score(gold, other) for other in others]
    return Scored(mentions, first, runs if request.grid else [first, *runs], mistakes)


def _score(gold: Sequence[Gold], answered: Answered) -> Run:
    name, threshold, predictions = answered
    return Run(name, threshold, score_predictions(gold, predictions))


def answer_searches(
    normalizer: ConceptNormalizer, queries: Sequence[MentionQuery], request: Request
) -> Iterator[Answered]:
    """Search for mentions with the pipeline's sieve, then with single searches.

    normalizer (ConceptNormalizer): Answers.
    queries (Sequence[MentionQuery]): The mentions.
    request (Request): Which searches.
    YIELDS (Tuple[str, Optional[float], List[Prediction]]): As `Answered`.
    RAISES (ConnormError): CN408 for a search that the index was built without, CN500 for an unknown
        one.
    """
    check_searches(request.searches)
    for name in request.searches:
        normalizer.lookup.index.searcher(name)
    yield (*_own_name(normalizer), answer_queries(normalizer, queries))
    for name in dict.fromkeys(request.searches):
        yield name, None, answer_queries(normalizer, queries, name)


def check_searches(names: Iterable[str]) -> None:
    """Check the names of searches.

    names (Iterable[str]): The names.
    RAISES (ConnormError): CN500 for an unknown search.
    """
    from ..index.search import Search

    for name in names:
        Search(name)


def _own_name(normalizer: ConceptNormalizer) -> tuple[str, float | None]:
    sieve = normalizer.lookup.sieve
    return "+".join(sieve.searches), sieve.thresholds[0] if sieve.thresholds else None


def answer_grid(
    normalizer: ConceptNormalizer, queries: Sequence[MentionQuery], request: Request
) -> Iterator[Answered]:
    """Search for mentions as they are written, with the pipeline's sieve and then with the paper's
    fourteen searches and sieves. Each distinct text is encoded once.

    normalizer (ConceptNormalizer): Answers; its index may lack some of the searches.
    queries (Sequence[MentionQuery]): The mentions.
    request (Request): Has the threshold.
    YIELDS (Tuple[str, Optional[float], List[Prediction]]): As `Answered`.
    RAISES (ConnormError): CN502 for a threshold that is no cosine.
    """
    from ..linker.sieve import best_cosine
    from .grid import grid_sieves, own_threshold, search_all

    own = normalizer.lookup.sieve
    threshold = own_threshold(own) if request.threshold is None else request.threshold
    sieves = grid_sieves(threshold)
    if metric_of(normalizer.lookup.backend) != COSINE:
        # No sieve of several searches can be set (CN421): its threshold is a cosine.
        sieves = {name: sieve for name, sieve in sieves.items() if not sieve.thresholds}
    limits = {key: normalizer.cfg[key] for key in ("types", "branches")}
    asked = [query.texts or (query.mention.text,) for query in queries]
    texts = [text for each in asked for text in each]
    found = search_all(normalizer.lookup, texts, top_k=DEPTH, **limits)
    name, first_threshold = _own_name(normalizer)
    rows = [(name, first_threshold, own)]
    rows += [
        (name, sieve.thresholds[0] if sieve.thresholds else None, sieve)
        for name, sieve in sieves.items()
    ]
    for name, threshold_shown, sieve in rows:
        answers = join_parts(sieve.choose(found, best_cosine), map(len, asked))
        yield name, threshold_shown, [Prediction(each, normalizer.decide(each)) for each in answers]


def to_rows(scored: dict[str, Scored], corpus: str, *, protocol: str) -> list[Row]:
    """Turn runs into flat rows. The first pipeline's sieve is the reference for its other runs.
    Another pipeline's run is compared with the first pipeline's run of the same name, or with its
    sieve if it has none.

    scored (Dict[str, Scored]): By the pipelines' labels.
    corpus (str): What the corpus is called.
    protocol (str): How its mentions were read.
    RETURNS (List[Dict[str, Any]]): "corpus", "pipeline", "search", the scores, "protocol",
        "threshold", and "against" with the comparison.
    """
    (first_label, first), *_ = scored.items()
    by_name = {run.name: run for run in first.runs}
    rows = []
    for label, each in scored.items():
        for run in each.runs:
            head = {"corpus": corpus, "pipeline": label, "search": run.name}
            row = {**head, **score_row(run.evaluation)}
            row |= {"protocol": protocol, "threshold": run.threshold}
            against = first.own if label == first_label else by_name.get(run.name, first.own)
            is_reference = label == first_label and run[:2] == first.own[:2]
            if not is_reference:
                row["against"] = (
                    f"{first_label} {against.name}" if len(scored) > 1 else against.name
                )
                row.update(comparison_row(run.evaluation, against.evaluation))
            rows.append(row)
    return rows


def require_same_mentions(scored: dict[str, Scored], path: Path) -> None:
    """Check that pipelines read the same mentions, so that they can be compared.

    scored (Dict[str, Scored]): By the pipelines' labels.
    path (Path): The corpus.
    RAISES (ConnormError): CN601 if the mentions with gold ids differ.
    """
    (first, expected), *others = (
        (label, [mention[:3] for mention in each.mentions if mention.concept_ids])
        for label, each in scored.items()
    )
    for other, found in others:
        if found != expected:
            sizes = {"expected": len(expected), "found": len(found)}
            raise ConnormError(Errors.CN601.format(first=first, other=other, path=path, **sizes))
