"""`connorm annotate`: annotate a file of texts."""

from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Any

import typer
from wasabi import msg

from ..concepts import NIL
from ..documents import EXPORT_FORMATS, find_export_format
from ..errors import ConnormError, Errors
from ..workflows import AnnotatedCorpus, annotate, annotate_corpus
from ..workflows.corpus_run import ENGINES
from ..workflows.inputs import TEXT_FIELD
from .app import command
from .options import options_of


@command("annotate")
@options_of(
    annotate,
    formats={name: form.make_exporter for name, form in EXPORT_FORMATS.items()},
    hidden=("on_record",),
)
def annotate_cli(
    pipeline: str = typer.Argument(..., help="An installed package, or a pipeline's folder."),
    input_path: Path = typer.Argument(
        ...,
        metavar="IN",
        help="A .txt, .jsonl, .csv, .tsv or .spacy file. With --engine, a .parquet or .jsonl file, "
        "or a folder of them.",
    ),
    output_path: Path = typer.Argument(
        ...,
        metavar="OUT",
        help="The file to write, or the folder for BRAT. With --engine, the folder to write "
        "Parquet files to, or to go on with.",
    ),
    engine: str | None = typer.Option(
        None,
        "--engine",
        "-e",
        help=f"For corpora of many files, each of which is written when it is done: "
        f"{', '.join(ENGINES)}.",
        show_default=False,
    ),
    format: str | None = typer.Option(
        None,
        "--format",
        "-f",
        help=f"Format of OUT, if its name does not show it: {', '.join(EXPORT_FORMATS)}.",
    ),
    text_field: str = typer.Option(
        TEXT_FIELD,
        "--text-field",
        help="The column, or the field of a .jsonl line, that holds the text.",
    ),
    id_field: str = typer.Option(
        "id",
        "--id-field",
        help="The column, or the field of a .jsonl line, that holds the text's id.",
    ),
    show: bool = typer.Option(False, "--show", "-s", help="Also print what is found."),
    batch_size: int = typer.Option(128, "--batch-size", "-b", min=1, help="Texts in one batch."),
    n_process: int = typer.Option(
        1, "--n-process", "-n", min=-1, help="Processes; -1 for all cores."
    ),
    gpu_id: int = typer.Option(-1, "--gpu-id", "-g", help="GPU for the pipeline; -1 for the CPU."),
    component: str | None = typer.Option(
        None, "--component", help="Which concept normalizer's answers, if there are several."
    ),
    ray_address: str | None = typer.Option(
        None,
        "--ray-address",
        help="With --engine ray: the cluster's address, or auto; one is started on this machine if "
        "there is none.",
    ),
    **options: Any,
) -> None:
    """Run a pipeline over texts and write what it finds. A .txt file is one text; a .jsonl file
    has an object with a "text" in each line, a .csv or .tsv file a header and a "text" in each
    row, and all else in them is kept; the documents of a .spacy file keep the entities that they
    have. With --engine, a corpus of any size is written as
    Parquet, one file for each of its files, and a run that was killed goes on where it was.

    Example: python -m spacy connorm annotate en_diseases notes.jsonl annotated.csv
    """
    if engine is not None:
        others = {"format": format, "show": show or None, **options}
        _refuse_given(others, Errors.CN736, other="--engine")
        annotated = annotate_corpus(
            pipeline,
            input_path,
            output_path,
            engine=engine,
            text_field=text_field,
            id_field=id_field,
            batch_size=batch_size,
            n_process=n_process,
            gpu_id=gpu_id,
            component=component,
            ray_address=ray_address,
        )
        _tell(annotated)
        return
    _refuse_given({"ray_address": ray_address}, Errors.CN733, needed="`--engine`")
    counts = annotate(
        pipeline,
        input_path,
        output_path,
        format=format,
        text_field=text_field,
        id_field=id_field,
        batch_size=batch_size,
        n_process=n_process,
        gpu_id=gpu_id,
        component=component,
        on_record=_show if show else None,
        **options,
    )
    msg.good(
        f"Wrote {counts.texts:,} texts with {counts.mentions:,} mentions, "
        f"{counts.linked:,} of them linked: {output_path}"
    )
    for system, count in counts.without_code.items():
        msg.info(f"{count:,} linked mentions have no code in {system}")
    form = find_export_format(output_path, format)
    if form.lacks:
        msg.info(f"The format '{form.name}' has no place for {form.lacks}.")


def _tell(annotated: AnnotatedCorpus) -> None:
    counts = annotated.counts
    if annotated.earlier:
        msg.info(f"{annotated.earlier:,} of {annotated.fragments:,} files were written earlier")
    msg.good(
        f"{annotated.fragments:,} files with {counts.texts:,} texts and {counts.mentions:,} "
        f"mentions, {counts.linked:,} of them linked: {annotated.path}"
    )


def _refuse_given(options: dict[str, Any], message: str, **fields: str) -> None:
    """RAISES (ConnormError): With the message, for the first option that is given."""
    for name in _given(options):
        option = f"--{name.replace('_', '-')}"
        raise ConnormError(message.format(option=option, **fields))


def _given(options: dict[str, Any]) -> dict[str, Any]:
    return {name: each for name, each in options.items() if each is not None}


def _show(record: dict[str, Any]) -> None:
    msg.text(record["text"], spaced=True)
    rows = [(ent["text"], ent["kb_id"], *_describe(ent)) for ent in record["ents"]]
    if rows:
        msg.table(rows, header=("Mention", "Concept", "Name", "Score"), divider=True)


def _describe(ent: dict[str, Any]) -> tuple[str, str]:
    if not ent["candidates"]:
        return "", ""
    leading = [next(part) for _, part in groupby(ent["candidates"], key=itemgetter("part"))]
    names = " | ".join(best["name"] for best in leading)
    shown = f"(nearest: {names})" if ent["kb_id"] == NIL else names
    return shown, f"{min(best['score'] for best in leading):.2f}"
