"""Evaluating pipelines on an annotated corpus, and showing how they see concepts."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from ..encoders.devices import choose_device
from ..errors import ConnormError, Errors
from ..files.atomic import require_apart
from .end_to_end import score_plain_text
from .pictures import Drawing
from .queries import check_protocol
from .report import OPEN, Row, Section, add_ranks, grid_sections, neighbour_section, run_sections
from .score_files import (
    EvaluationFiles,
    read_scores,
    require_distinct,
    write_markdown,
    write_mistakes,
    write_scores,
)
from .scoring import Request, ask_pipelines, check_searches, name_pipelines, to_rows

if TYPE_CHECKING:
    from .calibration import Calibrated
    from .neighbours import Neighbour

_NEEDS = {"--threshold": "--grid", "--concept": "--picture", "--curves": "--calibrate"}
# What goes without a corpus, with --end-to-end, and not with --calibrate.
_WITHOUT_CORPUS = ("--beside", "--neighbours", "--picture", "--concept")
_END_TO_END = ("--end-to-end", "--corpus-name", "--json", "--errors")
_NOT_CALIBRATED = ("--beside", "--protocol", "--lexical-weight")


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
    lexical_weights (Sequence[float]): Score the pipeline's hybrid encoder with these weights too.
    end_to_end (bool): Score what the whole pipeline makes of plain text instead: mentions, mentions
        with ids, ids of documents; see `plain_text`.
    gpu_id (int): The GPU for the encoder; -1 for the CPU.
    component (Optional[str]): Which concept normalizer, if there are several.
    RETURNS (EvaluationReport): Scores, tables and wrong answers.
    RAISES (ConnormError): CN121 if an output would replace an input, CN124 if two outputs have the
        same name, CN408, CN118 or CN006 for a
        bad search or threshold, CN600 for a corpus without gold ids, CN601 if pipelines read
        different mentions, CN602, CN605 or CN610 for added scores that do not fit, CN700 to CN704
        as `load_normalizer`, CN708 for another suffix, CN731 to CN736 for options that do not fit
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
    _check_options(
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
    check_searches(searches)
    check_protocol(protocol)
    files.check(plain_lists=end_to_end)
    for each in files.paths:
        require_apart(each, pipeline, *beside, corpus, train_path, *add)
    pipelines = name_pipelines([pipeline, *beside], labels)
    added = [row for path in add for row in read_scores(path)]
    drawing = None if files.picture is None else Drawing(concepts)
    choose_device(gpu_id)
    name = corpus_name or (corpus.stem if corpus else "")
    if corpus is not None and end_to_end:
        plain = score_plain_text(pipeline, corpus, component=component)
        (label,) = pipelines
        row = {"corpus": name, "pipeline": label, **plain.row}
        report = EvaluationReport([row], plain.sections, {label: plain.mistakes}, {})
    else:
        request = None
        if corpus is not None:
            train = _as_path(train_path)
            request = Request(corpus, train, searches, grid, threshold, protocol)
        scored, near = ask_pipelines(
            pipelines, component=component, request=request, neighbours=neighbours, drawing=drawing
        )
        rows, sections = [], []
        if request is not None:
            rows = [*added, *to_rows(scored, name, protocol=request.shown_protocol)]
            require_distinct(rows)
            in_grid = bool(grid or added)
            rows = add_ranks(rows) if in_grid else rows
            sections = grid_sections(rows) if in_grid else run_sections(rows)
        sections += [neighbour_section(mention, found) for mention, found in near.items()]
        mistakes = {label: each.mistakes for label, each in scored.items()}
        report = EvaluationReport(rows, sections, mistakes, near, drawing)
    if corpus is not None:
        report = _fit(report, pipeline, corpus, files, lexical_weights, component)
    _write(report, files)
    return report


def _fit(
    report: EvaluationReport,
    pipeline: str | Path,
    corpus: Path,
    files: EvaluationFiles,
    lexical_weights: Sequence[float],
    component: str | None,
) -> EvaluationReport:
    if files.calibrated is not None:
        from .calibration import calibrate

        fitted = calibrate(
            pipeline, corpus, files.calibrated, curves=files.curves, component=component
        )
        return report._replace(sections=[*report.sections, *fitted.sections], calibrated=fitted)
    if lexical_weights:
        from .lexical_weights import weigh_pipeline

        weighed = weigh_pipeline(pipeline, corpus, lexical_weights, component=component)
        sections = [*report.sections, weighed.section]
        return report._replace(sections=sections, best_lexical_weight=weighed.best)
    return report


def _write(report: EvaluationReport, files: EvaluationFiles) -> None:
    if files.json is not None:
        write_scores(report.rows, files.json)
    if files.markdown is not None:
        write_markdown(report.sections, files.markdown)
    if files.errors is not None:
        write_mistakes(report.mistakes, files.errors)
    if files.picture is not None and report.drawing is not None:
        report.drawing.write(files.picture)


def _check_options(options: Mapping[str, Any], *, has_corpus: bool) -> None:
    given = [name for name, value in options.items() if value]
    for option in given:
        needed = _NEEDS.get(option, option)
        if needed not in given:
            raise ConnormError(Errors.CN733.format(option=option, needed=f"`{needed}`"))
        if not has_corpus and option not in _WITHOUT_CORPUS:
            raise ConnormError(Errors.CN733.format(option=option, needed="a CORPUS"))
        if "--end-to-end" in given and option not in _END_TO_END:
            raise ConnormError(Errors.CN736.format(option="--end-to-end", other=option))
        if "--calibrate" in given and option in _NOT_CALIBRATED:
            raise ConnormError(Errors.CN736.format(option="--calibrate", other=option))
    if not has_corpus and not {"--neighbours", "--picture"}.intersection(given):
        raise ConnormError(Errors.CN732)


def _as_path(path: str | Path | None) -> Path | None:
    return None if path is None else Path(path)
