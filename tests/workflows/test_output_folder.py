"""The folder of an annotated corpus says what it was made from."""

import pytest

from spacy_connorm.errors import ConnormError
from spacy_connorm.files.folders import unseal


def test_the_manifest_lists_every_file(annotated):
    done = annotated()
    manifest = unseal(done.path, whole=True)
    assert manifest["files"].keys() == {"a.parquet", "year=2024/b.parquet"}
    assert manifest["counts"]["mentions"] == 5
    assert (manifest["text_field"], manifest["id_field"]) == ("text", "id")


def test_other_output_is_left_alone(annotated, corpus, saved_pipeline, tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(ConnormError, match="CN705"):
        annotated("file")
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "mine.txt").touch()
    with pytest.raises(ConnormError, match="CN705"):
        annotated()
    (tmp_path / "copy").mkdir()
    (tmp_path / "copy" / "a.parquet").write_bytes((corpus / "a.parquet").read_bytes())
    with pytest.raises(ConnormError, match="CN705"):
        annotated("copy")


def test_output_of_something_else_is_refused(
    annotated, corpus, saved_pipeline, write_parquet, tmp_path
):
    annotated()
    with pytest.raises(ConnormError, match=r"CN794.*'a\.parquet' in it differs in id_field"):
        annotated(id_field="ward")
    changed = saved_pipeline / "meta.json"
    changed.write_text(changed.read_text(encoding="utf8") + "\n", encoding="utf8")
    with pytest.raises(ConnormError, match=r"CN794.*'a\.parquet' in it differs in pipeline"):
        annotated()
    changed.write_text(changed.read_text(encoding="utf8")[:-1], encoding="utf8")
    annotated()
    write_parquet("a.parquet", [{"text": "Another."}])
    with pytest.raises(ConnormError, match=r"CN794.*'a\.parquet' in it differs in input"):
        annotated()
    (corpus / "a.parquet").unlink()
    with pytest.raises(ConnormError, match=r"CN794.*'a\.parquet' in it differs in input"):
        annotated()
