"""The fragments of a corpus, and the texts in them."""

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from tqdm import tqdm

from ..documents.document import ID_FIELD, find_id
from ..errors import ConnormError, Errors, require_installed, tell_reason
from ..files.tables import require_distinct_columns
from ..files.text import read_lines
from .inputs import TEXT_FIELD, parse_line, require_in_line, take_text

PARQUET = ".parquet"
_JSONL = (".jsonl", ".jsonl.gz")
_KNOWN = f"{PARQUET}, {' or '.join(_JSONL)}"
# What is annotated together, and one group of rows of the output. Abstracts are as many as these
# rows; of long articles, fewer are in memory.
_ROWS = 1_000
_CHARACTERS = 2_000_000


class CorpusFields(NamedTuple):
    """The columns of Parquet files, or the fields of JSON lines, that are read.

    text (str): The one with the text.
    id (str): The one with the text's id; it may be missing if it has the default's name.
    """

    text: str = TEXT_FIELD
    id: str = ID_FIELD


class InputFragment(NamedTuple):
    """A file of a corpus.

    name (str): Its path in the corpus, with forward slashes.
    path (Path): Its path.
    """

    name: str
    path: Path

    @property
    def is_parquet(self) -> bool:
        """RETURNS (bool): Whether it is Parquet; it is JSON lines otherwise."""
        return _kind(self.path) == PARQUET

    @property
    def output_name(self) -> str:
        """RETURNS (str): The path in the output of what is written for it."""
        return self.name if self.is_parquet else f"{self.name}{PARQUET}"


class CorpusText(NamedTuple):
    """A text to annotate.

    doc_id (str): Its id, or its fragment and its number there, from 1.
    text (Optional[str]): The text; None if it can't be read.
    fields (Dict[str, Any]): The other fields, as JSON can hold them.
    place (str): Where it stands.
    error (str): Why it can't be read; empty if it can.
    """

    doc_id: str
    text: str | None
    fields: dict[str, Any]
    place: str
    error: str = ""


def find_fragments(path: Path) -> list[InputFragment]:
    """List the files of a corpus. In a folder, files and folders whose names begin with `_` or `.`
    are passed over, as Spark and others do.

    path (Path): A `.parquet`, `.jsonl` or `.jsonl.gz` file, or a folder of such files.
    RETURNS (List[InputFragment]): The fragments, sorted by name.
    RAISES (ConnormError): CN100 if there is no such file, CN708 for a file of another kind, CN126
        without pyarrow, CN104 for a folder without such files, CN791 for one with other files too.
    """
    require_installed("Parquet", "parquet", "pyarrow")
    if path.is_file():
        if not _kind(path):
            raise ConnormError(Errors.CN708.format(action="read", path=path, known=_KNOWN))
        return [InputFragment(path.name, path)]
    if not path.is_dir():
        raise ConnormError(Errors.CN100.format(path=path))
    files = [
        file
        for file in sorted(path.rglob("*"))
        if file.is_file()
        and not any(part.startswith(("_", ".")) for part in file.relative_to(path).parts)
    ]
    first = next(filter(_kind, files), None)
    if first is None:
        raise ConnormError(
            Errors.CN104.format(path=path, what=f"file to annotate: none ends in {_KNOWN}")
        )
    for file in files:
        if _kind(file) != _kind(first):
            raise ConnormError(Errors.CN791.format(path=file, first=first.name))
    return [InputFragment(file.relative_to(path).as_posix(), file) for file in files]


def _kind(path: Path) -> str:
    """RETURNS (str): The ending of the kind of file that it is; empty if it is of no kind."""
    name = path.name.lower()
    if name.endswith(PARQUET):
        return PARQUET
    return _JSONL[0] if name.endswith(_JSONL) else ""


def require_fields(fragments: Sequence[InputFragment], fields: CorpusFields) -> int | None:
    """Check that every Parquet file has the columns, and that the first line of every file of JSON
    lines has the text, and the id if it has another name: before there is any work.

    fragments (Sequence[InputFragment]): The fragments.
    fields (CorpusFields): Which fields are read.
    RETURNS (Optional[int]): The number of texts, if it is known without reading them.
    RAISES (ConnormError): CN114 for a missing column, CN125 for columns of the same name, CN793 for
        one of the wrong type, CN220 for a file that is no Parquet, CN707 for a line without the
        text, CN720 for one without the id, and those of `read_lines`.
    """
    texts: int | None = 0
    with tqdm(fragments, desc="Looking", unit=" files", delay=2, leave=False, disable=None) as bar:
        for fragment in bar:
            if fragment.is_parquet:
                found = _require_columns(fragment, fields)
                texts = None if texts is None else texts + found
            else:
                _require_first_line(fragment, fields)
                texts = None
    return texts


def _require_columns(fragment: InputFragment, fields: CorpusFields) -> int:
    from pyarrow import types

    with _open_parquet(fragment) as file:
        schema, rows = file.schema_arrow, file.metadata.num_rows
    known = schema.names
    require_distinct_columns(fragment.path, known)
    needed = [fields.text] if fields.id == ID_FIELD else [fields.text, fields.id]
    for column in needed:
        if column not in known:
            message = Errors.CN114.format(
                path=fragment.path, what=f"column {column!r}", known=", ".join(known)
            )
            raise ConnormError(message)
    for column, integers in ((fields.text, False), (fields.id, True)):
        if column in known:
            kind = schema.field(column).type
            value = kind.value_type if types.is_dictionary(kind) else kind
            is_text = types.is_string(value) or types.is_large_string(value)
            if not is_text and not (integers and types.is_integer(value)):
                raise ConnormError(
                    Errors.CN793.format(
                        path=fragment.path,
                        column=column,
                        found=kind,
                        expected="texts or whole numbers" if integers else "texts",
                    )
                )
    return rows


def _require_first_line(fragment: InputFragment, fields: CorpusFields) -> None:
    for number, line in read_lines(fragment.path):
        if line.strip():
            place = f"'{fragment.path}', line {number}"
            others = parse_line(line, Counter(), place=place, text_field=fields.text)
            take_text(others, place=place, text_field=fields.text)
            require_in_line([fields.id] * (fields.id != ID_FIELD), others, place=place)
            return


def read_text_batches(fragment: InputFragment, fields: CorpusFields) -> Iterator[list[CorpusText]]:
    """Read the texts of a fragment, as many together as are annotated together.

    fragment (InputFragment): The fragment.
    fields (CorpusFields): Which fields are read.
    YIELDS (List[CorpusText]): The texts, in order; at least one list, which may be empty.
    RAISES (ConnormError): CN220 for a damaged Parquet file, and those of `read_lines`.
    """
    read = _read_parquet if fragment.is_parquet else _read_jsonl
    batch, characters = list[CorpusText](), 0
    for text in read(fragment, fields):
        length = len(text.text or "")
        if len(batch) == _ROWS or (batch and characters + length > _CHARACTERS):
            yield batch
            batch, characters = [], 0
        batch.append(text)
        characters += length
    yield batch


def _read_parquet(fragment: InputFragment, fields: CorpusFields) -> Iterator[CorpusText]:
    with _open_parquet(fragment) as file:
        for number, row in enumerate(_rows(file, fragment), start=1):
            yield read_row(row, fields, name=fragment.name, number=number)


def read_row(row: dict[str, Any], fields: CorpusFields, *, name: str, number: int) -> CorpusText:
    """Read a row of a table.

    row (Dict[str, Any]): Its values by column.
    fields (CorpusFields): Which columns are read.
    name (str): The name of the table.
    number (int): The number of the row, from 1.
    RETURNS (CorpusText): Its text, or why there is none.
    """
    # Of what JSON lacks, numbers that are not finite become null, dates and other types texts.
    others = json.loads(json.dumps(row, default=str), parse_constant=lambda _: None)
    text = others.pop(fields.text)
    place = f"'{name}', row {number}"
    error = "" if isinstance(text, str) else Errors.CN796.format(place=place)
    return CorpusText(_doc_id(others, fields, name, number), text, others, place, error)


def _rows(file: Any, fragment: InputFragment) -> Iterator[dict[str, Any]]:
    from pyarrow import ArrowException

    try:
        for batch in file.iter_batches(batch_size=_ROWS):
            yield from batch.to_pylist()
    except (ArrowException, OSError, UnicodeDecodeError) as error:
        raise _no_parquet(fragment, error) from error


def _open_parquet(fragment: InputFragment) -> Any:
    from pyarrow import ArrowException
    from pyarrow.parquet import ParquetFile

    try:
        return ParquetFile(fragment.path)
    except (ArrowException, OSError) as error:
        raise _no_parquet(fragment, error) from error


def _no_parquet(fragment: InputFragment, error: Exception) -> ConnormError:
    return ConnormError(
        Errors.CN220.format(path=fragment.path, format="Parquet", reason=tell_reason(error))
    )


def _read_jsonl(fragment: InputFragment, fields: CorpusFields) -> Iterator[CorpusText]:
    for number, line in read_lines(fragment.path):
        if not line.strip():
            continue
        place = f"'{fragment.name}', line {number}"
        text, others, error = None, dict[str, Any](), ""
        try:
            others = parse_line(line, Counter(), place=place, text_field=fields.text)
            text = take_text(others, place=place, text_field=fields.text)
        except ConnormError as found:
            error = str(found)
        yield CorpusText(_doc_id(others, fields, fragment.name, number), text, others, place, error)


def _doc_id(others: dict[str, Any], fields: CorpusFields, name: str, number: int) -> str:
    return find_id(others, fields.id) or f"{name}:{number}"
