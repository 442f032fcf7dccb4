"""Files whose checksums are right and whose content is wrong: `connorm check` finds each."""

import shutil
import sqlite3

import numpy as np
import pytest

from spacy_connorm import check, save_pipeline
from spacy_connorm.errors import ConnormError, ConnormWarning
from spacy_connorm.files.folders import MANIFEST, read_manifest, seal

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
    normalizer.lookup.verify(folder, report=lambda _: None)


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


def nudge(array):
    array[0, 0] -= np.sign(array[0, 0])


ARRAYS = [
    ("ngrams", "index/members.start.npy", put(1, 3)),
    ("ngrams", "index/members.start.npy", put(0, 1)),
    ("ngrams", "index/members.start.npy", put(-1, 99)),
    ("ngrams", "index/members.concept.npy", put(0, 99)),
    ("ngrams", "index/members.concept.npy", put(0, -1)),
    ("ngrams", "index/members.concept.npy", swap),
    ("ngrams", "index/members.target.npy", put(0, 0)),
    ("ngrams", "index/members.target.npy", put(0, 2)),
    ("ngrams", "index/members.count.npy", put(0, 1)),
    ("ngrams", "index/members.count.npy", put(-1, 0)),
    ("ngrams", "index/members.preferred.npy", put(slice(None), False)),
    ("ngrams", "index/members.preferred.npy", put(slice(None), True)),
    ("ngrams", "index/members.inexact.npy", put(0, True)),
    ("ngrams", "index/names.start.npy", put(1, 3)),
    ("ngrams", "index/names.start.npy", put(1, -1)),
    ("ngrams", "index/names.start.npy", put(-1, 10_000)),
    ("ngrams", "index/names.utf8.npy", put(0, 255)),
    ("ngrams", "index/names.utf8.npy", swap),
    ("ngrams", "index/keys.hashes.npy", swap),
    ("ngrams", "index/keys.hashes.npy", put(-1, 2**64 - 1)),
    ("ngrams", "index/keys.rows.npy", put(0, 1)),
    ("ngrams", "index/keys.rows.npy", swap),
    ("ngrams", "index/word_bags.hashes.npy", swap),
    ("ngrams", "index/word_bags.rows.npy", put(0, 99)),
    ("ngrams", "index/word_bags.rows.npy", put(0, -1)),
    ("ngrams", "index/word_bags.words.npy", put(0, 1)),
    ("ngrams", "index/word_bags.uses.npy", put(0, 0)),
    ("ngrams", "index/word_bags.uses.npy", put(0, 99)),
    ("ngrams", "index/word_bags.sizes.npy", put(-1, -1)),
    ("ngrams", "index/word_bags.sizes.npy", put(-1, 99)),
    ("ngrams", "index/texts.norms.npy", put(0, np.nan)),
    ("ngrams", "index/texts.norms.npy", put(0, -1)),
    ("ngrams", "index/texts.norms.npy", put(0, 0)),
    ("ngrams", "index/texts.data.npy", put(0, np.inf)),
    ("ngrams", "index/texts.data.npy", put(0, 7)),
    ("ngrams", "index/texts.data.npy", negate),
    ("ngrams", "index/texts.indices.npy", put(0, 10_000)),
    ("ngrams", "index/texts.indices.npy", put(0, -1)),
    ("ngrams", "index/texts.indptr.npy", put(1, 10_000)),
    ("ngrams", "synonyms.data.npy", negate),
    ("annoy", "index/texts.rows.npy", scale),
    ("annoy", "index/texts.rows.npy", swap_far),
    ("annoy", "index/O-C.concepts.npy", put(0, 1)),
    ("annoy", "index/O-C.rows.npy", negate),
    ("annoy", "index/O-C.norms.npy", scale),
    ("annoy", "synonyms.rows.npy", negate),
    ("annoy", "synonyms.norms.npy", scale),
    ("int8", "index/texts.rows.npy", put((0, 0), 0)),
    ("int8", "index/texts.rows.npy", swap_far),
    ("int8", "index/texts.rows.npy", nudge),
    ("int8", "index/texts.steps.npy", scale),
    ("int8", "index/O-C.rows.npy", swap_far),
    ("hybrid", "index/texts.dense.rows.npy", negate),
    ("hybrid", "index/texts.lexical.data.npy", negate),
    ("hybrid", "index/O-C.dense.rows.npy", negate),
    ("hybrid", "index/O-C.lexical.norms.npy", scale),
    ("hybrid", "synonyms.dense.rows.npy", negate),
    ("hybrid", "synonyms.lexical.data.npy", put(0, 0.2)),
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


@pytest.mark.parametrize(
    "sql",
    [
        "DELETE FROM concepts WHERE number = 0",
        "UPDATE concepts SET name = 'another' WHERE number = 0",
        "UPDATE concepts SET name = NULL WHERE number = 0",
        "UPDATE concepts SET id = 'Z' WHERE number = 0",
        *("UPDATE concepts SET in_ontology = 0 WHERE number = 0", "UPDATE alt_ids SET number = 99"),
        *("UPDATE types SET number = -1", "UPDATE parents SET child = 'x'", "DROP TABLE alt_ids"),
    ],
)
def test_the_store(saved, blank_normalizer, tmp_path, sql):
    folder = saved("ngrams", tmp_path)
    connection = sqlite3.connect(folder / "index" / "concepts.sqlite")
    connection.execute(sql)
    connection.commit()
    connection.close()
    reseal(folder)
    with pytest.raises(ConnormError, match="CN402"):
        verify(folder, blank_normalizer())


def test_a_broken_page_of_the_store(saved, blank_normalizer, tmp_path):
    folder = saved("ngrams", tmp_path)
    path = folder / "index" / "concepts.sqlite"
    content = bytearray(path.read_bytes())
    connection = sqlite3.connect(path)
    sql = "SELECT rootpage FROM sqlite_master WHERE name = 'by_parent'"
    ((page,),) = connection.execute(sql)
    ((size,),) = connection.execute("PRAGMA page_size")
    connection.close()
    content[(page - 1) * size : page * size] = bytes(size)
    path.write_bytes(content)
    reseal(folder)
    with pytest.raises(ConnormError, match="CN402.*concepts.sqlite"):
        verify(folder, blank_normalizer())


@pytest.mark.parametrize(
    "key", ["concepts", "concepts_only_in_data", "ontology_members", "data_members"]
)
def test_counts(saved, blank_normalizer, tmp_path, key):
    folder = saved("ngrams", tmp_path)
    counts = read_manifest(folder / "index")["counts"]
    reseal(folder, counts={**counts, key: counts[key] + 1})
    with pytest.raises(ConnormError, match=r"CN402.*\d+"):
        verify(folder, blank_normalizer())


def test_a_synonym_that_the_encoder_sees_differently(saved, blank_normalizer, tmp_path):
    folder = saved("ngrams", tmp_path)
    path = folder / "synonyms.jsonl"
    path.write_text(path.read_text().replace("head spinning", "heart spinning"))
    reseal(folder)
    with pytest.raises(ConnormError, match="CN402.*synonyms"):
        verify(folder, blank_normalizer())


@pytest.mark.parametrize("damaged", ["item", "root"])
def test_a_tree_of_other_vectors(saved, blank_normalizer, settings, tmp_path, damaged):
    folder = saved("annoy", tmp_path)
    path = folder / "index" / "OD-T.index"
    width = np.load(folder / "index" / "texts.rows.npy").shape[1]
    nodes = np.fromfile(path, dtype="<i4").reshape(-1, 3 + width)
    if damaged == "item":
        nodes[0, 3:] = nodes[1, 3:]
    else:
        nodes[-1, 1] = nodes[-1, 2]
    nodes.tofile(path)
    reseal(folder)
    with pytest.raises(ConnormError, match=r"CN402.*OD-T\.index"):
        verify(folder, blank_normalizer(**settings["annoy"]))


def test_lists_of_other_vectors(saved, blank_normalizer, settings, tmp_path):
    import faiss

    folder = saved("lists", tmp_path)
    path = folder / "index" / "OD-T.index"
    index = faiss.read_index(str(path))
    lists = faiss.downcast_InvertedLists(index.invlists)
    full = next(each for each in range(index.nlist) if lists.list_size(each) > 1)
    ids = faiss.rev_swig_ptr(lists.get_ids(full), lists.list_size(full))
    ids[0] = ids[1]
    faiss.write_index(index, str(path))
    reseal(folder)
    with pytest.raises(ConnormError, match=r"CN402.*OD-T\.index"):
        verify(folder, blank_normalizer(**settings["lists"]))


def test_check_verifies_what_files_mean(pipeline, tmp_path):
    save_pipeline(pipeline, tmp_path / "saved")
    folder = tmp_path / "saved" / "concept_normalizer"
    path = folder / "index" / "members.concept.npy"
    concepts = np.load(path)
    swap(concepts)
    np.save(path, concepts)
    reseal(folder)
    manifest = read_manifest(tmp_path / "saved")
    seal(tmp_path / "saved", {"meta": manifest["meta"]}, leave_out=["meta.json"])
    assert (folder / MANIFEST).exists()
    with pytest.raises(ConnormError, match="CN402.*preferred"):
        check(tmp_path / "saved")
