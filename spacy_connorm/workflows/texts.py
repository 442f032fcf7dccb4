"""Read the texts that a pipeline annotates, from a file or from a folder of text files, and put
them into batches.
"""

import json
import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from spacy.vocab import Vocab

from ..documents.docbin import read_docs
from ..documents.document import ID_FIELD, CorpusReport, find_id, other_fields, replace_surrogates
from ..errors import ConnormError, Errors, require_ending
from ..files.tables import find_column, read_rows, require_distinct_columns, require_width
from ..files.text import read_lines, read_text

TEXT_FIELD = "text"
JSON_LINES = (".jsonl", ".jsonl.gz")
_TABLES = (".csv", ".csv.gz", ".tsv", ".tsv.gz")


class InputText(NamedTuple):
    """A text to annotate.

    doc_id (str): Its id; empty if it has none, except perhaps in one of its fields.
    text (Optional[str]): The text; None if it can't be read.
    fields (Dict[str, Any]): The other fields, as JSON.
    place (str): Its location, for messages.
    error (str): Why it can't be read; empty if it can.
    content (bytes): The serialized document, if it already is one; otherwise empty.
    """

    doc_id: str
    text: str | None
    fields: dict[str, Any]
    place: str
    error: str = ""
    content: bytes = b""


def read_inputs(
    path: str | Path, *, text_field: str = TEXT_FIELD, needed_fields: Collection[str] = ()
) -> Iterator[InputText]:
    """Read texts to annotate, one by one. A `.txt` file is one text, whose id is its name without
    `.txt`, and a folder has several of them; a `.jsonl` file has an object with a text in each
    line, a `.csv` or `.tsv` file a header and a text in each row; the documents of a `.spacy` file
    keep their entities. Texts keep their line ends, which offsets count.

    path (Union[str, Path]): A `.txt`, `.jsonl`, `.csv`, `.tsv` or `.spacy` file; all except `.txt`
        and `.spacy` may be gzipped. Or a folder of `.txt` files, read in the order of their names;
        subfolders and names that begin with `_` or `.` are skipped.
    text_field (str): The field of an object, or the column of a table, with the text.
    needed_fields (Collection[str]): Other fields or columns that the first object or document must
        have.
    YIELDS (InputText): The texts.
    RAISES (ConnormError): CN708 for another extension, CN707 for a line that is not an object with
        a text, CN720 for one without a needed field, CN721 for a field of a `.txt` file or a text
        field of a `.spacy` file, CN114 for a table without a column, CN125 for columns of the same
        name, CN115 for a row with more fields than columns, CN104 for a folder without `.txt`
        files, and the errors of `read_docs`, `read_lines`, `read_text` and `read_rows`.
    WARNS (ConnormWarning): CNW202 for lone surrogates, which spaCy cannot store.
    """
    path, needed = Path(path), needed_fields
    name = path.name.lower()
    replaced = CorpusReport()
    if name.endswith(".spacy"):
        _refuse_fields(path, text_field)
        texts = _read_docs(path)
    elif path.is_dir() or name.endswith(".txt"):
        _refuse_fields(path, text_field, *needed_fields)
        paths = _text_files(path) if path.is_dir() else [path]
        texts = (_read_file(text_path, replaced) for text_path in paths)
    elif name.endswith(JSON_LINES):
        texts = read_json_lines(path, str(path), text_field, replaced)
    elif name.endswith(_TABLES):
        texts = _read_table(path, replaced, [text_field, *needed_fields])
        needed = ()
    else:
        require_ending(path, (".txt", *JSON_LINES, *_TABLES, ".spacy"), action="read")
    for text in texts:
        if text.error:
            raise ConnormError(text.error)
        for field in needed:
            if field not in text.fields:
                known = ", ".join(text.fields) or "none"
                raise Errors.CN720(place=text.place, field=field, known=known)
        needed = ()
        yield text
    replaced.warn(path)


def _refuse_fields(path: Path, *fields: str) -> None:
    named = [field for field in fields if field != TEXT_FIELD]
    if named:
        raise Errors.CN721(path=path, field=named[0], known=", ".join((*JSON_LINES, *_TABLES)))


def _read_file(path: Path, replaced: CorpusReport) -> InputText:
    text, doc_id = (
        replace_surrogates(text, report=replaced) for text in (read_text(path), path.stem)
    )
    return InputText("", text, {ID_FIELD: doc_id}, f"'{path}'")


def _text_files(folder: Path) -> list[Path]:
    paths = sorted(
        path
        for path in folder.iterdir()
        if path.suffix.lower() == ".txt" and not path.name.startswith(("_", "."))
    )
    if not paths:
        what = "`.txt` files (folders of Parquet and JSON lines need `--engine`)"
        raise Errors.CN104(path=folder, what=what)
    return paths


def _read_docs(path: Path) -> Iterator[InputText]:
    for number, doc in enumerate(read_docs(path, Vocab()), start=1):
        place = f"'{path}', document {number}"
        # What was read may be nested too deeply to be written.
        with Errors.CN220.instead_of(ValueError, path=path, format="`.spacy`", mend=""):
            content = doc.to_bytes()
        yield InputText("", doc.text, other_fields(doc), place, content=content)


def read_json_lines(
    path: Path, name: str, text_field: str, replaced: CorpusReport, id_field: str = ""
) -> Iterator[InputText]:
    """Read a file with an object in each line.

    path (Path): The file.
    name (str): Its name in messages and ids.
    text_field (str): The field with the text.
    replaced (CorpusReport): Counts lone surrogates.
    id_field (str): The field with the id; texts get none if it is empty.
    YIELDS (InputText): The text of each line, or the reason why there is none.
    """
    for number, line in read_lines(path):
        if line.strip():
            text, fields, problem = _parse_line(line, replaced, text_field)
            place = f"'{name}', line {number}"
            error = problem and Errors.CN707.format(place=place, field=text_field, found=problem)
            doc_id = text_id(fields, id_field, name, number) if id_field else ""
            yield InputText(doc_id, text, fields, place, error)


def _read_table(path: Path, replaced: CorpusReport, needed: Sequence[str]) -> Iterator[InputText]:
    rows = read_rows(path)
    columns = [replace_surrogates(cell.strip(), report=replaced) for cell in next(rows, (0, []))[1]]
    text_at, *_ = [find_column(path, column, columns) for column in needed]
    named = [at for at, column in enumerate(columns) if column and at != text_at]
    require_distinct_columns(path, [columns[at] for at in named])
    for number, row in require_width(rows, path, len(columns)):
        cells = dict(enumerate(replace_surrogates(cell, report=replaced) for cell in row))
        fields = {columns[at]: cells[at] for at in named if at in cells}
        yield InputText("", cells.get(text_at, ""), fields, f"'{path}', line {number}")


def _parse_line(
    line: str, replaced: CorpusReport, text_field: str
) -> tuple[str | None, dict[str, Any], str]:
    """Parse a JSON line. Numbers that JSON lacks, such as NaN, become null.

    RETURNS (Tuple[Optional[str], Dict[str, Any], str]): Its text, its other fields, and what was
        found instead of a text (empty if there is one).
    """
    try:
        fields = json.loads(line)
        # JSON escapes such as \ud83d become lone surrogates only here, in any field.
        storable = replace_surrogates(json.dumps(fields, ensure_ascii=False), report=replaced)
        fields = json.loads(storable, parse_constant=lambda _: None)
    except (ValueError, RecursionError):
        fields = None
    if not isinstance(fields, dict):
        return None, {}, "no JSON object (each line must be one)"
    is_there, text = text_field in fields, fields.pop(text_field, None)
    if isinstance(text, str):
        return text, fields, ""
    other = "null" if text is None else "another type"
    return None, fields, other if is_there else f"the fields: {', '.join(fields)}"


def text_id(others: dict[str, Any], id_field: str, name: str, number: int) -> str:
    """Read the id of a text.

    others (Dict[str, Any]): Its other fields.
    id_field (str): The one with the id; may be missing.
    name, number: The file, and the text's number in it.
    RETURNS (str): The id; made of both if it has none.
    """
    return find_id(others, id_field) or f"{name}:{number}"


Item = TypeVar("Item")


def batched(
    items: Iterable[Item], length: Callable[[Item], int], characters: int, most: int = sys.maxsize
) -> Iterator[list[Item]]:
    """Split items with texts into batches.

    items (Iterable[Any]): The items.
    length (Callable[[Any], int]): Returns the number of characters of an item.
    characters (int): The maximum number of characters in a batch of several items.
    most (int): The maximum number of items.
    YIELDS (List[Any]): One item or more, in order.
    """
    batch, total = list[Item](), 0
    for item in items:
        size = length(item)
        if batch and (len(batch) == most or total + size > characters):
            yield batch
            batch, total = [], 0
        batch.append(item)
        total += size
    if batch:
        yield batch
