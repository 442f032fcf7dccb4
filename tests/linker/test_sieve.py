import itertools
import pickle

import numpy as np
import pytest

from spacy_connorm.concepts import Concept
from spacy_connorm.encoders.protocol import make_encoder
from spacy_connorm.encoders.shims import EncoderShim
from spacy_connorm.errors import ConnormError
from spacy_connorm.index.backends.exact import ExactIndex
from spacy_connorm.index.builder import write_index
from spacy_connorm.index.concept_index import ConceptIndex
from spacy_connorm.index.hits import run_search
from spacy_connorm.index.overlay import SynonymOverlay
from spacy_connorm.index.search import SEARCHES, Search
from spacy_connorm.linker.batch import SearchBatch
from spacy_connorm.linker.rescoring import OtherWords
from spacy_connorm.linker.sieve import Sieve, run_sieve

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
TEXTS = ["chills", "cold", "fevers"]
_RAW = np.asarray([[0.1, 0.9, 0.3], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]], dtype="float32")
VECTORS = _RAW / np.linalg.norm(_RAW, axis=1, keepdims=True)


class PlacesShim(EncoderShim):
    width = 3
    load = contents = restored = None  # it is never loaded or saved

    def inputs(self, texts):
        return [text.encode() for text in texts]

    def encode(self, inputs):
        return np.asarray([PLACES[key.decode()] for key in inputs], dtype="float32")


ENCODER = make_encoder("places", PlacesShim())


@pytest.fixture(scope="module")
def index(tmp_path_factory):
    path = tmp_path_factory.mktemp("sieve") / "index"
    write_index(
        path,
        CONCEPTS,
        SYNONYMS,
        ENCODER,
        searches=SEARCHES,
        backend=ExactIndex(),
        language="en",
    )
    return ConceptIndex(path, ExactIndex())


def batch_of(texts, vectors, index):
    return SearchBatch(texts, np.full(len(texts), -1), vectors, index, SynonymOverlay(index))


@pytest.fixture
def batch(index):
    return batch_of(TEXTS, VECTORS, index)


def test_first_search_over_its_threshold_answers_else_the_last(batch):
    found = run_sieve(batch, Sieve(), top_k=2)
    best = [(each[0].concept_id, each[0].text, each[0].search) for each in map(found.get, TEXTS)]
    assert best == [("C2", "chill", "D-T"), ("C2", "cold", "D-T"), ("C3", "fever", "OD-T")]


@pytest.mark.parametrize(
    "first, second", list(itertools.product(["D-T", "D-C"], ["O-T", "O-C", "OD-T", "OD-C"]))
)
@pytest.mark.parametrize("threshold", [-1.0, 0.95, 1.0])
def test_the_eight_sieves_are_their_searches(batch, first, second, threshold):
    firsts, seconds = (run_sieve(batch, Sieve([each], []), top_k=2) for each in (first, second))
    found = run_sieve(batch, Sieve([first, second], [threshold]), top_k=2)
    for text in TEXTS:
        passed = firsts[text][0].score >= threshold
        assert found[text] == (firsts if passed else seconds)[text]


@pytest.mark.parametrize("name", SEARCHES)
def test_a_search_alone_always_answers(batch, name):
    found = run_sieve(batch, Sieve([name], []), top_k=2)
    hits = run_search(Search(name), batch.index, batch.overlay, VECTORS, top_k=2)
    assert [[each.score for each in found[text]] for text in TEXTS] == [
        [-hit.distance for hit in own] for own in hits
    ]


def test_ties_go_to_data_then_to_the_preferred_name_then_to_the_id(batch):
    over_ontology = run_sieve(batch, Sieve(["O-T"], []), top_k=2)["cold"]
    assert [candidate.concept_id for candidate in over_ontology] == ["C1", "C2"]
    over_both = run_sieve(batch, Sieve(["OD-T"], []), top_k=2)["cold"]
    assert [candidate.concept_id for candidate in over_both] == ["C2", "C1"]
    assert over_both[0].score == over_both[1].score == 1.0


def test_only_for_texts_that_the_index_lacks_more_concepts_are_found_than_wanted(
    batch, monkeypatch
):
    asked = []

    def search(*arguments, top_k, **others):
        asked.append((len(arguments[3]), top_k))
        return run_search(*arguments, top_k=top_k, **others)

    monkeypatch.setattr("spacy_connorm.linker.sieve.run_search", search)
    batch.rows[1] = 0  # "cold" is a text of the index
    found = run_sieve(batch, Sieve(["OD-T"], []), [OtherWords()], top_k=2)
    assert asked == [(1, 2), (2, OtherWords.depth)]
    assert list(found) == TEXTS and set(map(len, found.values())) == {2}


def test_where_nothing_is_found_nothing_is_rescored(tmp_path):
    write_index(
        tmp_path / "index",
        CONCEPTS,
        [],
        ENCODER,
        searches=["D-T", "O-T"],
        backend=ExactIndex(),
        language="en",
    )
    rescored = []

    class Rescorer(OtherWords):
        def __call__(self, results):
            rescored.append(results.search)
            return results.hits

    index = ConceptIndex(tmp_path / "index", ExactIndex())
    run_sieve(batch_of(TEXTS, VECTORS, index), Sieve(["D-T", "O-T"]), [Rescorer()], top_k=2)
    assert rescored == ["O-T"]


def test_no_mentions_no_answers(index):
    assert run_sieve(batch_of([], None, index), Sieve(), top_k=2) == {}


def test_unknown_search_lists_the_known():
    with pytest.raises(ConnormError, match=r"CN118.*'X-T'.*OD-C"):
        Sieve(["X-T"], [])


@pytest.mark.parametrize(
    "searches, thresholds", [([], []), (["O-T"], [0.9]), (["D-T", "O-T"], []), ([], [0.9])]
)
def test_one_threshold_for_each_search_but_the_last(searches, thresholds):
    with pytest.raises(ConnormError, match="CN006.*one for each search"):
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


def test_each_search_answers_what_those_before_it_leave():
    scores = {"D-T": [0.9, 0.1, 0.5], "D-C": [1.0, 0.7, 0.2], "OD-T": [0.0, 0.0, 0.0]}
    sieve = Sieve(["D-T", "D-C", "OD-T"], [0.9, 0.7])
    assert sieve.choose(scores, float) == [0.9, 0.7, 0.0]
