"""The files of a corpus, Parquet or JSON lines, and the texts in each of them."""

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from ..documents.document import ID_FIELD, CorpusReport
from ..errors import Errors, require_ending, require_installed
from ..files.folders import files_in
from ..files.progress import progress_bar
from ..files.tables import require_distinct_columns
from .texts import JSON_LINES, InputText, batched, read_inputs, read_json_lines, text_id

PARQUET = ".parquet"
_KNOWN = f"{PARQUET}, {' or '.join(JSON_LINES)}"
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
        require_ending(path, (PARQUET, *JSON_LINES), action="read")
        return [InputFragment(path.name, path)]
    if not path.is_dir():
        raise Errors.CN100(path=path)
    files = {name: file for name, file in files_in(path).items() if not _HIDDEN.search(name)}
    first = next(filter(_kind, files.values()), None)
    if first is None:
        raise Errors.CN104(path=path, what=f"file to annotate: none ends in {_KNOWN}")
    for file in files.values():
        if _kind(file) != _kind(first):
            raise Errors.CN791(path=file, first=first.name)
    return [InputFragment(name, file) for name, file in files.items()]


def _kind(path: Path) -> str:
    """Determine the kind of a file.

    RETURNS (str): The extension of its kind; empty if it is of no kind.
    """
    name = path.name.lower()
    if name.endswith(PARQUET):
        return PARQUET
    return JSON_LINES[0] if name.endswith(JSON_LINES) else ""


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
            raise Errors.CN793(path=path, column=column, found=kind, expected=f"texts{others}")
    return rows


def require_column(path: str | Path, column: str, columns: Sequence[str]) -> None:
    """Refuse a table without a column.

    path (Union[str, Path]): The table, for the message.
    column (str): The column.
    columns (Sequence[str]): The columns that it has.
    RAISES (ConnormError): CN114.
    """
    if column not in columns:
        raise Errors.CN114(path=path, what=f"column {column!r}", known=", ".join(columns))


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
        texts = read_json_lines(path, name, text_field, CorpusReport(), id_field)
    return batched(texts, lambda text: len(text.text or ""), _CHARACTERS, most=_ROWS)


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
        problem = "" if isinstance(text, str) else "no text"
        error = problem and Errors.CN707.format(place=place, field=text_field, found=problem)
        yield InputText(text_id(others, id_field, name, number), text, others, place, error)


def _read_parquet(path: Path) -> Iterator[dict[str, Any]]:
    with _parquet_file(path) as file:
        for batch in file.iter_batches(batch_size=_ROWS):
            yield from batch.to_pylist()


@contextmanager
def _parquet_file(path: Path) -> Iterator[Any]:
    from pyarrow import ArrowException
    from pyarrow.parquet import ParquetFile

    kinds = (ArrowException, OSError, UnicodeDecodeError)
    unreadable = Errors.CN220.instead_of(*kinds, path=path, format="Parquet", mend="")
    with unreadable, ParquetFile(path) as file:
        yield file
