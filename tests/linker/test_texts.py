"""How the texts of a mention are interpreted, with answers made by hand."""

from types import SimpleNamespace

import pytest

from spacy_connorm.concepts import Candidate
from spacy_connorm.errors import ConnormError
from spacy_connorm.index.cache import Cache
from spacy_connorm.linker.calibration import Calibration, CandidateFeatures
from spacy_connorm.linker.linking import candidates_of
from spacy_connorm.linker.query import Query
from spacy_connorm.linker.sieve import Sieve
from spacy_connorm.text.words import words_of


class Texts:
    """Scores of concepts by text, as an index would give them; everything else is unknown. Stands
    in for a retriever.
    """

    has_cosines = True
    index = SimpleNamespace(metric="cosine", words=words_of("en"))

    def __init__(self, found, *, data=()):
        self.found = found
        self.data = set(data)
        self.asked = []
        self.answers = Cache(0)

    def encode(self, texts, allowed):
        self.asked.extend(texts)
        return self, texts

    def find_known_texts(self, texts, target):
        return {
            text for text in texts if text in self.data or (target == "OD" and text in self.found)
        }


@pytest.fixture(autouse=True)
def answers_of_texts(monkeypatch):
    """Answers from `Texts`, without any index."""

    def run_sieve(batch, sieve, rescorers, top_k):
        texts, searched = batch
        return {
            text: [
                Candidate(concept, concept, score, concept, "OD-T", searched=text)
                for concept, score in texts.found.get(text, {}).items()
            ]
            for text in searched
        }

    monkeypatch.setattr("spacy_connorm.linker.linking.run_sieve", run_sieve)


def find(texts, mentions, long_forms=None, matched_names=None, **settings):
    query = Query(Sieve(), **{"top_k": 5, **settings})
    others = {"long_forms": long_forms, "matched_names": matched_names}
    return candidates_of(texts, mentions, query, **others)


def read(texts, mention, long_form="", **settings):
    (found,) = find(texts, [mention], [long_form], **settings)
    return [(candidate.concept_id, candidate.searched, candidate.part) for candidate in found]


# Long forms
def test_the_long_form_is_searched_where_there_is_one():
    texts = Texts({"CRC": {"C1": 0.9}, "colorectal cancer": {"C2": 0.5}})
    assert read(texts, "CRC", "colorectal cancer") == [("C2", "colorectal cancer", 0)]
    assert texts.asked == ["colorectal cancer"]


def test_a_short_form_without_a_definition_is_searched_as_it_is():
    assert read(Texts({"CRC": {"C1": 0.9}}), "CRC") == [("C1", "CRC", 0)]


@pytest.mark.parametrize(
    ("short", "long", "winner"), [(1.0, 0.9, "AAPC"), (0.8, 0.9, "polyposis"), (1, 1, "polyposis")]
)
def test_of_a_short_form_in_the_data_the_better_text_answers(short, long, winner):
    texts = Texts({"AAPC": {"C1": short}, "polyposis": {"C2": long}}, data=["AAPC"])
    ((_, searched, _),) = read(texts, "AAPC", "polyposis")
    assert searched == winner


@pytest.mark.parametrize(
    ("mention", "count"), [("GALC activity", 2), ("GALC/GALC", 2), ("GALC-1", 2), ("GALC", 1)]
)
def test_what_the_ontology_says_of_more_than_a_short_form_is_heard(mention, count):
    texts = Texts({mention: {"C1": 1.0}, "galactocerebrosidase": {"C2": 0.9}})
    read(texts, mention, "galactocerebrosidase")
    assert len(texts.asked) == count


def test_one_text_with_and_without_a_definition():
    texts = Texts({"CRC": {"C1": 0.9}, "colorectal cancer": {"C2": 0.5}})
    one, other = find(texts, ["CRC"] * 2, ["colorectal cancer", ""], top_k=1)
    assert (one[0].concept_id, other[0].concept_id) == ("C2", "C1")


# Parts
CANCERS = {
    "breast and ovarian cancer": {"B": 0.7, "O": 0.6},
    "breast cancer": {"B": 1.0, "T": 0.5},
    "ovarian cancer": {"O": 0.9},
}


def test_one_text_that_matched_different_names():
    texts = Texts({"ataxia": {"C1": 1.0}, "atrophy": {"C2": 1.0}})
    found = find(texts, ["AT", "AT"], matched_names=["ataxia", "atrophy"])
    assert [one.concept_id for (one,) in found] == ["C1", "C2"]


def test_a_name_in_other_words_answers_before_the_short_form():
    name, long, short = "carpal tunnel, right hand", "right carpal tunnel", "RCT"
    texts = Texts({name: {"C1": 1.0}, long: {"C1": 0.9}, short: {"C2": 1.0}})
    (found,) = find(texts, [short], [long], matched_names=[name])
    assert found[0].concept_id == "C1"
    assert short not in texts.asked


def test_parts_answer_where_they_link_better():
    assert read(Texts(CANCERS), "breast and ovarian cancer") == [
        ("B", "breast cancer", 1),
        ("T", "breast cancer", 1),
        ("O", "ovarian cancer", 2),
    ]


def test_without_split_composites_a_composite_is_searched_whole():
    texts = Texts(CANCERS)
    found = read(texts, "breast and ovarian cancer", split_composites=False)
    assert [searched for _, searched, _ in found] == ["breast and ovarian cancer"] * 2
    assert texts.asked == ["breast and ovarian cancer"]


def test_parts_of_the_long_form():
    texts = Texts(CANCERS)
    found = read(texts, "BOC", "breast and ovarian cancer")
    assert {part for _, _, part in found} == {1, 2}


def test_a_text_that_the_index_has_is_not_taken_apart():
    texts = Texts({**CANCERS, "breast and ovarian cancer": {"BO": 1.0, "B": 0.7}})
    assert read(texts, "breast and ovarian cancer")[0] == ("BO", "breast and ovarian cancer", 0)
    assert texts.asked == ["breast and ovarian cancer"]


def test_a_composite_that_was_annotated_with_all_ids_is_taken_apart():
    known = {"breast and ovarian cancer": {"B": 1.0, "O": 1.0}, "ovarian cancer": {"O": 1.0}}
    found = read(Texts({**CANCERS, **known}), "breast and ovarian cancer")
    assert [(concept, part) for concept, _, part in found] == [("B", 1), ("T", 1), ("O", 2)]


@pytest.mark.parametrize("calibration", [None, Calibration(intercept=-2, score=3, margin=10)])
@pytest.mark.parametrize("top_k", [1, 2])
def test_what_answers_does_not_depend_on_how_many_candidates_are_kept(top_k, calibration):
    known = {"breast and ovarian cancer": {"B": 1.0, "O": 1.0}}
    settings = {"top_k": top_k, "calibration": calibration}
    found = read(Texts({**CANCERS, **known}), "breast and ovarian cancer", **settings)
    kept = [("B", "breast cancer", 1), ("T", "breast cancer", 1)][:top_k]
    assert found == [*kept, ("O", "breast and ovarian cancer", 2)]


def test_a_known_composite_is_as_certain_as_its_text():
    known = {"breast/ovarian ca": {"B": 1.0, "O": 1.0}}
    parts = {"breast ca": {"B": 0.6, "T": 0.5}, "ovarian ca": {"O": 0.7}}
    (found,) = find(Texts(known | parts), ["breast/ovarian ca"])
    assert [(candidate.concept_id, candidate.score, candidate.part) for candidate in found] == [
        ("B", 1.0, 1),
        ("T", 0.5, 1),
        ("O", 1.0, 2),
    ]
    assert [candidate.searched == "breast/ovarian ca" for candidate in found] == [True, False, True]


def test_names_that_differ_by_a_word_are_parts_although_the_whole_is_near():
    names = {"medial condyle": {"M": 1.0}, "lateral condyle": {"L": 1.0}}
    texts = Texts({**names, "medial and lateral condyle": {"M": 0.97, "L": 0.9}})
    assert read(texts, "medial and lateral condyle") == [
        ("M", "medial condyle", 1),
        ("L", "lateral condyle", 2),
    ]


# Calibration
def test_probabilities_do_not_depend_on_how_many_candidates_are_kept():
    texts = Texts({"fever": {"A": 0.9, "B": 0.85}})
    calibration = Calibration(intercept=-2, score=3, margin=10)
    found = [find(texts, ["fever"], top_k=top_k, calibration=calibration)[0] for top_k in (1, 2)]
    assert [len(each) for each in found] == [1, 2]
    assert found[0][0] == found[1][0]
    features = CandidateFeatures(score=0.9, margin=0.05, shared=0, name=0, extra=0, lacking=0)
    assert found[0][0].probability == pytest.approx(calibration.probability(features))


def test_no_candidate_for_nothing():
    assert read(Texts({}), "") == []


@pytest.mark.parametrize(
    ("mentions", "long_forms"), [("fever", [""]), (["fever"], "x"), ([None], [""]), (["a"], [])]
)
def test_anything_but_a_list_of_texts_is_refused(mentions, long_forms):
    with pytest.raises(ConnormError, match="CN006"):
        find(Texts({}), mentions, long_forms)
