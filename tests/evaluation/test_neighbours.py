from spacy_connorm.evaluation.neighbours import Neighbour, nearest_texts
from spacy_connorm.evaluation.report import neighbour_section


def texts(found):
    return [(each.rank, each.text, each.concept_ids) for each in found]


def test_texts_not_concepts_are_ranked(lookup):
    found = nearest_texts(lookup, "flu", ranks=(1, 2, 3))
    assert texts(found)[:2] == [(1, "flu", ("C4",)), (2, "the flu", ("C4",))]
    assert found[0].score == 1.0
    assert found[1].score > found[2].score


def test_a_text_of_several_concepts_counts_once(lookup):
    found = nearest_texts(lookup, "CVA", ranks=(1, 2))
    assert found[0].concept_ids == ("C2", "C3")
    assert found[1].text != "CVA"


def test_added_texts_are_ranked_and_withdrawn_ones_are_not(lookup):
    lookup.add_synonyms([("flu season", "C5"), ("Flu", "C5")])
    lookup.remove_synonyms([("the flu", "C4")])
    found = nearest_texts(lookup, "flu", ranks=range(1, 20))
    assert found[0].concept_ids == ("C4", "C5")
    assert found[1][1:3] == (("C5",), "flu season")
    assert "the flu" not in [each.text for each in found]
    assert len({each.text.lower() for each in found}) == len(found)


def test_ranks_beyond_the_last_text_and_unknown_mentions(lookup):
    # twelve texts in O, two more in D
    assert [each.rank for each in nearest_texts(lookup, "flu", ranks=(14, 15))] == [14]
    assert nearest_texts(lookup, "\u4e2d") == []


def test_encoders_stand_side_by_side():
    near = {
        "one": [Neighbour(1, ("A", "B"), "a text", 0.98765), Neighbour(5, ("C",), "c", 0.5)],
        "two": [],
    }
    title, rows = neighbour_section("a mention", near)
    assert title == "Texts near 'a mention'"
    assert rows[0] == {
        "rank": 1,
        "one concept": "A|B",
        "one text": "a text",
        "one score": "0.988",
        "two concept": None,
        "two text": None,
        "two score": None,
    }
    assert [row["rank"] for row in rows] == [1, 5]
    assert "concept" in neighbour_section("m", {"one": near["one"]}).rows[0]
