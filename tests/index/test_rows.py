"""Names gathered into rows and members, the keys of rows, and both on disk."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spacy_connorm.index.names import Names, group_names
from spacy_connorm.index.rows import KeyTable, Members, hash_keys
from spacy_connorm.index.search import D, O


class Denotation(NamedTuple):
    key: bytes
    text: str
    concept: int
    target: int
    preferred: bool
    inexact: bool = False


DENOTATIONS = [
    Denotation(b"a", "a", 0, O, True),
    Denotation(b"both", "Both", 1, O, False),
    Denotation(b"shared", "shared", 1, O, False),
    Denotation(b"shared", "Shared", 2, O, True),
    Denotation(b"data", "data", 2, D, False),
    Denotation(b"both", "both", 1, D, False),
    Denotation(b"both", "both", 1, D, False),
    Denotation(b"both", "both", 0, D, False),
]


def names_of(denotations):
    """Texts go by their places."""
    keys, _, concepts, targets, preferred, inexact = zip(*denotations, strict=True)
    return Names(
        hash_keys(keys),
        np.asarray(concepts, dtype="int32"),
        np.asarray(targets, dtype="uint8"),
        np.asarray(preferred, dtype="bool"),
        np.asarray(inexact, dtype="bool"),
        np.arange(len(denotations), dtype="int32"),
    )


@pytest.fixture
def grouped():
    return group_names(names_of(DENOTATIONS))


@pytest.fixture
def members(grouped):
    return grouped.members


def test_rows_are_ordered_by_target(grouped, members):
    assert grouped.hashes.tolist() == hash_keys([b"a", b"shared", b"both", b"data"]).tolist()
    assert members.rows_of(O) == (0, 3)
    assert members.rows_of(D) == (2, 4)
    assert members.rows_of(O | D) == (0, 4)


def test_a_row_denotes_each_concept_once(members):
    assert members.start.tolist() == [0, 1, 3, 5, 6]
    assert members.concept.tolist() == [0, 1, 2, 1, 0, 2]
    assert members.target.tolist() == [O, O, O, O | D, D, D]
    assert members.row_numbers.tolist() == [0, 1, 1, 2, 2, 3]


def test_repetitions_in_data_are_counted(members):
    assert members.count.tolist() == [0, 0, 0, 2, 1, 1]


def test_text_is_as_the_ontology_writes_it(grouped, members):
    texts = [DENOTATIONS[place].text for place in grouped.texts]
    assert texts == ["a", "shared", "Shared", "Both", "both", "data"]
    assert [DENOTATIONS[place].text for place in grouped.encoded] == ["a", "shared", "Both", "data"]
    assert members.preferred.tolist() == [True, False, True, False, False, False]


def test_no_row_of_a_target_that_says_nothing():
    assert group_names(names_of(DENOTATIONS[:4])).members.rows_of(D) == (0, 0)


@dataclass
class Member:
    concept: int
    text: int
    target: int = 0
    count: int = 0
    preferred: bool = False
    inexact: bool = True


def gathered_one_by_one(denotations):
    """The same, in the words of its definition."""
    rows = {}
    for place, (key, _, concept, target, preferred, inexact) in enumerate(denotations):
        member = rows.setdefault(key, {}).setdefault(concept, Member(concept, place))
        if preferred and not member.preferred:
            member.text, member.preferred = place, True
        member.target |= target
        member.count += target == D
        member.inexact &= inexact

    def group(row):
        targets = {
            target for member in row[1].values() for target in (O, D) if member.target & target
        }
        return [{O}, {O, D}, {D}].index(targets)

    return [(key, list(each.values())) for key, each in sorted(rows.items(), key=group)]


ANY = st.builds(
    Denotation,
    key=st.sampled_from([b"a", b"b", b"c", b"d", b"e"]),
    text=st.just(""),
    concept=st.integers(0, 4),
    target=st.sampled_from([O, D]),
    preferred=st.booleans(),
    inexact=st.booleans(),
)


@given(st.lists(ANY.filter(lambda each: each.target == O or not each.preferred), min_size=1))
def test_all_at_once_is_as_one_by_one(denotations):
    denotations = [
        denotation._replace(preferred=denotation.preferred and denotation.target == O)
        for denotation in denotations
    ]
    grouped, expected = group_names(names_of(denotations)), gathered_one_by_one(denotations)
    assert grouped.hashes.tolist() == hash_keys([key for key, _ in expected]).tolist()
    assert np.diff(grouped.members.start).tolist() == [len(members) for _, members in expected]
    flat = [member for _, members in expected for member in members]
    assert grouped.texts.tolist() == [member.text for member in flat]
    for field in ("concept", "target", "count", "preferred", "inexact"):
        assert getattr(grouped.members, field).tolist() == [getattr(each, field) for each in flat]
    kinds = {field: getattr(grouped.members, field).dtype for field in vars(grouped.members)}
    assert {field: str(kind) for field, kind in kinds.items()} == {
        "start": "int64",
        "concept": "int32",
        "target": "uint8",
        "count": "int32",
        "preferred": "bool",
        "inexact": "bool",
    }


def test_opened_as_written(tmp_path, members):
    members.write(tmp_path)
    opened = Members.open(tmp_path, rows=4, concepts=3)
    assert opened.start.tolist() == members.start.tolist()
    assert opened.preferred.tolist() == members.preferred.tolist()
    assert opened.inexact.tolist() == members.inexact.tolist()


def test_exact_names_come_before_others():
    names = [
        Denotation(b"a", "a", concept, O, preferred, inexact)
        for concept, (preferred, inexact) in enumerate(
            [(True, False), (False, False), (False, True)]
        )
    ]
    members = group_names(names_of(names)).members
    assert members.ranks(np.arange(3)).tolist() == [0, 1, 2]


KEYS = st.lists(st.binary(max_size=4), unique=True)


@given(kept=KEYS, asked=st.lists(st.binary(max_size=4)))
def test_many_keys_have_the_rows_of_each(kept, asked):
    table = KeyTable.from_hashes(hash_keys(kept))
    expected = [kept.index(key) if key in kept else None for key in [*kept, *asked]]
    assert [table.row(key) for key in [*kept, *asked]] == expected
    rows = table.rows_of(hash_keys([*kept, *asked]))
    assert rows.dtype == "int64"
    assert [None if row < 0 else row for row in rows.tolist()] == expected


@pytest.mark.parametrize("kept", [[], [b"a"]])
def test_no_keys_have_no_rows(kept):
    assert KeyTable.from_hashes(hash_keys(kept)).rows_of(hash_keys([])).shape == (0,)


def test_a_table_that_is_mapped_gives_the_same_rows(tmp_path):
    table = KeyTable.from_hashes(hash_keys([b"b", b"a"]))
    table.write(tmp_path)
    rows = KeyTable.open(tmp_path, rows=2).rows_of(hash_keys([b"a", b"b", b"c"]))
    assert rows.tolist() == [1, 0, -1]
