"""`connorm annotate`: texts to texts with concept ids."""

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Any

import typer
from spacy.language import Language
from spacy.tokens import Doc, Span
from tqdm import tqdm
from wasabi import msg

from ..annotations.spans import choose_spans
from ..concepts import NIL
from ..corpora import write_docs
from ..encoders.devices import choose_device
from ..errors import ConnormError, Errors, Warnings, refuse, warn
from ..files.atomic import atomic_file
from ..files.docbin import read_docs
from ..files.text import open_text, read_lines
from ..pipeline.concept_normalizer import ConceptNormalizer
from ..pipeline.loading import find_normalizer, load_pipeline
from .app import command

_FIELDS_KEY = "fields"
_SURROGATE = re.compile("[\ud800-\udfff]")


@command("annotate")
def annotate_cli(
    pipeline: str = typer.Argument(..., help="An installed package, or a pipeline's folder."),
    input_path: Path = typer.Argument(..., metavar="IN", help="A .txt, .jsonl or .spacy file."),
    output_path: Path = typer.Argument(..., metavar="OUT", help="A .jsonl or .spacy file."),
    show: bool = typer.Option(False, "--show", "-s", help="Print what is found, too."),
    batch_size: int = typer.Option(128, "--batch-size", "-b", min=1, help="Texts in one batch."),
    n_process: int = typer.Option(
        1, "--n-process", "-n", min=-1, help="Processes; -1 for all cores."
    ),
    gpu_id: int = typer.Option(-1, "--gpu-id", "-g", help="GPU for the pipeline; -1 for the CPU."),
    component: str | None = typer.Option(
        None, "--component", help="Which concept normalizer's answers, if there are several."
    ),
) -> None:
    """Run a pipeline over texts and write what it finds. A .txt file is one text; a .jsonl file
    has an object with a "text" in each line, whose other fields are kept; the documents of a
    .spacy file keep the entities that they have.

    Example: python -m spacy connorm annotate en_diseases notes.jsonl annotated.jsonl
    """
    if output_path.suffix not in (".jsonl", ".spacy"):
        known = ".jsonl or .spacy"
        raise ConnormError(Errors.CN708.format(action="write", path=output_path, known=known))
    if n_process == 0:
        refuse("--n-process", n_process, "at least 1, or -1 for all cores")
    choose_device(gpu_id)
    nlp = load_pipeline(pipeline)
    normalizer = find_normalizer(nlp, component=component)
    texts = read_inputs(input_path, nlp)
    docs = nlp.pipe(texts, batch_size=batch_size, n_process=n_process)
    counts: Counter[str] = Counter()
    with tqdm(docs, unit=" texts", delay=2, leave=False, disable=show or None) as passing:
        watched = _watch(passing, normalizer, counts, show=show)
        if output_path.suffix == ".spacy":
            write_docs(watched, output_path)
        else:
            write_jsonl(watched, output_path, normalizer)
    if counts["texts"] and not counts["mentions"]:
        warn(Warnings.CNW701.format(count=counts["texts"], component=normalizer.name))
    msg.good(
        f"Wrote {counts['texts']:,} texts with {counts['mentions']:,} mentions, "
        f"{counts['linked']:,} of them linked: {output_path}"
    )


def read_inputs(path: Path, nlp: Language) -> Iterator[Doc]:
    """Read texts to annotate, one by one.

    path (Path): A `.txt`, `.jsonl`, `.jsonl.gz` or `.spacy` file.
    nlp (Language): Its tokenizer makes the documents.
    YIELDS (Doc): The documents, a JSON object's other fields kept in their `user_data`.
    RAISES (ConnormError): CN708 for another suffix, CN707 for a line that is no object with a
        text, CN709 for a text longer than the pipeline takes, and what the readers raise.
    WARNS (ConnormWarning): CNW202 for lone surrogates, which spaCy cannot store.
    """
    replaced: Counter[str] = Counter()
    if path.name.endswith(".spacy"):
        yield from read_docs(path, nlp.vocab)
    elif path.name.endswith(".txt"):
        text = _storable("\n".join(line for _, line in read_lines(path)), replaced)
        yield _make_doc(nlp, text, place=f"'{path}'")
    elif path.name.endswith((".jsonl", ".jsonl.gz")):
        for number, line in read_lines(path):
            if line.strip():
                yield _read_line(nlp, line, replaced, place=f"'{path}', line {number}")
    else:
        known = ".txt, .jsonl, .jsonl.gz or .spacy"
        raise ConnormError(Errors.CN708.format(action="read", path=path, known=known))
    if replaced:
        warn(Warnings.CNW202.format(count=replaced["surrogates"]))


def _read_line(nlp: Language, line: str, replaced: Counter[str], *, place: str) -> Doc:
    try:
        fields = json.loads(line)
        # An escape such as \ud83d becomes a lone surrogate only now, in any of the fields.
        fields = json.loads(_storable(json.dumps(fields, ensure_ascii=False), replaced))
    except (ValueError, RecursionError) as error:
        raise ConnormError(Errors.CN707.format(place=place)) from error
    if not isinstance(fields, dict) or not isinstance(fields.get("text"), str):
        raise ConnormError(Errors.CN707.format(place=place))
    doc = _make_doc(nlp, fields.pop("text"), place=place)
    doc.user_data[_FIELDS_KEY] = fields
    return doc


def _storable(text: str, replaced: Counter[str]) -> str:
    text, count = _SURROGATE.subn("\ufffd", text)
    if count:
        replaced["surrogates"] += count
    return text


def _make_doc(nlp: Language, text: str, *, place: str) -> Doc:
    if len(text) > nlp.max_length:
        message = Errors.CN709.format(place=place, length=len(text), limit=nlp.max_length)
        raise ConnormError(message)
    return nlp.make_doc(text)


def write_jsonl(docs: Iterable[Doc], path: Path, normalizer: ConceptNormalizer) -> None:
    """Write annotated documents, one JSON object a line, aside first and then renamed.

    docs (Iterable[Doc]): The documents; a generator is never held in memory.
    path (Path): The file.
    normalizer (ConceptNormalizer): Whose answers to write.
    RAISES (ConnormError): CN105 or CN108 if the file cannot be written.
    """
    with atomic_file(path) as aside, open_text(aside, "wt") as lines:
        for doc in docs:
            lines.write(json.dumps(to_record(doc, normalizer), ensure_ascii=False) + "\n")


def to_record(doc: Doc, normalizer: ConceptNormalizer) -> dict[str, Any]:
    """Put an annotated document into JSON.

    doc (Doc): The document.
    normalizer (ConceptNormalizer): Whose answers to take.
    RETURNS (Dict[str, Any]): "text", "ents" with "start", "end", "text", "label", "kb_id" and
        "candidates", and the fields that came with the text.
    """
    prefix = normalizer.cfg["attribute_prefix"]
    ents = [
        {
            "start": span.start_char,
            "end": span.end_char,
            "text": span.text,
            "label": span.label_,
            "kb_id": span._.get(f"{prefix}kb_id"),
            "candidates": [each._asdict() for each in span._.get(f"{prefix}candidates")],
        }
        for span in _spans(doc, normalizer)
    ]
    return {**doc.user_data.get(_FIELDS_KEY, {}), "text": doc.text, "ents": ents}


def _spans(doc: Doc, normalizer: ConceptNormalizer) -> list[Span]:
    # Those whose label the normalizer passes over, too: it is the text's annotation, not its.
    return choose_spans(doc, spans_key=normalizer.cfg["spans_key"], labels=None)


def _watch(
    docs: Iterable[Doc], normalizer: ConceptNormalizer, counts: Counter[str], *, show: bool
) -> Iterator[Doc]:
    for doc in docs:
        record = to_record(doc, normalizer)
        counts["texts"] += 1
        counts["mentions"] += len(record["ents"])
        counts["linked"] += sum(ent["kb_id"] not in ("", NIL) for ent in record["ents"])
        if show:
            _show(record)
        yield doc


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
