"""Score pipelines on an annotated corpus."""

import gc
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from ..documents.mentions import Mention
from ..encoders import choose_device
from ..errors import Errors, require_choice, require_ending
from ..files.atomic import require_apart, require_distinct_outputs, write_text
from ..files.folders import require_replaceable
from ..index.search import Search
from ..pipeline.loading import find_normalizer, load_pipeline
from .calibration import Calibrated, calibrate, is_calibrated
from .end_to_end import score_plain_text
from .metrics import Evaluation, find_known, read_all_gold, score_predictions, warn_of_unknown_ids
from .mistakes import concept_facts, list_mistakes
from .queries import answer_queries, read_queries
from .report import (
    BIOSYN,
    OPEN,
    Row,
    Section,
    comparison_row,
    run_sections,
    score_row,
    sections_to_markdown,
    to_json,
    to_tsv,
)


class EvaluationReport(NamedTuple):
    """The result of an evaluation.

    rows (List[Dict[str, Any]]): Scores in percent, one flat object per run; see `to_rows`.
    sections (List[Section]): The tables.
    mistakes (List[Dict[str, Any]]): Wrong answers, each with its pipeline, see `list_mistakes`.
    calibrated (Optional[Calibrated]): The fitted settings.
    """

    rows: list[Row]
    sections: list[Section]
    mistakes: list[Row]
    calibrated: Calibrated | None = None


class Run(NamedTuple):
    """One search or sieve of a pipeline with its scores.

    pipeline (str): The label of the pipeline.
    name (str): The search, or the searches of the sieve.
    threshold (Optional[float]): The threshold of the sieve's first search; None for a search.
    evaluation (Evaluation): The scores.
    mistakes (List[Dict[str, Any]]): The wrong answers, see `list_mistakes`.
    """

    pipeline: str
    name: str
    threshold: float | None
    evaluation: Evaluation
    mistakes: list[Row]


def evaluate(
    pipeline: str | Path,
    corpus_path: str | Path,
    *,
    searches: Sequence[str] = (),
    beside: Sequence[str | Path] = (),
    protocol: str = OPEN,
    json_path: str | Path | None = None,
    markdown_path: str | Path | None = None,
    errors_path: str | Path | None = None,
    calibrate_path: str | Path | None = None,
    end_to_end: bool = False,
    nested_mentions: bool = False,
    gpu_id: int = -1,
    component: str | None = None,
) -> EvaluationReport:
    """Score pipelines on the gold mentions of a corpus, leniently (any gold concept is ranked
    first, ties included) and strictly (the ids that are written are the gold ids): `connorm
    evaluate`. One pipeline is in memory at a time.

    pipeline (Union[str, Path]): An installed package, or a pipeline's folder.
    corpus_path (Union[str, Path]): A `.spacy` file with gold ids.
    searches (Sequence[str]): Searches to score separately, e.g. "O-T", in addition to the
        pipeline's sieve.
    beside (Sequence[Union[str, Path]]): Other pipelines to compare with.
    protocol (str): "open": mentions are read as in the pipeline. "biosyn": as in BioSyn, which
        looks at the gold standard.
    json_path (Optional[Union[str, Path]]): Write the scores as JSON.
    markdown_path (Optional[Union[str, Path]]): Write the tables as Markdown.
    errors_path (Optional[Union[str, Path]]): Write the wrong answers to a `.tsv` file.
    calibrate_path (Optional[Union[str, Path]]): Write a copy of the pipeline calibrated on the
        corpus; see `calibrate`.
    end_to_end (bool): Score the whole pipeline from plain text instead: mentions, mentions with
        ids, ids of documents. See `score_plain_text`.
    nested_mentions (bool): From plain text, count also the mentions inside longer ones.
    gpu_id (int): The GPU for the encoder; -1 for the CPU.
    component (Optional[str]): The concept normalizer to use, if there are several.
    RETURNS (EvaluationReport): Scores, tables and wrong answers.
    RAISES (ConnormError): CN121 if an output would replace an input, CN124 if two outputs have the
        same name, CN118 for an unknown search or protocol, CN408 for a search that the index was
        built without, CN600 for a corpus without gold ids, CN601 if pipelines read different
        mentions, CN700 to CN704 as for `load_normalizer`, CN708 for another extension, CN736 for
        a pipeline beside itself, CN733 and CN736 for options that do not go together, and the
        errors of `calibrate`.
    WARNS (ConnormWarning): CNW600 if no gold id is known, CNW701 if `end_to_end` finds no mentions.
    """
    alone = {"--beside": beside, "--protocol": protocol != OPEN}
    if end_to_end:
        _refuse("--end-to-end", {**alone, "--search": searches, "--calibrate": calibrate_path})
    elif nested_mentions:
        raise Errors.CN733(option="--nested-mentions", needed="`--end-to-end`")
    if calibrate_path is not None:
        _refuse("--calibrate", alone)
    for name in searches:
        Search(name)
    require_choice("protocol", protocol, (OPEN, BIOSYN))
    files = (json_path, markdown_path, errors_path)
    require_distinct_outputs(*files, calibrate_path)
    for path in files:
        if path is not None and Path(path).is_dir():
            raise Errors.CN105(path=path)
    if errors_path is not None:
        require_ending(errors_path, [".tsv"])
    if calibrate_path is not None:
        require_replaceable(Path(calibrate_path), is_ours=is_calibrated)
    for path in (*files, calibrate_path):
        require_apart(path, pipeline, *beside, corpus_path)
    corpus = Path(corpus_path)
    pipelines = name_pipelines([pipeline, *beside])
    choose_device(gpu_id)
    if end_to_end:
        plain = score_plain_text(
            pipeline, corpus, component=component, nested_mentions=nested_mentions
        )
        (label,) = pipelines
        row = {"corpus": corpus.stem, "pipeline": label, **plain.row}
        mistakes = [{"pipeline": label, **mistake} for mistake in plain.mistakes]
        report = EvaluationReport([row], plain.sections, mistakes)
    else:
        runs, mentions = list[Run](), dict[str, list[Mention]]()
        for label, source in pipelines.items():
            mentions[label], scored = score(label, source, corpus, searches, protocol, component)
            _require_same_mentions(mentions, corpus)
            runs += scored
            # Free its mapped and loaded data before the next one.
            gc.collect()
        rows = to_rows(runs, corpus.stem, protocol=protocol)
        mistakes = [row for run in runs for row in run.mistakes]
        report = EvaluationReport(rows, run_sections(rows), mistakes)
    if calibrate_path is not None:
        fitted = calibrate(pipeline, corpus, calibrate_path, component=component)
        sections = [*report.sections, *fitted.sections]
        report = report._replace(sections=sections, calibrated=fitted)
    if json_path is not None:
        write_text(json_path, to_json(report.rows))
    if markdown_path is not None:
        write_text(markdown_path, sections_to_markdown(report.sections))
    if errors_path is not None:
        write_text(errors_path, to_tsv(report.mistakes))
    return report


def _refuse(option: str, others: Mapping[str, object]) -> None:
    for other, value in others.items():
        if value:
            raise Errors.CN736(option=option, other=other)


def name_pipelines(sources: Sequence[str | Path]) -> dict[str, str]:
    """Label pipelines with the names of their folders or, if these are the same, with their paths.

    sources (Sequence[Union[str, Path]]): Installed packages and folders.
    RETURNS (Dict[str, str]): The sources by label.
    RAISES (ConnormError): CN736 for a pipeline beside itself.
    """
    names = [Path(source).resolve().name for source in sources]
    if len(set(names)) < len(names):
        names = list(map(str, sources))
    if len(set(names)) < len(names):
        raise Errors.CN736(option="--beside", other=names[0])
    return dict(zip(names, map(str, sources), strict=True))


def score(
    label: str,
    source: str,
    corpus: Path,
    searches: Sequence[str],
    protocol: str,
    component: str | None,
) -> tuple[list[Mention], list[Run]]:
    """Score a pipeline's answers for the mentions of a corpus.

    label (str): The name of the pipeline.
    source (str): The package or folder. Its normalizer answers, within its types and branches.
    corpus (Path): A `.spacy` file with gold ids.
    searches (Sequence[str]): Searches to score separately, in addition to the pipeline's sieve.
    protocol (str): How mentions are read, see `read_queries`.
    component (Optional[str]): The concept normalizer to use, if there are several.
    RETURNS (Tuple[List[Mention], List[Run]]): The mentions that it read, and the scores of its
        sieve, then of the searches.
    RAISES (ConnormError): CN408 for a search that the index was built without, CN600 for a corpus
        without gold ids.
    """
    nlp = load_pipeline(source)
    normalizer = find_normalizer(nlp, component=component)
    lookup = normalizer.lookup
    for name in searches:
        lookup.index.searcher(name)
    queries = read_queries(corpus, nlp, normalizer, protocol=protocol)
    mentions = [query.mention for query in queries]
    concepts = find_known(lookup, mentions)
    if not concepts:
        ((example, _),) = lookup.index.store.labels([0]).values()
        warn_of_unknown_ids(mentions, corpus, example=example)
    gold = read_all_gold(lookup, mentions)
    names = {concept.concept_id: concept.name for concept in concepts.values()}
    facts = concept_facts(lookup)
    runs = []
    for search in (None, *dict.fromkeys(searches)):
        name = search or "+".join(lookup.sieve.searches)
        threshold = next(iter(lookup.sieve.thresholds), None) if search is None else None
        predictions = answer_queries(normalizer, queries, search)
        head = {"pipeline": label, "run": name, "protocol": protocol}
        mistakes = [{**head, **row} for row in list_mistakes(gold, predictions, names, facts)]
        evaluation = score_predictions(gold, predictions)
        runs.append(Run(label, name, threshold, evaluation, mistakes))
    return mentions, runs


def to_rows(runs: Sequence[Run], corpus: str, *, protocol: str) -> list[Row]:
    """Convert runs to flat rows. The first pipeline's sieve is the reference for its other runs.
    The run of another pipeline is compared with the first pipeline's run of the same name, or with
    its sieve if it has none.

    runs (Sequence[Run]): The runs of all pipelines.
    corpus (str): The name of the corpus.
    protocol (str): How its mentions were read.
    RETURNS (List[Dict[str, Any]]): "corpus", "pipeline", "search", the scores, "protocol",
        "threshold", and "against" with the comparison.
    """
    reference, first = runs[0], runs[0].pipeline
    of_first = {run.name: run for run in runs if run.pipeline == first}
    several = any(run.pipeline != first for run in runs)
    rows = []
    for run in runs:
        head = {"corpus": corpus, "pipeline": run.pipeline, "search": run.name}
        row = {**head, **score_row(run.evaluation)}
        row |= {"protocol": protocol, "threshold": run.threshold}
        against = reference if run.pipeline == first else of_first.get(run.name, reference)
        if run is not reference:
            row["against"] = f"{first} {against.name}" if several else against.name
            row |= comparison_row(run.evaluation, against.evaluation)
        rows.append(row)
    return rows


def _require_same_mentions(read: Mapping[str, list[Mention]], path: Path) -> None:
    (first, expected), *others = (
        (label, [mention[:3] for mention in mentions if mention.concept_ids])
        for label, mentions in read.items()
    )
    for other, found in others:
        if found != expected:
            sizes = {"expected": len(expected), "found": len(found)}
            raise Errors.CN601(first=first, other=other, path=path, **sizes)
