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
    corpus_path: Path = typer.Argument(..., metavar="CORPUS", help="A .spacy file with gold ids."),
    searches: list[str] = typer.Option(
        [], "--search", "-s", metavar="NAME", help="Score this search alone too, e.g. O-T. Repeat."
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
        help=f"{OPEN}: as the pipeline reads mentions. {BIOSYN}: as BioSyn does, "
        "for comparison with its numbers alone: abbreviations expanded, composites split by the "
        "number of gold ids (it looks at the gold standard), OMIM ids dropped beside others, no "
        "case, no punctuation; the names in the index stay as they were built.",
    ),
    json_path: Path | None = typer.Option(None, "--json", help="Write the scores as JSON."),
    markdown_path: Path | None = typer.Option(None, "--markdown", help="Write the tables too."),
    errors_path: Path | None = typer.Option(
        None, "--errors", "-e", help="List wrong answers by kind in this .tsv, .jsonl or .md file."
    ),
    calibrate_path: Path | None = typer.Option(
        None,
        "--calibrate",
        metavar="OUT",
        help="Fit thresholds and probabilities to CORPUS, which must be dev data that the index "
        "does not hold, and write a copy of the pipeline with them.",
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
    gold concept is ranked first, ties included, as BioSyn counts) and strictly (the ids that are
    written are the gold ids); with other pipelines beside it, if they are named.

    Example: python -m spacy connorm evaluate training/index test.spacy --errors errors.md

    Example: python -m spacy connorm evaluate before test.spacy --beside after

    Example: python -m spacy connorm evaluate training/pipeline test.spacy --end-to-end

    Example: python -m spacy connorm evaluate training/index dev.spacy --calibrate training/sure
    """
    report = evaluate(
        pipeline,
        corpus_path,
        searches=searches,
        beside=beside,
        labels=labels,
        protocol=protocol,
        json_path=json_path,
        markdown_path=markdown_path,
        errors_path=errors_path,
        calibrate_path=calibrate_path,
        end_to_end=end_to_end,
        gpu_id=gpu_id,
        component=component,
    )
    show_sections(report.sections)
    if errors_path is not None:
        if not end_to_end:  # its tables have examples
            show_mistakes(report.mistakes)
        msg.good(f"Listed wrong answers: {errors_path}")
    if calibrate_path is not None:
        msg.good(f"Wrote the calibrated pipeline: {calibrate_path}")
