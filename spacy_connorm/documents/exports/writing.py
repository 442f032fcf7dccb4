"""Writing annotated documents in any format, whole or not at all."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Unpack

from spacy.tokens import Doc

from ...errors import Warnings, warn
from ...files.atomic import atomic_file
from ...files.folders import replaced, require_replaceable
from .documents import ID_FIELD, read_document
from .formats import ExportFormat, ExportOptions, find_export_format


def export_docs(
    docs: Iterable[Doc],
    path: str | Path,
    *,
    format: str | None = None,
    spans_key: str | None = None,
    attribute_prefix: str = "",
    id_field: str = ID_FIELD,
    **options: Unpack[ExportOptions],
) -> int:
    """Write annotated documents as they come, in any format: those of a pipeline with a concept
    normalizer, or those of a corpus with their gold ids.

    docs (Iterable[Doc]): The documents, e.g. `nlp.pipe(texts)`.
    path (Union[str, Path]): The file to write, or the folder for BRAT.
    format (Optional[str]): One of `FORMATS`; told by the file's name if None.
    spans_key (Optional[str]): The mentions are in `doc.spans[spans_key]`; in `doc.ents` if None.
    attribute_prefix (str): The normalizer's `attribute_prefix`.
    id_field (str): The field of a document's JSON that may hold its id.
    **options (ExportOptions): Settings of the format.
    RETURNS (int): The number of documents.
    RAISES (ConnormError): CN105 or CN108 if the file can't be written, and the errors of
        `find_export_format` and of the format.
    WARNS (ConnormWarning): CNW770 for what was changed, since the format can't hold it.
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
            yield target.exporter.render(document, changes)

    target.write(rendered(), changes)
    target.warn_of(changes)
    return count


@dataclass(frozen=True, slots=True)
class ExportTarget:
    """Where to write, and how.

    path (Path): The file, or the folder.
    form (ExportFormat): The format.
    exporter (Exporter): Its exporter.
    """

    path: Path
    form: ExportFormat
    exporter: Any

    def write(self, rendered: Iterable[Any], changes: Counter[str]) -> None:
        """Write what the exporter has rendered, whole or not at all.

        rendered (Iterable[Any]): What its `render` returned, in order.
        changes (Counter[str]): Counts what is changed.
        RAISES (ConnormError): CN105, CN108 or CN109 for a file that can't be written, CN109, CN405
            or CN705 for a folder.
        """
        if self.form.is_folder:
            with replaced(self.path, is_ours=self.exporter.is_ours) as aside:
                self.exporter.write(rendered, aside, changes)
        else:
            with atomic_file(self.path) as aside:
                self.exporter.write(rendered, aside, changes)

    def warn_of(self, changes: Mapping[str, int]) -> None:
        """Tell what was changed, since the format can't hold it, once each.

        changes (Mapping[str, int]): How often, by what was done.
        WARNS (ConnormWarning): CNW770.
        """
        for change, times in changes.items():
            warn(Warnings.CNW770.format(path=self.path, change=change, count=times))


def find_target(path: str | Path, name: str | None, options: ExportOptions) -> ExportTarget:
    """Find out what to write and where, before any work is done.

    path (Union[str, Path]): The file, or the folder.
    name (Optional[str]): One of `FORMATS`; told by the file's name if None.
    options (ExportOptions): Settings of the format.
    RETURNS (ExportTarget): The target.
    RAISES (ConnormError): CN705 if there is a folder that is not ours, and the errors of
        `find_export_format` and of the format.
    """
    path = Path(path)
    form = find_export_format(path, name)
    exporter: Any = form.make(options)
    if form.is_folder:
        require_replaceable(path, is_ours=exporter.is_ours)
    return ExportTarget(path, form, exporter)
