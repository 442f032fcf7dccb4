"""`connorm cascade`: join a fast pipeline and a better one."""

from pathlib import Path

import typer
from wasabi import msg

from ..pipeline import cascade
from ..pipeline.cascading import MIN_PROBABILITY
from .app import command


@command("cascade")
def cascade_cli(
    first: str = typer.Argument(..., help="The faster pipeline, calibrated: a folder or package."),
    second: str = typer.Argument(..., help="The better one, calibrated, over the same ontology."),
    output_path: Path = typer.Argument(..., metavar="OUT", help="The folder of the cascade."),
    min_probability: float = typer.Option(
        MIN_PROBABILITY,
        "--min-probability",
        "-p",
        help="The second answers what is less likely right.",
    ),
    component: str | None = typer.Option(
        None, "--component", "-c", help="Its name, if a pipeline has several concept normalizers."
    ),
) -> None:
    """Join two pipelines: the first, such as that of a DAN, answers the mentions of which it is
    certain, and the second, such as that of a transformer, all others. Both must have been
    calibrated on dev data (`connorm evaluate --calibrate`).

    Example: python -m spacy connorm cascade training/dan training/minilm training/cascade
    """
    path = cascade(first, second, output_path, min_probability=min_probability, component=component)
    msg.good(f"Wrote the cascade: {path}")
