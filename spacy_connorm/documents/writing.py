"""Write annotated documents in any format, completely or not at all."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date as Date
from itertools import chain
from pathlib import Path
from typing import Any, Protocol

from spacy.tokens import Doc

from ..errors import Errors, Warnings, describe_error, refuse, require_options
from ..files.atomic import atomic_file
from ..files.folders import replaced, require_replaceable
from ..files.tables import RowWriter
from ..files.text import open_text
from .document import ID_FIELD, Document, read_document
from .formats import Format, find_export_format

# Everything that ends a line for some reader, and the separator of columns.
BREAKS = str.maketrans(dict.fromkeys("\n\r\t\v\f\x1c\x1d\x1e\x85\u2028\u2029", " "))
_NUMBERED = "repeated ids got a number, such as `ID-2`"


class Exporter(Protocol):
    """Writes one format. The options of a format are the fields of its exporter.

    A document is rendered where it was annotated, perhaps in another process. Rendered documents
    are written one after the other, so that only a few are in memory.

    The exporter of a format that is a folder of files also has `is_ours(path: Path) -> bool`:
    whether it wrote this folder, so that it may be replaced.
    """

    def render(self, document: Document, changes: Counter[str]) -> Any:
        """Convert a document to the data to be written.

        document (Document): The document.
        changes (Counter[str]): Counts changes made because the format can't hold something, by
            kind.
        RETURNS (Any): Plain data, or a Doc.
        """

    def write(self, rendered: Iterable[Any], path: Path, changes: Counter[str]) -> None:
        """Write documents.

        rendered (Iterable[Any]): The results of `render`, in order.
        path (Path): A file that may be overwritten, or an empty folder.
        changes (Counter[str]): Counts changes made because of other documents, such as repeated
            ids.
        """


def export_docs(
    docs: Iterable[Doc],
    path: str | Path,
    *,
    format: str | None = None,
    spans_key: str | None = None,
    attribute_prefix: str = "",
    id_field: str = ID_FIELD,
    **options: Any,
) -> int:
    """Write a stream of annotated documents, in any format: from a pipeline with a concept
    normalizer, or from a corpus with gold ids.

    docs (Iterable[Doc]): The documents, e.g. `nlp.pipe(texts)`.
    path (Union[str, Path]): The file to write, or the folder for BRAT.
    format (Optional[str]): One of `EXPORT_FORMATS`; detected from the file's name if None.
    spans_key (Optional[str]): The mentions are in `doc.spans[spans_key]`; in `doc.ents` if None.
    attribute_prefix (str): The normalizer's `attribute_prefix`.
    id_field (str): The field of a document's JSON that may hold its id.
    **options (Any): Options of the format; see its exporter.
    RETURNS (int): The number of documents.
    RAISES (ConnormError): CN105 or CN108 if the file can't be written, and the errors of
        `find_export_format`, of the format and of `render`.
    WARNS (ConnormWarning): CNW770 for changes made because the format can't hold something.
    """
    target = find_target(path, format, options)
    count, changes = 0, Counter[str]()

    def rendered() -> Iterable[Any]:
        nonlocal count
        for count, doc in enumerate(docs, start=1):
            document = read_document(
                doc,
                count,
                spans_key=spans_key,
                attribute_prefix=attribute_prefix,
                id_field=id_field,
            )
            yield render(target.exporter, document, changes)

    target.write(rendered(), changes)
    target.warn_of(changes)
    return count


def render(exporter: Exporter, document: Document, changes: Counter[str]) -> Any:
    """Convert a document to the data to be written.

    exporter, document, changes: See `Exporter.render`.
    RETURNS (Any): Plain data.
    RAISES (ConnormError): CN775 for a field that the format can't hold, and the exporter's errors.
    """
    kinds = (OverflowError, RecursionError, ValueError)
    with Errors.CN775.instead_of(*kinds, tell=describe_error, number=document.number):
        return exporter.render(document, changes)


@dataclass(frozen=True, slots=True)
class ExportTarget:
    """An output: where to write, and how.

    path (Path): The file, or the folder.
    form (Format): The format.
    exporter (Exporter): Its exporter.
    """

    path: Path
    form: Format
    exporter: Any

    def write(self, rendered: Iterable[Any], changes: Counter[str]) -> None:
        """Write rendered documents, completely or not at all.

        rendered (Iterable[Any]): The results of the exporter's `render`, in order.
        changes (Counter[str]): Counts changes.
        RAISES (ConnormError): CN108 or CN109 if it can't be written, CN105 if a folder is in the
            place of the file, CN705 for a folder that is not ours.
        """
        is_folder = self.form.is_folder
        aside = replaced(self.path, is_ours=self.exporter.is_ours) if is_folder else None
        with aside or atomic_file(self.path) as place:
            self.exporter.write(rendered, place, changes)

    def warn_of(self, changes: Mapping[str, int]) -> None:
        """Warn once about each kind of change that was made because the format can't hold
        something.

        changes (Mapping[str, int]): The number of changes by kind.
        WARNS (ConnormWarning): CNW770.
        """
        for change, times in changes.items():
            if times:
                Warnings.CNW770.warn(path=self.path, change=change, count=times)


def find_target(path: str | Path, name: str | None, options: Mapping[str, Any]) -> ExportTarget:
    """Determine what to write and where, before any work is done.

    path (Union[str, Path]): The file, or the folder.
    name (Optional[str]): One of `EXPORT_FORMATS`; detected from the file's name if None.
    options (Mapping[str, Any]): Options of the format.
    RETURNS (ExportTarget): The target.
    RAISES (ConnormError): CN113 for an option of another format, CN705 if the path is a folder that
        is not ours, and the errors of `find_export_format` and of the format.
    """
    path = Path(path)
    form = find_export_format(path, name)
    require_options(form.name, form.make_exporter, options)
    exporter = form.make_exporter(**options)
    if form.is_folder:
        require_replaceable(path, is_ours=exporter.is_ours)
    return ExportTarget(path, form, exporter)


def write_table(path: Path, columns: Sequence[str], rows: Iterable[Iterable[Any]]) -> None:
    """Write a table as CSV.

    path (Path): The file.
    columns (Sequence[str]): Their names.
    rows (Iterable[Iterable[Any]]): The cells of each row.
    """
    with open_text(path, "wt", newline="") as file:
        writer = RowWriter(file)
        for row in chain([columns], rows):
            writer.write_row(row)


@dataclass(frozen=True, slots=True)
class Dated:
    """The options of a format with the date of the annotation.

    date (str): The date of the annotation, YYYY-MM-DD; today if empty.
    """

    date: str = ""

    def __post_init__(self) -> None:
        self.day()

    def day(self) -> str:
        """Get the date of the annotation.

        RETURNS (str): The date, YYYY-MM-DD.
        RAISES (ConnormError): CN006 if it is not a date.
        """
        if not self.date:
            return Date.today().isoformat()
        try:
            return Date.fromisoformat(self.date).isoformat()
        except (TypeError, ValueError):
            refuse("date", self.date, "a date such as 2024-05-31")


class DistinctIds:
    """Gives each document a distinct id, "d", "d-2", "d-3", in formats whose readers treat
    documents with the same id as one.
    """

    def __init__(self, is_taken: Callable[[str], bool]) -> None:
        """Start without documents.

        is_taken (Callable[[str], bool]): Checks whether an earlier document has an id.
        """
        self._is_taken = is_taken
        self._repeated: Counter[str] = Counter()

    def choose(self, doc_id: str, changes: Counter[str]) -> str:
        """Choose the id of the next document.

        doc_id (str): Its own.
        changes (Counter[str]): Counts ids that are changed.
        RETURNS (str): The same id, or with a number if an earlier document has it.
        """
        chosen = doc_id
        while self._is_taken(chosen):
            self._repeated[doc_id] += 1
            chosen = f"{doc_id}-{self._repeated[doc_id] + 1}"
        if chosen != doc_id:
            changes[_NUMBERED] += 1
        return chosen
