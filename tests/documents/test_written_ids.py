import pytest
import spacy
from finding import make_finder

from spacy_connorm import Concept
from spacy_connorm.documents.written_ids import ids_beside

AMBIGUOUS = "Ambiguous genitalia, male"
CONCEPTS = [
    Concept("HP:0000033", AMBIGUOUS, alt_ids=("HP:0000034",)),
    Concept("HP:0000062", "Ambiguous genitalia"),
    Concept("HP:0002001", "Low temperature", ("cold",)),
    Concept("HP:0002002", "Common infection", ("cold",)),
]


@pytest.fixture(scope="module")
def nlp():
    return make_finder(CONCEPTS)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("HP:0000033 ( fever ) was", ["HP:0000033"]),
        ("D003924 fever [ C0011860 ]", ["D003924", "C0011860"]),
        ("E11.9 : fever , rash", ["E11.9"]),
        ("a day fever and D003924", []),
        ("aged 5 fever", []),
        ("D003924 of the fever", []),
    ],
)
def test_ids_are_found_beside_a_name(text, expected):
    words = text.split()
    doc = spacy.tokens.Doc(spacy.blank("en").vocab, words)
    start = words.index("fever")
    assert [*ids_beside([*map(str, doc)], start, start + 1).values()] == expected


@pytest.mark.parametrize(
    "text",
    [
        f"HP:0000033 ({AMBIGUOUS}), HP:0008689",
        f"HP:0000034: {AMBIGUOUS}.",
        f"He had {AMBIGUOUS} [HP:0000033].",
    ],
)
def test_a_name_beside_its_own_id_is_a_mention_whatever_the_rules_say(nlp, text):
    assert [(ent.text, ent.kb_id_) for ent in nlp(text).ents] == [(AMBIGUOUS, "HP:0000033")]
    # Without its id, or with another one, it may be two items of a list.
    without = nlp(text.replace("HP:0000033", "HP:0009999").replace("HP:0000034", "HP:0009999"))
    assert [(ent.text, ent.kb_id_) for ent in without.ents] == [
        ("Ambiguous genitalia", "HP:0000062")
    ]


def test_an_id_without_a_name_is_a_mention(nlp):
    text = "HP:0000062, HP:0002002; HP:0002001 present, HP:0008689 and 0002001, HP:0000062 cold"
    doc = nlp(text)
    assert [(ent.text, ent.kb_id_) for ent in doc.ents] == [
        ("HP:0000062", "HP:0000062"),
        # Two concepts have its name.
        ("HP:0002002", "HP:0002002"),
        ("HP:0002001", "HP:0002001"),
        ("cold", "HP:0002001"),
    ]


def test_an_id_beside_a_mention_belongs_to_it(nlp):
    doc = nlp("HP:0002001 (Ambiguous genitalia, male)")
    assert [ent.text for ent in doc.ents] == ["Ambiguous genitalia"]
    doc = nlp("Ambiguous genitalia, male [HP:0002001]")
    assert [ent.text for ent in doc.ents] == ["Ambiguous genitalia", "HP:0002001"]


@pytest.mark.parametrize("text", ["pain at T12", "C5.2 mg", "on 12.5", "L4_5", "B12 and H1N1"])
def test_what_may_be_something_else_is_not_an_id(text):
    nlp = make_finder([Concept(name, f"name of {name}") for name in ("T12", "B12", "L4", "12.5")])
    assert not nlp(text).ents


def test_an_id_decides_between_concepts_of_the_same_name(nlp):
    doc = nlp("cold (HP:0002001), HP:0002002 cold, cold [HP:0002002], cold (HP:0000062)")
    chosen = [ent.kb_id_ for ent in doc.ents if ent.text == "cold"]
    assert chosen[:3] == ["HP:0002001", "HP:0002002", "HP:0002002"]
    assert chosen[3] == nlp("cold").ents[0].kb_id_
    assert [c.score for c in doc.ents[0]._.candidates] == sorted(
        (c.score for c in doc.ents[0]._.candidates), reverse=True
    )
