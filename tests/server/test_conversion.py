import pytest
import spacy

from spacy_connorm import build_index
from spacy_connorm.annotations.mentions import annotated_mentions
from spacy_connorm.annotations.synonyms import annotated_synonyms
from spacy_connorm.errors import ConnormError
from spacy_connorm.files.docbin import read_docs
from spacy_connorm.pipeline.synonym_files import read_synonyms
from spacy_connorm.server import CorrectionConflict, convert_corrections

from .conftest import NOTE, OTHER_NOTE


@pytest.fixture
def said(corrected, correct, path):
    """A file of corrections, two of which give "cold" different concepts, one undone."""
    correct(corrected, NOTE, "cold", "C4", author="Ann")
    correct(corrected, OTHER_NOTE, "cold", "NIL", author="Bob")
    correct(corrected, NOTE, "head spinning", "C5|C1")
    correct(corrected, OTHER_NOTE, "head spinning", "C5|C1")
    undone = correct(corrected, OTHER_NOTE, "aspirin", "C1")
    corrected.undo(undone.id)
    return path


def test_a_table_of_synonyms(said, tmp_path):
    convert_corrections(said, tmp_path / "d.tsv")
    assert set(read_synonyms(tmp_path / "d.tsv")) == {
        *(("cold", "C4", 1), ("head spinning", "C5", 2), ("head spinning", "C1", 2)),
    }


def test_annotated_documents(said, tmp_path):
    convert_corrections(said, tmp_path / "d.spacy")
    docs = list(read_docs(tmp_path / "d.spacy", spacy.blank("en").vocab))
    assert [doc.text for doc in docs] == [NOTE, OTHER_NOTE]
    assert [[(ent.text, ent.kb_id_) for ent in doc.ents] for doc in docs] == [
        [("head spinning", "C5|C1"), ("cold", "C4")],
        [("head spinning", "C5|C1"), ("cold", "NIL")],
    ]
    assert [each.concept_ids for each in annotated_mentions(docs[1])] == [("C5", "C1"), ()]
    assert ("cold", "C4") in list(annotated_synonyms(docs))


def test_a_stop_list_has_what_is_never_given_a_concept(said, corrected, correct, tmp_path):
    correct(corrected, NOTE, "a cold", "NIL")
    correct(corrected, OTHER_NOTE, "aspirin", "NIL")
    convert_corrections(said, tmp_path / "stop.txt")
    # One correction says that "cold" is a concept.
    assert (tmp_path / "stop.txt").read_text(encoding="utf8") == "a cold\naspirin\n"


def test_both_become_part_of_an_index(said, tmp_path, ontology, ngrams):
    ontology.to_disk(tmp_path / "o.jsonl")
    overrides = {ngrams[0].removeprefix("--"): ngrams[1]}
    convert_corrections(said, tmp_path / "d.tsv")
    convert_corrections(said, tmp_path / "d.spacy")
    for sources in (
        {"synonyms": tmp_path / "d.tsv"},
        {"corpora": [tmp_path / "d.spacy"]},
    ):
        built = build_index(
            tmp_path / "o.jsonl", tmp_path / "index", overrides=overrides, **sources
        )
        assert built.manifest["counts"]["data_members"] == 3


def test_conflicts_are_reported(said):
    report = convert_corrections(said)
    assert report.conflicts == (CorrectionConflict("cold", ("C4", "NIL"), ("Ann", "Bob")),)
    counts = report.records, report.corrections, report.without_concept, report.texts
    assert counts == (6, 4, 1, 2)


def test_bad_input(said, tmp_path):
    for arguments, code in (
        ((tmp_path / "missing",), "CN100"),
        ((said, tmp_path / "d.csv"), "CN708"),
        ((said, said), "CN121"),
    ):
        with pytest.raises(ConnormError, match=code):
            convert_corrections(*arguments)
    assert not (tmp_path / "missing").exists()
