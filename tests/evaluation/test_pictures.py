"""Pictures of concept texts and of a calibration."""

import numpy as np
import pytest

from spacy_connorm.errors import ConnormError
from spacy_connorm.evaluation import evaluate
from spacy_connorm.evaluation.curves import measure_reliability, trace_nil_curve
from spacy_connorm.evaluation.pictures import draw_calibration, draw_projections
from spacy_connorm.evaluation.projection import ConceptTexts, project


@pytest.fixture
def many():
    """Enough texts for t-SNE."""
    return [
        ConceptTexts(f"C{concept}", name, tuple(f"{name} type {each}" for each in range(12)))
        for concept, name in enumerate(("influenza", "stroke", "heart attack"))
    ]


@pytest.mark.parametrize("suffix", [".svg", ".png"])
def test_a_picture_is_the_same_every_time(lookup, many, tmp_path, suffix):
    panels = [
        project(lookup.normalized_encoder, many, label=label) for label in ("before", "after")
    ]
    for name in ("one", "two"):
        draw_projections(panels, many, tmp_path / f"{name}{suffix}")
    first = (tmp_path / f"one{suffix}").read_bytes()
    assert first == (tmp_path / f"two{suffix}").read_bytes()
    assert first.startswith(b"\x89PNG" if suffix == ".png" else b"<?xml")


def test_without_matplotlib_the_extra_is_named(monkeypatch, many, tmp_path):
    monkeypatch.setattr("spacy_connorm.errors.find_spec", lambda name: None)
    with pytest.raises(ConnormError, match=r"CN126.*\[plot\]"):
        draw_projections([], many, tmp_path / "p.svg")


@pytest.mark.parametrize("name", ["picture.svg", "picture.png"])
def test_a_picture_needs_no_corpus(here, name):
    report = evaluate("pipeline", beside=["other"], picture_path=name, concepts=["C1", "C2"])
    assert (here / name).stat().st_size > 1000
    assert [concept.concept_id for concept in report.drawing.concepts] == ["C1", "C2"]
    assert [panel.label for panel in report.drawing.panels] == ["pipeline", "other"]


def test_a_calibration_without_answers_is_drawn(tmp_path):
    nothing = measure_reliability(np.empty(0), np.empty(0, dtype="bool"))
    curve = trace_nil_curve([], [])
    draw_calibration({"as they were": nothing}, curve, None, tmp_path / "curves.svg")
    text = (tmp_path / "curves.svg").read_text(encoding="utf8")
    assert "no threshold is chosen" in text
