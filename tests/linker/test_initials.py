"""Short forms that no document defines, read as the initials of names."""

import gc
from weakref import ref

import pytest
import spacy
from finding import NGRAMS

from spacy_connorm import Concept, Ontology
from spacy_connorm.linker import initials
from spacy_connorm.linker.linking import link
from spacy_connorm.linker.texts import MentionTexts, read_initials

NAMES = (
    "Leber hereditary optic neuropathy",
    "spinal muscular atrophy, type 1",
    "spinal muscular atrophy, type 2",
    "Charcot-Marie-Tooth disease type 1A",
    "hereditary neuropathy with liability to pressure palsies",
    "medium chain acyl-CoA dehydrogenase deficiency",
    "phenylketonuria",
    "chronic kidney disease",
    "chronic kawasaki disease",
    "type 2 diabetes mellitus",
    "ulcer",
    "VSD",
)


@pytest.fixture(scope="module")
def normalizer():
    return make(NAMES)


def make(names, **settings):
    nlp = spacy.blank("en")
    normalizer = nlp.add_pipe("concept_normalizer", config={**NGRAMS, **settings})
    normalizer.initialize(ontology=Ontology(Concept(name, name) for name in names))
    return normalizer


def expanded(normalizer, mention):
    retriever = normalizer.lookup.retriever
    ways = read_initials(MentionTexts(mention, "", ""), retriever)
    return {way.texts[0]: way.certainty for way in ways}


@pytest.mark.parametrize(
    ("mention", "text"),
    [
        ("LHON", "Leber hereditary optic neuropathy"),
        ("familial LHON", "familial Leber hereditary optic neuropathy"),
        ("T2DM", "type 2 diabetes mellitus"),
        # The beginning of several names.
        ("SMA type 1", "spinal muscular atrophy type 1"),
        ("SMA", "spinal muscular atrophy"),
        ("SMAs", "spinal muscular atrophy"),
        # With a number, that of a name, or else one more.
        ("CMT1A", "Charcot-Marie-Tooth disease type 1A"),
        ("CMT-2", "Charcot-Marie-Tooth 2"),
        # A word is left out, or letters are inside one.
        ("HNPP", "hereditary neuropathy with liability to pressure palsies"),
        ("MCADD", "medium chain acyl-CoA dehydrogenase deficiency"),
        ("PKU", "phenylketonuria"),
    ],
)
def test_a_short_form_says_the_words_that_it_abbreviates(normalizer, mention, text):
    (certainty,) = expanded(normalizer, mention).values()
    assert [*expanded(normalizer, mention)] == [text]
    assert 0.2 < certainty < 1


@pytest.mark.parametrize(
    "mention",
    [
        # In the index, no short form, or of nothing.
        *("VSD", "lhon", "LEBER HEREDITARY", "QQQ", "", "1"),
        # No name with these words has a number.
        "LHON2",
    ],
)
def test_others_are_read_as_they_are(normalizer, mention):
    assert expanded(normalizer, mention) == {}


def test_names_are_read_once(normalizer):
    before = normalizer.lookup.retriever
    normalizer.add_synonyms([("spotty skin", "ulcer")])
    assert normalizer.lookup.retriever is not before
    assert normalizer.lookup.retriever.initials is before.initials
    normalizer.remove_synonyms([("spotty skin", "ulcer")])


def test_an_index_that_is_no_longer_used_is_closed():
    index = ref(make(NAMES).lookup.index)
    gc.collect()
    assert index() is None
    made = make(NAMES)
    assert expanded(made, "LHON")
    index = ref(made.lookup.index)
    del made
    gc.collect()
    assert index() is None


def test_long_mentions_are_read_as_they_are(normalizer):
    assert expanded(normalizer, f"LHON{' of it' * 16}") != {}
    assert expanded(normalizer, f"LHON{' of it' * 17}") == {}


def test_a_letter_that_is_two_in_lower_case(normalizer):
    names = [*NAMES, "İstanbul illness of sheep"]
    assert expanded(make(names), "CKD") == expanded(
        make([*NAMES, "Istanbul illness of sheep"]), "CKD"
    )


def test_several_concepts_share_the_certainty(normalizer):
    found = expanded(normalizer, "CKD")
    assert {*found} == {"chronic kidney disease", "chronic kawasaki disease"}
    assert len({*found.values()}) == 1
    assert sum(found.values()) < 1


def test_the_more_names_have_the_letters_by_chance_the_less_certain():
    few = expanded(make(NAMES), "LHON")
    many = expanded(
        make([*NAMES, *(f"{word} optic nerve lesion" for word in "abcdefghlo")]), "LHON"
    )
    assert few.keys() == many.keys()
    assert many["Leber hereditary optic neuropathy"] < few["Leber hereditary optic neuropathy"]


def test_scores_and_probabilities_are_multiplied_by_the_certainty(normalizer):
    ((text, certainty),) = expanded(normalizer, "LHON").items()
    (short,), (long,) = normalizer.candidates(["LHON", text], top_k=1)
    assert short.concept_id == long.concept_id
    assert short.score == pytest.approx(long.score * certainty)
    assert short.probability == pytest.approx(long.probability * certainty)
    explained = normalizer.explain("LHON")
    assert explained.parts[0].searched == text
    assert [way.kind for way in explained.interpretations] == ["initials", "as written"]


def test_a_long_form_of_the_document_comes_before_them(normalizer):
    found = normalizer.candidates(["LHON"], long_forms=["ulcer"])
    assert found[0][0].concept_id == "ulcer"


def test_words_that_are_not_compared_have_no_initials():
    found = make(NAMES, compare_words=False).candidates(["LHON"])
    assert {candidate.searched for candidate in found[0]} == {"LHON"}


def test_many_names_have_no_initials(monkeypatch):
    monkeypatch.setattr(initials, "_MOST_NAMES", 11)
    assert expanded(make(NAMES), "LHON") == {}
    monkeypatch.setattr(initials, "_MOST_NAMES", 12)
    monkeypatch.setattr(initials, "_MOST_INSIDE", 11)
    assert expanded(make(NAMES), "LHON") != {}
    assert expanded(make(NAMES), "PKU") == {}


def test_a_name_that_initials_stand_for_is_not_split():
    normalizer = make(["dilated heart / failing lungs", "dilated heart", "failing lungs"])
    (read,) = link(normalizer.lookup.retriever, ["severe DHFL"], normalizer.query())
    assert "initials" in {way.kind for way in read}
    assert "parts" not in {way.kind for way in read}
