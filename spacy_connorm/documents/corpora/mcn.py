"""MCN, the corpus of the 2019 n2c2 shared task on concept normalization (track 3; Luo et al. 2019):
clinical notes, each with its annotations in a file of its own.

    train/train_file_list.txt       0034
    train/train_note/0034.txt       Heart failure, treated with ...
    train/train_norm/0034.norm      N000||C0018801||0||13
                                    N001||CUI-less||23||31||40||46

A line has its name in the file, the CUI and the offsets of the mention, in pairs if it has gaps.
"""

import re
from collections.abc import Iterator
from pathlib import Path

from .barred import TEXT, make_barred_document, read_barred, read_note, require_file
from .documents import DEFAULT_TYPE, Document
from .lines import placed_lines
from .report import CorpusReport

_ANNOTATIONS, _LIST = ".norm", "_file_list.txt"
_EXAMPLE = "N000||C0018801||0||13"
# The folder `train_norm` has its notes in `train_note`; the one of test has a longer name.
_NORM = re.compile(r"norm.*")


def read_mcn_corpus(
    path: Path, *, report: CorpusReport, texts: str | Path | None = None
) -> Iterator[Document]:
    """Read annotated notes: those that a list names, in its order, or else all.

    path (Path): A folder, such as `train`; a list, such as `train/train_file_list.txt`; or one
        `.norm` file.
    report (CorpusReport): Counts annotations that no list names.
    texts (Optional[Union[str, Path]]): The folder of the notes, if they are not found. By default
        `train_note` beside
        `train_norm`, or else the folder of the annotations.
    YIELDS (Document): The notes. Their ids are the names of their files.
    RAISES (ConnormError): CN217 for a line that is no annotation, CN219 for a file that is not
        there, and what `make_mention` and `placed_lines` raise.
    """
    for file in _annotations(path, report=report):
        lines = [
            read_barred(place, line, format="mcn", example=_EXAMPLE)
            for place, line in placed_lines(file, report=report)
        ]
        folder = Path(texts) if texts is not None else _notes(file.parent)
        note = read_note(
            require_file(folder, f"{file.stem}{TEXT}", place=f"'{file}'"), report=report
        )
        annotations = [(DEFAULT_TYPE, each.fields[1], each) for each in lines]
        yield make_barred_document(file.stem, note, annotations, report=report)


def _annotations(path: Path, *, report: CorpusReport) -> Iterator[Path]:
    if not path.is_dir():
        yield from _listed(path, report=report) if path.name.endswith(_LIST) else [path]
        return
    listed = [
        file for each in sorted(path.rglob(f"*{_LIST}")) for file in _listed(each, report=report)
    ]
    yield from listed
    read, complete = set(listed), {file.parent for file in listed}
    for file in sorted(path.rglob(f"*{_ANNOTATIONS}")):
        if file.parent not in complete:
            yield file
        elif file not in read:
            report.skipped[f"annotations ({_ANNOTATIONS}) that no list names"] += 1


def _listed(path: Path, *, report: CorpusReport) -> Iterator[Path]:
    part = path.name.removesuffix(_LIST)
    folders = sorted(each for each in path.parent.glob("*_norm*") if each.is_dir())
    own = [each for each in folders if each.name.startswith(f"{part}_")]
    folder = own[0] if own else path.parent
    for place, line in placed_lines(path, report=report):
        name = line.strip().removesuffix(TEXT).removesuffix(_ANNOTATIONS)
        yield require_file(folder, f"{name}{_ANNOTATIONS}", place=place)


def _notes(folder: Path) -> Path:
    notes = folder.with_name(_NORM.sub("note", folder.name))
    return notes if notes.is_dir() else folder
