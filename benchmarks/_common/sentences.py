"""Plain sentences, whose author had not read the rules: those that have words of findings but no
finding, the same words with one, and statements of findings with the mark of each.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from spacy.language import Language
from spacy.tokens import Doc

from _common.builders import NGRAMS
from _common.cli import require_files
from _common.datasets import DISEASE_ONTOLOGY, HPO_2025, OntologyFile, blank_english
from _common.ontology_finder import build_finder, found_spans
from spacy_connorm.concepts import Ontology
from spacy_connorm.documents.mentions import ALL_MENTIONS_KEY
from spacy_connorm.documents.spans import get_assertions
from spacy_connorm.evaluation.end_to_end import LinkedSpan
from spacy_connorm.ontology import read_ontology

FINDINGS, STATEMENTS = "findings", "statements"
# The names of the findings in statements are HPO's.
SETS = {
    "sentences-hpo": HPO_2025,
    "sentences-doid": DISEASE_ONTOLOGY,
    "sentences-icd": OntologyFile("icd10cm_2021/icd10cm_tabular_2021.xml.gz"),
    STATEMENTS: HPO_2025,
}
# Rules may be mended on the sentences of the first half; the faults of the other one are counted.
CHOSEN = "chosen"
HALVES = (CHOSEN, "aside")
_TABLES = Path(__file__).parents[1] / "_sentences"
_PLACE = re.compile(r"\{([\w ]+)\}")
_PRESENT = "present"
# From a finding of a statement to the next one, in the table.
_STEPS = (0, 7, 13)


class Sentence(NamedTuple):
    """A sentence, or a short paragraph.

    kind (str): What it is: "findings", "statements", or one of those without a finding.
    half (str): One of `HALVES`.
    text (str): The sentence.
    findings (Tuple[Tuple[str, str], ...]): The name of each finding, and its marks: "present", or
        those of `get_assertions`.
    """

    kind: str
    half: str
    text: str
    findings: tuple[tuple[str, str], ...] = ()


def plain_sentences() -> list[str]:
    """RETURNS (List[str]): Those without a finding, although many have its words."""
    return [text for _, _, text in _read("without_findings.tsv")]


def _read_sentences() -> Iterator[Sentence]:
    for kind, half, text in _read("without_findings.tsv"):
        yield Sentence(kind, half, text)
    for half, text, name in _read("with_findings.tsv"):
        yield Sentence(FINDINGS, half, text, ((name, _PRESENT),))


def _read_statements() -> Iterator[Sentence]:
    findings = list(_read("findings.tsv"))
    for (statement,) in _read("statements.tsv"):
        for first in range(len(findings)):
            yield _filled(statement.replace("\\n", "\n"), findings, first)


def _read(name: str) -> Iterator[list[str]]:
    for line in (_TABLES / name).read_text(encoding="utf8").splitlines()[1:]:
        yield line.split("\t")


def _filled(statement: str, findings: Sequence[Sequence[str]], first: int) -> Sentence:
    """Put findings into a statement.

    statement (str): With the marks of each finding in its place: "No {negated}."
    findings (Sequence[Sequence[str]]): The text and the name of each.
    first (int): The number of the first one.
    RETURNS (Sentence): The statement of them.
    """
    named = list[tuple[str, str]]()
    steps = iter(_STEPS)

    def fill(place: re.Match[str]) -> str:
        text, name = findings[(first + next(steps)) % len(findings)]
        named.append((name, place[1]))
        return text

    text = _PLACE.sub(fill, statement)
    return Sentence(STATEMENTS, CHOSEN, text[0].upper() + text[1:], tuple(named))


class Asked(NamedTuple):
    """An ontology with the sentences that it can be asked for.

    ontology (Ontology): The ontology.
    sentences (List[Sentence]): The sentences.
    ids (Dict[str, str]): The id of each finding's name.
    """

    ontology: Ontology
    sentences: list[Sentence]
    ids: dict[str, str]

    def finder(self) -> Language:
        """RETURNS (Language): Finds the names in clinical notes, and marks them."""
        return build_finder(self.ontology, NGRAMS, clinical=True)

    def gold(self) -> dict[Doc, list[LinkedSpan]]:
        """RETURNS (Dict[Doc, List[LinkedSpan]]): A document of each sentence, and its findings."""
        return {
            blank_english().make_doc(sentence.text): [
                LinkedSpan(0, len(sentence.text), sentence.text, frozenset([marked]))
                for marked in self.marked_ids(sentence)
            ]
            for sentence in self.sentences
        }

    def marked_ids(self, sentence: Sentence) -> set[str]:
        """RETURNS (Set[str]): The id of each finding with its mark, as `marked_spans` has them."""
        return {
            _marked(self.ids[name], mark.replace(_PRESENT, "").split())
            for name, mark in sentence.findings
        }


def ask(name: str, folder: Path) -> Asked:
    """Read the sentences of a set whose findings its ontology names.

    name (str): One of `SETS`.
    folder (Path): The data folder.
    RETURNS (Asked): The ontology and the sentences.
    """
    file = SETS[name]
    require_files(file.paths(folder))
    ontology = read_ontology(**file.located(folder))
    ids = _ids(ontology)
    sentences = _read_statements() if name == STATEMENTS else _read_sentences()
    named = [each for each in sentences if all(name in ids for name, _ in each.findings)]
    return Asked(ontology, named, ids)


def _ids(ontology: Ontology) -> dict[str, str]:
    """RETURNS (Dict[str, str]): The ids by preferred name, with a capital as in HPO."""
    return {
        concept.canonical_name[:1].upper() + concept.canonical_name[1:]: concept.concept_id
        for concept in ontology
    }


def marked_spans(doc: Doc, ontology: Ontology) -> list[LinkedSpan]:
    """RETURNS (List[LinkedSpan]): The mentions that were found, whose ids have their marks:
    "HP:0001250 negated".
    """
    spans = doc.spans.get(ALL_MENTIONS_KEY, doc.ents)
    return [
        span._replace(
            concept_ids=frozenset(
                _marked(concept_id, get_assertions(mention) or ())
                for concept_id in span.concept_ids
            )
        )
        for span, mention in zip(found_spans(doc, ontology), spans, strict=True)
    ]


def _marked(concept_id: str, marks: Iterable[str]) -> str:
    return " ".join([concept_id, *marks])
