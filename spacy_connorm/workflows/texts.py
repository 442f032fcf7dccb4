"""Read the texts that a pipeline annotates: from a single file, or from the many files of a
corpus.
"""

import json
import re
import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from spacy.language import Language
from spacy.vocab import Vocab

from ..documents.docbin import read_docs
from ..documents.document import ID_FIELD, CorpusReport, find_id, other_fields, replace_surrogates
from ..errors import ConnormError, Errors, require_ending, require_installed, tell_reason
from ..files.folders import files_in
from ..files.progress import progress_bar
from ..files.tables import find_column, read_rows, require_distinct_columns, require_width
from ..files.text import read_lines, read_text

Item = TypeVar("Item")
TEXT_FIELD = "text"
_JSON_LINES = (".jsonl", ".jsonl.gz")
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
    elif path.is_dir():
        _refuse_fields(path, text_field, *needed_fields)
        texts = _read_folder(path, replaced)
    elif name.endswith(".txt"):
        _refuse_fields(path, text_field, *needed_fields)
        texts = iter([_read_file(path, replaced)])
    elif name.endswith(_JSON_LINES):
        texts = _read_json_lines(path, str(path), text_field, replaced)
    elif name.endswith(_TABLES):
        texts = _read_table(path, replaced, [text_field, *needed_fields])
        needed = ()
    else:
        require_ending(path, (".txt", *_JSON_LINES, *_TABLES, ".spacy"), action="read")
    for each in texts:
        if each.error:
            raise ConnormError(each.error)
        for field in needed:
            if field not in each.fields:
                known = ", ".join(each.fields) or "none"
                raise ConnormError(Errors.CN720.format(place=each.place, field=field, known=known))
        needed = ()
        yield each
    replaced.warn()


def _refuse_fields(path: Path, *fields: str) -> None:
    named = [field for field in fields if field != TEXT_FIELD]
    if named:
        known = ", ".join((*_JSON_LINES, *_TABLES))
        raise ConnormError(Errors.CN721.format(path=path, field=named[0], known=known))


def _read_file(path: Path, replaced: CorpusReport) -> InputText:
    text, doc_id = (
        replace_surrogates(each, report=replaced) for each in (read_text(path), path.stem)
    )
    return InputText("", text, {ID_FIELD: doc_id}, f"'{path}'")


def _read_folder(folder: Path, replaced: CorpusReport) -> Iterator[InputText]:
    paths = sorted(
        path
        for path in folder.iterdir()
        if path.suffix.lower() == ".txt" and not path.name.startswith(("_", "."))
    )
    if not paths:
        what = "`.txt` files (folders of Parquet and JSON lines need `--engine`)"
        raise ConnormError(Errors.CN104.format(path=folder, what=what))
    for path in paths:
        yield _read_file(path, replaced)


def _read_docs(path: Path) -> Iterator[InputText]:
    for number, doc in enumerate(read_docs(path, Vocab()), start=1):
        place = f"'{path}', document {number}"
        yield InputText("", doc.text, other_fields(doc), place, content=doc.to_bytes())


def _read_json_lines(
    path: Path, name: str, text_field: str, replaced: CorpusReport, id_field: str = ""
) -> Iterator[InputText]:
    for number, line in read_lines(path):
        if line.strip():
            text, fields, found = _parse_line(line, replaced, text_field)
            place = f"'{name}', line {number}"
            error = found and Errors.CN707.format(place=place, field=text_field, found=found)
            doc_id = _doc_id(fields, id_field, name, number) if id_field else ""
            yield InputText(doc_id, text, fields, place, error)


def _read_table(path: Path, replaced: CorpusReport, needed: Sequence[str]) -> Iterator[InputText]:
    rows = read_rows(path)
    columns = [replace_surrogates(cell.strip(), report=replaced) for cell in next(rows, (0, []))[1]]
    text_at, *_ = [find_column(path, each, columns) for each in needed]
    named = [at for at, column in enumerate(columns) if column and at != text_at]
    require_distinct_columns(path, [columns[at] for at in named])
    for number, row in require_width(rows, path, len(columns)):
        cells = dict(enumerate(replace_surrogates(cell, report=replaced) for cell in row))
        fields = {columns[at]: cells[at] for at in named if at in cells}
        yield InputText("", cells.get(text_at, ""), fields, f"'{path}', line {number}")


_NO_OBJECT = "no JSON object (each line must be one)"


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
        return None, {}, _NO_OBJECT
    if not isinstance(fields, dict):
        return None, {}, _NO_OBJECT
    is_there, text = text_field in fields, fields.pop(text_field, None)
    if isinstance(text, str):
        return text, fields, ""
    other = "null" if text is None else "another type"
    return None, fields, other if is_there else f"the fields: {', '.join(fields)}"


# As in spaCy's URL pattern: each colon of "http://http://..." is tried as the one before a
# password, up to the end of the text. The second form finds the same.
_SLOW_USER, _USER = r"(?:\S+(?::\S*)?@)?", r"(?:\S+@)?"


def speed_up_urls(nlp: Language) -> None:
    """Make a tokenizer find the same URLs in linear time: spaCy's own pattern takes 15 seconds for
    50,000 characters of "http://http://...".

    nlp (Language): The pipeline whose tokenizer is changed. A tokenizer with another pattern is
        left as it is.
    """
    tokenizer: Any = nlp.tokenizer
    matches = getattr(tokenizer, "url_match", None)
    pattern = getattr(getattr(matches, "__self__", None), "pattern", "")
    if _SLOW_USER in pattern:
        tokenizer.url_match = re.compile(pattern.replace(_SLOW_USER, _USER)).match


PARQUET = ".parquet"
_KNOWN = f"{PARQUET}, {' or '.join(_JSON_LINES)}"
# The texts that are annotated together, which form one row group of the output. For abstracts, the
# number of rows is the limit; of long articles, fewer are in memory.
_ROWS = 1_000
_HIDDEN = re.compile(r"(?:^|/)[_.]")
_CHARACTERS = 2_000_000


class InputFragment(NamedTuple):
    """A file of a corpus.

    name (str): Its path in the corpus, with forward slashes.
    path (Path): Its path.
    """

    name: str
    path: Path

    @property
    def is_parquet(self) -> bool:
        """Whether the file is Parquet.

        RETURNS (bool): False for JSON lines.
        """
        return _kind(self.path) == PARQUET

    @property
    def output_name(self) -> str:
        """The name of its output.

        RETURNS (str): The path of the output file in the output folder.
        """
        return self.name if self.is_parquet else f"{self.name}{PARQUET}"


def find_fragments(path: Path) -> list[InputFragment]:
    """List the files of a corpus. In a folder, files and folders whose names begin with `_` or `.`
    are skipped, as in Spark and other tools.

    path (Path): A `.parquet`, `.jsonl` or `.jsonl.gz` file, or a folder of such files.
    RETURNS (List[InputFragment]): The fragments, sorted by name.
    RAISES (ConnormError): CN100 if there is no such file, CN708 for a file of another kind, CN126
        without pyarrow, CN104 for a folder without such files, CN791 for one that also has other
        files.
    """
    require_installed("Parquet", "parquet", "pyarrow")
    if path.is_file():
        require_ending(path, (PARQUET, *_JSON_LINES), action="read")
        return [InputFragment(path.name, path)]
    if not path.is_dir():
        raise ConnormError(Errors.CN100.format(path=path))
    files = {name: file for name, file in files_in(path).items() if not _HIDDEN.search(name)}
    first = next(filter(_kind, files.values()), None)
    if first is None:
        raise ConnormError(
            Errors.CN104.format(path=path, what=f"file to annotate: none ends in {_KNOWN}")
        )
    for file in files.values():
        if _kind(file) != _kind(first):
            raise ConnormError(Errors.CN791.format(path=file, first=first.name))
    return [InputFragment(name, file) for name, file in files.items()]


def _kind(path: Path) -> str:
    """Determine the kind of a file.

    RETURNS (str): The extension of its kind; empty if it is of no kind.
    """
    name = path.name.lower()
    if name.endswith(PARQUET):
        return PARQUET
    return _JSON_LINES[0] if name.endswith(_JSON_LINES) else ""


def require_fields(
    fragments: Sequence[InputFragment], text_field: str, id_field: str
) -> int | None:
    """Check, before any work begins, that every Parquet file has the columns, and that the first
    line of every file of JSON lines has the text, and the id if it has another name.

    fragments (Sequence[InputFragment]): The fragments.
    text_field, id_field (str): The columns, or the fields of JSON lines, with the text and its id.
    RETURNS (Optional[int]): The number of texts, if it is known without reading them.
    RAISES (ConnormError): CN114 for a missing column, CN125 for columns of the same name, CN793 for
        a column of the wrong type, CN220 for a file that is not Parquet, CN707 for a line without
        the text, CN720 for one without the id, and the errors of `read_lines`.
    """
    texts, needed = 0, [id_field] * (id_field != ID_FIELD)
    with progress_bar(fragments, unit="files", description="Looking") as bar:
        for fragment in bar:
            if fragment.is_parquet:
                texts += _require_columns(fragment.path, text_field, id_field)
            else:  # a corpus has a single format
                next(read_inputs(fragment.path, text_field=text_field, needed_fields=needed), None)
    return texts or None


def _require_columns(path: Path, text_field: str, id_field: str) -> int:
    from pyarrow import types

    with _parquet_file(path) as file:
        schema, rows = file.schema_arrow, file.metadata.num_rows
    require_distinct_columns(path, schema.names)
    for column, others in ((text_field, ""), (id_field, " or whole numbers")):
        if others and column == ID_FIELD and column not in schema.names:
            continue
        require_column(path, column, schema.names)
        kind = schema.field(column).type
        value = kind.value_type if types.is_dictionary(kind) else kind
        is_text = types.is_string(value) or types.is_large_string(value)
        if not is_text and not (others and types.is_integer(value)):
            told = {"column": column, "found": kind, "expected": f"texts{others}"}
            raise ConnormError(Errors.CN793.format(path=path, **told))
    return rows


def require_column(path: str | Path, column: str, columns: Sequence[str]) -> None:
    """Refuse a table without a column.

    path (Union[str, Path]): The table, for the message.
    column (str): The column.
    columns (Sequence[str]): The columns that it has.
    RAISES (ConnormError): CN114.
    """
    if column not in columns:
        known = ", ".join(columns)
        raise ConnormError(Errors.CN114.format(path=path, what=f"column {column!r}", known=known))


def read_text_batches(
    fragment: InputFragment, text_field: str, id_field: str
) -> Iterator[list[InputText]]:
    """Read the texts of a fragment in the batches in which they are annotated.

    fragment (InputFragment): The fragment.
    text_field, id_field (str): The columns, or the fields of JSON lines, with the text and its id.
    YIELDS (List[InputText]): One text or more, in order.
    RAISES (ConnormError): CN220 for a damaged Parquet file, and the errors of `read_lines`.
    """
    name, path = fragment
    if fragment.is_parquet:
        texts = texts_of_rows(_read_parquet(path), text_field, id_field, name=name)
    else:
        texts = _read_json_lines(path, name, text_field, CorpusReport(), id_field)
    return batched(texts, lambda each: len(each.text or ""), _CHARACTERS, most=_ROWS)


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
        own = length(item)
        if batch and (len(batch) == most or total + own > characters):
            yield batch
            batch, total = [], 0
        batch.append(item)
        total += own
    if batch:
        yield batch


def texts_of_rows(
    rows: Iterable[dict[str, Any]], text_field: str, id_field: str, *, name: str
) -> Iterator[InputText]:
    """Read the texts of a table.

    rows (Iterable[Dict[str, Any]]): The values of each row by column.
    text_field, id_field (str): The columns with the text and its id; the latter may be missing.
    name (str): The name of the table.
    YIELDS (InputText): The text of each row, or the reason why there is none.
    """
    for number, row in enumerate(rows, start=1):
        # Values that JSON lacks: numbers that are not finite become null, dates and others strings.
        others = json.loads(json.dumps(row, default=str), parse_constant=lambda _: None)
        text = others.pop(text_field)
        place = f"'{name}', row {number}"
        found = "" if isinstance(text, str) else "no text"
        error = found and Errors.CN707.format(place=place, field=text_field, found=found)
        yield InputText(_doc_id(others, id_field, name, number), text, others, place, error)


def _read_parquet(path: Path) -> Iterator[dict[str, Any]]:
    with _parquet_file(path) as file:
        for batch in file.iter_batches(batch_size=_ROWS):
            yield from batch.to_pylist()


@contextmanager
def _parquet_file(path: Path) -> Iterator[Any]:
    from pyarrow import ArrowException
    from pyarrow.parquet import ParquetFile

    try:
        with ParquetFile(path) as file:
            yield file
    except (ArrowException, OSError, UnicodeDecodeError) as error:
        told = {"format": "Parquet", "reason": tell_reason(error), "mend": ""}
        raise ConnormError(Errors.CN220.format(path=path, **told)) from error


def _doc_id(others: dict[str, Any], id_field: str, name: str, number: int) -> str:
    return find_id(others, id_field) or f"{name}:{number}"
