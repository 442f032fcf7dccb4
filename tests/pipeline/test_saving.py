"""A saved pipeline is whole, answers alike, and tells nothing of the documents it has read."""

import pytest
import spacy
from spacy.tokens import Doc
from spacy.training import Example

from spacy_connorm.errors import ConnormError
from spacy_connorm.files.folders import verify
from spacy_connorm.pipeline.saving import save_pipeline

TEXT = "A heart attack, said Zwiebelschneider; vertigo."


def contents(folder):
    return b"".join(path.read_bytes() for path in folder.rglob("*") if path.is_file())


def links(nlp):
    return [(ent.text, ent.kb_id_) for ent in nlp(TEXT).ents]


def test_it_answers_alike_and_every_file_is_listed(pipeline, tmp_path):
    pipeline.get_pipe("concept_normalizer").add_synonyms([("head spinning", "C5")])
    save_pipeline(pipeline, tmp_path / "saved")
    assert links(spacy.load(tmp_path / "saved")) == links(pipeline) != []
    verify(tmp_path / "saved")
    (tmp_path / "saved" / "config.cfg").write_text("[nlp]\nlang = 'en'\n")
    with pytest.raises(ConnormError, match="CN402.*config.cfg"):
        verify(tmp_path / "saved")


def test_words_of_documents_are_left_out(pipeline, tmp_path):
    pipeline(TEXT)
    pipeline.to_disk(tmp_path / "by spaCy")
    save_pipeline(pipeline, tmp_path / "by us")
    assert b"Zwiebelschneider" in contents(tmp_path / "by spaCy")
    assert b"Zwiebel" not in contents(tmp_path / "by us")
    again = spacy.load(tmp_path / "by us")
    assert links(again) == links(pipeline)
    # What it read since it was loaded is left out as well, what was saved with it stays.
    save_pipeline(again, tmp_path / "again")
    assert b"Zwiebel" not in contents(tmp_path / "again")
    strings = spacy.load(tmp_path / "again").vocab.strings
    assert "Disease" in strings and "o'clock" in strings


def add_tagger(nlp):
    """Add a component that was trained here."""
    tagger = nlp.add_pipe("tagger", first=True)
    tagger.initialize(lambda: [tagged(nlp)], nlp=nlp)


def tagged(nlp):
    doc = Doc(nlp.vocab, words=["the", "attack"], tags=["DT", "NN"])
    return Example(doc.copy(), doc)


@pytest.mark.parametrize("is_loaded", [False, True])
def test_words_stay_that_a_component_trained_here_may_need(pipeline, tmp_path, is_loaded):
    if is_loaded:
        save_pipeline(pipeline, tmp_path / "loaded")
        pipeline = spacy.load(tmp_path / "loaded")
    add_tagger(pipeline)
    pipeline(TEXT)
    save_pipeline(pipeline, tmp_path / "saved")
    assert "Zwiebelschneider" in spacy.load(tmp_path / "saved").vocab.strings


def test_words_stay_if_a_loaded_component_is_trained_further(pipeline, tmp_path):
    add_tagger(pipeline)
    save_pipeline(pipeline, tmp_path / "saved")
    for is_trained in (False, True):
        nlp = spacy.load(tmp_path / "saved")
        nlp(TEXT)
        if is_trained:
            nlp.update([tagged(nlp)], sgd=nlp.resume_training())
        save_pipeline(nlp, tmp_path / "again")
        strings = spacy.load(tmp_path / "again").vocab.strings
        assert ("Zwiebelschneider" in strings) == is_trained


def test_an_older_one_is_replaced_and_nothing_else(pipeline, tmp_path):
    save_pipeline(pipeline, tmp_path / "saved")
    (tmp_path / "saved" / "note").write_text("x")
    save_pipeline(pipeline, tmp_path / "saved")
    assert not (tmp_path / "saved" / "note").exists()
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "file").write_text("x")
    with pytest.raises(ConnormError, match="CN705.*mine"):
        save_pipeline(pipeline, tmp_path / "mine")
    assert (tmp_path / "mine" / "file").read_text() == "x"


def test_a_pipeline_that_cant_be_saved_leaves_the_old_one(pipeline, blank_pipeline, tmp_path):
    save_pipeline(pipeline, tmp_path / "saved")
    with pytest.raises(ConnormError, match="CN001"):
        save_pipeline(blank_pipeline(), tmp_path / "saved")
    assert links(spacy.load(tmp_path / "saved")) == links(pipeline)
    assert [path.name for path in tmp_path.iterdir()] == ["saved"]
