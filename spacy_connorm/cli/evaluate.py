"""`connorm evaluate`: score pipelines on an annotated corpus."""

from pathlib import Path

import typer
from wasabi import msg

from ..evaluation import evaluate
from ..evaluation.report import BIOSYN, OPEN
from .app import command
from .output import show_mistakes, show_sections


@command("evaluate")
def evaluate_cli(
    pipeline: str = typer.Argument(..., help="An installed package, or a pipeline's folder."),
    corpus_path: Path | None = typer.Argument(
        None, metavar="CORPUS", help="A .spacy file with gold ids.", show_default=False
    ),
    searches: list[str] = typer.Option(
        [], "--search", "-s", metavar="NAME", help="Score this search alone too, e.g. O-T. Repeat."
    ),
    grid: bool = typer.Option(False, "--grid", help="Score the six searches and eight sieves."),
    threshold: float | None = typer.Option(
        None, "--threshold", help="Of the grid's sieves. [the pipeline's own]"
    ),
    beside: list[str] = typer.Option(
        [], "--beside", "-b", metavar="PIPELINE", help="Compare with another pipeline. Repeat."
    ),
    labels: list[str] = typer.Option(
        [], "--label", "-l", metavar="NAME", help="Of each pipeline, in order. [their folders']"
    ),
    protocol: str = typer.Option(
        OPEN,
        "--protocol",
        help=f"{OPEN}: as the pipeline reads mentions. {BIOSYN}: as the papers do, "
        "for comparison with their numbers alone: abbreviations expanded, composites split by the "
        "number of gold ids (it looks at the gold standard), OMIM ids dropped beside others, no "
        "case, no punctuation; the names in the index stay as they were built.",
    ),
    train_path: Path | None = typer.Option(
        None,
        "--train",
        "-t",
        metavar="D",
        help="A .spacy file, to find unseen mentions. [the index's D]",
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
    concepts: list[str] = typer.Option(
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
    lexical_weights: list[float] = typer.Option(
        [],
        "--lexical-weight",
        "-w",
        metavar="WEIGHT",
        help="Score the pipeline's hybrid encoder with this weight of n-grams too. Repeat.",
    ),
    end_to_end: bool = typer.Option(
        False,
        "--end-to-end",
        help="Score what the pipeline finds in the plain text: mentions, mentions with ids, ids of "
        "documents.",
    ),
    gpu_id: int = typer.Option(-1, "--gpu-id", "-g", help="GPU for the encoder; -1 for the CPU."),
    component: str | None = typer.Option(
        None, "--component", help="Which concept normalizer, if there are several."
    ),
) -> None:
    """Score a pipeline's concept normalizer on the gold mentions of a corpus, leniently (any
    gold concept is ranked first, ties included, as papers count) and strictly (the ids that are
    written are the gold ids); with other pipelines beside it, if they are named.

    Example: python -m spacy connorm evaluate training/index test.spacy --errors errors.md

    Example: python -m spacy connorm evaluate train_o test.spacy --beside train_od --grid

    Example: python -m spacy connorm evaluate training/pipeline test.spacy --end-to-end

    Example: python -m spacy connorm evaluate before --beside after --neighbours "primary HPT"
    --picture concepts.svg

    Example: python -m spacy connorm evaluate training/index dev.spacy --calibrate training/sure
    --curves curves.svg
    """
    report = evaluate(
        pipeline,
        corpus_path,
        searches=searches,
        grid=grid,
        threshold=threshold,
        beside=beside,
        labels=labels,
        protocol=protocol,
        train_path=train_path,
        corpus_name=corpus_name,
        add=add,
        json_path=json_path,
        markdown_path=markdown_path,
        errors_path=errors_path,
        neighbours=neighbours,
        picture_path=picture_path,
        concepts=concepts,
        calibrate_path=calibrate_path,
        curves=curves,
        lexical_weights=lexical_weights,
        end_to_end=end_to_end,
        gpu_id=gpu_id,
        component=component,
    )
    show_sections(report.sections)
    if errors_path is not None:
        if not end_to_end:  # its tables have examples
            show_mistakes(report.mistakes)
        msg.good(f"Listed wrong answers: {errors_path}")
    if report.drawing is not None:
        msg.good(f"Drew {len(report.drawing.concepts)} concepts: {picture_path}")
    for path in curves:
        msg.good(f"Wrote reliability and NIL curve: {path}")
    if calibrate_path is not None:
        msg.good(f"Wrote the calibrated pipeline: {calibrate_path}")
