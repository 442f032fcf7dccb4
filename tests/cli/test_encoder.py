import json

import pytest

pytest.importorskip("torch")


def test_the_width_is_shown(invoke, words, tmp_path, tiny_folder):
    result = invoke("encoder", tiny_folder, tmp_path / "copy")
    assert result.exit_code == 0, result.output
    assert "16 wide" in words(result)


def test_bad_input(invoke, refused, tmp_path, tiny_folder):
    (tmp_path / "letter.txt").write_text("dear")
    refused(invoke("encoder", tiny_folder, tmp_path), "CN705")


def test_options_are_parsed_and_the_cosine_is_shown(invoke, words, tmp_path, tiny_folder):
    pytest.importorskip("onnxscript")
    out = tmp_path / "out"
    options = ("--precision", "fp32", "--pooling", "cls", "--max-length", "7")
    result = invoke("export", tiny_folder, out, *options)
    assert result.exit_code == 0, result.output
    assert "Wrote the encoder" in words(result)
    assert "1.0000" in words(result)
    settings = json.loads((out / "config.json").read_text())
    assert [settings[key] for key in ("precision", "pooling", "max_length")] == ["fp32", "cls", 7]


def test_bad_input_to_export(invoke, refused, tmp_path, tiny_folder):
    pytest.importorskip("onnxscript")
    out = tmp_path / "out"
    refused(invoke("export", tiny_folder, out, "--precision", "int4"), "CN118")
    refused(invoke("export", tiny_folder, out, "--pooling", "sum"), "CN711")
    assert not out.exists()
