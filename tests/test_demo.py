import json
from pathlib import Path

import pytest
import spacy

from spacy_connorm.documents import CorpusReport, read_corpus
from spacy_connorm.ontology import read_ontology

ASSETS = Path(__file__).parents[1] / "assets"


@pytest.mark.parametrize("name", ["demo_train.pubtator", "demo_test.pubtator"])
def test_demo_corpora_are_annotated_with_the_demo_ontology(name):
    report = CorpusReport()
    docs = list(read_corpus(ASSETS / name, nlp=spacy.blank("en"), report=report))
    assert all(doc.ents for doc in docs)
    assert not report.mismatched
    assert report.composite, "the demo shows a composite mention"
    assert report.without_id.total(), "the demo shows a mention that no concept fits"
    ontology = read_ontology(ASSETS / "demo_ontology.obo")
    assert [concept_id for concept_id in report.concept_ids if concept_id not in ontology] == []


def test_demo_notes_are_json_lines_with_a_text():
    lines = (ASSETS / "demo_notes.jsonl").read_text(encoding="utf8").splitlines()
    assert lines
    assert all(json.loads(line)["text"] for line in lines)
