"""Reading the texts that a pipeline annotates."""

import json
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

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
        yield make_input(nlp, text, place=f"'{path}'")
    elif path.name.endswith((".jsonl", ".jsonl.gz")):
        for number, line in read_lines(path):
            if line.strip():
                place = f"'{path}', line {number}"
                text, fields = parse_line(line, replaced, place=place)
                doc = make_input(nlp, text, place=place)
                set_other_fields(doc, fields)
                yield doc
    else:
        known = ".txt, .jsonl, .jsonl.gz or .spacy"
        raise ConnormError(Errors.CN708.format(action="read", path=path, known=known))
    if replaced:
        warn(Warnings.CNW202.format(count=replaced["surrogates"]))


def parse_line(
    line: str, replaced: Counter[str], *, place: str, text_field: str = "text"
) -> tuple[str, dict[str, Any]]:
    """Read a JSON line.

    line (str): The line.
    replaced (Counter[str]): Counts lone surrogates, which are replaced by U+FFFD.
    place (str): Where it stands, for messages.
    text_field (str): The field with the text.
    RETURNS (Tuple[str, Dict[str, Any]]): The text, and the other fields.
    RAISES (ConnormError): CN707 if it is no object with a text.
    """
    error = ConnormError(Errors.CN707.format(place=place, field=text_field))
    try:
        fields = json.loads(line)
        # JSON escapes such as \ud83d become lone surrogates only here, in any of the fields.
        fields = json.loads(_storable(json.dumps(fields, ensure_ascii=False), replaced))
    except (ValueError, RecursionError) as cause:
        raise error from cause
    if not isinstance(fields, dict) or not isinstance(fields.get(text_field), str):
        raise error
    return fields.pop(text_field), fields


def _storable(text: str, replaced: Counter[str]) -> str:
    text, count = _SURROGATE.subn("\ufffd", text)
    if count:
        replaced["surrogates"] += count
    return text


def make_input(nlp: Language, text: str, *, place: str) -> Doc:
    """Make the document of a text.

    nlp (Language): Its tokenizer makes the document.
    text (str): The text.
    place (str): Where it stands, for messages.
    RETURNS (Doc): The document.
    RAISES (ConnormError): CN709 for a text longer than the pipeline takes.
    """
    if len(text) > nlp.max_length:
        message = Errors.CN709.format(place=place, length=len(text), limit=nlp.max_length)
        raise ConnormError(message)
    return nlp.make_doc(text)
