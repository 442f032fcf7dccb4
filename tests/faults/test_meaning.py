"""Files whose checksums are right and whose content is wrong, as far as opening them or `connorm
check` finds it.
"""

import shutil
import sqlite3

import numpy as np
import pytest

from spacy_connorm import check, save_pipeline
from spacy_connorm.errors import ConnormError, ConnormWarning
from spacy_connorm.files.folders import read_manifest, seal
from spacy_connorm.index.verification import verify_texts

MEANS = {
    "@misc": "spacy-connorm.Sieve.v1",
    "searches": ["D-C", "D-T", "O-C", "OD-T"],
    "thresholds": [0.98, 0.95, 0.9],
}


@pytest.fixture(scope="module")
def settings(hashes, hybrid):
    def index(name, **others):
        return {"@misc": f"spacy-connorm.{name}.v1", **others}

    return {
        "ngrams": {},
        "annoy": {
            **hashes,
            "index": index("AnnoyIndex", n_trees=3, exact_below=0, dtype="float32"),
            "sieve": MEANS,
        },
        "int8": {**hashes, "index": index("ExactIndex", dtype="int8"), "sieve": MEANS},
        "lists": {**hashes, "index": index("IvfIndex", exact_below=16, lists=4)},
        "hybrid": {**hybrid, "sieve": MEANS},
    }


@pytest.fixture
def saved(settings, changed, tmp_path_factory):
    """A function that saves a component of some settings once, and copies it."""

    def save(name, tmp_path):
        folder = tmp_path_factory.getbasetemp() / f"meaning-{name}"
        if not folder.exists():
            many = [(f"word {number}", "C5") for number in range(40)]
            normalizer = changed(**settings[name])
            if name == "lists":
                with pytest.warns(ConnormWarning, match="CNW401"):
                    normalizer.initialize(lambda: [], synonyms=many)
            normalizer.to_disk(folder)
        return shutil.copytree(folder, tmp_path / "saved")

    return save


def reseal(folder, **facts):
    """Make all checksums right again."""
    for part in (folder / "index", folder):
        manifest = read_manifest(part)
        del manifest["files"], manifest["folders"]
        if part != folder:
            manifest.update(facts)
        seal(part, manifest)


def verify(folder, normalizer):
    normalizer.from_disk(folder)
    retriever = normalizer.lookup.retriever
    verify_texts(retriever.index, retriever.encoder, report=lambda _: None)


def put(place, value):
    def change(array):
        array[place] = value

    return change


def swap(array):
    array[[0, 1]] = array[[1, 0]]


def swap_far(array):
    array[[0, -1]] = array[[-1, 0]]


def scale(array):
    array[0] = array[0] * 2


def negate(array):
    array[0] = -array[0]


ARRAYS = [
    ("ngrams", "index/members.start.npy", put(1, 3)),
    ("ngrams", "index/members.start.npy", put(0, 1)),
    ("ngrams", "index/members.start.npy", put(-1, 99)),
    ("ngrams", "index/members.concept.npy", put(0, 99)),
    ("ngrams", "index/members.concept.npy", put(0, -1)),
    ("ngrams", "index/members.target.npy", put(0, 0)),
    ("ngrams", "index/names.start.npy", put(1, 3)),
    ("ngrams", "index/names.start.npy", put(1, -1)),
    ("ngrams", "index/names.start.npy", put(-1, 10_000)),
    ("ngrams", "index/names.utf8.npy", put(0, 255)),
    ("ngrams", "index/names.utf8.npy", swap),
    ("ngrams", "index/keys.hashes.npy", swap),
    ("ngrams", "index/keys.hashes.npy", put(-1, 2**64 - 1)),
    ("ngrams", "index/keys.rows.npy", put(0, 1)),
    ("ngrams", "index/keys.rows.npy", swap),
    ("ngrams", "index/name_words.start.npy", put(1, 99)),
    ("ngrams", "index/name_words.numbers.npy", put(0, 99)),
    ("ngrams", "index/vocabulary.utf8.npy", put(0, 255)),
    ("ngrams", "index/vocabulary.start.npy", put(-1, 10_000)),
    ("ngrams", "index/word_bags.rows.npy", put(0, 99)),
    ("ngrams", "index/word_bags.rows.npy", put(0, -1)),
    ("ngrams", "index/word_bags.longest.npy", put(0, -1)),
    ("ngrams", "index/texts.norms.npy", put(0, np.nan)),
    ("ngrams", "index/texts.norms.npy", put(0, -1)),
    ("ngrams", "index/texts.norms.npy", put(0, 0)),
    ("ngrams", "index/texts.data.npy", put(0, np.inf)),
    ("ngrams", "index/texts.data.npy", put(0, 7)),
    ("ngrams", "index/texts.data.npy", negate),
    ("ngrams", "index/texts.indices.npy", put(0, 10_000)),
    ("ngrams", "index/texts.indices.npy", put(0, -1)),
    ("ngrams", "index/texts.indptr.npy", put(1, 10_000)),
    ("annoy", "index/texts.rows.npy", scale),
    ("annoy", "index/texts.rows.npy", swap_far),
    ("int8", "index/texts.rows.npy", put((0, 0), 0)),
    ("int8", "index/texts.rows.npy", swap_far),
    ("int8", "index/texts.steps.npy", scale),
    ("hybrid", "index/texts.dense.rows.npy", negate),
    ("hybrid", "index/texts.lexical.data.npy", negate),
]


@pytest.mark.parametrize("name", ["ngrams", "annoy", "int8", "lists", "hybrid"])
def test_what_was_saved_agrees(saved, blank_normalizer, settings, tmp_path, name):
    verify(saved(name, tmp_path), blank_normalizer(**settings[name]))


@pytest.mark.parametrize(("name", "file", "change"), ARRAYS)
def test_arrays(saved, blank_normalizer, settings, tmp_path, name, file, change):
    folder = saved(name, tmp_path)
    array = np.load(folder / file)
    before = array.copy()
    change(array)
    assert not np.array_equal(array, before)
    np.save(folder / file, array)
    reseal(folder)
    with pytest.raises(ConnormError, match=r"CN402.*\.(npy|jsonl)"):
        verify(folder, blank_normalizer(**settings[name]))


def test_a_store_without_its_first_concept(saved, blank_normalizer, tmp_path):
    folder = saved("ngrams", tmp_path)
    connection = sqlite3.connect(folder / "index" / "concepts.sqlite")
    connection.execute("DELETE FROM concepts WHERE number = 0")
    connection.commit()
    connection.close()
    reseal(folder)
    with pytest.raises(ConnormError, match="CN402"):
        verify(folder, blank_normalizer())


def test_check_finds_the_vector_of_another_text(pipeline, tmp_path):
    save_pipeline(pipeline, tmp_path / "saved")
    folder = tmp_path / "saved" / "concept_normalizer"
    path = folder / "index" / "texts.data.npy"
    values = np.load(path)
    negate(values)
    np.save(path, values)
    reseal(folder)
    manifest = read_manifest(tmp_path / "saved")
    seal(tmp_path / "saved", {"meta": manifest["meta"]}, leave_out=["meta.json"])
    with pytest.raises(ConnormError, match="CN402.*not that of its text"):
        check(tmp_path / "saved")
