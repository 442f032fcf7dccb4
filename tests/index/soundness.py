"""What is true of every index, compared with its texts: the files that the builder writes agree."""

import sqlite3

import numpy as np
from scipy import sparse

from spacy_connorm.index.backends.annoy import AnnoySearcher
from spacy_connorm.index.backends.ivf import IvfSearcher, load_faiss
from spacy_connorm.index.builder import concept_means
from spacy_connorm.index.concept_index import ConceptIndex
from spacy_connorm.index.name_words import NameWords
from spacy_connorm.index.search import D, O, Search
from spacy_connorm.index.vectors.hybrid import HybridVectors
from spacy_connorm.index.vectors.kinds import from_raw
from spacy_connorm.index.verification import are_same
from spacy_connorm.index.word_bags import WordBags
from spacy_connorm.index.wordings import other_wordings

# How far the length of a row may differ from one.
ROUNDED = 2e-5
# Means of vectors that cancel each other depend on the order of summation.
LEAST_MEAN = 1e-2


def require_sound(index: ConceptIndex) -> None:
    _require_members(index)
    _require_names(index)
    _require_store(index)
    keys = index.keys.hashes()
    assert len(keys) == len(np.unique(keys)) == len(index.vectors)
    assert index.keys.rows_of(keys).tolist() == list(range(len(keys)))
    rows = index.members.row_numbers
    bags = WordBags.from_texts(index.store.all_texts(), rows, index.words)
    names = NameWords.from_texts(index.store.all_texts(), index.words)
    others = other_wordings(names, bags.known_bags, index.words)
    bags = bags.with_others(
        others.hashes, rows[others.texts], words=others.words, longest=others.longest
    )
    for name in ("hashes", "rows", "words", "longest"):
        np.testing.assert_array_equal(getattr(bags, name), getattr(index.word_bags, name))
    require_units(index.vectors)
    for search in map(Search, index.manifest["searches"]):
        if search.representation == "C":
            _require_means(index, search)
        searcher, path = index.searcher(search), index.folder / f"{search}.index"
        if isinstance(searcher, AnnoySearcher):
            require_trees(path, items=len(searcher.vectors), width=searcher.vectors.width)
        elif isinstance(searcher, IvfSearcher):
            require_lists(searcher)


def _require_members(index):
    members, counts = index.members, index.manifest["counts"]
    assert (np.diff(members.start) > 0).all(), "each row has members"
    order = np.array([0, 0, 2, 1])[np.bitwise_or.reduceat(members.target, members.start[:-1])]
    assert (np.diff(order) >= 0).all(), "rows are sorted by target"
    np.testing.assert_array_equal(members.count > 0, members.target & D > 0)
    pairs = np.unique(members.row_numbers * (len(index.store) + 1) + members.concept)
    assert len(pairs) == len(members.concept), "a row has a concept once"
    for key, target in (("ontology_members", O), ("data_members", D)):
        assert np.count_nonzero(members.target & target) == counts[key]


def _require_names(index):
    members = index.members
    preferred = np.flatnonzero(members.preferred)
    concepts = members.concept[preferred]
    expected = len(index.store) - index.manifest["counts"]["concepts_only_in_data"]
    assert len(np.unique(concepts)) == len(concepts) == expected
    texts, labels = index.store.texts(preferred.tolist()), index.store.labels(concepts.tolist())
    for member, concept in zip(preferred.tolist(), concepts.tolist(), strict=True):
        assert texts[member] == labels[concept][1]
    assert not (members.inexact & (members.preferred | (members.target & D > 0))).any()


def _require_store(index):
    counts = index.manifest["counts"]
    with sqlite3.connect(index.store.path) as connection:
        rows = connection.execute("SELECT number, id, in_ontology FROM concepts ORDER BY number")
        numbers, ids, in_ontology = zip(*rows, strict=True)
        (checked,) = connection.execute("PRAGMA quick_check").fetchone()
    connection.close()
    assert checked == "ok"
    assert list(numbers) == list(range(counts["concepts"]))
    assert list(ids) == sorted(set(ids))
    assert [concept_id for concept_id, _ in index.store.labels(numbers).values()] == list(ids)
    assert in_ontology.count(0) == counts["concepts_only_in_data"]


def _require_means(index, search):
    vectors, concepts = index.stored_vectors(search), index.concepts_of(search)
    numbers, means = concept_means(index.vectors, index.members, search.target)
    assert concepts.tolist() == numbers.tolist()
    require_units(vectors)
    start = 0
    for raw in means:
        expected = from_raw(raw)
        certain = np.flatnonzero(expected.norms > LEAST_MEAN)
        assert are_same(expected.take(certain), vectors.take(start + certain))
        start += len(expected)
    assert start == len(vectors)


def require_units(vectors) -> None:
    """Vectors are finite and have length one, or zero if their norm is 0."""
    if isinstance(vectors, HybridVectors):
        require_units(vectors.dense)
        require_units(vectors.lexical)
        return
    rows = vectors.queries(np.arange(len(vectors)))
    rows = rows.toarray() if sparse.issparse(rows) else rows
    lengths = np.linalg.norm(rows, axis=1)
    assert (np.abs(lengths - (vectors.norms > 0)) < ROUNDED).all()


def require_trees(path, *, items: int, width: int) -> None:
    """Every tree of a forest holds every item exactly once."""
    nodes = np.fromfile(path, dtype="<i4").reshape(-1, width + 3)
    # The roots are at the end: only they have all items below them.
    others = np.flatnonzero(nodes[:, 0] != items)
    first = max(items, int(others[-1]) + 1 if len(others) else 0)
    for root in range(first, len(nodes)):
        assert sorted(_items_below(nodes, root, items)) == list(range(items))


def _items_below(nodes, root, items):
    found, level = [], [root]
    while level:
        node = level.pop()
        if node < items:
            found.append(node)
        elif nodes[node, 0] < nodes.shape[1]:
            found += nodes[node, 1 : 1 + nodes[node, 0]].tolist()
        else:
            level += nodes[node, 1:3].tolist()
    return found


def require_lists(searcher: IvfSearcher) -> None:
    """Every vector but zeros, which faiss may leave out, is in one list."""
    faiss = load_faiss()
    lists = faiss.downcast_InvertedLists(searcher._lists.invlists)
    held = []
    for number in range(lists.nlist):
        if size := lists.list_size(number):
            held += faiss.rev_swig_ptr(lists.get_ids(number), size).tolist()
    assert len(held) == len(set(held))
    norms = searcher.vectors.norms
    assert {*np.flatnonzero(norms).tolist()} <= {*held} <= {*range(len(norms))}
