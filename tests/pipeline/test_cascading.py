"""Two saved pipelines as one."""

import pickle

import pytest
import spacy

from spacy_connorm import Concept, Ontology, cascade, check
from spacy_connorm.errors import ConnormError

CALIBRATION = {"intercept": -70.0, "score": 100.0, "margin": 0.0}
OTHER = {"intercept": -1.0, "score": 2.0, "margin": 0.0}
TEXT = "MI, then head spinning; ASA"


@pytest.fixture
def pipelines(make_pipeline, hashes, tmp_path):
    """Folders of a pipeline with n-grams and one with hashes."""
    made = {
        "fast": make_pipeline(calibration=CALIBRATION, nil_threshold=0.1),
        "good": make_pipeline(calibration=OTHER, nil_threshold=-1.0, **hashes),
    }
    for name, nlp in made.items():
        nlp.to_disk(tmp_path / name)
    return tmp_path / "fast", tmp_path / "good"


@pytest.fixture
def joined(pipelines, tmp_path):
    return cascade(*pipelines, tmp_path / "joined", min_probability=0.5)


def links(nlp):
    return [(ent.text, ent._.candidates) for ent in nlp(TEXT).ents]


def test_each_mention_is_read_by_one_of_them(pipelines, joined):
    fast, good = map(links, map(spacy.load, pipelines))
    assert [each[0].probability >= 0.5 for _, each in fast[:2]] == [True, False]
    assert links(spacy.load(joined)) == [fast[0], *good[1:]]


def test_settings_are_the_first_ones(pipelines, joined):
    config = spacy.load(joined).config["components"]["concept_normalizer"]
    assert config["encoder"]["@architectures"] == "spacy-connorm.NgramEncoder.v1"
    assert config["calibration"] == CALIBRATION
    assert config["nil_threshold"] == -1.0
    assert config["cascade"]["encoder"]["@architectures"] == "tests.HashingEncoder.v1"
    assert config["cascade"]["min_probability"] == 0.5
    assert config["cascade"]["calibration"] == OTHER


def test_it_is_saved_whole(joined, tmp_path):
    nlp = spacy.load(joined)
    expected = links(nlp)
    nlp.get_pipe("concept_normalizer").add_synonyms([("head spinning", "C5")])
    changed = links(nlp)
    assert changed != expected
    nlp.to_disk(tmp_path / "copy")
    copies = [spacy.load(tmp_path / "copy"), spacy.load(joined)]
    assert [links(copy) for copy in copies] == [changed, expected]
    content = nlp.get_pipe("concept_normalizer").to_bytes()
    copies[1].get_pipe("concept_normalizer").from_bytes(content)
    assert links(copies[1]) == changed
    assert (tmp_path / "copy" / "concept_normalizer" / "second" / "index").is_dir()


def test_workers_read_the_same(joined):
    nlp = spacy.load(joined)
    normalizer = nlp.get_pipe("concept_normalizer")
    copy = pickle.loads(pickle.dumps(normalizer.lookup))
    found = [
        each.candidates(["head spinning", "MI"], top_k=3) for each in (copy, normalizer.lookup)
    ]
    assert found[0] == found[1]


@pytest.mark.parametrize("name", ["index/concepts.sqlite", "index/members.count.npy", "encoder"])
def test_damage_to_the_second_encoder_and_its_index_is_found(joined, name):
    check(joined)
    path = joined / "concept_normalizer" / "second" / name
    path.write_bytes(path.read_bytes()[:-1] + b"\xff")
    with pytest.raises(ConnormError, match="CN402.*second"):
        spacy.load(joined)


def test_synonyms_that_were_changed_in_both_alike(pipelines, tmp_path):
    for path in pipelines:
        nlp = spacy.load(path)
        nlp.get_pipe("concept_normalizer").remove_synonyms([("Heart attack", "C2")])
        nlp.get_pipe("concept_normalizer").add_synonyms([("Head spinning", "C5")])
        nlp.to_disk(path)
    joined = spacy.load(cascade(*pipelines, tmp_path / "joined"))
    assert [ent.kb_id_ for ent in joined("head spinning").ents] == ["C5"]


def test_a_cascade_replaces_no_input(pipelines):
    with pytest.raises(ConnormError, match="CN121"):
        cascade(*pipelines, pipelines[0])


def test_pipelines_that_cannot_be_joined(pipelines, joined, make_pipeline, hashes, tmp_path):
    fast, good = pipelines
    out = tmp_path / "out"
    make_pipeline(**hashes).to_disk(tmp_path / "uncalibrated")
    with pytest.raises(ConnormError, match=r"CN011.*uncalibrated' is not calibrated.*--calibrate"):
        cascade(fast, tmp_path / "uncalibrated", out)
    with pytest.raises(ConnormError, match="CN013.*joined"):
        cascade(joined, good, out)
    steps = make_pipeline(calibration=OTHER, normalization=["greek"], **hashes)
    steps.to_disk(tmp_path / "steps")
    with pytest.raises(ConnormError, match=r"CN012.*normalization are \[\] and \['greek'\]"):
        cascade(fast, tmp_path / "steps", out)
    other = make_pipeline(calibration=OTHER, **hashes)
    other.get_pipe("concept_normalizer").initialize(
        lambda: [], ontology=Ontology([Concept("C1", "heart disease")])
    )
    other.to_disk(tmp_path / "other")
    with pytest.raises(ConnormError, match="CN012.*only one of them has 'C2'"):
        cascade(fast, tmp_path / "other", out)
    corrected = spacy.load(good)
    corrected.get_pipe("concept_normalizer").add_synonyms([("head spinning", "C5")])
    corrected.to_disk(tmp_path / "corrected")
    with pytest.raises(ConnormError, match="CN012.*other synonyms were added"):
        cascade(fast, tmp_path / "corrected", out)
    with pytest.raises(ConnormError, match="CN700"):
        cascade(fast, tmp_path / "nowhere", out)
    with pytest.raises(ConnormError, match="CN006.*min_probability.*2"):
        cascade(fast, good, out, min_probability=2)
    assert not out.exists()
