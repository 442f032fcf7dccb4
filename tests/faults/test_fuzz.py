"""Pipelines that someone damaged on purpose, with checksums put right. Loading and asking them ends
in answers or in one coded error: nothing crashes, hangs, fills the memory or ends in a traceback.
"""

import json
import random
import shutil
from collections import Counter
from copy import deepcopy
from math import isfinite

import pytest
import spacy

from spacy_connorm import Concept, Ontology
from spacy_connorm.encoders.protocol import fingerprint
from spacy_connorm.encoders.saving import open_encoder
from spacy_connorm.errors import ConnormError

from .fuzzing import run_in_child
from .mutations import EXTREMES, mutate, reseal
from .tiny_encoders import save_bert, save_dan

HASHES = {"@architectures": "tests.HashingEncoder.v1"}
NGRAMS = {"@architectures": "spacy-connorm.NgramEncoder.v1"}
DAN = {"@architectures": "spacy-connorm.DanEncoder.v1", "name": "dan"}
ONNX = {"@architectures": "spacy-connorm.OnnxEncoder.v1", "name": "onnx"}
HYBRID = {
    "@architectures": "spacy-connorm.HybridEncoder.v1",
    "dense": HASHES,
    "lexical": NGRAMS,
    "lexical_weight": 0.5,
}
EXACT = {"@misc": "spacy-connorm.ExactIndex.v1"}
# So that forest and lists are searched, not all vectors.
ANNOY = {
    "@misc": "spacy-connorm.AnnoyIndex.v1",
    "exact_below": 0,
    "dtype": "float32",
    "n_trees": 3,
    "search_k": 40,
}
LISTS = {"@misc": "spacy-connorm.IvfIndex.v1", "exact_below": 16, "lists": 64, "probes": 2}
MEANS = {"@misc": "spacy-connorm.Sieve.v1", "searches": ["D-C", "OD-C"], "thresholds": [0.9]}
KINDS = {
    "n-grams": {"encoder": NGRAMS, "index": EXACT},
    "means": {"encoder": NGRAMS, "index": EXACT, "sieve": MEANS},
    "annoy": {"encoder": HASHES, "index": ANNOY},
    "lists": {"encoder": HASHES, "index": LISTS},
    "codes": {"encoder": HASHES, "index": {**EXACT, "dtype": "int8"}},
    "hybrid": {"encoder": HYBRID, "index": ANNOY},
    "dan": {"encoder": DAN, "index": EXACT},
    "onnx": {"encoder": ONNX, "index": EXACT},
}
MENTIONS = ["acute fever 7", "fever", "rash of 11", "xyz", "head spinning", "late rash 299", ""]
LIMITS = [{}, {"top_k": 1}, {"types": ["Disease"]}, {"branches": ["C1"], "top_k": 1}]
PLACES = ("acute", "chronic", "late", "early", "mild", "severe")
SIGNS = ("fever", "pain of the skin", "rash", "cancer", "head ache")


def concepts():
    for number in range(300):
        sign, place = SIGNS[number % 5], PLACES[number % 6]
        names = (f"{sign} number {number}",)
        yield Concept(f"C{number}", f"{place} {sign} {number}", names, types=("Disease",))
    yield Concept("C900", "fever", parents=("C1",), alt_ids=("OMIM:1",))


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    """A function that gives the folder of a component of a kind, and its settings."""
    base = tmp_path_factory.mktemp("encoders")
    save_dan(base / "dan")
    save_bert(base / "onnx")
    made = {}

    def make(kind):
        if kind not in made:
            settings = deepcopy(KINDS[kind])
            if "name" in settings["encoder"]:
                settings["encoder"]["name"] = str(base / settings["encoder"]["name"])
            folder = tmp_path_factory.mktemp("saved") / "normalizer"
            save(settings, folder)
            made[kind] = folder, settings
        return made[kind]

    return make


def save(settings, folder):
    normalizer = blank(settings)
    annotated = [("head spinning", "C3"), ("late fever", "C4")]
    normalizer.initialize(lambda: [], ontology=Ontology(concepts()), synonyms=annotated)
    normalizer.add_synonyms([("spinning of the skin", "C5")], count=2)
    normalizer.remove_synonyms([("fever number 10", "C10")])
    normalizer.to_disk(folder)


def blank(settings):
    return spacy.blank("en").add_pipe("concept_normalizer", config=settings)


def ask(normalizer):
    """Ask in every way, and check that answers are answers."""
    for limits in LIMITS:
        found = normalizer.candidates(MENTIONS, **limits)
        if len(found) != len(MENTIONS):
            pytest.fail(f"{len(found)} answers")
        for each in (candidate for candidates in found for candidate in candidates):
            texts = (each.concept_id, each.name, each.text)
            if not all(isinstance(text, str) for text in texts) or not isfinite(each.score):
                pytest.fail(f"{each}")
    normalizer.concept("C900")
    normalizer.add_synonyms([("a new name", "C7")])
    normalizer.candidates(["a new name"])


def change_file(folder, draw):
    """Change one file of a component; small kinds of files are not rare."""
    by_kind = {}
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            by_kind.setdefault(path.suffix or path.name, []).append(path)
    path = draw.choice(by_kind[draw.choice([".npy", *by_kind])])
    said = mutate(path, draw)
    # A manifest that is put right is none that was changed.
    if path.suffix != ".json" or draw.random() < 0.9:
        reseal(folder)
    return path, said


def name_encoder(folder, settings):
    """Write the fingerprint of a changed encoder into the index."""
    path = folder / "index" / "manifest.json"
    try:
        encoder = open_encoder(blank(settings).lookup.encoder, folder / "encoder")
        facts = json.loads(path.read_text())
        facts["encoder"]["fingerprint"] = fingerprint(encoder)
    except Exception:  # it can't be loaded
        return
    path.write_text(json.dumps(facts))
    reseal(folder)


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_changed_and_sealed_again(saved, tmp_path, trials, record_property, kind):
    folder, settings = saved(kind)
    ask(blank(settings).from_disk(folder))
    copy, outcomes, forbidden = tmp_path / "copy", Counter(), []
    for number in range(trials(5, 180)):
        draw = random.Random(f"{kind} {number}")
        shutil.copytree(folder, copy)
        path, said = change_file(copy, draw)

        def load_and_ask(is_encoder=path.name == "encoder"):
            if is_encoder:
                name_encoder(copy, settings)
            ask(blank(settings).from_disk(copy))

        outcome = run_in_child(load_and_ask)
        outcomes[outcome.kind] += 1
        if not outcome.is_allowed:
            forbidden.append(f"{number} {path.relative_to(copy)}: {said}\n{outcome}")
        shutil.rmtree(copy)
    record_property("outcomes", dict(outcomes.most_common()))
    assert not forbidden, "\n\n".join(forbidden)


@pytest.mark.parametrize("kind", KINDS)
def test_a_flipped_bit_is_found_in_every_file(saved, tmp_path, trials, kind):
    folder, settings = saved(kind)
    shutil.copytree(folder, tmp_path / "copy")
    draw, normalizer = random.Random(kind), blank(settings)
    for path in sorted((tmp_path / "copy").rglob("*")):
        content = path.read_bytes() if path.is_file() else b""
        for _ in range(trials(1, 10) if content.strip() else 0):
            at = draw.choice([at for at in range(len(content)) if content[at : at + 1].strip()])
            bit = bytes([content[at] ^ 1 << draw.randrange(8)])
            path.write_bytes(content[:at] + bit + content[at + 1 :])
            with pytest.raises(ConnormError, match="CN40[012]"):
                normalizer.from_disk(tmp_path / "copy")
        if content:
            path.write_bytes(content)
    assert normalizer.from_disk(tmp_path / "copy").candidates(MENTIONS)


SETTINGS = {
    "n-grams": {"top_k": 3, "nil_threshold": 0.1, "types": ["Disease"], "cache_size": 5},
    "n-grams encoder": {"analyzer": "char", "ngram_range": [1, 3], "sublinear_tf": True},
    "means sieve": {"searches": ["OD-C"], "thresholds": []},
    "annoy index": {"n_trees": 5, "search_k": 40, "oversample": 2, "seed": 1, "dtype": "int8"},
    "lists index": {"lists": 9, "probes": 9, "oversample": 2, "seed": 1, "exact_below": 99},
    "codes index": {"dtype": "float32"},
    "dan encoder": {"ngram_range": [2, 3], "buckets": 9, "principal_components": 3},
    "onnx encoder": {"batch_tokens": 2},
    "hybrid encoder": {"lexical_weight": 0.5},
}


def is_json(value):
    """Whether a config can have the value; spaCy fails with others."""
    return value != "\ud800" and not (isinstance(value, float) and not isfinite(value))


@pytest.mark.parametrize("where", SETTINGS)
def test_settings(saved, trials, record_property, where):
    kind, _, block = where.rpartition(" ") if where not in KINDS else (where, "", "")
    folder, settings = saved(kind)
    outcomes, forbidden = Counter(), []
    for number in range(trials(1, 30)):
        draw = random.Random(f"{where} {number}")
        changed = deepcopy(settings)
        setting = draw.choice(list(SETTINGS[where]))
        owner = changed[block] if block else changed
        owner[setting] = draw.choice([*filter(is_json, EXTREMES), SETTINGS[where][setting]])
        outcome = run_in_child(lambda changed=changed: ask(blank(changed).from_disk(folder)))
        outcomes[outcome.kind] += 1
        if not outcome.is_allowed:
            forbidden.append(f"{number} {setting} = {str(owner[setting])[:80]}\n{outcome}")
    record_property("outcomes", dict(outcomes.most_common()))
    assert not forbidden, "\n\n".join(forbidden)
