import spacy

from spacy_connorm import check


def test_a_sound_pipeline(invoke, words, demo_index):
    result = invoke("check", demo_index)
    assert result.exit_code == 0, result.output
    assert "Nothing is missing and nothing has changed" in words(result)


def test_files_without_a_checksum(invoke, words, pipeline, tmp_path):
    pipeline.to_disk(tmp_path / "saved")
    result = invoke("check", tmp_path / "saved")
    assert result.exit_code == 0, result.output
    assert "can't be detected (files: 10)" in words(result)
    assert "config.cfg" in result.output and "connorm save" in words(result)
    assert "(the others, files: 33)" in words(result)


def test_check_and_save_refuse_a_missing_pipeline(invoke, refused, tmp_path):
    refused(invoke("check", "nowhere"), "CN700")
    refused(invoke("save", "nowhere", tmp_path / "out"), "CN700")


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
