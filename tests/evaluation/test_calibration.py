import pytest
import spacy

from spacy_connorm.errors import ConnormError, ConnormWarning
from spacy_connorm.evaluation import calibrate, evaluate


def normalizer(path):
    return spacy.load(path).get_pipe("concept_normalizer")


@pytest.fixture(scope="module")
def calibrated(folder):
    return calibrate(folder / "pipeline", folder / "dev.spacy", folder / "calibrated")


def test_a_calibrated_pipeline_has_its_settings_in_both_places(calibrated, here):
    nlp = spacy.load("calibrated")
    component = nlp.get_pipe("concept_normalizer")
    config = nlp.config["components"]["concept_normalizer"]
    assert component.cfg["nil_threshold"] == pytest.approx(config["nil_threshold"])
    assert config["nil_threshold"] == pytest.approx(calibrated.tuning.nil_threshold)
    assert 0 < config["nil_threshold"] < 1
    assert component.cfg["calibration"] == pytest.approx(config["calibration"])
    assert component.lookup.sieve.thresholds == tuple(config["sieve"]["thresholds"])
    (candidates,) = component.candidates(["heart attack"], top_k=1)
    assert 0.5 < candidates[0].probability <= 1
    assert normalizer("pipeline").cfg["calibration"] != component.cfg["calibration"]


def test_what_was_fitted_is_shown_before_and_after_and_held_out(calibrated):
    settings, outcomes, _ = calibrated.sections
    assert (
        "calibrated on dev.spacy" in settings.title and "calibrated on dev.spacy" in outcomes.title
    )
    (nil,) = [row for row in settings.rows if row["setting"] == "nil_threshold"]
    assert nil["as it was"] == "0.5000" and nil["fitted"] != "0.5000"
    assert [row["settings"] for row in outcomes.rows] == [
        "as they were",
        "fitted, same mentions",
        "fitted, held-out mentions",
    ]
    assert list(calibrated.outcomes) == [row["settings"] for row in outcomes.rows]


def test_other_thresholds_are_shown(calibrated):
    points = calibrated.sections[-1].rows
    assert points[0]["coverage"] == 100.0
    assert points[0]["precision"] < points[-1]["precision"]
    before, same, _ = (row for row in calibrated.sections[1].rows)
    assert float(same["log loss"]) < float(before["log loss"])
    assert same["concept f"] >= before["concept f"]


def test_a_calibrated_pipeline_can_be_calibrated_again_in_its_place(calibrated, here):
    again = calibrate("calibrated", "dev.spacy", "again")
    assert again.tuning == calibrated.tuning
    calibrate("pipeline", "dev.spacy", "again")
    assert normalizer("calibrated").cfg == normalizer("again").cfg


def test_an_evaluation_shows_and_keeps_what_it_calibrates(calibrated, here):
    report = evaluate(
        "pipeline", "dev.spacy", calibrate_path="beside", markdown_path="calibrated.md"
    )
    assert report.calibrated.tuning == calibrated.tuning
    assert report.sections[-3:] == calibrated.sections
    text = (here / "calibrated.md").read_text(encoding="utf8")
    assert "fitted, held-out mentions" in text
    assert normalizer("beside").cfg == normalizer("calibrated").cfg


def test_nothing_is_written_without_a_path(here, capsys):
    before = sorted(path.name for path in here.iterdir())
    calibrated = calibrate("pipeline", "dev.spacy")
    assert 0 < calibrated.tuning.nil_threshold < 1
    assert sorted(path.name for path in here.iterdir()) == before
    assert capsys.readouterr() == ("", "")


def test_without_nil_the_threshold_is_null_and_says_so(here, dev_mentions, write_corpus):
    write_corpus("linked.spacy", [mention for mention in dev_mentions if mention[2]])
    calibrated = calibrate("pipeline", "linked.spacy", "linked")
    assert calibrated.tuning.nil_threshold is None
    (nil,) = [row for row in calibrated.sections[0].rows if row["setting"] == "nil_threshold"]
    assert nil["fitted"] == "null: no mention is NIL"
    assert normalizer("linked").cfg["nil_threshold"] is None


def test_calibrating_on_what_is_indexed_is_told(here, dev_mentions):
    nlp = spacy.load("pipeline")
    nlp.get_pipe("concept_normalizer").add_synonyms(
        [
            (text, "C3" if place % 2 else kb_id)
            for place, (text, _, kb_id) in enumerate(dev_mentions)
            if kb_id
        ]
    )
    nlp.to_disk("indexed")
    with pytest.warns(ConnormWarning, match=r"CNW610.*has 100 % .* already"):
        calibrate("indexed", "dev.spacy")


@pytest.mark.parametrize(
    ("corpus", "output", "options", "code"),
    [
        ("gold.spacy", "out", {}, "CN611"),
        ("without.spacy", "out", {}, "CN600"),
        ("dev.spacy", "other", {}, "CN705"),
        ("dev.spacy", "out", {"component": "ner"}, "CN704"),
    ],
)
def test_bad_input(here, corpus, output, options, code):
    with pytest.raises(ConnormError, match=code):
        calibrate("pipeline", corpus, output, **options)
    assert not (here / "out").exists()
