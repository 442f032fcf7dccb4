"""`connorm map`: map a table or a list of local terms to concepts."""

from typing import Any

import typer
from wasabi import msg

from ..documents.sssom import ACCEPTED, REVIEW, UNMATCHED
from ..errors import refuse
from ..workflows import MappingSummary, map_terms
from .app import command, show_table
from .options import options_of

_TOLD = {ACCEPTED: "accepted", REVIEW: "to be reviewed", UNMATCHED: "unmatched"}


@command("map")
@options_of(map_terms, flags={"top_k": "-k", "types": "-t", "branches": "-b"})
def map_cli(
    addresses: list[str] = typer.Option(
        [], "--address", metavar="PREFIX=IRI", help="The IRI of a prefix; can be repeated."
    ),
    **given: Any,
) -> None:
    """Map a table or a list of local terms to concepts, as SSSOM.

    Terms are accepted, to be reviewed, or unmatched. The confidence is a probability, or a cosine
    if the pipeline has no probabilities. Decisions that people have made in OUT are kept; use
    `connorm serve PIPELINE --review OUT` to make them. A list has one term in each line, and no
    header or "term".

    Example: connorm map training/index terms.csv terms.sssom.tsv --term name
    """
    summary = map_terms(**given, addresses=dict(map(_parse_address, addresses)))
    _show(summary)
    msg.good(f"Wrote {given['output_path']}")


def _show(summary: MappingSummary) -> None:
    rows = []
    for status, text in _TOLD.items():
        of_rows, of_counts = summary.share(status)
        terms, times = summary.rows[status], summary.counts[status]
        rows.append((text, f"{terms:,}", f"{of_rows:.1%}", f"{times:,}", f"{of_counts:.1%}"))
    show_table(rows, header=("Terms", "Rows", "", "Counts", ""), aligns="lrrrr")
    msg.info(f"The thresholds apply to the {summary.measure}")
    if summary.decided:
        msg.info(f"Decided by people: {summary.decided:,}")
    if summary.gone:
        msg.info(f"Decisions on terms that are not in the table now: {summary.gone:,}")


def _parse_address(option: str) -> tuple[str, str]:
    prefix, equals, address = option.partition("=")
    if not equals:
        refuse("--address", option, "PREFIX=IRI")
    return prefix, address
