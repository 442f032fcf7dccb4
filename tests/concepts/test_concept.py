import pytest

from spacy_connorm.concepts import Candidate, Concept, merge
from spacy_connorm.concepts.concept import by_part
from spacy_connorm.errors import ConnormError


@pytest.mark.parametrize(
    "field", ["aliases", "types", "parents", "alt_ids", "xrefs", "narrow", "broad", "related"]
)
def test_string_in_the_place_of_a_tuple(field):
    with pytest.raises(ConnormError, match=f"CN006.*{field}"):
        Concept("T:1", "one", **{field: ("two")})


def test_records_are_read_back_and_leave_out_what_is_empty():
    concept = Concept("T:1", "one", ("uno",), parents=("T:0",), broad=("uno",))
    record = concept.to_dict()
    assert record.keys() == {"concept_id", "canonical_name", "aliases", "types", "parents", "broad"}
    assert Concept.from_dict(record | {"unknown": 1, "xrefs": None}) == concept
    assert Concept.from_dict(record | {"concept_id": 7, "aliases": [" uno ", " "]}) == (
        Concept("7", "one", ("uno",), parents=("T:0",), broad=("uno",))
    )


@pytest.mark.parametrize(
    ("record", "code"),
    [
        ([], "CN006.*record"),
        ({"concept_id": True}, "CN006.*concept_id"),
        ({"concept_id": "T:1", "canonical_name": ["one"]}, "CN006.*canonical_name"),
        ({"concept_id": "T:1", "canonical_name": "one", "aliases": ["a", 1]}, "CN006.*aliases"),
        ({"concept_id": "T:1", "aliases": ["a"]}, "CN101.*canonical_name"),
        ({"canonical_name": "one"}, "CN101.*concept_id"),
        ({"concept_id": "NIL", "canonical_name": "one"}, "CN102.*'NIL'"),
        ({"concept_id": " CUI-less", "canonical_name": "one"}, "CN102.*'CUI-less'"),
        ({"concept_id": -1, "canonical_name": "one"}, "CN102.*'-1'"),
    ],
)
def test_records_of_another_form_are_refused(record, code):
    with pytest.raises(ConnormError, match=code):
        Concept.from_dict(record)


def test_a_merged_concept_has_the_names_of_both_and_exact_ones_stay_exact():
    first = Concept("T:1", "one", ("uno", "eins"), narrow=("uno", "eins"))
    second = Concept("T:2", "uno", ("un",), definition="The first.", related=("un",))
    merged = merge(first, second)
    assert (merged.concept_id, merged.names) == ("T:1", ("one", "uno", "eins", "un"))
    assert (merged.narrow, merged.related) == (("eins",), ("un",))
    assert merged.definition == "The first."
    assert merged.exact_names == ("one", "uno")


def test_candidates_by_part():
    found = [
        Candidate(name, name, score, name, "O-C", part=part)
        for name, score, part in (("A", 0.9, 1), ("B", 0.8, 1), ("C", 0.7, 2))
    ]
    assert by_part(found) == [found[:2], found[2:]]
    whole = [candidate._replace(part=0) for candidate in found]
    assert by_part(whole) == [whole]
    assert by_part([]) == []
