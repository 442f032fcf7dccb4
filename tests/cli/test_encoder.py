import pytest

pytest.importorskip("torch")


def test_the_width_is_shown(invoke, words, tmp_path, tiny_folder):
    result = invoke("encoder", tiny_folder, tmp_path / "copy")
    assert result.exit_code == 0, result.output
    assert "16 wide" in words(result)


def test_bad_input(invoke, refused, tmp_path, tiny_folder):
    (tmp_path / "letter.txt").write_text("dear")
    refused(invoke("encoder", tiny_folder, tmp_path), "CN705")
