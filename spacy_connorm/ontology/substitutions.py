"""Tables of word substitutions, learned from ontologies."""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from ..concepts.ontology import write_licensed
from ..errors import unreadable
from ..files.atomic import atomic_file, require_apart
from ..files.text import open_text, read_lines
from ..text.substitutions import MAX_WORDS, Substitution, find_substitutions
from ..text.words import words_of
from .joining import joint_source
from .reading import read_ontology

_HEADER = ("words", "others", "same", "different")
_COUNT = re.compile("[0-9]{1,9}")
_EXPECTED = (
    "it needs up to two words, up to two others, and two whole numbers, with a tab after each of "
    "the first three"
)


class LearnedSubstitutions(NamedTuple):
    """The result of learning substitutions from ontologies.

    substitutions (List[Substitution]): The most frequent first.
    concepts (int): The number of concepts read.
    names (int): The number of their names.
    licence (str): The terms of use of all ontologies, kept beside the table; may be empty.
    """

    substitutions: list[Substitution]
    concepts: int
    names: int
    licence: str


def learn_substitutions(
    input_paths: Sequence[str | Path], output_path: str | Path, *, language: str = "en"
) -> LearnedSubstitutions:
    """Learn which words are used in place of each other in names of the same concept, such as
    "renal" and "kidney", and write them as a table: `connorm substitutions`. The
    more ontologies, the better.

    input_paths (Sequence[Union[str, Path]]): The ontologies, in any format. Each is read with the
        default options of its format; convert it first for others.
    output_path (Union[str, Path]): The table to write, tab-separated, and gzipped if its name ends
        in .gz. The terms of use of all ontologies are kept beside it.
    language (str): The language of the names, as in `nlp.lang`.
    RETURNS (LearnedSubstitutions): The substitutions.
    RAISES (ConnormError): CN105 or CN108 if the file cannot be written, CN121 if it would replace
        an input, and the errors of `read_ontology`.
    """
    require_apart(Path(output_path), *input_paths)
    ontologies = [read_ontology(path) for path in input_paths]
    names_by_ontology = ([concept.names for concept in ontology] for ontology in ontologies)
    substitutions = find_substitutions(names_by_ontology, words_of(language))
    licence = joint_source(ontologies).licence
    write_licensed(write_substitutions, substitutions, output_path, licence=lambda: licence)
    concepts = [concept for ontology in ontologies for concept in ontology]
    names = sum(len(concept.names) for concept in concepts)
    return LearnedSubstitutions(substitutions, len(concepts), names, licence)


def write_substitutions(substitutions: Iterable[Substitution], path: str | Path) -> None:
    """Write a table, completely or not at all: a header, then one substitution per line.

    substitutions (Iterable[Substitution]): The substitutions.
    path (Union[str, Path]): The file; gzipped if its name ends in `.gz`.
    RAISES (ConnormError): CN108 if it cannot be written.
    """
    with atomic_file(path) as aside, open_text(aside, "wt") as file:
        file.write("\t".join(_HEADER) + "\n")
        for words, others, same, different in substitutions:
            file.write(f"{' '.join(words)}\t{' '.join(others)}\t{same}\t{different}\n")


def read_substitutions(path: str | Path) -> Iterator[Substitution]:
    """Read a table, such as `write_substitutions` writes; lines may be added by hand.

    path (Union[str, Path]): The file.
    YIELDS (Substitution): The substitutions. Words are used as written, in lower case: names are
        compared in the singular and in American spelling, see `text.words`.
    RAISES (ConnormError): CN115 for an invalid line, and the errors of `read_lines`.
    """
    for number, line in read_lines(path):
        fields = tuple(field.strip() for field in line.split("\t"))
        if fields == _HEADER or not line.strip():
            continue
        sides = sorted({tuple(sorted(field.lower().split())) for field in fields[:2]})
        are_sides = len(sides) == 2 and max(map(len, sides)) <= MAX_WORDS
        are_counts = all(map(_COUNT.fullmatch, fields[2:]))
        if len(fields) != len(_HEADER) or not are_sides or not are_counts:
            raise unreadable(path, number, "a table of substitutions", _EXPECTED)
        words, others = sides
        yield Substitution(words, others, int(fields[2]), int(fields[3]))


def substitutions_reader(path: Path) -> Callable[[], list[Substitution]]:
    """Read a table when it is needed, not before, `spacy-connorm.Substitutions.v1`.

    path (Path): A table written by `connorm substitutions`.
    RETURNS (Callable[[], List[Substitution]]): Reads it; see `read_substitutions`.
    """
    return lambda: list(read_substitutions(path))
