"""`connorm models`, see also tests/workflows/test_models.py."""

from spacy_connorm.cli import models
from spacy_connorm.workflows import BuiltModel


def test_each_package_is_shown_with_its_scores(invoke, monkeypatch, words, tmp_path):
    asked = {}

    def build(on_built, **given):
        asked.update(given)
        row = {"concepts": 12, "names": 34, "wheel_mb": 5.6, "load_s": 0.7}
        on_built(
            BuiltModel(
                "en_small",
                tmp_path / "s.whl",
                row,
                {"notes": {"document_f1": 89.1, "lenient@1": 91.2}},
            )
        )
        on_built(BuiltModel("en_large", tmp_path / "l.whl", row, {}))

    monkeypatch.setattr(models, "build_models", build)
    result = invoke("models", "models.toml", tmp_path, "--names", "en_small,en_large")
    assert result.exit_code == 0, result.output
    assert list(asked["names"]) == ["en_small", "en_large"]
    shown = words(result)
    assert "en_small 12 34 5.6 0.7 notes 89.1 91.2" in shown
    assert "en_large 12 34 5.6 0.7 - - -" in shown
