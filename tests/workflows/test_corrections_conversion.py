import pytest
import spacy
from correcting import NOTE, OTHER_NOTE

from spacy_connorm import build_index
from spacy_connorm.documents.mentions import annotated_mentions
from spacy_connorm.documents.synonyms import annotated_synonyms
from spacy_connorm.errors import ConnormError
from spacy_connorm.files.docbin import read_docs
from spacy_connorm.pipeline.synonym_files import read_synonyms
from spacy_connorm.workflows import CorrectionConflict, convert_corrections


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
    # The last correction of "cold" says that there is no concept.
    assert set(read_synonyms(tmp_path / "d.tsv")) == {
        *(("head spinning", "C5", 2), ("head spinning", "C1", 2)),
    }


def test_the_table_has_the_last_concept_of_a_text(corrected, correct, path, tmp_path):
    for text, kb_id in (("A cold.", "C4"), ("Cold now.", "NIL"), ("No  cold.", "C3")):
        correct(corrected, text, text.strip(".").split()[text[0] in "AN"], kb_id)
    correct(corrected, "No more cold.", "cold", "C3")
    undone = correct(corrected, "My cold.", "cold", "C1")
    corrected.undo(undone.id)
    convert_corrections(path, tmp_path / "d.tsv")
    assert list(read_synonyms(tmp_path / "d.tsv")) == [("cold", "C3", 2)]
    convert_corrections(path, tmp_path / "stop.txt")
    assert (tmp_path / "stop.txt").read_text(encoding="utf8") == ""


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


def test_a_stop_list_has_what_has_no_concept_in_the_end(said, corrected, correct, tmp_path):
    correct(corrected, NOTE, "a cold", "NIL")
    correct(corrected, OTHER_NOTE, "aspirin", "NIL")
    convert_corrections(said, tmp_path / "stop.txt")
    # An earlier correction says that "cold" is a concept.
    stop_texts = ["a cold", "aspirin", "cold"]
    assert (tmp_path / "stop.txt").read_text(encoding="utf8").splitlines() == stop_texts


def test_a_defined_short_form_stands_for_its_long_form_alone(resolving, correct, path, tmp_path):
    correct(resolving, "A mitral insufficiency (MI) was found.", "MI", "C1")
    correct(resolving, "A motor impairment (MI) was found.", "MI", "NIL")
    assert convert_corrections(path, tmp_path / "d.tsv").conflicts == ()
    assert list(read_synonyms(tmp_path / "d.tsv")) == [("mitral insufficiency", "C1", 1)]
    convert_corrections(path, tmp_path / "stop.txt")
    assert (tmp_path / "stop.txt").read_text(encoding="utf8") == "motor impairment\n"


def test_both_become_part_of_an_index(said, tmp_path, ontology, ngrams):
    ontology.to_disk(tmp_path / "o.jsonl")
    overrides = {ngrams[0].removeprefix("--"): ngrams[1]}
    convert_corrections(said, tmp_path / "d.tsv")
    convert_corrections(said, tmp_path / "d.spacy")
    # The documents keep what people said first of "cold", too.
    for sources, members in (
        ({"synonyms": tmp_path / "d.tsv"}, 2),
        ({"corpora": [tmp_path / "d.spacy"]}, 3),
    ):
        built = build_index(
            tmp_path / "o.jsonl", tmp_path / "index", overrides=overrides, **sources
        )
        assert built.manifest["counts"]["data_members"] == members


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
