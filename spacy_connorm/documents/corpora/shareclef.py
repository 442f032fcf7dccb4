"""ShARe/CLEF eHealth 2013, task 1 (Suominen et al. 2013): clinical notes and their disorders.

    00098-016139-DISCHARGE_SUMMARY.txt||Disease_Disorder||C0221755||1141||1148||1192||1198

A line has the file of the note, the type, the CUI and the offsets of the mention, in pairs if it
has gaps. A file has the lines of one note; train's are called `.pipe.txt`, test's as the notes.
"""

from collections.abc import Iterator
from pathlib import Path

from ...errors import ConnormError, Errors
from .barred import TEXT, BarredLine, make_barred_document, read_barred, read_note, require_file
from .documents import Document
from .lines import placed_lines
from .report import CorpusReport

_ANNOTATIONS = (".pipe.txt", ".pipe")
_EXAMPLE = "NOTE.txt||Disease_Disorder||C0221755||1141||1148"


def read_shareclef_corpus(
    path: Path, *, report: CorpusReport, texts: str | Path | None = None
) -> Iterator[Document]:
    """Read the annotated notes, in the order of the annotations' files.

    path (Path): The folder of the annotations, or one file of them.
    report (CorpusReport): Counts problems.
    texts (Optional[Union[str, Path]]): The folder of the notes, if they are not found. By default
        that of the annotations.
    YIELDS (Document): The notes. Their ids are the names of their files.
    RAISES (ConnormError): CN217 for a line that is no annotation, CN218 for a folder whose
        annotations can't be told from notes, CN219 for a note that is not there, and what
        `make_mention` and `placed_lines` raise.
    """
    for file in _files(path, texts=texts):
        folder = Path(texts) if texts is not None else file.parent
        notes: dict[str, list[BarredLine]] = {}
        for place, line in placed_lines(file, report=report):
            annotation = read_barred(place, line, format="shareclef", example=_EXAMPLE)
            notes.setdefault(_doc_id(annotation.fields[0]), []).append(annotation)
        for doc_id, lines in notes.items() or [(_doc_id(file.name), [])]:
            named = lines[0].place if lines else f"'{file}'"
            note = read_note(require_file(folder, f"{doc_id}{TEXT}", place=named), report=report)
            annotations = [(each.fields[1], each.fields[2], each) for each in lines]
            yield make_barred_document(doc_id, note, annotations, report=report)


def _files(path: Path, *, texts: str | Path | None) -> list[Path]:
    if not path.is_dir():
        return [path]
    files = {file for end in _ANNOTATIONS for file in path.rglob(f"*{end}")}
    if not files and texts is None:
        raise ConnormError(Errors.CN218.format(path=path))
    return sorted(files or path.rglob(f"*{TEXT}"))


def _doc_id(name: str) -> str:
    for end in (*_ANNOTATIONS, TEXT):
        if name.endswith(end):
            return name.removesuffix(end)
    return name
