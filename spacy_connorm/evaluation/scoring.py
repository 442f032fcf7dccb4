"""Asking pipelines about the mentions of a corpus, and scoring their answers."""

import gc
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from spacy.language import Language

from ..documents.mentions import Mention
from ..errors import ConnormError, Errors
from ..index.metrics import COSINE, metric_of
from ..linker.sieve import Sieve
from ..pipeline.concept_normalizer import ConceptNormalizer
from ..pipeline.loading import find_normalizer, load_pipeline
from .gold import concept_facts, find_known, read_all_gold, read_data, warn_of_unknown_ids
from .metrics import Evaluation, score_predictions
from .mistakes import list_mistakes
from .pictures import Drawing
from .protocol import Prediction
from .queries import DEPTH, MentionQuery, answer_queries, join_parts, read_queries
from .report import AS_WRITTEN, OPEN, Row, comparison_row, score_row

if TYPE_CHECKING:
    from .neighbours import Neighbour


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
        """The protocol's name in tables. The grid searches for mentions as they are
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


def name_pipelines(sources: Sequence[str | Path], labels: Sequence[str]) -> dict[str, str]:
    """Label pipelines: with the labels given, in order, then with the names of their folders.

    sources (Sequence[Union[str, Path]]): Installed packages and folders.
    labels (Sequence[str]): At most as many.
    RETURNS (Dict[str, str]): The sources by label.
    RAISES (ConnormError): CN731 for too many labels, and for one that occurs twice.
    """
    own_names = [Path(source).resolve().name for source in sources[len(labels) :]]
    names = [*labels, *own_names]
    if len(names) > len(sources) or len(set(names)) < len(names):
        raise ConnormError(Errors.CN731.format(names=", ".join(names), pipelines=len(sources)))
    return dict(zip(names, map(str, sources), strict=True))


def ask_pipelines(
    pipelines: Mapping[str, str],
    *,
    component: str | None = None,
    request: Request | None = None,
    neighbours: Sequence[str] = (),
    drawing: Drawing | None = None,
) -> tuple[dict[str, Scored], dict[str, dict[str, list["Neighbour"]]]]:
    """Load the pipelines one after the other, so that only one is in memory, and ask each of them.

    pipelines (Mapping[str, str]): Packages and folders by label, at least one.
    component (Optional[str]): Which concept normalizer, if there are several.
    request (Optional[Request]): What to score.
    neighbours (Sequence[str]): Mentions whose nearest texts to find.
    drawing (Optional[Drawing]): Gets a panel of each.
    RETURNS (Tuple[Dict[str, Scored], Dict[str, Dict[str, List[Neighbour]]]]): The scores by
        pipeline, and the nearest texts by mention and pipeline.
    RAISES (ConnormError): CN601 if the pipelines read different mentions, and the errors of
        `score`.
    """
    scored: dict[str, Scored] = {}
    near: dict[str, dict[str, list[Neighbour]]] = {mention: {} for mention in neighbours}
    for label, source in pipelines.items():
        nlp = load_pipeline(source)
        normalizer = find_normalizer(nlp, component=component)
        if request is not None:
            scored[label] = score(nlp, normalizer, request)
            _require_same_mentions(scored, request.corpus_path)
        if near:
            from .neighbours import nearest_texts

            for mention, found in near.items():
                found[label] = nearest_texts(normalizer.lookup, mention)
        if drawing is not None:
            drawing.add(normalizer, label)
        # Free what it mapped and loaded before the next one.
        del nlp, normalizer
        gc.collect()
    return scored, near


def score(nlp: Language, normalizer: ConceptNormalizer, request: Request) -> Scored:
    """Ask a pipeline, and score its answers.

    nlp (Language): The pipeline.
    normalizer (ConceptNormalizer): Answers, within its types and branches.
    request (Request): What to ask.
    RETURNS (Scored): The scores.
    RAISES (ConnormError): CN408 for a search that the index was built without, CN006 for a
        threshold that is no cosine, CN600 for a corpus without gold ids.
    """
    path = request.corpus_path
    queries = read_queries(path, nlp, normalizer, protocol=request.protocol)
    mentions = [query.mention for query in queries]
    concepts = find_known(normalizer.lookup, mentions)
    if not concepts:
        ((example, _),) = normalizer.lookup.index.store.labels([0]).values()
        warn_of_unknown_ids(mentions, path, example=example)
    data = None if request.train_path is None else read_data(request.train_path, normalizer)
    gold = read_all_gold(normalizer.lookup, mentions, data=data)
    answer = answer_grid if request.grid else answer_searches
    answered = list(answer(normalizer, queries, request))
    names = {concept.concept_id: concept.name for concept in concepts.values()}
    facts = concept_facts(normalizer, data=data)
    mistakes = [
        {"run": name, "protocol": request.shown_protocol, **row}
        for name, _, predictions in (answered[:1] if request.grid else answered)
        for row in list_mistakes(gold, predictions, names, facts)
    ]
    own, *others = (
        Run(name, threshold, score_predictions(gold, predictions))
        for name, threshold, predictions in answered
    )
    return Scored(mentions, own, others if request.grid else [own, *others], mistakes)


def answer_searches(
    normalizer: ConceptNormalizer, queries: Sequence[MentionQuery], request: Request
) -> Iterator[Answered]:
    """Search for mentions with the pipeline's sieve, then with single searches.

    normalizer (ConceptNormalizer): Answers.
    queries (Sequence[MentionQuery]): The mentions.
    request (Request): Which searches.
    YIELDS (Tuple[str, Optional[float], List[Prediction]]): As `Answered`.
    RAISES (ConnormError): CN408 for a search that the index was built without.
    """
    for name in request.searches:
        normalizer.lookup.index.searcher(name)
    yield (*_describe(normalizer.lookup.sieve), answer_queries(normalizer, queries))
    for name in dict.fromkeys(request.searches):
        yield name, None, answer_queries(normalizer, queries, name)


def check_searches(names: Iterable[str]) -> None:
    """Check the names of searches.

    names (Iterable[str]): The names.
    RAISES (ConnormError): CN118 for an unknown search.
    """
    from ..index.search import Search

    for name in names:
        Search(name)


def _describe(sieve: Sieve) -> tuple[str, float | None]:
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
    RAISES (ConnormError): CN006 for a threshold that is no cosine.
    """
    from ..linker.sieve import best_cosine
    from .grid import DEFAULT_THRESHOLD, grid_sieves, search_all

    own = normalizer.lookup.sieve
    threshold = next(iter(own.thresholds), DEFAULT_THRESHOLD)
    if request.threshold is not None:
        threshold = request.threshold
    sieves = list(grid_sieves(threshold).values())
    if metric_of(normalizer.lookup.backend) != COSINE:
        # No sieve of several searches can be set (CN421): its threshold is a cosine.
        sieves = [sieve for sieve in sieves if not sieve.thresholds]
    limits = {key: normalizer.cfg[key] for key in ("types", "branches")}
    asked = [query.texts or (query.mention.text,) for query in queries]
    texts = [text for each in asked for text in each]
    found = search_all(normalizer.lookup, texts, top_k=DEPTH, **limits)
    for sieve in (own, *sieves):
        answers = join_parts(sieve.choose(found, best_cosine), map(len, asked))
        predictions = [Prediction(each, normalizer.decide(each)) for each in answers]
        yield (*_describe(sieve), predictions)


def to_rows(scored: Mapping[str, Scored], corpus: str, *, protocol: str) -> list[Row]:
    """Turn runs into flat rows. The first pipeline's sieve is the reference for its other runs.
    Another pipeline's run is compared with the first pipeline's run of the same name, or with its
    sieve if it has none.

    scored (Mapping[str, Scored]): By the pipelines' labels.
    corpus (str): What the corpus is called.
    protocol (str): How its mentions were read.
    RETURNS (List[Dict[str, Any]]): "corpus", "pipeline", "search", the scores, "protocol",
        "threshold", and "against" with the comparison.
    """
    (first_label, first), *_ = scored.items()
    by_name = {run.name: run for run in first.runs}
    rows = []
    for label, run in ((label, run) for label, each in scored.items() for run in each.runs):
        head = {"corpus": corpus, "pipeline": label, "search": run.name}
        row = {**head, **score_row(run.evaluation)}
        row |= {"protocol": protocol, "threshold": run.threshold}
        against = first.own if label == first_label else by_name.get(run.name, first.own)
        if label != first_label or run[:2] != first.own[:2]:
            several = len(scored) > 1
            row["against"] = f"{first_label} {against.name}" if several else against.name
            row |= comparison_row(run.evaluation, against.evaluation)
        rows.append(row)
    return rows


def _require_same_mentions(scored: Mapping[str, Scored], path: Path) -> None:
    (first, expected), *others = (
        (label, [mention[:3] for mention in each.mentions if mention.concept_ids])
        for label, each in scored.items()
    )
    for other, found in others:
        if found != expected:
            sizes = {"expected": len(expected), "found": len(found)}
            raise ConnormError(Errors.CN601.format(first=first, other=other, path=path, **sizes))
