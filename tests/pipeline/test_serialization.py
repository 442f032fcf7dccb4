"""Saved components: the same answers wherever and however they are loaded."""

import gc
import json
import os
import pickle
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import spacy
from spacy.tokens import Span

from spacy_connorm import Concept, Ontology
from spacy_connorm.errors import ConnormError

MENTIONS = ["MI", "cold", "head spinning", "vertigo", "hart atack", ""]

# Nothing but the saved folder: no hub, no network, none of this project's tests.
LOAD_ALONE = """
import json, socket, sys

def refuse(*args, **kwargs):
    raise AssertionError("the network was asked")

socket.socket.connect = socket.getaddrinfo = refuse
import spacy
nlp = spacy.load(sys.argv[1])
print(json.dumps(nlp.get_pipe("concept_normalizer").candidates(json.loads(sys.argv[2]))))
"""


def by_disk(saved, loaded, tmp_path):
    saved.to_disk(tmp_path / "component")
    return loaded.from_disk(tmp_path / "component")


def by_bytes(saved, loaded, tmp_path):
    return loaded.from_bytes(saved.to_bytes())


def by_pickle(saved, loaded, tmp_path):
    return pickle.loads(pickle.dumps(saved))


SIEVES = {
    "texts": {"searches": ["D-T", "OD-T"], "thresholds": [0.95]},
    "concepts": {"searches": ["D-C", "O-C", "OD-C"], "thresholds": [0.9, 0.8]},
}


@pytest.mark.parametrize("pass_on", [by_disk, by_bytes, by_pickle])
@pytest.mark.parametrize("sieve", SIEVES)
@pytest.mark.parametrize("vectors", ["sparse", "dense", "annoy"])
def test_round_trip(changed, blank_normalizer, hashes, tmp_path, pass_on, sieve, vectors):
    settings = {"sieve": {"@misc": "spacy-connorm.Sieve.v1", **SIEVES[sieve]}}
    settings |= {} if vectors == "sparse" else hashes
    settings |= (
        {"index": {"@misc": "spacy-connorm.AnnoyIndex.v1", "exact_below": 0, "dtype": "float32"}}
        if vectors == "annoy"
        else {}
    )
    normalizer = changed(**settings)
    restored = pass_on(normalizer, blank_normalizer(**settings), tmp_path)
    assert restored.candidates(MENTIONS) == normalizer.candidates(MENTIONS)


@pytest.mark.parametrize("pass_on", [by_disk, by_bytes])
def test_settings_are_kept(make_normalizer, blank_normalizer, tmp_path, pass_on):
    normalizer = make_normalizer(
        top_k=2, nil_threshold=0.5, types=["Disease"], kb_url_template="https://example.org/{}"
    )
    assert pass_on(normalizer, blank_normalizer(), tmp_path).cfg == normalizer.cfg


def test_restored_component_can_be_changed_and_saved_again(changed, blank_normalizer, tmp_path):
    restored = by_disk(changed(), blank_normalizer(), tmp_path)
    restored.add_synonyms([("coronary", "C2")])
    again = by_bytes(restored, blank_normalizer(), tmp_path)
    assert again.candidates(["coronary", *MENTIONS]) == restored.candidates(["coronary", *MENTIONS])


def test_saved_over_the_folder_it_was_loaded_from(saved, blank_normalizer):
    normalizer = blank_normalizer().from_disk(saved)
    normalizer.add_synonyms([("coronary", "C2")])
    expected = normalizer.candidates(["coronary", *MENTIONS])
    normalizer.to_disk(saved)
    assert normalizer.candidates(["coronary", *MENTIONS]) == expected
    assert blank_normalizer().from_disk(saved).candidates(["coronary", *MENTIONS]) == expected
    assert [path.name for path in saved.parent.iterdir()] == ["saved"]


def test_an_index_that_was_just_built_is_handed_over_once_and_copied_then(
    make_normalizer, blank_normalizer, tmp_path
):
    normalizer = make_normalizer()
    built = normalizer.lookup.index.folder / "texts.norms.npy"
    expected = normalizer.candidates(MENTIONS)
    for name in ("one", "other"):
        normalizer.to_disk(tmp_path / name)
    one, other = (tmp_path / name / "index" / built.name for name in ("one", "other"))
    assert not one.samefile(other)
    assert not built.samefile(other)
    del normalizer
    gc.collect()
    assert not built.exists()
    for name in ("one", "other"):
        assert blank_normalizer().from_disk(tmp_path / name).candidates(MENTIONS) == expected


def test_an_index_on_another_file_system_is_copied(make_normalizer, monkeypatch, tmp_path):
    def refuse(target, source):
        raise OSError("Invalid cross-device link")

    monkeypatch.setattr(Path, "hardlink_to", refuse)
    normalizer = make_normalizer()
    normalizer.to_disk(tmp_path / "saved")
    built = normalizer.lookup.index.folder / "texts.norms.npy"
    saved = tmp_path / "saved" / "index" / built.name
    assert saved.read_bytes() == built.read_bytes()
    assert not built.samefile(saved)


def test_encoder_of_another_width_is_replaced(blank_normalizer, normalizer, tmp_path):
    other = blank_normalizer()
    other.initialize(lambda: [], ontology=Ontology([Concept("X1", "quite another text")]))
    assert by_bytes(normalizer, other, tmp_path).candidates(MENTIONS) == normalizer.candidates(
        MENTIONS
    )


@pytest.mark.parametrize(
    ("settings", "code"),
    [({"top_k": 0}, "CN006"), ({"attribute_prefix": "taken_"}, "CN005")],
)
def test_settings_that_are_refused_change_nothing(
    normalizer, blank_normalizer, tmp_path, settings, code
):
    other = blank_normalizer()
    other.initialize(lambda: [], ontology=Ontology([Concept("X1", "quite another text")]))
    # As somebody wrote them, unchecked.
    dict.update(other.cfg, {"top_k": 3, **settings})
    other.to_disk(tmp_path / "other")
    content = other.to_bytes()
    Span.set_extension("taken_candidates", default=None)
    before = dict(normalizer.cfg), normalizer.candidates(MENTIONS)
    try:
        with pytest.raises(ConnormError, match=code):
            normalizer.from_disk(tmp_path / "other")
        with pytest.raises(ConnormError, match=code):
            normalizer.from_bytes(content)
    finally:
        Span.remove_extension("taken_candidates")
    assert (normalizer.cfg, normalizer.candidates(MENTIONS)) == before


# Parts left out


def test_excluded_settings_stay(make_normalizer, blank_normalizer, tmp_path):
    make_normalizer(top_k=2).to_disk(tmp_path / "saved")
    other = blank_normalizer(top_k=3).from_disk(tmp_path / "saved", exclude=["cfg"])
    assert len(other.candidates(["MI"])[0]) == 3


@pytest.mark.parametrize("part", ["cfg", "encoder", "index"])
def test_excluded_part_is_not_written(normalizer, tmp_path, part):
    normalizer.to_disk(tmp_path / "saved", exclude=[part])
    assert {path.name for path in (tmp_path / "saved").iterdir()} >= {"manifest.json"}
    assert not (tmp_path / "saved" / part).exists()


def test_excluded_encoder_is_the_present_one(changed, make_normalizer, hashes):
    normalizer = changed(**hashes)
    content = normalizer.to_bytes(exclude=["encoder"])
    other = make_normalizer(**hashes).from_bytes(content, exclude=["encoder"])
    assert other.candidates(MENTIONS) == normalizer.candidates(MENTIONS)


def test_weights_are_kept_as_long_as_the_encoder_if_the_index_is_left_out(
    blank_normalizer, tiny_folder
):
    dan = {
        "@architectures": "spacy-connorm.DanEncoder.v1",
        "name": str(tiny_folder),
        "buckets": 64,
    }
    normalizer = blank_normalizer(encoder=dan)
    normalizer.initialize(lambda: [], ontology=Ontology([Concept("C1", "heart attack")]))
    before = normalizer.lookup.encoder.predict(["heart attack"])
    normalizer.from_bytes(normalizer.to_bytes(), exclude=["index"])
    gc.collect()
    # The folder that the weights were mapped from may be gone.
    assert (normalizer.lookup.encoder.predict(["heart attack"]) == before).all()


@pytest.mark.parametrize(("part", "code"), [("encoder", "CN402.*missing"), ("index", "CN400")])
def test_part_that_was_not_written_is_missed(normalizer, blank_normalizer, tmp_path, part, code):
    normalizer.to_disk(tmp_path / "saved", exclude=[part])
    with pytest.raises(ConnormError, match=code):
        blank_normalizer().from_disk(tmp_path / "saved")


def test_unknown_names_in_exclude_are_passed_over(normalizer, blank_normalizer):
    content = normalizer.to_bytes(exclude=["vocab"])
    restored = blank_normalizer().from_bytes(content, exclude=["vocab"])
    assert restored.candidates(MENTIONS) == normalizer.candidates(MENTIONS)
    assert content == normalizer.to_bytes()


# Whole pipelines


def test_pipeline_is_loaded_without_its_sources(make_pipeline, tmp_path):
    nlp = make_pipeline(synonyms=[("head spinning", "C5")], top_k=3)
    nlp.to_disk(tmp_path / "pipeline")
    shutil.move(tmp_path / "pipeline", tmp_path / "moved")
    doc = spacy.load(tmp_path / "moved")("A head spinning, an MI.")
    expected = nlp("A head spinning, an MI.")
    assert [ent.kb_id_ for ent in doc.ents] == ["C5", "C2"]
    assert [e._.candidates for e in doc.ents] == [e._.candidates for e in expected.ents]


def test_pipeline_by_bytes(pipeline, blank_pipeline):
    restored = blank_pipeline().from_bytes(pipeline.to_bytes()).get_pipe("concept_normalizer")
    own = pipeline.get_pipe("concept_normalizer")
    assert restored.candidates(MENTIONS) == own.candidates(MENTIONS)


def test_transformer_is_loaded_offline_without_its_folder(
    make_pipeline, tmp_path, tiny_tokenizer, save_tiny
):
    source = save_tiny(tmp_path / "source", tiny_tokenizer)
    name = {"@architectures": "spacy-connorm.TransformerEncoder.v1", "name": str(source)}
    nlp = make_pipeline(encoder=name)
    nlp.to_disk(tmp_path / "pipeline")
    shutil.rmtree(source)
    loaded = subprocess.run(
        [sys.executable, "-c", LOAD_ALONE, str(tmp_path / "pipeline"), json.dumps(MENTIONS)],
        env={**os.environ, "HF_HUB_OFFLINE": "1"},
        stdout=subprocess.PIPE,
        timeout=60,
        check=True,
    )
    own = nlp.get_pipe("concept_normalizer").candidates(MENTIONS)
    assert json.loads(loaded.stdout) == [[list(each) for each in mention] for mention in own]
