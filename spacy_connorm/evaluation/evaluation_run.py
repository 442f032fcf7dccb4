"""Evaluating pipelines on an annotated corpus, and showing how they see concepts."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from ..encoders.devices import choose_device
from ..files.overlap import require_apart
from .comparison import Survey, ask_pipelines, name_pipelines
from .drawing import Drawing
from .evaluation_files import PLAIN_LISTS, EvaluationFiles
from .option_checks import check_options
from .plain_text import score_plain_text
from .queries import check_protocol
from .ranks import add_ranks
from .report import Row
from .score_files import read_scores, require_distinct, require_writable
from .scoring import Request, check_searches, to_rows
from .sections import OPEN, Section, grid_sections, neighbour_section, run_sections

if TYPE_CHECKING:
    from .calibration import Calibrated
    from .lexical_weights import Weighed
    from .neighbours import Neighbour


class EvaluationReport(NamedTuple):
    """The result of an evaluation.

    rows (List[Dict[str, Any]]): Scores in percent, one flat object a run; see `scoring.to_rows`.
        Empty without a corpus.
    sections (List[Section]): The tables.
    mistakes (Dict[str, List[Dict[str, Any]]]): Wrong answers by pipeline, see `mistakes`.
    neighbours (Dict[str, Dict[str, List[Neighbour]]]): The nearest texts by mention and pipeline.
    drawing (Optional[Drawing]): What the picture shows.
    best_lexical_weight (Optional[float]): Of the weights that were scored.
    calibrated (Optional[Calibrated]): What was fitted.
    """

    rows: list[Row]
    sections: list[Section]
    mistakes: dict[str, list[Row]]
    neighbours: dict[str, dict[str, list["Neighbour"]]]
    drawing: Drawing | None = None
    best_lexical_weight: float | None = None
    calibrated: "Calibrated | None" = None


def evaluate(
    pipeline: str | Path,
    corpus_path: str | Path | None = None,
    *,
    searches: Sequence[str] = (),
    grid: bool = False,
    threshold: float | None = None,
    beside: Sequence[str | Path] = (),
    labels: Sequence[str] = (),
    protocol: str = OPEN,
    train_path: str | Path | None = None,
    corpus_name: str | None = None,
    add: Sequence[str | Path] = (),
    json_path: str | Path | None = None,
    markdown_path: str | Path | None = None,
    errors_path: str | Path | None = None,
    neighbours: Sequence[str] = (),
    picture_path: str | Path | None = None,
    concepts: Sequence[str] = (),
    calibrate_path: str | Path | None = None,
    curves: Sequence[str | Path] = (),
    lexical_weights: Sequence[float] = (),
    end_to_end: bool = False,
    gpu_id: int = -1,
    component: str | None = None,
) -> EvaluationReport:
    """Score pipelines on the gold mentions of a corpus, leniently (any gold concept is ranked
    first, ties included) and strictly (the ids that are written are the gold ids): `python -m spacy
    connorm evaluate`. One pipeline is in memory at a time.

    pipeline (Union[str, Path]): An installed package, or a pipeline's folder.
    corpus_path (Optional[Union[str, Path]]): A `.spacy` file with gold ids; only `neighbours` and
        `picture_path` do without.
    searches (Sequence[str]): Searches to score alone, e.g. "O-T", beside the pipeline's sieve.
    grid (bool): Score the six searches and eight sieves of the paper.
    threshold (Optional[float]): Of the grid's sieves; the pipeline's own if None.
    beside (Sequence[Union[str, Path]]): Other pipelines to compare with.
    labels (Sequence[str]): Names of the pipelines, in order; by default those of their folders.
    protocol (str): "open": mentions are read as the pipeline reads them. "biosyn": as the papers
        do, which looks at the gold standard.
    train_path (Optional[Union[str, Path]]): A `.spacy` file, to find unseen mentions; the index's D
        if None.
    corpus_name (Optional[str]): The corpus's name in tables; its file's if None.
    add (Sequence[Union[str, Path]]): Scores of other corpora (`json_path`), for one table.
    json_path (Optional[Union[str, Path]]): Write the scores as JSON.
    markdown_path (Optional[Union[str, Path]]): Write the tables as Markdown.
    errors_path (Optional[Union[str, Path]]): List wrong answers in a `.tsv`, `.jsonl` or `.md`
        file.
    neighbours (Sequence[str]): Mentions whose nearest texts to find.
    picture_path (Optional[Union[str, Path]]): Draw concept texts in a `.svg` or `.png` file.
    concepts (Sequence[str]): The concepts to draw; twelve with many texts if empty.
    calibrate_path (Optional[Union[str, Path]]): Write a copy of the pipeline that is calibrated on
        the corpus; see `calibrate`.
    curves (Sequence[Union[str, Path]]): Files for the curves of the calibration.
    lexical_weights (Sequence[float]): Score the pipeline's hybrid encoder with these weights too;
        the best one is calibrated.
    end_to_end (bool): Score what the whole pipeline makes of plain text instead: mentions, mentions
        with ids, ids of documents; see `plain_text`.
    gpu_id (int): The GPU for the encoder; -1 for the CPU.
    component (Optional[str]): Which concept normalizer, if there are several.
    RETURNS (EvaluationReport): Scores, tables and wrong answers.
    RAISES (ConnormError): CN121 if an output would replace an input, CN124 if two outputs have the
        same name, CN408, CN500 or CN502 for a
        bad search or threshold, CN600 for a corpus without gold ids, CN601 if pipelines read
        different mentions, CN602, CN605 or CN610 for added scores that do not fit, CN700 to CN704
        as `load_normalizer`, CN708 for another suffix, CN730 to CN736 for options that do not fit
        together, and the errors of `calibrate`.
    WARNS (ConnormWarning): CNW600 if no gold id is known, CNW701 if `end_to_end` finds no mention.
    """
    corpus = _as_path(corpus_path)
    files = EvaluationFiles(
        json=_as_path(json_path),
        markdown=_as_path(markdown_path),
        errors=_as_path(errors_path),
        picture=_as_path(picture_path),
        calibrated=_as_path(calibrate_path),
        curves=[Path(path) for path in curves],
    )
    check_options(
        {
            "--search": searches,
            "--grid": grid,
            "--threshold": threshold is not None,
            "--beside": beside,
            "--protocol": protocol != OPEN,
            "--train": train_path,
            "--corpus-name": corpus_name,
            "--add": add,
            "--json": json_path,
            "--errors": errors_path,
            "--neighbours": neighbours,
            "--picture": picture_path,
            "--concept": concepts,
            "--calibrate": calibrate_path,
            "--curves": curves,
            "--lexical-weight": lexical_weights,
            "--end-to-end": end_to_end,
        },
        has_corpus=corpus is not None,
    )
    if end_to_end:
        require_writable(files.errors, PLAIN_LISTS)
    check_searches(searches)
    check_protocol(protocol)
    files.check()
    for each in files.paths:
        require_apart(each, pipeline, *beside, corpus, train_path, *add)
    pipelines = name_pipelines([pipeline, *beside], labels)
    added = [row for path in add for row in read_scores(path)]
    drawing = None if files.picture is None else Drawing(concepts)
    choose_device(gpu_id)
    ask = partial(ask_pipelines, pipelines, component=component, neighbours=neighbours)
    if corpus is None:
        report = _report(ask(drawing=drawing), drawing=drawing)
    elif end_to_end:
        found = score_plain_text(pipeline, corpus, component=component)
        row = {"corpus": corpus_name or corpus.stem, "pipeline": next(iter(pipelines)), **found.row}
        report = EvaluationReport([row], found.sections, {row["pipeline"]: found.mistakes}, {})
    else:
        request = Request(corpus, _as_path(train_path), searches, grid, threshold, protocol)
        survey = ask(request=request, drawing=drawing)
        name = corpus_name or corpus.stem
        rows = [*added, *to_rows(survey.scored, name, protocol=request.shown_protocol)]
        require_distinct(rows)
        if grid or added:
            rows = add_ranks(rows)
        sections = grid_sections(rows) if grid or added else run_sections(rows)
        fitted = _fit(pipeline, corpus, files, lexical_weights, component)
        report = _report(survey, rows, [*sections, *fitted.sections], drawing=drawing)
        report = report._replace(
            best_lexical_weight=fitted.lexical_weight, calibrated=fitted.calibrated
        )
    files.write(report)
    return report


def _report(
    survey: Survey,
    rows: Sequence[Row] = (),
    sections: Sequence[Section] = (),
    *,
    drawing: Drawing | None,
) -> EvaluationReport:
    near = [neighbour_section(mention, found) for mention, found in survey.near.items()]
    mistakes = {label: each.mistakes for label, each in survey.scored.items()}
    return EvaluationReport(list(rows), [*sections, *near], mistakes, survey.near, drawing)


class _Fitted(NamedTuple):
    sections: Sequence[Section] = ()
    lexical_weight: float | None = None
    calibrated: "Calibrated | None" = None


def _fit(
    pipeline: str | Path,
    corpus: Path,
    files: EvaluationFiles,
    lexical_weights: Sequence[float],
    component: str | None,
) -> _Fitted:
    calibrated = _calibrate(pipeline, corpus, files, lexical_weights, component)
    if calibrated is not None:
        best = None if calibrated.weighed is None else calibrated.weighed.best
        return _Fitted(calibrated.sections, best, calibrated)
    weighed = _weigh(pipeline, corpus, lexical_weights, component)
    return _Fitted() if weighed is None else _Fitted([weighed.section], weighed.best)


def _weigh(
    pipeline: str | Path, corpus: Path, weights: Sequence[float], component: str | None
) -> "Weighed | None":
    if not weights:
        return None
    from .lexical_weights import weigh_pipeline

    return weigh_pipeline(pipeline, corpus, weights, component=component)


def _calibrate(
    pipeline: str | Path,
    corpus: Path,
    files: EvaluationFiles,
    lexical_weights: Sequence[float],
    component: str | None,
) -> "Calibrated | None":
    if files.calibrated is None:
        return None
    from .calibration import calibrate

    return calibrate(
        pipeline,
        corpus,
        files.calibrated,
        curves=files.curves,
        lexical_weights=lexical_weights,
        component=component,
    )


def _as_path(path: str | Path | None) -> Path | None:
    return None if path is None else Path(path)
