"""Labels of an ontology in another language as queries: 1,000 of a Babelon table, drawn by chance,
each a document of its own.
"""

import csv
import gzip
from collections.abc import Iterator
from pathlib import Path
from random import Random

from spacy.language import Language
from spacy.tokens import Doc

from spacy_connorm.documents import CorpusReport, Document
from spacy_connorm.documents.document import Place, make_doc, make_mention

BABELON = ".babelon.tsv.gz"
_LABEL, _MISSING = "rdfs:label", "NOT_TRANSLATED"
_QUERIES = 1000


def read_labels(path: Path, *, nlp: Language) -> Iterator[Doc]:
    """YIELDS (Doc): The labels, annotated as `read_corpus` does it.

    path (Path): The table.
    nlp (Language): Its tokenizer is used.
    """
    report = CorpusReport()
    for number, row in _drawn(path):
        concept_id, label = row["subject_id"], row["translation_value"]
        place = Place(path, number)
        whole = [(0, len(label))]
        mention = make_mention(
            label, whole, label="label", ids=concept_id, place=place, report=report
        )
        yield make_doc(Document(concept_id, label, (mention,)), nlp=nlp, report=report)


def write_other_labels(path: Path, output: Path) -> None:
    """Write a table without the labels that `read_labels` draws."""
    drawn = {number for number, _ in _drawn(path)}
    with gzip.open(path, "rt", encoding="utf8") as lines:
        rest = (line for number, line in enumerate(lines, start=1) if number not in drawn)
        output.write_text("".join(rest), encoding="utf8")


def _drawn(path: Path) -> list[tuple[int, dict[str, str]]]:
    with gzip.open(path, "rt", encoding="utf8") as lines:
        rows = csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE)
        labels = [
            (number, row)
            for number, row in enumerate(rows, start=2)
            if row["predicate_id"] == _LABEL and row["translation_status"] != _MISSING
        ]
    return Random(0).sample(labels, min(_QUERIES, len(labels)))
