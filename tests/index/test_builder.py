import signal
import subprocess
import sys
import textwrap
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from spacy_connorm.concepts import Concept
from spacy_connorm.encoders.ngram import NgramEncoder
from spacy_connorm.encoders.protocol import fitted
from spacy_connorm.errors import ConnormError, ConnormWarning
from spacy_connorm.index.backends import exact
from spacy_connorm.index.backends.annoy import AnnoyIndex
from spacy_connorm.index.backends.exact import ExactIndex, ExactSearcher
from spacy_connorm.index.concept_index import ConceptIndex
from spacy_connorm.index.rows import hash_keys
from spacy_connorm.index.search import SEARCHES, Search
from spacy_connorm.index.vectors.kinds import from_raw
from spacy_connorm.index.verification import verify_texts

from .conftest import (
    DENSE,
    HYBRID,
    LISTS,
    SPARSE,
    WEIGHT,
    WIDTH,
    build,
    make_concepts,
    make_synonyms,
)
from .soundness import require_sound

SYLLABLES = ("ar", "be", "cor", "du", "fel", "gam", "hy", "kin", "lo", "mur", "ne", "pso", "tri")


def rows(index):
    return index.manifest["counts"]["rows"]


def test_one_row_an_encoder_input(tmp_path):
    concepts = [Concept("A", "Heart Attack", ("heart attack", "MI")), Concept("B", "heart ATTACK")]
    index = build(tmp_path / "i", concepts=concepts, synonyms=[("HEART attack", "B")])
    assert rows(index) == 2
    assert index.members.concept[: index.members.start[1]].tolist() in ([0], [0, 1])


def test_manifest_tells_what_is_inside(tmp_path):
    with pytest.warns(ConnormWarning, match="CNW401"):
        index = build(tmp_path / "i")
    assert index.manifest["encoder"] == {"fingerprint": "dense"}
    assert index.manifest["backend"]["name"] == "ExactIndex"
    assert index.manifest["counts"]["concepts"] == 61
    assert index.manifest["counts"]["concepts_only_in_data"] == 1
    assert index.manifest["counts"]["width"] == WIDTH
    assert {"spacy", "numpy", "annoy", "spacy_connorm"} <= set(index.manifest["versions"])


def test_concept_that_only_data_knows_is_named_by_its_most_frequent_text(tmp_path):
    synonyms = [("one", "X"), ("two", "X"), ("two", "X")]
    with pytest.warns(ConnormWarning, match="CNW401.*1 concept"):
        index = build(tmp_path / "i", synonyms=synonyms)
    assert index.store.labels([index.store.number("X")]) == {60: ("X", "two")}


def test_alternate_ids_of_data_are_mapped(tmp_path):
    index = build(tmp_path / "i", synonyms=[("text", "A003")])
    row = index.keys.row(b"text")
    assert index.members.concept[index.members.start[row]] == index.store.number("C003")


def test_alternate_id_of_several_concepts_is_the_first_ones_everywhere(tmp_path):
    concepts = [Concept("B", "one", alt_ids=("X",)), Concept("A", "two", alt_ids=("X",))]
    index = build(tmp_path / "i", concepts=concepts, synonyms=[("text", "X")])
    row = index.keys.row(b"text")
    assert index.members.concept[index.members.start[row]] == index.store.number("X") == 0


def test_any_field_of_a_concept_is_stored(tmp_path):
    odd = "a\ud800b"
    concept = Concept("A", "name", types=(odd,), definition=odd, parents=(odd,), alt_ids=(odd,))
    index = build(tmp_path / "i", concepts=[concept, Concept("a b", "parent")], synonyms=[])
    read = index.concept("A")
    assert (read.types, read.parents, read.alt_ids) == (("a b",),) * 3


@pytest.mark.parametrize("concept_id", ["C003", "A003"])
def test_concept_is_read_back_whole(tmp_path, concept_id):
    index = build(tmp_path / "i", synonyms=[("only in data", "C003")])
    assert index.concept(concept_id) == make_concepts()[3]


def test_concept_that_the_index_lacks(tmp_path):
    with pytest.raises(ConnormError, match="CN411.*'C999'"):
        build(tmp_path / "i", synonyms=[]).concept("C999")


def test_empty_texts_are_left_out(tmp_path):
    concepts = [Concept("A", "name", ("\x00", " \t", "​x"))]
    with pytest.warns(ConnormWarning, match="CNW402.*2 "):
        index = build(tmp_path / "i", concepts=concepts, synonyms=[("", "A"), ("\x01 ", "A")])
    assert rows(index) == 2


@pytest.mark.parametrize("name", ["a" * 10_000, "a\x00b", "a\ud800b", "שָׁלוֹם", "🧬👩‍⚕️"])
def test_any_name_is_indexed(tmp_path, name):
    index = build(tmp_path / "i", concepts=[Concept("A", name)], synonyms=[])
    assert rows(index) == 1
    (text,) = index.store.texts([0]).values()
    assert text.encode("utf8")


@pytest.mark.parametrize("concept_id", ["A B", "A  B", "A\tB", "A\ud800B", " A B\n"])
def test_ids_are_cleaned_wherever_they_come_from(tmp_path, concept_id):
    synonyms = [("uno", concept_id)]
    index = build(tmp_path / "i", concepts=[Concept(concept_id, "one")], synonyms=synonyms)
    assert index.concept(concept_id).concept_id == "A B"
    assert index.manifest["counts"]["concepts"] == 1


def test_an_id_without_a_visible_character(tmp_path):
    with pytest.raises(ConnormError, match="CN101.*concept_id"):
        build(tmp_path / "i", concepts=[Concept("\ud800", "one")], synonyms=[])


def test_an_index_without_names_is_refused(tmp_path):
    with pytest.raises(ConnormError, match="CN409"):
        build(tmp_path / "i", concepts=[], synonyms=[])
    assert not list(tmp_path.iterdir())


def test_search_that_was_not_built(tmp_path):
    from spacy_connorm.index.builder import write_index

    write_index(
        tmp_path / "i",
        make_concepts(),
        [],
        DENSE.model,
        searches=["O-T"],
        backend=ExactIndex(),
        language="en",
    )
    index = ConceptIndex(tmp_path / "i", AnnoyIndex())
    with pytest.raises(ConnormError, match="CN408.*O-C"):
        index.searcher("O-C")
    # Over texts it needs their vectors only.
    assert isinstance(index.searcher("OD-T"), ExactSearcher)


def test_same_input_same_files(tmp_path):
    with pytest.warns(ConnormWarning):
        one, two = (build(tmp_path / name) for name in "ab")
    sums = [
        {name: file for name, file in index.manifest["files"].items() if "sqlite" not in name}
        for index in (one, two)
    ]
    assert sums[0] == sums[1]


def test_arrays_are_mapped_not_loaded(tmp_path):
    index = build(tmp_path / "i", synonyms=[])
    for array in (index.vectors.rows, index.members.concept, index.vectors.norms):
        assert isinstance(array.base, np.memmap)
        assert not array.flags.writeable


def test_a_compact_index_is_smaller_and_finds_the_same(tmp_path, monkeypatch):
    monkeypatch.setattr(exact, "LEAST_ROWS", 1)
    names = [f"{one} {other} itis" for one in SYLLABLES for other in SYLLABLES]
    concepts = [Concept(f"C{number}", name) for number, name in enumerate(names)]
    encoder = SimpleNamespace(model=fitted(NgramEncoder(), names))
    indexes = [
        build(
            tmp_path / str(compact),
            concepts=concepts,
            synonyms=[],
            encoder=encoder,
            backend=ExactIndex(compact=compact),
        )
        for compact in (False, True)
    ]
    queries = indexes[0].vectors.queries(np.arange(5))
    found, again = (index.searcher("O-T").nearest(queries, 7) for index in indexes)
    np.testing.assert_array_equal(found.items, again.items)
    np.testing.assert_array_equal(found.scores, again.scores)
    verify_texts(indexes[1], encoder.model, report=lambda count: None)
    sizes = [index.manifest["files"]["texts.data.npy"]["bytes"] for index in indexes]
    assert sizes[1] < 0.3 * sizes[0]
    postings = [sorted(index.folder.glob("O-T.index.*")) for index in indexes]
    assert len(postings[0]) == 6 and postings[1] == []


def run_build(path, before, environment):
    """Build in another process, after some statements there."""
    script = """
        import os, resource, signal, sys
        from pathlib import Path
        sys.path.insert(0, sys.argv[2])
        from spacy_connorm.index.backends.annoy import AnnoyIndex
        from spacy_connorm.index import builder
        from index import conftest
        {before}
        backend = AnnoyIndex(exact_below=0, n_trees=50)
        conftest.build(Path(sys.argv[1]), synonyms=[], backend=backend)
    """
    script = textwrap.dedent(script).format(before=before)
    arguments = [sys.executable, "-c", script, str(path), str(Path(__file__).parents[1])]
    return subprocess.run(arguments, check=False, capture_output=True, text=True, env=environment)


def test_killed_build_leaves_the_old_index(tmp_path, without_torch):
    old = build(tmp_path / "i", synonyms=[]).manifest
    kill = "builder.seal = lambda *args: os.kill(os.getpid(), signal.SIGKILL)"
    run = run_build(tmp_path / "i", kill, without_torch)
    assert run.returncode == -signal.SIGKILL
    assert ConceptIndex(tmp_path / "i", ExactIndex()).manifest == old


# The store, the vectors and the forest are about 40 kB, 7 kB and 300 kB: each meets the limit once.
@pytest.mark.parametrize("limit", [100, 6_000, 20_000, 100_000])
def test_disk_that_fills_up_leaves_the_old_index(tmp_path, without_torch, limit):
    old = build(tmp_path / "i", synonyms=[]).manifest
    fill = f"resource.setrlimit(resource.RLIMIT_FSIZE, ({limit}, {limit}))"
    run = run_build(tmp_path / "i", fill, without_torch)
    assert run.returncode == 1
    assert "CN108" in run.stderr.splitlines()[-1]
    assert ConceptIndex(tmp_path / "i", ExactIndex()).manifest == old
    assert [path.name for path in tmp_path.iterdir()] == ["i"]


# Streams


def arrays(index):
    files = index.manifest["files"].items()
    return {name: file for name, file in files if name.endswith(".npy")}


@pytest.fixture
def small_windows(monkeypatch):
    for name in ("names._WINDOW", "builder._WINDOW", "builder._MEANS"):
        monkeypatch.setattr(f"spacy_connorm.index.{name}", 7)
    monkeypatch.setattr("spacy_connorm.index.builder._ENCODED", 3)


BACKENDS = [ExactIndex(), ExactIndex(dtype="int8")]
NO_WARNING = pytest.mark.filterwarnings("ignore:.*CNW401")


@NO_WARNING
@pytest.mark.parametrize("encoder", [DENSE, SPARSE, HYBRID], ids=lambda value: value.name)
@pytest.mark.parametrize("backend", BACKENDS, ids=lambda value: value.dtype)
def test_streams_and_windows_give_the_same_index(
    tmp_path, monkeypatch, small_windows, encoder, backend
):
    streams = {"concepts": iter(make_concepts()), "synonyms": iter(make_synonyms())}
    streamed = build(tmp_path / "a", encoder=encoder, backend=backend, **streams)
    monkeypatch.undo()
    whole = build(tmp_path / "b", encoder=encoder, backend=backend)
    assert arrays(streamed) == arrays(whole)
    assert streamed.manifest["counts"] == whole.manifest["counts"]


@NO_WARNING
def test_concepts_come_in_any_order(tmp_path):
    one, other = (
        build(tmp_path / name, concepts=concepts)
        for name, concepts in (("a", make_concepts()), ("b", make_concepts()[::-1]))
    )
    assert arrays(one) == arrays(other)
    assert one.store.texts(range(80)) == other.store.texts(range(80))


def test_concepts_of_one_id_are_merged(tmp_path):
    concepts = [Concept("A1", "one", ("two",)), Concept("B", "x"), Concept("A1", "three", ("TWO",))]
    with pytest.warns(ConnormWarning, match="CNW101.*'A1'"):
        index = build(tmp_path / "i", concepts=concepts, synonyms=[])
    assert index.concept("A1") == Concept("A1", "one", ("two", "three"))


def test_stream_that_breaks_leaves_the_old_index(tmp_path):
    def broken():
        yield Concept("A", "one")
        raise ConnormError("CN115")

    old = build(tmp_path / "i", synonyms=[]).manifest
    with pytest.raises(ConnormError, match="CN115"):
        build(tmp_path / "i", concepts=broken())
    assert ConceptIndex(tmp_path / "i", ExactIndex()).manifest == old
    assert [path.name for path in tmp_path.iterdir()] == ["i"]


# Vectors of an older index


def listening(encoder):
    """The same encoder, and the texts that reach it."""
    heard = []

    def encode(texts):
        heard.extend(texts)
        return encoder.encode(texts)

    return replace(encoder, encode=encode), heard


@NO_WARNING
@pytest.mark.parametrize("encoder", [DENSE, SPARSE, HYBRID], ids=lambda value: value.name)
@pytest.mark.parametrize("backend", BACKENDS, ids=lambda value: value.dtype)
def test_only_new_texts_are_encoded(tmp_path, small_windows, encoder, backend):
    old = build(tmp_path / "old", encoder=encoder, backend=backend)
    concepts = [*make_concepts()[3:], Concept("A000", "brand new", ("shared", "newer"))]
    asked, heard = listening(encoder)
    build(tmp_path / "new", encoder=asked, backend=backend, concepts=concepts, known=old)
    new = ConceptIndex(tmp_path / "new", backend)
    fresh = build(tmp_path / "fresh", encoder=encoder, backend=backend, concepts=concepts)
    assert sorted(heard) == ["brand new", "newer"]
    assert arrays(new) == arrays(fresh)
    counts = new.manifest["counts"]
    assert counts == {**fresh.manifest["counts"], "copied_rows": counts["rows"] - 2}


@NO_WARNING
@pytest.mark.parametrize(
    ("fingerprint", "backend"), [("other", ExactIndex()), ("dense", ExactIndex(dtype="int8"))]
)
def test_vectors_of_another_kind_are_not_copied(tmp_path, fingerprint, backend):
    old = build(tmp_path / "old", encoder=replace(DENSE, name=fingerprint))
    assert (
        build(tmp_path / "new", backend=backend, known=old).manifest["counts"]["copied_rows"] == 0
    )


@NO_WARNING
def test_an_index_is_rebuilt_in_its_own_place(tmp_path):
    old = build(tmp_path / "i")
    before = arrays(old)
    asked, heard = listening(DENSE)
    new = build(tmp_path / "i", encoder=asked, known=old)
    assert (heard, arrays(new)) == ([], before)


@NO_WARNING
@pytest.mark.parametrize("encoder", [DENSE, SPARSE, HYBRID], ids=lambda value: value.name)
def test_lists_are_kept_and_find_what_new_ones_find(tmp_path, encoder):
    concepts = [*make_concepts()[1:], Concept("A000", "brand new", ("shared", "newer"))]
    old = build(tmp_path / "old", encoder=encoder, backend=LISTS)
    new = build(tmp_path / "new", encoder=encoder, backend=LISTS, concepts=concepts, known=old)
    fresh = build(tmp_path / "fresh", encoder=encoder, backend=LISTS, concepts=concepts)
    kept = {search for search, told in new.manifest["searched"].items() if told.endswith("kept")}
    assert kept == ({"O-T", "OD-T"} if encoder is DENSE else set())
    assert set(old.manifest["searched"]) == set(SEARCHES)
    require_sound(new)
    queries = new.vectors.queries(np.arange(0, rows(new), 9))
    queries = replace(queries, weight=WEIGHT) if encoder is HYBRID else queries
    for search in SEARCHES:
        best = ExactSearcher(new.stored_vectors(search)).nearest(queries, 3).scores
        kept, learned = (
            np.isclose(each.searcher(search).nearest(queries, 3).scores, best, atol=1e-5)
            for each in (new, fresh)
        )
        assert kept[:, 0].all()
        assert kept.mean() >= learned.mean() - 0.05


@NO_WARNING
def test_a_search_that_the_older_index_lacks_gets_its_own_lists(tmp_path):
    backend = ExactIndex()
    old = build(tmp_path / "old", backend=backend)
    new = build(tmp_path / "new", backend=LISTS, known=old)
    assert new.manifest["counts"]["copied_rows"] == rows(new)
    assert not any("kept" in told for told in new.manifest["searched"].values())


# int8


@NO_WARNING
@pytest.mark.parametrize(
    "backend", [ExactIndex(dtype="int8"), AnnoyIndex(dtype="int8")], ids=["exact", "annoy"]
)
@pytest.mark.parametrize("encoder", [DENSE, HYBRID], ids=lambda value: value.name)
def test_known_texts_are_found_among_bytes(tmp_path, encoder, backend):
    index = build(tmp_path / "i", encoder=encoder, backend=backend)
    rows = np.arange(0, index.manifest["counts"]["rows"], 5)
    queries = index.vectors.queries(rows)
    found = index.searcher("OD-T").nearest(queries, 1)
    assert found.items.ravel().tolist() == rows.tolist()
    raw = from_raw(encoder.encode([f"mention {number}" for number in range(50)]))
    mentions = index.searcher("D-T").nearest(raw.queries(np.arange(50)), 1)
    named = index.keys.rows_of(hash_keys(b"mention %d" % number for number in range(50)))
    first, _ = index.row_ranges[Search.D_T.target]
    assert (mentions.items.ravel() + first).tolist() == named.tolist()
    assert index.concepts_of(Search.OD_C).tolist() == list(range(len(index.store)))


@NO_WARNING
def test_damaged_vectors_are_not_copied(tmp_path):
    old = build(tmp_path / "old")
    file = old.folder / "texts.rows.npy"
    content = bytearray(file.read_bytes())
    content[-4] ^= 1
    file.write_bytes(content)
    with pytest.raises(ConnormError, match="CN402.*texts.rows.npy"):
        build(tmp_path / "new", known=old)
    assert not (tmp_path / "new").exists()


@NO_WARNING
def test_a_backend_needs_no_more_than_the_protocol_asks(tmp_path):
    class Plain:
        @property
        def dtype(self):
            return "float32"

        def build(self, vectors, path, earlier=None):
            pass

        def open(self, vectors, path):
            return ExactSearcher(vectors)

    old = build(tmp_path / "old", backend=Plain())
    assert old.manifest["backend"] == {"name": "Plain", "dtype": "float32"}
    assert build(tmp_path / "new", backend=Plain(), known=old).manifest["counts"]["copied_rows"]
