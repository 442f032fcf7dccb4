"""`connorm serve`: a page and an API over a pipeline."""

import logging
from typing import Any

import typer
from wasabi import msg

from ..server import serve
from .app import command
from .options import options_of


@command("serve")
@options_of(serve, flags={"corrections": "-c", "port": "-p"}, hidden=("limits", "on_start"))
def serve_cli(
    verbose: bool = typer.Option(False, "--verbose", "-V", help="Log each request, without texts."),
    **given: Any,
) -> None:
    """Serve a page and an API over a pipeline: read what is found, search, and correct it.
    Corrections are synonyms from then on; `connorm corrections` turns them into annotated data.
    Ctrl-C or SIGTERM stops the server once it has answered all running requests.

    With --review, the page goes through the mappings of `connorm map`.

    Example: python -m spacy connorm serve training/index --corrections corrections.jsonl
    """
    if verbose:
        logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s")
    report = serve(**given, on_start=_tell)
    msg.info(f"Stopped. {report.corrections:,} corrections count in {given['corrections']}")


def _tell(address: str) -> None:
    msg.good(f"Open {address}")
    msg.info("Ctrl-C stops it")
