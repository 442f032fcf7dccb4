"""`connorm serve` and `connorm corrections`: a web page and an API for a pipeline, and the
corrections made there.
"""

import logging
import sys
from collections.abc import Iterable
from typing import Any

import typer
from wasabi import msg

from ..server import serve
from ..workflows import CorrectionConflict, convert_corrections
from .app import command, show_table, tally
from .options import options_of


@command("serve")
@options_of(serve, flags={"corrections": "-c", "port": "-p"}, hidden=("limits", "on_start"))
def serve_cli(
    verbose: bool = typer.Option(False, "--verbose", "-V", help="Log each request, without texts."),
    **given: Any,
) -> None:
    """Serve a web page and an API: read, search and correct.

    Corrections become synonyms at once; `connorm corrections` turns them into annotated data.
    Ctrl-C or SIGTERM stops the server after it has answered all running requests. With --review,
    the page also shows the mappings of `connorm map` for review.

    Example: connorm serve training/index --corrections corrections.jsonl
    """
    if verbose:
        logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s")
    report = serve(**given, on_start=_tell)
    msg.info(f"Stopped. {given['corrections']} has {tally(corrections=report.corrections)}")


def _tell(address: str) -> None:
    msg.good(f"Open {address}")
    msg.info("Ctrl-C stops it")
    # Otherwise a pipe, such as a service's log, would get the address only when the server has
    # ended.
    sys.stdout.flush()


_SHOWN = 20


@command("corrections")
@options_of(
    convert_corrections,
    flags={"lang": "-l"},
    help={
        "path": "The file that `connorm serve` appends to.",
        "output_path": "A .tsv, .spacy or .txt file. [only report]",
    },
)
def corrections_cli(**given: Any) -> None:
    """Turn corrections into synonyms, stop texts or documents.

    It writes a table (.tsv) for `connorm index --synonyms` with the last concept of each text, a
    list (.txt) of texts whose last correction gives no concept, for the `stop_list` of
    `mention_finder`, or all mentions in their documents (.spacy), for `connorm index --corpus` and
    for training. Texts that were given different concepts are listed.

    Example: connorm corrections corrections.jsonl corrections.tsv
    """
    report, output_path = convert_corrections(**given), given.get("output_path")
    _show_conflicts(report.conflicts)
    if report.conflicts and output_path is not None and output_path.suffix == ".spacy":
        msg.warn("Documents keep them all; an index built from them uses the most frequent one")
    msg.good(
        tally(
            Records=report.records,
            corrections_that_apply=report.corrections,
            without_a_concept=report.without_concept,
            texts=report.texts,
        )
    )
    if output_path is not None:
        msg.good(f"Wrote {output_path}")


def _show_conflicts(conflicts: Iterable[CorrectionConflict]) -> None:
    rows = [
        (
            conflict.mention,
            ", ".join(conflict.kb_ids),
            ", ".join(name or "-" for name in conflict.authors),
        )
        for conflict in conflicts
    ]
    if rows:
        msg.warn(f"Given different concepts, the last one applies ({tally(texts=len(rows))}):")
        header = ("Text", "Concepts, the last one last", "By")
        show_table(rows[:_SHOWN], header=header)
