"""Rows of texts by their words, and names that a text becomes by substitutions of words."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spacy_connorm.errors import ConnormError
from spacy_connorm.index.word_bags import RewritingTable, WordBags, rewrite
from spacy_connorm.text.bag_hashes import hash_bags, hash_word
from spacy_connorm.text.substitutions import Substitution
from spacy_connorm.text.words import words_of

WORDS = words_of("en")
word_bag = WORDS.bag

TEXTS = ["breast cancer", "Cancer of the breast", "lung cancer", "?", "Breast cancer", "cancer"]
ROWS = np.asarray([0, 1, 2, 3, 0, 4])
ANY_TEXTS = st.lists(st.sampled_from(["one two", "two one", "one", "Two", "!", "three two one"]))


@pytest.fixture
def bags() -> WordBags:
    return WordBags.from_texts(TEXTS, ROWS, WORDS)


def test_texts_with_the_same_words_are_found_together(bags):
    asked = [word_bag(text) for text in ("breast cancers", "lung cancer", "lung", "")]
    assert rows_of(bags, asked) == [[0, 1], [2], [], []]
    assert rows_of(bags, []) == []


def rows_of(bags, asked):
    which, rows = bags.rows_of(hash_bags(asked))
    return [rows[which == number].tolist() for number in range(len(asked))]


def test_the_hash_of_a_bag_is_the_sum_of_its_words(bags):
    (value,) = hash_bags([("breast", "cancer")]).tolist()
    assert value == (hash_word("breast") + hash_word("cancer")) % 2**64
    assert rows_of(bags, [("breast", "cancer")]) == [[0, 1]]
    assert bags.longest == 2
    words = np.sort(
        np.asarray([hash_word(word) for word in ("breast", "lung", "cancer")], "uint64")
    )
    assert bags.words.tolist() == words.tolist()


@given(texts=ANY_TEXTS, asked=ANY_TEXTS)
def test_rows_are_those_of_a_plain_comparison(texts, asked):
    bags = WordBags.from_texts(texts, np.arange(len(texts)), WORDS)
    found = rows_of(bags, [word_bag(text) for text in asked])
    for text, rows in zip(asked, found, strict=True):
        words = word_bag(text)
        assert rows == [r for r, each in enumerate(texts) if words == word_bag(each) != ()]


def test_what_is_mapped_is_what_was_written(tmp_path, bags):
    bags.write(tmp_path)
    mapped = WordBags.open(tmp_path, rows=5)
    for name in ("hashes", "rows", "words", "longest"):
        np.testing.assert_array_equal(getattr(mapped, name), getattr(bags, name))
    with pytest.raises(ConnormError, match="CN402.*rows"):
        WordBags.open(tmp_path, rows=4)


def test_an_index_has_the_bags_of_all_its_texts(index):
    (rows,) = rows_of(index.word_bags, [word_bag("7, NAME")])
    texts = index.store.texts(index.members.start[rows].tolist())
    assert {text.lower() for text in texts.values()} == {"name 7"}


NAMES = ["renal failure", "nephritis", "renal cyst", "failure", "cyst of the heart", "stone"]
SUBSTITUTIONS = [
    Substitution(("kidney",), ("renal",), 98, 1),
    Substitution((), ("severe",), 79, 20),
    Substitution(("inflammation", "kidney"), ("nephritis",), 9, 0),
    Substitution(("cardiac",), ("heart",), 1, 1),
]


@pytest.fixture
def names():
    return WordBags.from_texts(NAMES, np.arange(len(NAMES)), WORDS)


NO_TABLE = RewritingTable.from_substitutions(())


@pytest.fixture
def table():
    return RewritingTable.from_substitutions(SUBSTITUTIONS)


def rewritten(table, names, text, min_certainty=0.2):
    ((rows, certainty),) = rewrite(
        [word_bag(text)], names, WORDS, table, min_certainty=min_certainty
    )
    return {NAMES[row]: round(each, 4) for row, each in zip(rows, certainty, strict=True)}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("kidney failure", {"renal failure": 0.98}),
        ("Failure of the kidneys", {"renal failure": 0.98}),
        ("severe kidney failure", {"renal failure": round(0.98 * 0.79, 4)}),
        ("severe failure", {"failure": 0.79}),
        ("cardiac cyst", {"cyst of the heart": 0.95}),
        ("severe kidney inflammation", {"nephritis": 0.711}),
        ("kidney inflammation", {}),
        ("renal failure", {"renal failure": 1.0}),
        ("Failures, Renal", {"renal failure": 1.0}),
        ("severe", {}),
        ("stone", {"stone": 1.0}),
        ("toe", {}),
        ("", {}),
    ],
)
def test_texts_become_names(table, names, text, expected):
    assert rewritten(table, names, text) == expected


def test_a_substitution_of_nothing_adds_no_words(names):
    table = RewritingTable.from_substitutions([Substitution((), ("renal",), 9, 0)])
    assert rewritten(table, names, "cyst") == {}
    assert rewritten(table, names, "renal stone") == {"stone": 0.9}


def test_a_word_is_replaced_once(names):
    chain = [Substitution(("a",), ("b",), 99, 0), Substitution(("b",), ("renal",), 99, 0)]
    assert rewritten(RewritingTable.from_substitutions(chain), names, "a cyst") == {}


def test_less_certain_names_are_left_out(table, names):
    assert rewritten(table, names, "severe kidney failure", 0.78) == {}


def test_the_most_certain_names_come_first_and_are_few():
    texts = [f"n{'abcdefghij'[n // 10]}{'abcdefghij'[n % 10]} cyst" for n in range(50)]
    bags = WordBags.from_texts(texts, np.arange(50), WORDS)
    table = RewritingTable.from_substitutions(
        Substitution((text.split()[0],), ("x",), 50 + n, 0) for n, text in enumerate(texts)
    )
    ((rows, certainty),) = rewrite([("cyst", "x")], bags, WORDS, table, min_certainty=0.3)
    assert rows.tolist() == list(range(49, 17, -1))
    assert (np.diff(certainty) < 0).all()


def test_long_texts_are_left_alone(table, names):
    assert rewritten(table, names, "kidney failure " + "a b c d e f g") == {}


def test_a_mapped_table_is_what_was_written(tmp_path, table, names):
    table.write(tmp_path)
    mapped = RewritingTable.open(tmp_path)
    assert rewritten(mapped, names, "kidney failure") == {"renal failure": 0.98}
    assert not len(RewritingTable.open(tmp_path / "none").words)


@pytest.mark.parametrize(
    ("file", "change"),
    [("start", [0, 99]), ("certainty", [np.nan]), ("words", [1]), ("change", [])],
    ids=str,
)
def test_damaged_tables_are_refused(tmp_path, table, file, change):
    table.write(tmp_path)
    path = tmp_path / f"rewriting.{file}.npy"
    np.save(path, np.asarray(change, dtype=np.load(path).dtype))
    with pytest.raises(ConnormError, match="CN402"):
        RewritingTable.open(tmp_path)


def test_an_empty_table_rewrites_by_english_alone(names):
    table = RewritingTable.from_substitutions([])
    assert rewritten(table, names, "kidney failure") == {"renal failure": pytest.approx(0.95)}
    assert rewritten(table, names, "failure, renal") == {"renal failure": 1.0}


def test_an_index_without_words_has_no_names(table):
    bags = WordBags.from_texts(["?"], np.asarray([0]), WORDS)
    assert rewrite([("kidney",)], bags, WORDS, table, min_certainty=0.3)[0].rows.size == 0


def test_adjectives_become_their_nouns_without_any_table():
    texts = ["hypertension", "cyst of the retina", "hypertensive crisis", "skeleton"]
    bags = WordBags.from_texts(texts, np.arange(4), WORDS)

    def found(text, table=NO_TABLE):
        ((rows, certainty),) = rewrite([word_bag(text)], bags, WORDS, table, min_certainty=0.3)
        return {texts[row]: round(each, 4) for row, each in zip(rows, certainty, strict=True)}

    assert found("hypertensive") == {"hypertension": 0.9}
    assert found("retinal cysts") == {"cyst of the retina": 0.9}
    assert found("skeletal") == {"skeleton": 0.9}
    assert found("crisis, hypertensive") == {"hypertensive crisis": 1.0}
    assert found("mental") == found("hypertensively") == {}
    table = RewritingTable.from_substitutions([Substitution(("cyst",), ("bubble",), 9, 0)])
    assert found("retinal bubble", table) == {"cyst of the retina": round(0.9 * 0.9, 4)}
