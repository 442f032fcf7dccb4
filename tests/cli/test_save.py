import spacy

from spacy_connorm import check


def test_any_pipeline_is_saved_with_a_seal(invoke, pipeline, tmp_path):
    pipeline.to_disk(tmp_path / "by spaCy")
    result = invoke("save", tmp_path / "by spaCy", tmp_path / "saved")
    assert result.exit_code == 0, result.output
    check(tmp_path / "saved")
    ents = [(ent.text, ent.kb_id_) for ent in spacy.load(tmp_path / "saved")("MI").ents]
    assert ents == [("MI", "C2")]


def test_a_pipeline_without_a_normalizer(invoke, tmp_path):
    spacy.blank("en").to_disk(tmp_path / "blank")
    assert invoke("save", tmp_path / "blank", tmp_path / "blank").exit_code == 0
    assert (tmp_path / "blank" / "manifest.json").is_file()


def test_bad_input(invoke, refused, demo_index, tmp_path):
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "file").write_text("x")
    refused(invoke("save", "nowhere", tmp_path / "out"), "CN700")
    refused(invoke("save", demo_index, tmp_path / "mine"), "CN705")
