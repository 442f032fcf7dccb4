"""`connorm serve`: a page and an API over a pipeline."""

import logging
from pathlib import Path

import typer
from wasabi import msg

from ..server import serve
from .app import command


@command("serve")
def serve_cli(
    pipeline: str = typer.Argument(..., help="An installed package, or a pipeline's folder."),
    corrections: Path = typer.Option(
        "corrections.jsonl",
        *("--corrections", "-c"),
        metavar="FILE",
        help="Where corrections are kept; made if missing.",
    ),
    review: Path | None = typer.Option(
        None, "--review", metavar="FILE", help="Mappings to go through, from `connorm map`."
    ),
    host: str = typer.Option(
        "127.0.0.1",
        "--host",
        help="The address to listen at; any non-loopback address needs a token.",
    ),
    port: int = typer.Option(
        8000, "--port", "-p", min=0, max=65535, help="The port; 0 for any free one."
    ),
    name: str | None = typer.Option(None, "--name", help="Public host name, when behind a proxy."),
    token: str | None = typer.Option(
        None,
        "--token",
        envvar="SPACY_CONNORM_TOKEN",
        help="Access token that clients must send. [made if others can reach the host]",
    ),
    component: str | None = typer.Option(
        None, "--component", help="Which concept normalizer, if there are several."
    ),
    verbose: bool = typer.Option(False, "--verbose", "-V", help="Log each request, without texts."),
) -> None:
    """Serve a page and an API over a pipeline: read what is found, search, and correct it.
    Corrections are synonyms from then on; `connorm corrections` turns them into annotated data.
    Ctrl-C or SIGTERM stops the server once it has answered all running requests.

    With --review, the page goes through the mappings of `connorm map`.

    Example: python -m spacy connorm serve training/index --corrections corrections.jsonl
    """
    if verbose:
        logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s")
    report = serve(
        pipeline,
        corrections=corrections,
        review=review,
        host=host,
        port=port,
        name=name,
        token=token,
        component=component,
        on_start=_tell,
    )
    msg.info(f"Stopped. {report.corrections:,} corrections count in {corrections}")


def _tell(address: str) -> None:
    msg.good(f"Open {address}")
    msg.info("Ctrl-C stops it")
