import pytest
import spacy

from spacy_connorm.errors import ConnormError
from spacy_connorm.pipeline.loading import component_name, find_normalizer, load_normalizer


@pytest.fixture
def two_normalizers(blank_pipeline):
    nlp = blank_pipeline()
    nlp.add_pipe("concept_normalizer", "second", config={"attribute_prefix": "second_"})
    return nlp


def test_a_folder_is_loaded(demo_index):
    normalizer = load_normalizer(str(demo_index))
    assert normalizer.candidates(["heart attack"])[0][0].concept_id == "DEMO:0000006"


def test_one_of_several_is_named(two_normalizers):
    assert find_normalizer(two_normalizers, component="second").name == "second"
    with pytest.raises(ConnormError, match="CN703.*concept_normalizer, second"):
        find_normalizer(two_normalizers)
    with pytest.raises(ConnormError, match="CN704.*third"):
        find_normalizer(two_normalizers, component="third")


def test_a_pipeline_without_a_normalizer():
    with pytest.raises(ConnormError, match=r"CN704.*none\."):
        find_normalizer(spacy.blank("en"))


def test_no_pipeline_of_this_name(tmp_path):
    (tmp_path / "hp.obo").touch()
    for name, reason in (
        ("en_no_such_pipeline", "neither a folder"),
        (str(tmp_path / "nowhere"), "neither a folder"),
        (str(tmp_path / "hp.obo"), "a file, not the folder"),
    ):
        with pytest.raises(ConnormError, match=f"CN700.*{reason}"):
            load_normalizer(name)


def test_a_folder_without_a_pipeline_is_refused(tmp_path, demo_index):
    for folder in (tmp_path, demo_index / "concept_normalizer"):
        with pytest.raises(ConnormError, match="CN701.*the folder above"):
            load_normalizer(str(folder))


def test_settings_of_another_version_are_named_alone(tmp_path, pipeline):
    pipeline.to_disk(tmp_path)
    config = tmp_path / "config.cfg"
    text = config.read_text(encoding="utf8").replace("top_k =", "former = 1\ntop_k =")
    config.write_text(text, encoding="utf8")
    with pytest.raises(ConnormError, match="CN702.*concept_normalizer.former") as told:
        load_normalizer(str(tmp_path))
    assert len(str(told.value)) < 400 and "compare_words" not in str(told.value)


def test_a_damaged_file_of_spacys_has_a_reason(tmp_path, pipeline):
    pipeline.to_disk(tmp_path)
    (tmp_path / "vocab" / "lookups.bin").write_bytes(b"\xc1")  # msgpack's error says nothing
    with pytest.raises(ConnormError, match=r"CN701.*loaded \(\w+\)"):
        load_normalizer(str(tmp_path))


def test_a_damaged_pipeline_says_what_is_damaged(tmp_path, pipeline):
    pipeline.to_disk(tmp_path)
    (tmp_path / "concept_normalizer" / "index" / "manifest.json").unlink()
    with pytest.raises(ConnormError, match=r"CN40\d"):
        load_normalizer(str(tmp_path))


def test_a_component_has_the_name_of_its_pipeline(two_normalizers):
    normalizer = find_normalizer(two_normalizers, component="second")
    two_normalizers.rename_pipe("second", "third")
    assert component_name(two_normalizers, normalizer) == "third"
