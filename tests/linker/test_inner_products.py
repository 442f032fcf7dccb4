"""A pipeline whose scores are inner products: saved, loaded, checked, and what it refuses."""

import json

import pytest
import spacy

from spacy_connorm import save_pipeline
from spacy_connorm.encoders import encode
from spacy_connorm.errors import ConnormError
from spacy_connorm.pipeline.loading import load_normalizer
from spacy_connorm.workflows import map_terms
from spacy_connorm.workflows.inspection import check

ONE = {"@misc": "spacy-connorm.Sieve.v1", "searches": ["OD-T"], "thresholds": []}
DOT = {
    "index": {"@misc": "spacy-connorm.ExactIndex.v1", "metric": "dot", "dtype": "int8"},
    "sieve": ONE,
    "split_composites": False,
    "compare_words": False,
}
SYNONYMS = [("cold", "C3"), ("chill", "C4")]


@pytest.fixture(params=["dense", "hybrid", "ngrams"])
def nlp(request, make_pipeline, hashes, hybrid):
    encoder = {"dense": hashes, "hybrid": hybrid, "ngrams": {}}[request.param]
    return make_pipeline(synonyms=SYNONYMS, **{**encoder, **DOT})


def test_scores_are_those_of_the_encoder(make_pipeline, hashes):
    normalizer = make_pipeline(**{**hashes, **DOT}).get_pipe("concept_normalizer")
    (best, *_) = normalizer.candidates(["heart attacks of the young"])[0]
    one, other = encode(normalizer.lookup.encoder, ["heart attacks of the young", best.text])
    assert best.score == pytest.approx(float(one @ other), rel=2e-2)
    assert normalizer.lookup.index.manifest["backend"]["metric"] == "dot"


def test_it_is_saved_loaded_and_checked(nlp, tmp_path):
    asked = ["heart attack", "heart attacks", "colds", "MI", "low temperatures"]
    normalizer = nlp.get_pipe("concept_normalizer")
    normalizer.add_synonyms([("heart attacks of the young", "C1")])
    (added, *_) = normalizer.candidates(["heart attacks of the young"])[0]
    assert (added.concept_id, added.text) == ("C1", "heart attacks of the young")
    save_pipeline(nlp, tmp_path / "saved")
    check(tmp_path / "saved")
    loaded = spacy.load(tmp_path / "saved").get_pipe("concept_normalizer")
    assert loaded.lookup.index.metric == "dot"
    assert loaded.candidates(asked) == normalizer.candidates(asked)
    assert loaded.from_bytes(normalizer.to_bytes()).candidates(asked) == loaded.candidates(asked)
    assert loaded.explain("colds").steps[0].answers


@pytest.mark.parametrize(
    ("wrong", "named"),
    [
        ({"sieve": {"@misc": "spacy-connorm.Sieve.v1"}}, 'searches = ["OD-T"]'),
        ({"compare_words": True}, "`compare_words = false`"),
        ({"split_composites": True}, "`split_composites = false`"),
    ],
)
def test_settings_that_make_no_sense(blank_pipeline, wrong, named):
    with pytest.raises(ConnormError, match="CN421.*inner products") as caught:
        blank_pipeline(**{**DOT, **wrong})
    assert named in str(caught.value)


def test_a_setting_that_makes_no_sense_is_refused_by_the_next_call(nlp):
    normalizer = nlp.get_pipe("concept_normalizer")
    normalizer.cfg["compare_words"] = True
    with pytest.raises(ConnormError, match="CN421.*`compare_words = false`"):
        normalizer.candidates(["colds"])
    normalizer.cfg["compare_words"] = False
    with pytest.raises(ConnormError, match="CN421.*`split_composites = false`"):
        normalizer.candidates(["colds"], split_composites=True)


def test_all_that_must_be_changed_is_named_at_once(blank_pipeline):
    with pytest.raises(ConnormError, match="CN421.*compare_words.*split_composites.*sieve"):
        blank_pipeline(index=DOT["index"])


def test_the_metric_of_the_index_is_that_of_the_config(nlp, tmp_path):
    save_pipeline(nlp, tmp_path / "saved")
    config = spacy.util.load_config(tmp_path / "saved" / "config.cfg")
    config["components"]["concept_normalizer"]["index"]["metric"] = "cosine"
    config.to_disk(tmp_path / "saved" / "config.cfg")
    with pytest.raises(ConnormError, match="CN410.*metric.*'dot'.*'cosine'"):
        spacy.load(tmp_path / "saved")


def test_a_long_form_answers_alone(nlp):
    normalizer = nlp.get_pipe("concept_normalizer")
    (found,) = normalizer.candidates(["cold"], long_forms=["heart attack"])
    assert found[0].searched == "heart attack"


def test_metrics_are_in_the_saved_manifest(nlp, tmp_path):
    save_pipeline(nlp, tmp_path / "saved")
    manifest = next((tmp_path / "saved").rglob("index/manifest.json"))
    assert json.loads(manifest.read_text())["backend"]["metric"] == "dot"
    assert load_normalizer(tmp_path / "saved").lookup.backend.metric == "dot"


def test_mappings_need_probabilities(make_pipeline, hashes, tmp_path):
    terms = tmp_path / "terms.csv"
    terms.write_text("code,term\n1,heart attacks\n", encoding="utf8")
    nlp = make_pipeline(**{**hashes, **DOT})
    with pytest.raises(ConnormError, match="CN422.*mapping.*--calibrate"):
        map_terms(nlp, terms, tmp_path / "out.tsv")
    calibration = {"intercept": -1.0, "score": 0.5, "margin": 0.1}
    nlp = make_pipeline(**{**hashes, **DOT, "calibration": calibration})
    map_terms(nlp, terms, tmp_path / "out.tsv", review=0.0)
    written = (tmp_path / "out.tsv").read_text(encoding="utf8")
    assert "heart attack" in written and "cosine" not in written
