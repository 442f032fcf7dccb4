"""Reading the texts that a pipeline annotates."""

import json
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from spacy.language import Language
from spacy.tokens import Doc

from ..annotations.metadata import set_other_fields
from ..errors import ConnormError, Errors, Warnings, warn
from ..files.docbin import read_docs
from ..files.text import read_lines

_SURROGATE = re.compile("[\ud800-\udfff]")


def read_inputs(path: str | Path, nlp: Language) -> Iterator[Doc]:
    """Read texts to annotate, one by one. A `.txt` file is one text; a `.jsonl` file has an object
    with a "text" in each line; the documents of a `.spacy` file keep their entities.

    path (Union[str, Path]): A `.txt`, `.jsonl`, `.jsonl.gz` or `.spacy` file.
    nlp (Language): Its tokenizer makes the documents.
    YIELDS (Doc): The documents.
    RAISES (ConnormError): CN708 for another suffix, CN707 for a line that is no object with a text,
        CN709 for a text longer than the pipeline takes, and the errors of `read_docs` and
        `read_lines`.
    WARNS (ConnormWarning): CNW202 for lone surrogates, which spaCy cannot store.
    """
    path = Path(path)
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
        # JSON escapes such as \ud83d become lone surrogates only here, in any of the fields.
        fields = json.loads(_storable(json.dumps(fields, ensure_ascii=False), replaced))
    except (ValueError, RecursionError) as error:
        raise ConnormError(Errors.CN707.format(place=place)) from error
    if not isinstance(fields, dict) or not isinstance(fields.get("text"), str):
        raise ConnormError(Errors.CN707.format(place=place))
    doc = _make_doc(nlp, fields.pop("text"), place=place)
    set_other_fields(doc, fields)
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
