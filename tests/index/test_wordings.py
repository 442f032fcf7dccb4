"""Names in other words: a compound as two words or the reverse, and everyday phrases."""

import numpy as np
import pytest
from finding import make_finder, marked, plain

from spacy_connorm import Concept
from spacy_connorm.documents.spans import get_assertions
from spacy_connorm.index.name_words import NameWords
from spacy_connorm.index.word_bags import WordBags
from spacy_connorm.index.wordings import other_wordings
from spacy_connorm.text.bag_hashes import hash_bags
from spacy_connorm.text.words import words_of

WORDS = words_of("en")


def bags_of(*names):
    """RETURNS (Set[Tuple[int, int]]): The hash of each other bag, and the number of its name."""
    read = NameWords.from_texts(names, WORDS)
    bags = WordBags.from_words(read, np.arange(len(names))).known_bags
    wordings = other_wordings(read, bags, WORDS)
    return set(zip(wordings.hashes.tolist(), wordings.texts.tolist(), strict=True))


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
        ("Overweight", "over time", "Birth weight"),  # "over" is a word of grammar
        ("Eyelid", "Lid injury"),  # "eye" is not a word of names
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
    names = ["Eyelid tumor", "Eye", "Lid", *map("{} eyelid".format, "abcdefgh")]
    whole = bags_of(*names)
    monkeypatch.setattr("spacy_connorm.index.wordings._BLOCK", 2)
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


@pytest.mark.parametrize(
    ("names", "pair"),
    [
        (["Vomiting"], "he [threw up] twice, was [throwing up] > Vomiting, Vomiting"),
        (["Tinnitus"], "[ringing in both ears], [ringing in her ears] > Tinnitus, Tinnitus"),
        (["Fracture of scapula"], "a [fractured shoulder blade] > Fracture of scapula"),
        (["Alopecia"], "her [hair is falling out] > Alopecia"),
        (["Paresthesia"], "[pins and needles] in her feet, a needle and pins > Paresthesia"),
        # The first of several meanings that is a name.
        (["Palpitations", "Tachycardia"], "a [racing heart] > Tachycardia"),
        (["Palpitations"], "a [racing heart] > Palpitations"),
        (["Transient ischemic attack"], "a [mini-stroke] > Transient ischemic attack"),
        # What names say themselves, and the reverse.
        (["Alopecia", "Hair loss"], "[hair loss], [losing hair] > Hair loss, Hair loss"),
        (["High blood pressure"], "[hypertension] > High blood pressure"),
        (["Sodium"], "low [sodium] > Sodium"),
        (["Hyponatremia"], "a low sodium diet, [low sodium], lower sodium intake > Hyponatremia"),
    ],
)
def test_everyday_phrases_stand_for_names(names, pair):
    text, ids = pair.split(" > ")
    nlp = make_finder([Concept(name, name) for name in names], normalizer={"top_k": 1})
    assert marked(nlp, text) == text
    assert ", ".join(ent.kb_id_ for ent in nlp(plain(text)).ents) == ids


def test_a_phrase_that_is_asked_for_is_a_name():
    nlp = make_finder([Concept("1", "Vomiting"), Concept("2", "Up and down")])
    best = nlp.get_pipe("concept_normalizer").candidates(["throwing up"])[0][0]
    assert (best.concept_id, round(best.score, 2)) == ("1", 1.0)


@pytest.mark.parametrize(
    ("name", "pair"),
    [
        (
            "Insomnia",
            "he [is not sleeping], [hasn't been sleeping] or is asleep",
        ),
        ("Constipation", "her [bowels have not been opened], they were opened"),
        ("Suicide attempt", "he [tried to take his own life]"),
    ],
)
def test_an_everyday_phrase_may_deny_something(name, pair):
    assert marked(make_finder([Concept("1", name)], normalizer={"top_k": 1}), pair) == pair


def test_what_a_phrase_denies_is_there():
    names = [("1", "Insomnia"), ("2", "Decreased appetite"), ("3", "Fever")]
    nlp = make_finder([Concept(*name) for name in names], normalizer={"top_k": 1})
    nlp.add_pipe("assertion_marker")
    for text in ("no appetite, fever", "he is not sleeping and has a fever"):
        assert [get_assertions(ent) for ent in nlp(text).ents] == [(), ()]
    both = nlp("no appetite or fever").ents
    assert "negated" in get_assertions(both[1])
