"""The six searches against their definitions, written out by hand (Xu & Bethard 2021)."""

from collections import Counter, defaultdict
from functools import cache

import numpy as np
import pytest
from scipy import sparse

from spacy_connorm.encoders.raw import HybridArray
from spacy_connorm.index.filter import AllowedConcepts
from spacy_connorm.index.hits import rounded, run_search
from spacy_connorm.index.overlay import Synonym, SynonymOverlay, read_overlay, write_overlay
from spacy_connorm.index.search import SEARCHES, D, O, Search
from spacy_connorm.index.vectors.kinds import from_raw

from .conftest import DENSE, HYBRID, WEIGHT, build, make_concepts, make_synonyms

MENTIONS = ["shared", "NAME 7", "mention 3", "alias 3 0", "something else", "Name 31"]


def texts_by_target(synonyms, removed=()):
    """T(c) by target: {"O": {concept: {text: is it the preferred name}}, ...}."""
    ontology, data = defaultdict(dict), defaultdict(dict)
    for concept in make_concepts():
        for place, name in enumerate(concept.names):
            if (name.lower(), concept.concept_id) in removed:
                continue
            ontology[concept.concept_id][name.lower()] = place == 0
    for text, concept_id in synonyms:
        data[concept_id].setdefault(text.lower(), False)
    both = {
        concept: {**data.get(concept, {}), **ontology.get(concept, {})}
        for concept in {*ontology, *data}
    }
    return {"O": ontology, "D": data, "OD": both}


@cache
def raw(encoder, text):
    """The vector of a text, dense; two vectors of a hybrid encoder."""
    vectors = encoder.encode([text])
    sides = [vectors.dense, vectors.lexical] if isinstance(vectors, HybridArray) else [vectors]
    return [
        np.asarray(side.todense() if sparse.issparse(side) else side)[0].astype(float)
        for side in sides
    ]


def side_cosine(one, other):
    norms = np.linalg.norm(one) * np.linalg.norm(other)
    return float(one @ other / norms) if norms else 0.0


def expected(
    search, mention, encoder, synonyms, top_k, *, allowed=lambda concept: True, removed=()
):
    """Concept ids, best first, and the best scores, by brute force."""
    target, representation = search.split("-")

    def cosine(one, other):
        """That of the only side there is, or of both, the second with its weight."""
        weights = [1, WEIGHT][: len(one)]
        both = zip(weights, one, other, strict=True)
        return round(sum(weight * side_cosine(*pair) for weight, *pair in both) / sum(weights), 5)

    counts = Counter((text.lower(), concept) for text, concept in synonyms)
    query, ranked = raw(encoder, mention), []
    for concept, texts in texts_by_target(synonyms, removed)[target].items():
        if not allowed(concept):
            continue
        if representation == "C":
            sides = zip(*(raw(encoder, text) for text in texts), strict=True)
            mean = [np.mean(side, axis=0) for side in sides]
            ranked.append((-cosine(query, mean), concept))
        else:
            ranked.append(
                min(
                    (
                        -cosine(query, raw(encoder, text)),
                        -counts[text, concept] if "D" in target else 0,
                        not preferred,
                        concept,
                    )
                    for text, preferred in texts.items()
                )
            )
    best = sorted(ranked)[:top_k]
    return [hit[-1] for hit in best], [-hit[0] for hit in best]


def assert_expected(results, search, mentions, *args, **options):
    """Check what was found of mentions against brute force."""
    for mention, (ids, scores) in zip(mentions, results, strict=True):
        ids_expected, scores_expected = expected(search, mention, *args, **options)
        assert scores == pytest.approx(scores_expected, abs=2e-5), mention
        assert ids == ids_expected, mention


def found(search, index, overlay, encoder, mentions, top_k, allowed=None):
    vectors = from_raw(encoder.encode(mentions)).unit
    for hits in run_search(search, index, overlay, vectors, top_k=top_k, allowed=allowed):
        labels = index.store.labels(hit.concept for hit in hits)
        yield [labels[hit.concept][0] for hit in hits], [-hit.distance for hit in hits]


@pytest.mark.parametrize("top_k", [1, 4])
@pytest.mark.parametrize("search", SEARCHES)
def test_search_is_its_definition(search, top_k, index, encoder_of):
    results = found(search, index, SynonymOverlay(index), encoder_of, MENTIONS, top_k)
    assert_expected(results, search, MENTIONS, encoder_of, make_synonyms(), top_k)


@pytest.mark.parametrize("search", SEARCHES)
def test_filter_finds_k_survivors(search, index, encoder_of):
    allowed = np.zeros(len(index.store), dtype=bool)
    allowed[index.store.of_types(["rare"])] = True
    allowed[[index.store.number(f"C{number:03}") for number in (3, 10, 15)]] = True
    kept = {"C031", "C003", "C010", "C015"}
    overlay = SynonymOverlay(index)
    may = AllowedConcepts(index, allowed)
    results = found(search, index, overlay, encoder_of, MENTIONS, 4, may)
    allowed = {"allowed": kept.__contains__}
    assert_expected(results, search, MENTIONS, encoder_of, make_synonyms(), 4, **allowed)


def synonyms_of(index, encoder, pairs):
    keys = encoder.inputs([text for text, _ in pairs]) if pairs else []
    return [
        Synonym(key, text, index.store.number(concept_id))
        for key, (text, concept_id) in zip(keys, pairs, strict=True)
    ]


def changed(index, encoder, *, added=(), removed=()):
    """An overlay with some changes, one after the other."""
    overlay = SynonymOverlay(index)
    for synonym in synonyms_of(index, encoder, added):
        overlay = overlay.with_synonyms([synonym], encoder.encode([synonym.text]), count=1)
    gone = synonyms_of(index, encoder, removed)
    assert all(map(overlay.has_synonym, gone))
    return overlay.without_synonyms(gone)


@pytest.mark.parametrize("search", SEARCHES)
def test_added_synonyms_search_as_if_built_in(search, index, encoder_of, tmp_path):
    added = [("brand new", "C040"), ("shared", "C015"), ("shared", "C015"), ("Name 7", "C009")]
    overlay = changed(index, encoder_of, added=added)
    mentions = [*MENTIONS, "brand new"]
    live = found(search, index, overlay, encoder_of, mentions, 5)
    synonyms = [*make_synonyms(), *added]
    assert_expected(live, search, mentions, encoder_of, synonyms, 5)


@pytest.mark.parametrize("saved", [False, True], ids=["live", "saved"])
@pytest.mark.parametrize("search", [Search.D_T, Search.OD_T])
def test_added_preferred_name_breaks_ties_as_one_built_in(search, saved, tmp_path):
    added = [("Name 12", "C002"), ("Name 12", "C012")]
    orders = []
    for name, built_in, later in (("one", added, []), ("two", [], added)):
        index = build(tmp_path / name, synonyms=built_in)
        overlay = changed(index, DENSE, added=later)
        if saved:
            write_overlay(overlay, tmp_path)
            overlay = read_overlay(tmp_path, index)
        ((ids, _),) = found(search, index, overlay, DENSE, ["name 12"], 2)
        orders.append(ids)
    assert orders == [["C012", "C002"]] * 2


@pytest.mark.parametrize("search", SEARCHES)
def test_removed_texts_search_as_if_never_there(search, index, encoder_of):
    added = [("mention 99", "C019")]
    removed = [
        *added,
        ("mention 3", "C003"),
        ("shared", "C010"),
        ("unheard of", "X1"),
        ("Name 31", "C031"),
        ("Name 7", "C007"),
    ]
    overlay = changed(index, encoder_of, added=added, removed=removed)
    gone = {(text.lower(), concept) for text, concept in removed}
    synonyms = [pair for pair in make_synonyms() if (pair[0].lower(), pair[1]) not in gone]
    live = found(search, index, overlay, encoder_of, MENTIONS, 5)
    assert_expected(live, search, MENTIONS, encoder_of, synonyms, 5, removed=gone)


def test_removing_twice_finds_nothing(index, encoder_of):
    removed = synonyms_of(index, encoder_of, [("Name 4", "C004")])
    overlay = SynonymOverlay(index).without_synonyms(removed)
    assert not overlay.has_synonym(removed[0])
    assert not overlay.has_synonym(removed[0]._replace(key=b"never seen"))
    assert len(overlay.without_synonyms(removed)) == len(overlay) == 1


def test_a_change_leaves_the_overlay_as_it_was(index, encoder_of):
    before = changed(index, encoder_of, added=[("brand new", "C040")])
    added, removed = (
        synonyms_of(index, encoder_of, [pair]) for pair in (("newer", "C040"), ("Name 4", "C004"))
    )
    vectors = encoder_of.encode(["newer"])
    after = before.with_synonyms(added, vectors, count=1).without_synonyms(removed)
    assert (len(before), len(after), len(after.without_synonyms(added))) == (1, 3, 2)
    assert before.has_synonym(removed[0]) and not after.has_synonym(removed[0])
    assert after.has_synonym(added[0]) and not before.has_synonym(added[0])
    assert len(before.added) == len(before.searcher.vectors) == 1
    assert len(after.added) == len(after.searcher.vectors) == 2


def test_what_is_in_data_is_told_with_all_changes(index, encoder_of):
    both = {"added": [("brand new", "C040")], "removed": [("mention 3", "C003")]}
    overlay = changed(index, encoder_of, **both)
    texts = ["MENTION 4", "alias 3 0", "brand new", "mention 3", "Name 4", "never seen"]
    keys = encoder_of.inputs(texts)
    assert [overlay.has_text(key, D) for key in keys] == [True, True, True, False, False, False]
    assert overlay.has_text(keys[4], O)
    assert not overlay.has_text(keys[2], O)
    assert not any(overlay.has_text(keys[-1], target) for target in (O, D, O | D))


@pytest.mark.parametrize("search", SEARCHES)
def test_added_and_removed_synonyms_search_the_same_after_saving(
    search, index, encoder_of, tmp_path
):
    both = {"added": [("brand new", "C040")], "removed": [("mention 3", "C003")]}
    overlay = changed(index, encoder_of, **both)
    write_overlay(overlay, tmp_path)
    again = read_overlay(tmp_path, index)
    mentions = [*MENTIONS, "brand new"]
    assert len(again) == len(overlay) == 2
    for one, other in zip(
        found(search, index, overlay, encoder_of, mentions, 5),
        found(search, index, again, encoder_of, mentions, 5),
        strict=True,
    ):
        assert one[0] == other[0]
        assert one[1] == pytest.approx(other[1], abs=2e-5)


def test_without_data_searches_over_it_find_nothing(tmp_path):
    index = build(tmp_path / "index", synonyms=[])
    vectors = from_raw(np.ones((2, index.vectors.width), dtype="float32")).unit
    for search in (Search.D_T, Search.D_C):
        assert run_search(search, index, SynonymOverlay(index), vectors, top_k=3) == [[], []]


@pytest.mark.parametrize("search", SEARCHES)
def test_hits_of_a_hybrid_tell_both_cosines(search, index, encoder_of):
    both = {"added": [("brand new", "C040")], "removed": [("mention 3", "C003")]}
    overlay = changed(index, encoder_of, **both)
    vectors = from_raw(encoder_of.encode([*MENTIONS, "brand new"])).unit
    for hits in run_search(search, index, overlay, vectors, top_k=5):
        for hit in hits:
            if encoder_of is not HYBRID:
                assert hit.parts is None
                continue
            dense, lexical = hit.parts
            assert -hit.distance == pytest.approx(
                (dense + WEIGHT * lexical) / (1 + WEIGHT), abs=2e-5
            )
            if hit.member >= 0 or hit.text:
                text = hit.text or index.store.texts([hit.member])[hit.member]
                assert dense == 0 if "5" in text else dense != 0
                assert lexical == 0 if "6" in text else True


def test_rounding_of_large_scores():
    scores = np.asarray([1.234567, -0.5, 12.34567, 330.12345, -2e7, -np.inf], dtype="float32")
    expected = [1.23457, -0.5, 12.3457, 330.123, -2e7, -np.inf]
    assert rounded(scores).tolist() == expected
    # Noise of float32 does not part what is equal.
    noisy = np.float32(330.5) * (1 + np.float32(1e-7) * np.arange(-3, 4))
    assert len({*rounded(noisy).tolist()}) == 1
    ordered = np.sort(np.random.default_rng(7).uniform(-1e4, 1e4, 1000)).astype("float32")
    assert (np.diff(rounded(ordered)) >= 0).all()
