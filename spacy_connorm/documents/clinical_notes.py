"""Clinical notes of shared tasks: MCN and ShARe/CLEF.

Both keep notes and annotations apart, and separate the fields of an annotation by `||`. Offsets
come in pairs, one pair for each fragment of a mention.

MCN is the corpus of the 2019 n2c2 shared task on concept normalization (track 3; Luo et al. 2019).
A line has its name in the file, the CUI and the offsets.

    train/train_file_list.txt       0034
    train/train_note/0034.txt       Heart failure, treated with ...
    train/train_norm/0034.norm      N000||C0018801||0||13
                                    N001||CUI-less||23||31||40||46

ShARe/CLEF eHealth 2013, task 1 (Suominen et al. 2013) annotates disorders. A line has the file of
the note, the type, the CUI and the offsets. A file has the lines of one note; train's are called
`.pipe.txt`, test's as the notes.

    00098-016139-DISCHARGE_SUMMARY.txt||Disease_Disorder||C0221755||1141||1148||1192||1198
"""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from ..errors import ConnormError, Errors, quote_id
from ..files.text import read_text
from .document import (
    DEFAULT_TYPE,
    CorpusReport,
    Document,
    Place,
    make_mention,
    placed_lines,
    replace_surrogates,
    unlike,
)
from .mentions import Mention

_TEXT = ".txt"
_OFFSET = re.compile(r"[0-9]{1,9}")
_NORM, _LIST = ".norm", "_file_list.txt"
_NORM_EXAMPLE = "N000||C0018801||0||13"
# The notes of `train_norm` are in `train_note`; the folder of the test part has a longer name.
_NORM_FOLDER = re.compile(r"norm.*")
_PIPES = (".pipe.txt", ".pipe")
_PIPE_EXAMPLE = "NOTE.txt||Disease_Disorder||C0221755||1141||1148"


class _Line(NamedTuple):
    """An annotation: its line, the fields before the offsets, and the start and end of each
    fragment.
    """

    place: Place
    fields: Sequence[str]
    fragments: tuple[tuple[int, int], ...]


def read_mcn(
    path: Path, *, report: CorpusReport, texts: str | Path | None = None
) -> Iterator[Document]:
    """Read annotated notes of MCN: those named in a list, in its order, or else all.

    path (Path): A folder, such as `train`; a list, such as `train/train_file_list.txt`; or one
        `.norm` file.
    report (CorpusReport): Counts annotations that are not in any list.
    texts (Optional[Union[str, Path]]): The folder of the notes, if they are not found. By default,
        `train_note` beside `train_norm`, or else the folder of the annotations.
    YIELDS (Document): The notes. Their ids are the names of their files.
    RAISES (ConnormError): CN204 for a line that is not an annotation, CN219 for a missing file, and
        the errors of `make_mention` and `placed_lines`.
    """
    for file in _norm_files(path, report=report):
        lines = [
            _split_line(place, line, format="MCN", example=_NORM_EXAMPLE)
            for place, line in placed_lines(file, report=report)
        ]
        folder = Path(texts) if texts is not None else _notes_beside(file.parent)
        note = _read_note(folder, file.stem, place=f"'{file}'", report=report)
        mentions = [
            _mention(note, each, DEFAULT_TYPE, each.fields[1], report=report) for each in lines
        ]
        yield Document(file.stem, note, tuple(mentions))


def read_shareclef(
    path: Path, *, report: CorpusReport, texts: str | Path | None = None
) -> Iterator[Document]:
    """Read annotated notes of ShARe/CLEF, in the order of the annotations' files.

    path (Path): The folder of the annotations, or one file of them.
    report (CorpusReport): Counts problems.
    texts (Optional[Union[str, Path]]): The folder of the notes, if they are not found. By default,
        the folder of the annotations.
    YIELDS (Document): The notes. Their ids are the names of their files.
    RAISES (ConnormError): CN204 for a line that is not an annotation, CN218 for a folder whose
        annotations can't be distinguished from notes, CN219 for a missing note, and the errors of
        `make_mention` and `placed_lines`.
    """
    for file in _pipe_files(path, texts=texts):
        folder = Path(texts) if texts is not None else file.parent
        notes: dict[str, list[_Line]] = {}
        for place, line in placed_lines(file, report=report):
            annotation = _split_line(place, line, format="ShARe/CLEF", example=_PIPE_EXAMPLE)
            notes.setdefault(_note_id(annotation.fields[0]), []).append(annotation)
        for doc_id, lines in notes.items() or [(_note_id(file.name), [])]:
            named = lines[0].place if lines else f"'{file}'"
            note = _read_note(folder, doc_id, place=named, report=report)
            mentions = [
                _mention(note, each, each.fields[1], each.fields[2], report=report)
                for each in lines
            ]
            yield Document(doc_id, note, tuple(mentions))


def _split_line(place: Place, line: str, *, format: str, example: str) -> _Line:
    """Parse an annotation; the example shows how many fields come before the offsets."""
    fields = [field.strip() for field in line.split("||")]
    count = example.count("||") - 1
    head, offsets = fields[:count], fields[count:]
    reason = ""
    if not offsets or len(offsets) % 2:
        reason = f"it has {len(fields)} fields"
    elif not all(head):
        reason = "a field is empty"
    elif not all(map(_OFFSET.fullmatch, offsets)):
        reason = "its last fields are not offsets"
    if reason:
        expected = f"a line such as `{example}`, with another pair of offsets after each gap"
        raise unlike(place, reason, format=format, expected=expected)
    numbers = list(map(int, offsets))
    return _Line(place, head, tuple(zip(numbers[::2], numbers[1::2], strict=True)))


def _mention(note: str, line: _Line, label: str, ids: str, *, report: CorpusReport) -> Mention:
    place, fragments = line.place, line.fragments
    return make_mention(note, fragments, label=label, ids=ids, place=place, report=report)


def _read_note(folder: Path, doc_id: str, *, place: Place | str, report: CorpusReport) -> str:
    """Read the text of a note, with its own line ends, since offsets count them."""
    path = _require_file(folder, f"{doc_id}{_TEXT}", place=place)
    return replace_surrogates(read_text(path), report=report)


def _require_file(folder: Path, name: str, *, place: Place | str) -> Path:
    """Find a file named in a corpus. Paths, which could lead anywhere, are refused."""
    path = folder / name
    if path.parent != folder or "\0" in name or not path.is_file():
        # The content of a line may be a user's text.
        file = quote_id(name) if isinstance(place, Place) else f"'{name}'"
        raise ConnormError(Errors.CN219.format(place=place, file=file, folder=folder))
    return path


def _norm_files(path: Path, *, report: CorpusReport) -> Iterator[Path]:
    if not path.is_dir():
        yield from _listed(path, report=report) if path.name.endswith(_LIST) else [path]
        return
    listed = [
        file for each in sorted(path.rglob(f"*{_LIST}")) for file in _listed(each, report=report)
    ]
    yield from listed
    read, complete = set(listed), {file.parent for file in listed}
    for file in sorted(path.rglob(f"*{_NORM}")):
        if file.parent not in complete:
            yield file
        elif file not in read:
            report.skipped[f"annotations ({_NORM}) that no list names"] += 1


def _listed(path: Path, *, report: CorpusReport) -> Iterator[Path]:
    part = path.name.removesuffix(_LIST)
    folders = sorted(each for each in path.parent.glob("*_norm*") if each.is_dir())
    own = [each for each in folders if each.name.startswith(f"{part}_")]
    folder = own[0] if own else path.parent
    for place, line in placed_lines(path, report=report):
        name = line.strip().removesuffix(_TEXT).removesuffix(_NORM)
        yield _require_file(folder, f"{name}{_NORM}", place=place)


def _notes_beside(folder: Path) -> Path:
    notes = folder.with_name(_NORM_FOLDER.sub("note", folder.name))
    return notes if notes.is_dir() else folder


def _pipe_files(path: Path, *, texts: str | Path | None) -> list[Path]:
    if not path.is_dir():
        return [path]
    files = {file for end in _PIPES for file in path.rglob(f"*{end}")}
    if not files and texts is None:
        raise ConnormError(Errors.CN218.format(path=path))
    return sorted(files or path.rglob(f"*{_TEXT}"))


def _note_id(name: str) -> str:
    return re.sub(r"(?:\.pipe)?(?:\.txt)?\Z", "", name, count=1)
