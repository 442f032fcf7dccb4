"""`connorm map`: a table of local terms to concepts."""

from pathlib import Path

import typer
from wasabi import msg

from ..documents.sssom import ACCEPTED, NO_LICENCE, REVIEW, UNMATCHED
from ..errors import refuse
from ..workflows import MappingSummary, map_terms
from .app import command
from .options import split_items

_TOLD = {ACCEPTED: "accepted", REVIEW: "to be reviewed", UNMATCHED: "unmatched"}


@command("map")
def map_cli(
    pipeline: str = typer.Argument(..., help="An installed package, or a pipeline's folder."),
    terms_path: Path = typer.Argument(
        ..., metavar="TERMS", help="A table with a header: .csv, .tsv or .xlsx."
    ),
    output_path: Path = typer.Argument(
        ..., metavar="OUT", help="The mappings: .tsv for SSSOM, .csv for its table alone."
    ),
    code: str = typer.Option("code", "--code", help="The column of the codes."),
    term: str = typer.Option("term", "--term", help="The column of the terms."),
    context: str = typer.Option(
        "context", "--context", help="The column of the text around a term; may be missing."
    ),
    count: str = typer.Option(
        "count", "--count", help="The column that tells how often a term occurs; may be missing."
    ),
    sheet: str | None = typer.Option(None, "--sheet", help="The sheet of an Excel file. [first]"),
    delimiter: str | None = typer.Option(
        None,
        "--delimiter",
        help="Between the fields of a text file. [tab; in .csv comma, semicolon or tab]",
    ),
    accept: float = typer.Option(
        0.9, "--accept", help="The least confidence of a mapping that is accepted."
    ),
    review: float = typer.Option(
        0.5, "--review", help="The least confidence of one to be reviewed."
    ),
    top_k: int = typer.Option(5, "--top-k", "-k", min=1, help="Candidates of each term to keep."),
    types: str | None = typer.Option(
        None, "--types", "-t", metavar="A,B,...", help="Only concepts of these semantic types."
    ),
    branches: str | None = typer.Option(
        None, "--branches", "-b", metavar="A,B,...", help="Only concepts at or below these."
    ),
    prefix: str = typer.Option(
        "local", "--prefix", help="The prefix of codes that have none, e.g. ICD10CM."
    ),
    addresses: list[str] = typer.Option(
        [], "--address", metavar="PREFIX=IRI", help="What a prefix stands for; can be repeated."
    ),
    licence: str = typer.Option(
        NO_LICENCE, "--licence", help="The address of the terms of use of the mappings."
    ),
    batch_size: int = typer.Option(512, "--batch-size", min=1, help="Terms in one batch."),
    component: str | None = typer.Option(
        None, "--component", help="Which concept normalizer, if there are several."
    ),
) -> None:
    """Map a table of local terms to concepts, as SSSOM: accepted, to be reviewed, or unmatched. The
    confidence is a probability if the pipeline is calibrated, or else a cosine. What people have
    decided in OUT stays; `connorm serve PIPELINE --review OUT` is the page to decide on.

    Example: python -m spacy connorm map training/index terms.csv terms.sssom.tsv --term name
    """
    summary = map_terms(
        pipeline,
        terms_path,
        output_path,
        code=code,
        term=term,
        context=context,
        count=count,
        sheet=sheet,
        delimiter=delimiter,
        accept=accept,
        review=review,
        top_k=top_k,
        types=None if types is None else split_items(types),
        branches=None if branches is None else split_items(branches),
        prefix=prefix,
        addresses=dict(map(_parse_address, addresses)),
        licence=licence,
        batch_size=batch_size,
        component=component,
    )
    show_mapping_summary(summary)
    msg.good(f"Wrote {output_path}")


def show_mapping_summary(summary: MappingSummary) -> None:
    """Print how many terms are mapped, and how much of their counts."""
    rows = []
    for status, told in _TOLD.items():
        of_rows, of_counts = summary.share(status)
        rows.append(
            (
                *(told, f"{summary.rows[status]:,}", f"{of_rows:.1%}"),
                *(f"{summary.counts[status]:,}", f"{of_counts:.1%}"),
            )
        )
    header = ("Terms", "Rows", "", "Counts", "")
    msg.table(rows, header=header, divider=True, aligns=("l", *"rrrr"))
    if summary.measure:
        msg.info(f"The thresholds are of the {summary.measure}")
    if summary.decided:
        msg.info(f"{summary.decided:,} were decided by people")
    if summary.gone:
        msg.info(f"{summary.gone:,} more stay that people decided: the table lacks their terms now")


def _parse_address(option: str) -> tuple[str, str]:
    prefix, equals, address = option.partition("=")
    if not equals:
        refuse("--address", option, "PREFIX=IRI")
    return prefix, address
