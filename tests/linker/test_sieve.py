import itertools
import pickle
from types import SimpleNamespace

import numpy as np
import pytest

from spacy_connorm.concepts import Concept
from spacy_connorm.errors import ConnormError
from spacy_connorm.index.backends.exact import ExactIndex
from spacy_connorm.index.builder.build import write_index
from spacy_connorm.index.concept_index import ConceptIndex
from spacy_connorm.index.overlay import SynonymOverlay
from spacy_connorm.index.query import Query, run_search
from spacy_connorm.index.search import SEARCHES, Search
from spacy_connorm.linker.sieve import Sieve, name_candidates, run_sieve

PLACES = {
    "cold": [1.0, 0.0, 0.0],
    "common cold": [0.9, 0.3, 0.0],
    "low temperature": [0.0, 1.0, 0.1],
    "chill": [0.1, 0.9, 0.3],
    "catarrh": [0.8, 0.5, 0.0],
    "fever": [0.0, 0.0, 1.0],
}
CONCEPTS = [
    Concept("C1", "common cold", ("cold",)),
    Concept("C2", "low temperature", ("cold",)),
    Concept("C3", "fever"),
]
SYNONYMS = [("chill", "C2"), ("catarrh", "C1"), ("cold", "C2")]
QUERY = np.asarray([[0.1, 0.9, 0.3], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]], dtype="float32")


@pytest.fixture(scope="module")
def index(tmp_path_factory):
    path = tmp_path_factory.mktemp("sieve") / "index"
    encoder = SimpleNamespace(
        inputs=lambda texts: [text.encode() for text in texts],
        encode=lambda texts: np.asarray([PLACES[text] for text in texts], dtype="float32"),
        fingerprint=lambda: "places",
    )
    write_index(
        path,
        CONCEPTS,
        SYNONYMS,
        encoder,
        searches=SEARCHES,
        backend=ExactIndex(),
        clean=str.strip,
    )
    return ConceptIndex(path, ExactIndex())


@pytest.fixture
def query():
    return Query(QUERY / np.linalg.norm(QUERY, axis=1, keepdims=True), top_k=2)


def test_first_search_over_its_threshold_answers_else_the_last(index, query):
    answers = run_sieve(Sieve(), index, SynonymOverlay(index), query)
    assert [answer.search for answer in answers] == ["D-T", "D-T", "OD-T"]
    named = name_candidates(answers, index, ["the mention"] * len(answers))
    assert [candidates[0].concept_id for candidates in named] == ["C2", "C2", "C3"]
    assert [candidates[0].text for candidates in named] == ["chill", "cold", "fever"]
    assert [candidates[0].search for candidates in named] == ["D-T", "D-T", "OD-T"]


@pytest.mark.parametrize(
    "first, second", list(itertools.product(["D-T", "D-C"], ["O-T", "O-C", "OD-T", "OD-C"]))
)
@pytest.mark.parametrize("threshold", [-1.0, 0.95, 1.0])
def test_the_eight_sieves_are_their_searches(index, query, first, second, threshold):
    overlay = SynonymOverlay(index)
    firsts, seconds = (
        run_search(Search(search), index, overlay, query) for search in (first, second)
    )
    answers = run_sieve(Sieve([first, second], [threshold]), index, overlay, query)
    for one, other, answer in zip(firsts, seconds, answers, strict=True):
        passed = one[0].score >= threshold
        assert answer == ((first, one) if passed else (second, other))


@pytest.mark.parametrize("search", SEARCHES)
def test_a_search_alone_always_answers(index, query, search):
    overlay = SynonymOverlay(index)
    answers = run_sieve(Sieve([search], []), index, overlay, query)
    assert [answer.hits for answer in answers] == run_search(search, index, overlay, query)


def test_ties_go_to_data_then_to_the_preferred_name_then_to_the_id(index, query):
    overlay = SynonymOverlay(index)
    cold = query.only([1])
    (over_ontology,) = name_candidates(
        run_sieve(Sieve(["O-T"], []), index, overlay, cold), index, ["cold"]
    )
    assert [each.concept_id for each in over_ontology] == ["C1", "C2"]
    (over_both,) = name_candidates(
        run_sieve(Sieve(["OD-T"], []), index, overlay, cold), index, ["cold"]
    )
    assert [each.concept_id for each in over_both] == ["C2", "C1"]
    assert over_both[0].score == over_both[1].score == 1.0


def test_no_mentions_no_answers(index, query):
    assert run_sieve(Sieve(), index, SynonymOverlay(index), query.only([])) == []


def test_unknown_search_lists_the_known():
    with pytest.raises(ConnormError, match=r"CN118.*'X-T'.*OD-C"):
        Sieve(["X-T"], [])


@pytest.mark.parametrize(
    "searches, thresholds", [([], []), (["O-T"], [0.9]), (["D-T", "O-T"], []), ([], [0.9])]
)
def test_one_threshold_for_each_search_but_the_last(searches, thresholds):
    with pytest.raises(ConnormError, match="CN501"):
        Sieve(searches, thresholds)


@pytest.mark.parametrize("threshold", [95, 1.01, -2.0])
def test_a_threshold_is_a_cosine(threshold):
    with pytest.raises(ConnormError, match="CN006"):
        Sieve(["D-T", "OD-T"], [threshold])


def test_lists_of_a_config_become_tuples():
    sieve = Sieve(["D-T", "OD-T"], [0.98])
    assert (sieve.searches, sieve.thresholds) == (("D-T", "OD-T"), (0.98,))
    assert sieve == Sieve() and hash(sieve) == hash(Sieve())
    assert sieve.steps == (("D-T", 0.98), ("OD-T", -np.inf))
    assert pickle.loads(pickle.dumps(sieve)).steps == sieve.steps


def test_each_step_is_asked_only_for_what_is_left():
    scores = {"D-T": [0.9, 0.1, 0.5], "D-C": [1.0, 0.7, 0.2], "OD-T": [0.0, 0.0, 0.0]}
    asked = []

    def ask(search, threshold, places):
        asked.append((search, places))
        return [scores[search][place] for place in places]

    sieve = Sieve(["D-T", "D-C", "OD-T"], [0.9, 0.7])
    assert sieve.sift(3, ask, float) == [(0, 0.9), (1, 0.7), (2, 0.0)]
    assert asked == [("D-T", [0, 1, 2]), ("D-C", [1, 2]), ("OD-T", [2])]
    assert sieve.sift(0, ask, float) == []
    assert sieve.choose(scores, float) == [0.9, 0.7, 0.0]
