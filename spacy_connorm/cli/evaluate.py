"""`connorm evaluate`: how right pipelines are on an annotated corpus, and how they see concepts."""

import gc
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import typer

from ..errors import ConnormError, Errors
from ..evaluation.ranks import add_ranks
from ..evaluation.report import Row
from ..evaluation.sections import OPEN, Section, grid_sections, neighbour_section, run_sections
from .app import command
from .devices import choose_device
from .drawing import Drawing
from .pipelines import find_normalizer, load_pipeline
from .questions import PROTOCOLS, check_protocol
from .score_files import (
    check_distinct,
    check_suffix,
    read_scores,
    show_sections,
    write_markdown,
    write_mistakes,
    write_scores,
)
from .scoring import Request, Scored, check_searches, require_same_mentions, score, to_rows

if TYPE_CHECKING:
    from ..evaluation.neighbours import Neighbour

_LISTS = (".tsv", ".jsonl", ".md")
_PICTURES = (".svg", ".png")


class Survey(NamedTuple):
    """What pipelines make of a corpus and of mentions, by label.

    scored (Dict[str, Scored]): Empty without a corpus.
    near (Dict[str, Dict[str, List[Neighbour]]]): By mention and label.
    """

    scored: dict[str, Scored]
    near: dict[str, dict[str, list["Neighbour"]]]


@command("evaluate")
def evaluate_cli(
    pipeline: str = typer.Argument(..., help="An installed package, or a pipeline's folder."),
    corpus_path: Path | None = typer.Argument(
        None, metavar="CORPUS", help="A .spacy file with gold ids.", show_default=False
    ),
    search: list[str] = typer.Option(
        [], "--search", "-s", metavar="NAME", help="Score this search alone too, e.g. O-T. Repeat."
    ),
    grid: bool = typer.Option(False, "--grid", help="Score the six searches and eight sieves."),
    threshold: float | None = typer.Option(
        None, "--threshold", help="Of the grid's sieves. [the pipeline's own]"
    ),
    beside: list[str] = typer.Option(
        [], "--beside", "-b", metavar="PIPELINE", help="Compare with another pipeline. Repeat."
    ),
    label: list[str] = typer.Option(
        [], "--label", "-l", metavar="NAME", help="Of each pipeline, in order. [their folders']"
    ),
    protocol: str = typer.Option(
        OPEN,
        "--protocol",
        help=f"{PROTOCOLS[0]}: as the pipeline reads mentions. {PROTOCOLS[1]}: as the papers do, "
        "for comparison with their numbers alone: abbreviations expanded, composites split by the "
        "number of gold ids (it looks at the gold standard), OMIM ids dropped beside others, no "
        "case, no punctuation; the names in the index stay as they were built.",
    ),
    train_path: Path | None = typer.Option(
        None,
        "--train",
        "-t",
        metavar="D",
        help="A .spacy file to tell unseen mentions by. [the index's D]",
    ),
    corpus_name: str | None = typer.Option(
        None, "--corpus-name", help="What the corpus is called. [its file's name]"
    ),
    add: list[Path] = typer.Option(
        [], "--add", metavar="FILE", help="Another corpus's scores (--json), for one table. Repeat."
    ),
    json_path: Path | None = typer.Option(None, "--json", help="Write the scores as JSON."),
    markdown_path: Path | None = typer.Option(None, "--markdown", help="Write the tables too."),
    errors_path: Path | None = typer.Option(
        None, "--errors", "-e", help="List wrong answers by kind in this .tsv, .jsonl or .md file."
    ),
    neighbours: list[str] = typer.Option(
        [], "--neighbours", "-n", metavar="MENTION", help="Show the texts near this one. Repeat."
    ),
    picture_path: Path | None = typer.Option(
        None, "--picture", metavar="FILE", help="Draw concept texts in this .svg or .png file."
    ),
    concept: list[str] = typer.Option(
        [], "--concept", metavar="ID", help="Draw this concept. Repeat. [twelve with many texts]"
    ),
    calibrate_path: Path | None = typer.Option(
        None,
        "--calibrate",
        metavar="OUT",
        help="Fit thresholds and probabilities to CORPUS, which must be dev data that the index "
        "does not hold, and write a copy of the pipeline with them.",
    ),
    curves: list[Path] = typer.Option(
        [],
        "--curves",
        metavar="FILE",
        help="Draw reliability and the NIL threshold's precision, recall and coverage in this .svg "
        "or .png file, or write the points (.json). Repeat.",
    ),
    lexical_weight: list[float] = typer.Option(
        [],
        "--lexical-weight",
        "-w",
        metavar="WEIGHT",
        help="Score the pipeline's hybrid encoder with this weight of n-grams too; --calibrate "
        "takes the best. Repeat.",
    ),
    gpu_id: int = typer.Option(-1, "--gpu-id", "-g", help="GPU for the encoder; -1 for the CPU."),
    component: str | None = typer.Option(
        None, "--component", help="Which concept normalizer, if there are several."
    ),
) -> None:
    """Score a pipeline's concept normalizer on the gold mentions of a corpus, leniently (any
    gold concept on the first place, ties included, as papers count) and strictly (the one id
    that is written is all of the gold standard); with others beside it, if they are named.

    Example: python -m spacy connorm evaluate training/index test.spacy --errors errors.md

    Example: python -m spacy connorm evaluate train_o test.spacy --beside train_od --grid

    Example: python -m spacy connorm evaluate before --beside after --neighbours "primary HPT"
    --picture concepts.svg

    Example: python -m spacy connorm evaluate training/index dev.spacy --calibrate training/sure
    --curves curves.svg
    """
    check_suffix(errors_path, _LISTS)
    check_suffix(picture_path, _PICTURES)
    check_searches(search)
    check_protocol(protocol)
    _require("--threshold", threshold is None or grid, "`--grid`")
    _require("--concept", not concept or picture_path is not None, "`--picture`")
    given = {
        "--grid": grid,
        "--json": json_path,
        "--errors": errors_path,
        "--add": add,
        "--calibrate": calibrate_path,
        "--lexical-weight": lexical_weight,
    }
    for option, value in given.items():
        _require(option, not value or corpus_path is not None, "a CORPUS")
    _require("--curves", not curves or calibrate_path is not None, "`--calibrate`")
    if calibrate_path is not None:
        _forbid("--calibrate", {"--beside": bool(beside), "--protocol": protocol != OPEN})
        _check_written(calibrate_path, curves)
    if corpus_path is None and not neighbours and picture_path is None:
        raise ConnormError(Errors.CN732)
    pipelines = name_pipelines([pipeline, *beside], label)
    added = [row for path in add for row in read_scores(path)]
    request = None
    if corpus_path is not None:
        request = Request(corpus_path, train_path, search, grid, threshold, protocol)
    drawing = None if picture_path is None else Drawing(concept)
    choose_device(gpu_id)
    survey = ask_pipelines(
        pipelines, component=component, request=request, neighbours=neighbours, drawing=drawing
    )
    rows: list[Row] = []
    sections: list[Section] = []
    if request is not None:
        name = corpus_name or request.corpus_path.stem
        rows = check_distinct(
            [*added, *to_rows(survey.scored, name, protocol=request.shown_protocol)]
        )
        if grid or added:
            rows = add_ranks(rows)
        sections = grid_sections(rows) if grid or added else run_sections(rows)
    sections += [neighbour_section(mention, found) for mention, found in survey.near.items()]
    best_weight = None
    if lexical_weight and corpus_path is not None:
        from .lexical_weights import weigh_pipeline

        section, best_weight = weigh_pipeline(
            pipeline, corpus_path, lexical_weight, component=component
        )
        sections.append(section)
    calibrated = None
    if calibrate_path is not None and corpus_path is not None:
        from .calibrating import calibrate_pipeline

        calibrated = calibrate_pipeline(
            pipeline, corpus_path, component=component, lexical_weight=best_weight
        )
        sections += calibrated.sections
    show_sections(sections)
    if json_path is not None:
        write_scores(rows, json_path)
    if markdown_path is not None:
        write_markdown(sections, markdown_path)
    if errors_path is not None:
        write_mistakes({label: each.mistakes for label, each in survey.scored.items()}, errors_path)
    if drawing is not None and picture_path is not None:
        drawing.write(picture_path)
    if calibrated is not None and calibrate_path is not None:
        for path in curves:
            calibrated.write_curves(path)
        calibrated.write(calibrate_path)


def _check_written(calibrate_path: Path, curves: Sequence[Path]) -> None:
    from .calibrating import CURVES, require_drawable, require_new

    for path in curves:
        check_suffix(path, CURVES)
    require_drawable(curves)
    require_new(calibrate_path)


def _forbid(option: str, others: Mapping[str, bool]) -> None:
    for other, is_given in others.items():
        if is_given:
            raise ConnormError(Errors.CN736.format(option=option, other=other))


def _require(option: str, is_met: bool, needed: str) -> None:
    if not is_met:
        raise ConnormError(Errors.CN733.format(option=option, needed=needed))


def name_pipelines(sources: Sequence[str], labels: Sequence[str]) -> dict[str, str]:
    """Label pipelines: with the labels given, in order, then with the names of their folders.

    sources (Sequence[str]): Installed packages and folders.
    labels (Sequence[str]): At most as many.
    RETURNS (Dict[str, str]): The sources by label.
    RAISES (ConnormError): CN730 for too many labels, CN731 for one that occurs twice.
    """
    if len(labels) > len(sources):
        raise ConnormError(Errors.CN730.format(labels=len(labels), pipelines=len(sources)))
    own_names = [Path(source).resolve().name for source in sources[len(labels) :]]
    named: dict[str, str] = {}
    for label, source in zip([*labels, *own_names], sources, strict=True):
        if label in named:
            raise ConnormError(Errors.CN731.format(label=label))
        named[label] = source
    return named


def ask_pipelines(
    pipelines: Mapping[str, str],
    *,
    component: str | None = None,
    request: Request | None = None,
    neighbours: Sequence[str] = (),
    drawing: Drawing | None = None,
) -> Survey:
    """Load one pipeline after the other, so that no two are in memory, and ask each everything.

    pipelines (Mapping[str, str]): Packages and folders by label, at least one.
    component (Optional[str]): Which concept normalizer, if there are several.
    request (Optional[Request]): What to score.
    neighbours (Sequence[str]): Mentions whose nearest texts are asked for.
    drawing (Optional[Drawing]): Gets a panel of each.
    RETURNS (Survey): The answers.
    RAISES (ConnormError): CN601 if the pipelines read different mentions, and what `score` raises.
    """
    survey = Survey({}, {mention: {} for mention in neighbours})
    for label, source in pipelines.items():
        nlp = load_pipeline(source)
        normalizer = find_normalizer(nlp, component=component)
        if request is not None:
            survey.scored[label] = score(nlp, normalizer, request)
            require_same_mentions(survey.scored, request.corpus_path)
        if neighbours:
            from ..evaluation.neighbours import nearest_texts

            for mention, found in survey.near.items():
                found[label] = nearest_texts(normalizer.lookup, mention)
        if drawing is not None:
            drawing.add(normalizer, label)
        # What it mapped and loaded goes before the next one comes.
        del nlp, normalizer
        gc.collect()
    return survey
