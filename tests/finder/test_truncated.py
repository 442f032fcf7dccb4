"""Words that notes cut off."""

import pytest
from finding import marked, plain

from .name_pipeline import build

NAMES = (
    "Necrotizing fasciitis",
    "Klebsiella pneumoniae",
    "Pseudomonas aeruginosa",
    "Haemophilus influenzae",
    "Renal artery stenosis",
    "Aortic stenosis",
    "Chronic kidney disease",
    "Insuficiencia renal",
    "Colonic mass",
)


@pytest.fixture(scope="module")
def nlp():
    """A pipeline that finds the names."""
    return build(list(NAMES))


@pytest.mark.parametrize(
    "text",
    [
        "[nec fasc] of the leg",
        "[Nec. fasciitis]. [Nec fasciitis]",
        "[Kleb pneumo], [Kleb. pneumoniae]",
        "[Ps. aeruginosa] and [Ps aeruginosa]",  # two letters after a capital
        "[Haem. influenzae]",  # "hem" in American names
        "[ren. art. stenosis]",  # three words, two of them cut off
        "[aort stenosis]",
        "ps aeruginosa",
        "NEC fasciitis",  # a short form
        "fasc nec",  # names have them in another order
        "nec. The fasciitis",
        "nec, fasciitis",
        "[nec fasc]. Chronic. Kidney disease",
        "nec fascia",
        "a mass. Colon. Mass",
        "kleb",
    ],
)
def test_a_cut_off_word_is_that_beside_the_other_one_in_a_name(nlp, text):
    assert marked(nlp, plain(text)) == text


def test_it_is_linked_and_explained(nlp):
    doc = nlp("nec fasc")
    assert doc.ents[0].kb_id_ == "Necrotizing fasciitis"
    explained = nlp.get_pipe("mention_finder").explain(doc[0:2])
    assert explained.names == ("Necrotizing fasciitis",)


def test_it_is_left_alone_where_words_stand_for_no_others():
    nlp = build(list(NAMES))
    nlp.get_pipe("mention_finder").cfg["derivations"] = False
    assert not nlp("nec fasc").ents


def test_of_many_words_none_is_meant():
    names = [f"Pneumo{letter}{other}ia grave" for letter in "abcdefgh" for other in "abcdefgh"]
    assert not build(names)("pneumo grave").ents
