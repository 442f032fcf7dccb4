"""Clinical notes of shared tasks, MCN and ShARe/CLEF, for those who have a licence.

Both keep notes and annotations apart, and separate the fields of an annotation by `||`. Offsets
come in pairs, one pair for each fragment of a mention.

MCN is the corpus of the 2019 n2c2 shared task on concept normalization (track 3; Luo et al. 2019).
A line has its name in the file, the CUI and the offsets.

    train/train_file_list.txt       0034
    train/train_note/0034.txt       Heart failure, treated with ...
    train/train_norm/0034.norm      N000||C0018801||0||13
                                    N001||CUI-less||23||31||40||46

ShARe/CLEF eHealth 2013, task 1 (Suominen et al. 2013) annotates disorders. A line has the file of
the note, the type, the CUI and the offsets. The lines of all notes of a part are in one file here
(`cat train/*.pipe.txt > train.pipe`), beside the notes.

    00098-016139-DISCHARGE_SUMMARY.txt||Disease_Disorder||C0221755||1141||1148||1192||1198
"""

from collections.abc import Iterator, Sequence
from itertools import groupby
from pathlib import Path
from typing import NamedTuple

from spacy.language import Language
from spacy.tokens import Doc

from spacy_connorm.documents import CorpusReport, Document
from spacy_connorm.documents.document import (
    DEFAULT_TYPE,
    Place,
    make_doc,
    make_mention,
    placed_lines,
    unlike,
)
from spacy_connorm.documents.mentions import Mention
from spacy_connorm.files.text import read_text

MCN_LIST, SHARECLEF = "_file_list.txt", ".pipe"


class Annotation(NamedTuple):
    """A line: where it is, its fields before the offsets, and the ends of each fragment."""

    place: Place
    fields: Sequence[str]
    fragments: Sequence[tuple[int, int]]

    def mention(self, note: str, label: str, ids: str, report: CorpusReport) -> Mention:
        """RETURNS (Mention): What it marks in a note."""
        place, fragments = self.place, self.fragments
        return make_mention(note, fragments, label=label, ids=ids, place=place, report=report)


def read_clinical_notes(path: Path, *, nlp: Language, types: Sequence[str]) -> Iterator[Doc]:
    """YIELDS (Doc): The notes, annotated as `read_corpus` does it.

    path (Path): A list of MCN, or a file of annotations of ShARe/CLEF.
    nlp (Language): Its tokenizer is used.
    types (Sequence[str]): The types of mentions to read; all if empty.
    """
    report = CorpusReport()
    read = read_mcn if path.name.endswith(MCN_LIST) else read_shareclef
    for note in read(path, report=report):
        mentions = [mention for mention in note.mentions if not types or mention.label in types]
        yield make_doc(Document(note.doc_id, note.text, tuple(mentions)), nlp=nlp, report=report)


def read_mcn(path: Path, *, report: CorpusReport) -> Iterator[Document]:
    """YIELDS (Document): The notes that a list names, in its order."""
    part = path.name.removesuffix(MCN_LIST)
    notes = path.parent / f"{part}_note"
    (norms,) = path.parent.glob(f"{part}_norm*")  # the test part's has a longer name
    for _, line in placed_lines(path, report=report):
        name = line.strip()
        note = read_text(notes / f"{name}.txt")
        annotations = read_annotations(norms / f"{name}.norm", fields=2, report=report)
        mentions = [
            annotation.mention(note, DEFAULT_TYPE, annotation.fields[1], report)
            for annotation in annotations
        ]
        yield Document(name, note, tuple(mentions))


def read_shareclef(path: Path, *, report: CorpusReport) -> Iterator[Document]:
    """YIELDS (Document): The notes that have annotations."""
    annotations = read_annotations(path, fields=3, report=report)
    for file, lines in groupby(annotations, key=lambda annotation: annotation.fields[0]):
        note = read_text(path.parent / file)
        mentions = [
            annotation.mention(note, annotation.fields[1], annotation.fields[2], report)
            for annotation in lines
        ]
        yield Document(file.removesuffix(".txt"), note, tuple(mentions))


def read_annotations(path: Path, *, fields: int, report: CorpusReport) -> Iterator[Annotation]:
    """YIELDS (Annotation): The lines of a file.

    fields (int): How many come before the offsets.
    """
    for place, line in placed_lines(path, report=report):
        head, offsets = line.split("||")[:fields], line.strip().split("||")[fields:]
        if not offsets or len(offsets) % 2 or not all(offset.isdecimal() for offset in offsets):
            expected = f"{fields} fields and pairs of offsets, separated by `||`"
            raise unlike(place, "the offsets", format="annotations", expected=expected)
        ends = list(map(int, offsets))
        yield Annotation(place, head, list(zip(ends[::2], ends[1::2], strict=True)))
