"""Names with a compound that texts write as two words, or the reverse."""

import numpy as np
import pytest
from finding import make_finder, marked, plain

from spacy_connorm import Concept
from spacy_connorm.index.compounds import compound_bags
from spacy_connorm.index.name_words import NameWords
from spacy_connorm.text.bag_hashes import hash_bags
from spacy_connorm.text.words import words_of

WORDS = words_of("en")


def bags_of(*names):
    """RETURNS (Set[Tuple[int, int]]): The hash of each other bag, and the number of its name."""
    values, owners = compound_bags(NameWords.from_texts(names, WORDS), WORDS)
    return set(zip(values.tolist(), owners.tolist(), strict=True))


def expected(*bags):
    numbers, words = zip(*bags, strict=True)
    return set(zip(hash_bags(words).tolist(), numbers, strict=True))


def test_a_compound_is_written_as_two_words_and_two_words_as_one():
    names = ("Papillomavirus infection", "Virus shedding", "Papilloma", "Papilloma virus carrier")
    assert bags_of(*names) == expected(
        (0, ("papilloma", "virus", "infection")), (3, ("papillomavirus", "carrier"))
    )


@pytest.mark.parametrize(
    "names",
    [
        ("Overweight", "over time", "Weight loss"),  # "over" is a word of grammar
        ("Headache", "Head injury"),  # "ache" is not a word of names
        ("Isle", "is", "le"),
        (),
    ],
)
def test_parts_are_words_of_names_with_a_meaning(names):
    assert bags_of(*names) == set()


def test_names_of_more_than_eight_words_stay_as_they_are():
    long_name = " ".join(f"word{number}" for number in range(8))
    assert bags_of(f"headache {long_name}", "head", "ache") == set()


def test_names_are_read_in_blocks(monkeypatch):
    names = ["Eyelid ptosis", "Eye", "Lid", *map("{} eyelid".format, "abcdefgh")]
    whole = bags_of(*names)
    monkeypatch.setattr("spacy_connorm.index.compounds._BLOCK", 2)
    assert bags_of(*names) == whole
    assert len(whole) == 9


@pytest.mark.parametrize(
    "pair",
    [
        "[head aches] and an [eye lid ptosis] > Headache, Eyelid ptosis",
        "[gallbladder stones] > Gall bladder stone",
        "an [ache in the head] > Headache",
        "the head. Aches and an eye, lid ptosis > ",
    ],
)
def test_texts_are_found_however_they_write_a_compound(pair):
    text, ids = pair.split(" > ")
    names = (
        "Headache",
        "Eyelid ptosis",
        "Gall bladder stone",
        "Gallbladder",
        "Head",
        "Ache of eye",
    )
    names = (*names, "Lid", "Gall", "Bladder")
    nlp = make_finder(
        [Concept(name, name) for name in names],
        normalizer={"top_k": 1},
        stop_texts=["head", "ache", "eye", "lid", "gall", "bladder"],
    )
    assert marked(nlp, text) == text
    assert ", ".join(ent.kb_id_ for ent in nlp(plain(text)).ents) == ids


def test_what_another_concept_is_called_is_not_another_spelling():
    concepts = [Concept("1", "Headache"), Concept("2", "Head ache"), Concept("3", "Head, ache")]
    nlp = make_finder(concepts, normalizer={"top_k": 1})
    assert [ent.kb_id_ for ent in nlp("a headache").ents] == ["1"]
    assert np.isin([ent.kb_id_ for ent in nlp("a head ache").ents], ["2", "3"]).all()
