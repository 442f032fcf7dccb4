import pytest

from spacy_connorm.concepts import Candidate
from spacy_connorm.encoders.normalized import NormalizedEncoder
from spacy_connorm.errors import ConnormError
from spacy_connorm.evaluation.grid import CompleteIndex, grid_sieves, search_all
from spacy_connorm.index.search import SEARCHES
from spacy_connorm.linker.sieve import Sieve, best_cosine

MENTIONS = ["heart attacks", "CVA", "flu", "", "cva", "Infarction", "\u4e2d", "brain attack"]


def exact(found):
    return [[(each.concept_id, each.score, each.text) for each in list_] for list_ in found]


def test_the_fourteen_rows_stand_in_the_order_of_the_paper():
    assert list(grid_sieves(0.9)) == [
        *("O-T", "O-C", "D-T", "D-C", "OD-T", "OD-C"),
        *("D-T+O-T", "D-T+O-C", "D-C+O-T", "D-C+O-C"),
        *("D-T+OD-T", "D-T+OD-C", "D-C+OD-T", "D-C+OD-C"),
    ]
    assert grid_sieves(0.9)["D-C+O-T"] == Sieve(["D-C", "O-T"], [0.9])
    with pytest.raises(ConnormError, match="CN006"):
        grid_sieves(1.5)


@pytest.mark.parametrize("change", ["nothing", "added", "removed"])
def test_an_index_without_means_finds_what_one_built_with_them_does(lookup, built, change):
    for each in (lookup, built):
        if change == "added":
            each.add_synonyms([("brain infarction", "C2")])
        if change == "removed":
            each.remove_synonyms([("flu", "C4")])
    found = search_all(lookup, MENTIONS, top_k=4)
    assert list(found) == list(SEARCHES)
    for search in SEARCHES:
        assert exact(found[search]) == exact(built.candidates(MENTIONS, search=search, top_k=4))


def test_every_sieve_answers_as_the_pipeline_would(lookup, built):
    found = search_all(lookup, MENTIONS, top_k=4)
    for sieve in grid_sieves(0.7).values():
        built.sieve = sieve
        assert sieve.choose(found, best_cosine) == built.candidates(MENTIONS, top_k=4)


def test_a_mention_is_encoded_once_and_no_text_of_the_index_is(lookup, monkeypatch):
    encoded, encode = [], NormalizedEncoder.encode

    def count(encoder, texts):
        encoded.extend(texts)
        return encode(encoder, texts)

    monkeypatch.setattr(NormalizedEncoder, "encode", count)
    search_all(lookup, MENTIONS, top_k=4)
    # "CVA" and "cva" are one to this encoder, which lower-cases; the empty one is not asked.
    assert len(encoded) == len({text.lower() for text in MENTIONS}) - 1


def test_a_search_stays_within_types_and_branches(lookup):
    found = search_all(lookup, ["flu"], top_k=4, branches=["C1"])
    assert {each.concept_id for lists in found.values() for each in lists[0]} == {"C1"}
    with pytest.raises(ConnormError, match="CN407"):
        search_all(lookup, ["flu"], top_k=4, branches=["C9"])


def test_the_index_itself_stays_as_it_was(lookup):
    CompleteIndex(lookup.index).searcher("OD-C")
    with pytest.raises(ConnormError, match="CN408"):
        lookup.index.searcher("OD-C")


def test_the_last_search_answers_anyway():
    weak = [Candidate("A", "A", 0.5, "a", "D-T")]
    found = {"D-T": [weak, []], "O-T": [[], []]}
    assert Sieve(["D-T", "O-T"], [0.5]).choose(found, best_cosine) == [weak, []]
    assert Sieve(["D-T", "O-T"], [0.6]).choose(found, best_cosine) == [[], []]
