"""Reading the texts that a pipeline annotates."""

import json
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, TypeAlias

from spacy.language import Language
from spacy.tokens import Doc

from ..documents.docbin import read_docs
from ..documents.document import other_fields, set_other_fields
from ..errors import ConnormError, Errors, Warnings, warn
from ..files.tables import find_column, read_rows, require_distinct_columns, require_width
from ..files.text import read_lines, read_text

TEXT_FIELD = "text"
_JSON_LINES = (".jsonl", ".jsonl.gz")
_TABLES = (".csv", ".csv.gz", ".tsv", ".tsv.gz")
_SURROGATE = re.compile("[\ud800-\udfff]")

# The place of a text, the text, and its other fields.
_PlacedText: TypeAlias = tuple[str, str, dict[str, Any]]


def read_inputs(
    path: str | Path,
    nlp: Language,
    *,
    text_field: str = TEXT_FIELD,
    needed_fields: Collection[str] = (),
) -> Iterator[Doc]:
    """Read texts to annotate, one by one. A `.txt` file is one text; a `.jsonl` file has an object
    with a text in each line, a `.csv` or `.tsv` file a header and a text in each row; the documents
    of a `.spacy` file keep their entities. Texts keep their line ends, which offsets count.

    path (Union[str, Path]): A `.txt`, `.jsonl`, `.csv`, `.tsv` or `.spacy` file; all but `.txt` and
        `.spacy` may be gzipped.
    nlp (Language): Its tokenizer makes the documents.
    text_field (str): The field of an object, or the column of a table, that holds the text.
    needed_fields (Collection[str]): Other fields that the first object or document must have, or
        columns.
    YIELDS (Doc): The documents.
    RAISES (ConnormError): CN708 for another suffix, CN707 for a line that is no object with a text,
        CN720 for one without a needed field, CN721 for a field of a `.txt` file or a text field of
        a `.spacy` file, CN114 for a table without a column, CN125 for columns of the same name,
        CN115 for a row with more fields than columns, CN709 for a text longer than the pipeline
        takes, and the errors of `read_docs`, `read_lines`, `read_text` and `read_rows`.
    WARNS (ConnormWarning): CNW202 for lone surrogates, which spaCy cannot store.
    """
    path = Path(path)
    name = path.name.lower()
    replaced: Counter[str] = Counter()
    if name.endswith(".spacy"):
        _refuse_fields(path, text_field)
        for doc in read_docs(path, nlp.vocab):
            require_in_line(needed_fields, other_fields(doc), place=f"'{path}', document 1")
            needed_fields = ()
            yield doc
    elif name.endswith(".txt"):
        _refuse_fields(path, text_field, *needed_fields)
        text = _storable(read_text(path), replaced)
        yield make_input(nlp, text, place=f"'{path}'")
    elif name.endswith((*_JSON_LINES, *_TABLES)):
        read = _read_json_lines if name.endswith(_JSON_LINES) else _read_table
        for place, text, fields in read(path, replaced, text_field, needed_fields):
            doc = make_input(nlp, text, place=place)
            set_other_fields(doc, fields)
            yield doc
    else:
        known = ", ".join((".txt", *_JSON_LINES, *_TABLES, ".spacy"))
        raise ConnormError(Errors.CN708.format(action="read", path=path, known=known))
    if replaced:
        warn(Warnings.CNW202.format(count=replaced["surrogates"]))


def _refuse_fields(path: Path, *fields: str) -> None:
    named = [field for field in fields if field != TEXT_FIELD]
    if named:
        known = ", ".join((*_JSON_LINES, *_TABLES))
        raise ConnormError(Errors.CN721.format(path=path, field=named[0], known=known))


def _read_json_lines(
    path: Path, replaced: Counter[str], text_field: str, needed_fields: Collection[str]
) -> Iterator[_PlacedText]:
    for number, line in read_lines(path):
        if line.strip():
            place = f"'{path}', line {number}"
            fields = parse_line(line, replaced, place=place, text_field=text_field)
            text = take_text(fields, place=place, text_field=text_field)
            require_in_line(needed_fields, fields, place=place)
            needed_fields = ()
            yield place, text, fields


def _read_table(
    path: Path, replaced: Counter[str], text_field: str, needed_fields: Collection[str]
) -> Iterator[_PlacedText]:
    rows = read_rows(path)
    columns = [_storable(cell.strip(), replaced) for cell in next(rows, (0, []))[1]]
    text_at, *_ = [find_column(path, each, columns) for each in (text_field, *needed_fields)]
    named = [at for at, column in enumerate(columns) if column and at != text_at]
    require_distinct_columns(path, [columns[at] for at in named])
    for number, row in require_width(rows, path, len(columns)):
        cells = dict(enumerate(_storable(cell, replaced) for cell in row))
        fields = {columns[at]: cells[at] for at in named if at in cells}
        yield f"'{path}', line {number}", cells.get(text_at, ""), fields


def parse_line(
    line: str, replaced: Counter[str], *, place: str, text_field: str = TEXT_FIELD
) -> dict[str, Any]:
    """Read a JSON line. Numbers that JSON lacks, such as NaN, become null.

    line (str): The line.
    replaced (Counter[str]): Counts lone surrogates, which are replaced by U+FFFD.
    place (str): Where it stands, for messages.
    text_field (str): The field with the text, for messages.
    RETURNS (Dict[str, Any]): Its fields.
    RAISES (ConnormError): CN707 if it is no object.
    """
    try:
        fields = json.loads(line)
        # JSON escapes such as \ud83d become lone surrogates only here, in any of the fields.
        storable = _storable(json.dumps(fields, ensure_ascii=False), replaced)
        fields = json.loads(storable, parse_constant=lambda _: None)
    except (ValueError, RecursionError) as cause:
        raise _no_text(place, text_field, "no JSON") from cause
    if not isinstance(fields, dict):
        raise _no_text(place, text_field, "no object")
    return fields


def take_text(fields: dict[str, Any], *, place: str, text_field: str) -> str:
    """Take the text out of the fields of a JSON object.

    fields (Dict[str, Any]): The fields, which lose that one, even if it holds no text.
    place (str): Where the object stands, for messages.
    text_field (str): The field with the text.
    RETURNS (str): The text.
    RAISES (ConnormError): CN707 if there is none.
    """
    is_there, text = text_field in fields, fields.pop(text_field, None)
    if not isinstance(text, str):
        found = "one that is none" if is_there else f"the fields: {', '.join(fields)}"
        raise _no_text(place, text_field, found)
    return text


def _no_text(place: str, text_field: str, found: str) -> ConnormError:
    return ConnormError(Errors.CN707.format(place=place, field=text_field, found=found))


def require_in_line(needed: Iterable[str], fields: Mapping[str, Any], *, place: str) -> None:
    """Refuse a JSON object without some fields.

    needed (Iterable[str]): The fields.
    fields (Mapping[str, Any]): The object's, besides the text.
    place (str): Where it stands, for messages.
    RAISES (ConnormError): CN720.
    """
    for field in needed:
        if field not in fields:
            known = ", ".join(fields) or "none"
            raise ConnormError(Errors.CN720.format(place=place, field=field, known=known))


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
