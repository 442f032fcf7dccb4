"""`connorm evaluate`: how right pipelines are on an annotated corpus, and how they see concepts."""

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import typer

from ..encoders.devices import choose_device
from ..errors import ConnormError, Errors
from ..evaluation.pipelines.comparison import Survey, ask_pipelines, name_pipelines
from ..evaluation.pipelines.drawing import Drawing
from ..evaluation.pipelines.queries import PROTOCOLS, check_protocol
from ..evaluation.pipelines.scoring import Request, check_searches, to_rows
from ..evaluation.ranks import add_ranks
from ..evaluation.report import Row
from ..evaluation.sections import OPEN, Section, grid_sections, neighbour_section, run_sections
from .app import command
from .output import (
    check_distinct,
    check_suffix,
    read_scores,
    show_sections,
    write_markdown,
    write_mistakes,
    write_scores,
)

if TYPE_CHECKING:
    from ..evaluation.pipelines.calibration import Calibrated
    from ..evaluation.pipelines.lexical_weights import Weighed

_LISTS = (".tsv", ".jsonl", ".md")
_PICTURES = (".svg", ".png")


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
    written = Written(
        json=json_path,
        markdown=markdown_path,
        errors=errors_path,
        picture=picture_path,
        calibrated=calibrate_path,
        curves=curves,
    )
    _require("--threshold", threshold is None or grid, "`--grid`")
    _require("--concept", not concept or picture_path is not None, "`--picture`")
    _require("--curves", not curves or calibrate_path is not None, "`--calibrate`")
    if calibrate_path is not None:
        _forbid("--calibrate", {"--beside": bool(beside), "--protocol": protocol != OPEN})
    if corpus_path is None:
        _require_corpus(
            {
                "--grid": grid,
                "--json": json_path,
                "--errors": errors_path,
                "--add": add,
                "--calibrate": calibrate_path,
                "--lexical-weight": lexical_weight,
            }
        )
        if not neighbours and picture_path is None:
            raise ConnormError(Errors.CN732)
    check_searches(search)
    check_protocol(protocol)
    written.check()
    pipelines = name_pipelines([pipeline, *beside], label)
    added = [row for path in add for row in read_scores(path)]
    drawing = None if picture_path is None else Drawing(concept)
    choose_device(gpu_id)
    ask = partial(ask_pipelines, pipelines, component=component, neighbours=neighbours)
    if corpus_path is None:
        written.write(ask(drawing=drawing), [], [], drawing=drawing)
        return
    request = Request(corpus_path, train_path, search, grid, threshold, protocol)
    survey = ask(request=request, drawing=drawing)
    name = corpus_name or corpus_path.stem
    rows = check_distinct([*added, *to_rows(survey.scored, name, protocol=request.shown_protocol)])
    if grid or added:
        rows = add_ranks(rows)
    sections = grid_sections(rows) if grid or added else run_sections(rows)
    weighed = _weigh(pipeline, corpus_path, lexical_weight, component)
    sections += [weighed.section] if weighed else []
    calibrated = None
    if calibrate_path is not None:
        from ..evaluation.pipelines.calibration import calibrate_pipeline

        best = weighed.best if weighed else None
        calibrated = calibrate_pipeline(
            pipeline, corpus_path, component=component, lexical_weight=best
        )
        sections += calibrated.sections
    written.write(survey, rows, sections, drawing=drawing, calibrated=calibrated)


class Written(NamedTuple):
    """The files that are asked for; None for those that are not.

    json (Optional[Path]): The scores.
    markdown (Optional[Path]): The tables.
    errors (Optional[Path]): Wrong answers.
    picture (Optional[Path]): Concept texts.
    calibrated (Optional[Path]): The folder of a pipeline.
    curves (Sequence[Path]): Of its calibration.
    """

    json: Path | None
    markdown: Path | None
    errors: Path | None
    picture: Path | None
    calibrated: Path | None
    curves: Sequence[Path]

    def check(self) -> None:
        """Refuse, before anything is scored, files that could not be written.

        RAISES (ConnormError): CN708 for a suffix that does not tell a format, CN604 for a picture
            without matplotlib, CN705 for a folder in which something else is.
        """
        check_suffix(self.errors, _LISTS)
        check_suffix(self.picture, _PICTURES)
        if self.calibrated is not None:
            from ..evaluation.pipelines.calibration import CURVES, require_drawable, require_new

            for path in self.curves:
                check_suffix(path, CURVES)
            require_drawable(self.curves)
            require_new(self.calibrated)

    def write(
        self,
        survey: Survey,
        rows: Sequence[Row],
        sections: Sequence[Section],
        *,
        drawing: Drawing | None = None,
        calibrated: "Calibrated | None" = None,
    ) -> None:
        """Show all tables, and write what was asked for.

        survey (Survey): What the pipelines answered.
        rows (Sequence[Row]): Scores.
        sections (Sequence[Section]): Tables; those of neighbours are added.
        drawing (Optional[Drawing]): The picture.
        calibrated (Optional[Calibrated]): The pipeline with fitted settings.
        """
        near = [neighbour_section(mention, found) for mention, found in survey.near.items()]
        sections = [*sections, *near]
        show_sections(sections)
        if self.json is not None:
            write_scores(rows, self.json)
        if self.markdown is not None:
            write_markdown(sections, self.markdown)
        if self.errors is not None:
            mistakes = {label: each.mistakes for label, each in survey.scored.items()}
            write_mistakes(mistakes, self.errors)
        if self.picture is not None and drawing is not None:
            drawing.write(self.picture)
        if self.calibrated is not None and calibrated is not None:
            for path in self.curves:
                calibrated.write_curves(path)
            calibrated.write(self.calibrated)


def _weigh(
    source: str, path: Path, weights: Sequence[float], component: str | None
) -> "Weighed | None":
    if not weights:
        return None
    from ..evaluation.pipelines.lexical_weights import weigh_pipeline

    return weigh_pipeline(source, path, weights, component=component)


def _require_corpus(given: Mapping[str, Any]) -> None:
    for option, value in given.items():
        _require(option, not value, "a CORPUS")


def _forbid(option: str, others: Mapping[str, bool]) -> None:
    for other, is_given in others.items():
        if is_given:
            raise ConnormError(Errors.CN736.format(option=option, other=other))


def _require(option: str, is_met: bool, needed: str) -> None:
    if not is_met:
        raise ConnormError(Errors.CN733.format(option=option, needed=needed))
