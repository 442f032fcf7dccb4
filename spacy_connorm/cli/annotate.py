"""`connorm annotate`: annotate a file of texts, or a corpus of many files."""

import inspect
from collections.abc import Callable, Iterator
from functools import cache, partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import srsly
import typer
from wasabi import msg

from ..concepts import Candidate
from ..concepts.concept import by_part
from ..documents import EXPORT_FORMATS, find_export_format
from ..documents.document import ID_FIELD
from ..documents.mentions import split_ids
from ..encoders.device import choose_device
from ..errors import Errors
from ..pipeline import find_normalizer, load_pipeline
from ..workflows import AnnotatedCorpus, AnnotationCounts, annotate, annotate_corpus
from ..workflows.corpus import ENGINES
from .app import command, show_table, tally
from .billing import billing_of
from .options import options_of

_HEADER = ("Text", "Mention", "Concept", "Name", "Probability", "Assertions", "Billing")
_OF_TEXTS = inspect.signature(annotate).parameters
_OF_CORPORA = inspect.signature(annotate_corpus).parameters


@command("annotate")
@options_of(
    annotate,
    annotate_corpus,
    formats={name: form.make_exporter for name, form in EXPORT_FORMATS.items()},
    flags={"format": "-f", "batch_size": "-b", "n_process": "-n", "gpu_id": "-g"},
    help={
        "input_path": "A .txt, .jsonl, .csv, .tsv or .spacy file, or a folder of .txt files. With "
        "--engine, a .parquet or .jsonl file, or a folder of them.",
        "format": f"Format of OUT, if its name does not show it: {', '.join(EXPORT_FORMATS)}.",
    },
)
def annotate_cli(
    output_path: Path | None = typer.Argument(
        None,
        metavar="OUT",
        help="The file to write, or the folder for BRAT. With --engine, the folder to write "
        "Parquet files to, or to continue. [a table on the screen]",
        show_default=False,
    ),
    engine: str | None = typer.Option(
        None,
        "--engine",
        "-e",
        help=f"For corpora of many files, each written as soon as it is done: "
        f"{', '.join(ENGINES)}.",
    ),
    **given: Any,
) -> None:
    """Run a pipeline over texts, and write or show the mentions it finds.

    A .txt file is one text, with the file's name as its id, and a folder has one in each .txt file;
    a .jsonl file has an object with a "text" in each line, a .csv or .tsv file a header and a
    "text" in each row; the documents of a .spacy file keep their entities. Other fields and columns
    are kept in the formats bioc-xml, bioc-json, jsonl, spacy and parquet.

    With --engine, a corpus of any size is written as Parquet, one file for each of its files, and a
    run that was killed continues where it stopped.

    Example: connorm annotate en_diseases notes.jsonl annotated.csv
    """
    if "ray_address" in given and engine is None:
        raise Errors.CN733(option="--ray-address", needed="`--engine`")
    if output_path is None:
        _show(engine, given)
        return
    given["output_path"] = output_path
    if engine is not None:
        for name in sorted(given.keys() - _OF_CORPORA.keys()):
            if given[name] is not False:
                raise Errors.CN736(option=_flag(name), other="--engine")
        of_corpora = {name: value for name, value in given.items() if name in _OF_CORPORA}
        _tell_corpus(annotate_corpus(engine=engine, **of_corpora))
        return
    counts = annotate(**given)
    msg.good(f"Wrote {output_path} ({_tally(counts)})")
    for system, count in counts.without_code.items():
        msg.info(f"Linked mentions without a code in {system}: {count:,}")
    form = find_export_format(output_path, given.get("format"))
    lost = [
        f"{name} ({tally(texts=counts.contents[name])})"
        for name in form.lacks
        if counts.contents[name]
    ]
    if lost:
        msg.info(f"The format '{form.name}' has no place for {', '.join(lost)}.")


def _flag(name: str) -> str:
    return f"--{name.replace('_', '-')}"


def _show(engine: str | None, given: dict[str, Any]) -> None:
    """Show what JSONL would have, as a table."""
    asked = {"engine": engine, **given}
    of_formats = sorted(given.keys() - _OF_TEXTS.keys())
    for name in ("engine", "format", *of_formats):
        if asked.get(name) is not None:
            raise Errors.CN733(option=_flag(name), needed="OUT")
    choose_device(given.get("gpu_id", -1))
    nlp = given["pipeline"] = load_pipeline(given["pipeline"])
    normalizer = find_normalizer(nlp, component=given.get("component"))
    with TemporaryDirectory() as folder:
        path = Path(folder) / "annotated.jsonl"
        annotate(**given, output_path=path)
        billing = cache(partial(billing_of, normalizer))
        id_field = given.get("id_field", ID_FIELD)
        rows = list(_mention_rows(srsly.read_jsonl(path), id_field, billing))
    if rows:
        width = len(_HEADER) if any(row[-1] for row in rows) else len(_HEADER) - 1
        cells = [row[:width] for row in rows]
        show_table(cells, header=_HEADER[:width], aligns="rlllrll"[:width])


def _mention_rows(
    records: Iterator[Any], id_field: str, billing: Callable[[str], str]
) -> Iterator[tuple[str, ...]]:
    for number, record in enumerate(records, start=1):
        for ent in record["ents"]:
            # Of each part of a composite, only the first candidate answers: the concepts of other
            # parts may stand below it.
            leading = [part[0] for part in by_part([Candidate(**one) for one in ent["candidates"]])]
            ids = split_ids(ent["kb_id"])
            linked = [candidate for candidate in leading if candidate.concept_id in ids]
            names = " | ".join(candidate.name for candidate in linked)
            known = [p for candidate in linked if (p := candidate.probability) is not None]
            marks = ", ".join(ent.get("assertions") or ())
            probability = f"{min(known):.2f}" if known else ""
            text = " ".join(ent["text"].split())
            broad = next(filter(None, (billing(candidate.concept_id) for candidate in linked)), "")
            text_id = str(record.get(id_field) or number)
            yield text_id, text, ent["kb_id"], names, probability, marks, broad


def _tell_corpus(annotated: AnnotatedCorpus) -> None:
    counts = annotated.counts
    if annotated.earlier:
        msg.info(f"Written earlier: {annotated.earlier:,} of {annotated.fragments:,}")
    msg.good(f"Wrote {annotated.path} ({tally(files=annotated.fragments)}, {_tally(counts)})")


def _tally(counts: AnnotationCounts) -> str:
    return tally(texts=counts.texts, mentions=counts.mentions, linked=counts.linked)
