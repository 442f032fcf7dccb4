"""Writing annotated documents in any format, whole or not at all."""

from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Unpack

from spacy.tokens import Doc

from ..errors import Warnings, warn
from ..files.atomic import atomic_file
from .documents import ID_FIELD, read_document
from .formats import ExportOptions, find_export_format
from .protocol import Exporter


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
    path = Path(path)
    form = find_export_format(path, format)
    exporter = form.make(options)
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
            yield exporter.render(document, changes)

    write_rendered(rendered(), path, exporter)
    warn_of_changes(changes, path)
    return count


def write_rendered(rendered: Iterable[Any], path: Path, exporter: Exporter) -> None:
    """Write what an exporter has rendered, whole or not at all.

    rendered (Iterable[Any]): What its `render` returned, in order.
    path (Path): The file.
    exporter (Exporter): The format's.
    RAISES (ConnormError): CN105, CN108 or CN109 if it can't be written.
    """
    with atomic_file(path) as aside:
        exporter.write(rendered, aside)


def warn_of_changes(changes: Mapping[str, int], path: Path) -> None:
    """Tell what was changed, since the format can't hold it, once each.

    changes (Mapping[str, int]): How often, by what was done.
    path (Path): The file.
    WARNS (ConnormWarning): CNW770.
    """
    for change, times in changes.items():
        warn(Warnings.CNW770.format(path=path, change=change, count=times))
