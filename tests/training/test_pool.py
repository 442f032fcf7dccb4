"""What becomes of an ontology and of annotated mentions."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spacy_connorm import Concept
from spacy_connorm.errors import ConnormError, ConnormWarning

from .conftest import make_mention as mention

CONCEPTS = (
    Concept("C1", "heart disease"),
    Concept("C2", "heart attack", ("myocardial infarction", "MI"), alt_ids=("OMIM:2",)),
    Concept("C3", "common cold", ("cold",)),
    Concept("C4", "low temperature", ("cold",)),
)


def texts_of(pool, concept_id):
    """The texts that are drawn of a concept, each with how often."""
    drawn = [pool.texts[row] for row in pool.members[pool.concept_ids.index(concept_id)]]
    return {text: drawn.count(text) for text in drawn}


def concepts_of(pool, text):
    return [pool.concept_ids[number] for number in pool.concepts[pool.texts.index(text)]]


@pytest.fixture
def make(gather):
    """A function that gathers the concepts above and these mentions."""
    return lambda *mentions, concepts=CONCEPTS, **settings: gather(concepts, mentions, **settings)


def test_names_of_the_ontology_are_drawn_once(make):
    pool, report = make()
    assert texts_of(pool, "C2") == {"heart attack": 1, "myocardial infarction": 1, "MI": 1}
    assert (report.concepts, report.single_text_concepts) == (4, 1)
    assert (report.texts, report.from_ontology, report.from_data) == (7, 8, 0)


def test_a_text_of_several_concepts_has_all_of_them(make):
    pool, report = make(mention("cold", "C1"))
    assert concepts_of(pool, "cold") == ["C1", "C3", "C4"]
    assert report.ambiguous_texts == 1


def test_what_the_encoder_cannot_tell_apart_is_one_text(make):
    pool, report = make(mention("mi", "C2"), mention("HEART\tattack", "C1"))
    assert texts_of(pool, "C2") == {"heart attack": 1, "myocardial infarction": 1, "MI": 2}
    assert concepts_of(pool, "heart attack") == ["C1", "C2"]
    assert report.texts == 7


def test_annotations_are_drawn_once_however_often_they_occur(make):
    pool, report = make(*[mention("AMI", "C2")] * 3, mention("MI", "C2"))
    assert texts_of(pool, "C2") == {
        "heart attack": 1,
        "myocardial infarction": 1,
        "MI": 2,
        "AMI": 1,
    }
    assert (report.mentions, report.data_texts, report.from_data, report.repeats) == (4, 2, 2, 1)


def test_alternate_ids_name_their_concept(make):
    pool, report = make(mention("AMI", "OMIM:2"), mention("infarct", "C2|OMIM:2"))
    assert {"AMI", "infarct"} <= set(texts_of(pool, "C2"))
    assert report.unknown_ids == report.composite_mentions == 0


def test_an_id_comes_before_an_alternate_id(make):
    concepts = [Concept("C1", "a", ("b",), alt_ids=("C2", "X")), Concept("C2", "c", alt_ids=("X",))]
    pool, _ = make(mention("d", "C2"), mention("e", "X"), concepts=concepts)
    assert texts_of(pool, "C2") == {"c": 1, "d": 1}
    assert texts_of(pool, "C1") == {"a": 1, "b": 1, "e": 1}


@pytest.mark.parametrize("kb_id", ["C2|C3", "C2+C3", "C2|-1", "C2|CUI-less", "X|Y", "C2|X"])
def test_composites_are_left_out(make, kb_id):
    pool, report = make(mention("heart attack and cold", kb_id))
    assert "heart attack and cold" not in pool.texts
    assert (report.composite_mentions, report.unknown_ids, report.data_texts) == (1, 0, 0)


@pytest.mark.parametrize("kb_id", ["", "-1", "NIL", "CUI-less"])
def test_mentions_without_a_concept_are_left_out(make, kb_id):
    pool, report = make(mention("something", kb_id))
    assert "something" not in pool.texts
    assert (report.nil_mentions, report.data_texts) == (1, 0)


def test_ids_that_the_ontology_lacks_make_concepts(make):
    mentions = [mention("rash", "X1"), mention("skin rash", "X1"), mention("itch", "Y")]
    with pytest.warns(ConnormWarning, match=r"CNW810\] 2 .*'X1'"):
        pool, report = make(*mentions)
    assert texts_of(pool, "X1") == {"rash": 1, "skin rash": 1}
    assert (report.unknown_ids, report.unknown_mentions) == (2, 3)


@pytest.mark.parametrize("text", ["", " \t", "\x00", "\ud800"])
def test_empty_texts_are_left_out(make, text):
    concepts = [*CONCEPTS, Concept("C9", text or " ")]
    pool, report = make(mention(text, "C2"), concepts=concepts)
    assert report.empty_texts == 2
    assert "" not in pool.texts
    assert "C9" not in pool.concept_ids


def test_texts_of_which_the_encoder_sees_nothing_are_left_out(gather):
    concepts = [Concept("C1", "cold", ("???", "flu"))]
    pool, report = gather(
        concepts, inputs=lambda texts: [text.strip("?").encode() for text in texts]
    )
    assert pool.texts == ["cold", "flu"]
    assert report.empty_texts == 1


def test_data_is_repeated_up_to_its_share(make):
    pool, report = make(mention("AMI", "C2"), mention("flu", "C3"), data_share=5 / 8)
    assert (report.from_ontology, report.from_data, report.repeats) == (8, 5, 2.5)
    assert sorted([texts_of(pool, "C2")["AMI"], texts_of(pool, "C3")["flu"]]) == [2, 3]


def test_data_is_never_drawn_less_than_once(make):
    pool, report = make(mention("AMI", "C2"), mention("flu", "C3"), data_share=0.1)
    assert report.from_data == 2
    assert texts_of(pool, "C3")["flu"] == 1


@given(count=st.integers(1, 40), share=st.floats(0.01, 20), names=st.integers(2, 30))
def test_repetitions_add_up_and_are_even(gather, count, share, names):
    aliases = tuple(f"name {number}" for number in range(1, names))
    mentions = [mention(f"mention {number}", "C1") for number in range(count)]
    pool, report = gather([Concept("C1", "name 0", aliases)], mentions, data_share=share)
    times = [number for text, number in texts_of(pool, "C1").items() if text[0] == "m"]
    assert sum(times) == report.from_data == max(count, round(share * names))
    assert max(times) - min(times) <= 1


def test_without_the_ontology_its_names_of_annotated_concepts_stay(make):
    pool, report = make(mention("AMI", "C2"), use_ontology=False)
    assert pool.concept_ids == ["C2"]
    assert set(texts_of(pool, "C2")) == {"heart attack", "myocardial infarction", "MI", "AMI"}
    assert (report.concepts, report.from_ontology, report.from_data) == (1, 3, 1)


def test_without_the_ontology_it_still_tells_what_is_not_a_negative(make):
    pool, _ = make(mention("low temperature", "C2"), mention("flu", "C3"), use_ontology=False)
    assert concepts_of(pool, "cold") == ["C3", "C4"]
    assert concepts_of(pool, "low temperature") == ["C2", "C4"]
    assert texts_of(pool, "C4") == {}


names = st.text(alphabet="abAB ", max_size=3)
ids = st.sampled_from(["C1", "C2", "C3", "A1", "C1|C2", "-1", "X"])


@given(
    concepts=st.lists(st.tuples(st.sampled_from(["C1", "C2", "C3"]), st.lists(names)), max_size=5),
    mentions=st.lists(st.tuples(names, ids), max_size=10),
    use_ontology=st.booleans(),
    data_share=st.sampled_from([None, 1 / 3, 2.0]),
)
@pytest.mark.filterwarnings("ignore::spacy_connorm.errors.ConnormWarning")
def test_whatever_comes_the_pool_is_consistent(
    inputs, gather, concepts, mentions, use_ontology, data_share
):
    concepts = [Concept(i, "a", tuple(each), alt_ids=("A1",)) for i, each in concepts]
    try:
        settings = {"use_ontology": use_ontology, "data_share": data_share}
        pool, report = gather(concepts, [mention(*each) for each in mentions], **settings)
    except ConnormError as error:
        assert str(error).startswith("[CN810]")
        return
    assert len(set(inputs(pool.texts))) == len(pool.texts) == len(pool.concepts)
    assert len(set(pool.concept_ids)) == len(pool.concept_ids) == len(pool.members)
    for numbers in pool.concepts:
        assert numbers and list(numbers) == sorted(set(numbers))
    for number, rows in enumerate(pool.members):
        assert rows.dtype == "int32"
        assert list(rows) == sorted(rows)
        assert all(number in pool.concepts[row] for row in rows)
    drawn = [row for rows in pool.members for row in rows]
    assert set(drawn) == set(range(len(pool.texts)))
    assert len(drawn) == report.from_ontology + report.from_data


def test_a_gathering_is_the_same_each_time(make):
    mentions = [mention("AMI", "C2"), mention("flu", "C3")]
    (first, _), (second, _) = make(*mentions, data_share=1), make(*mentions, data_share=1)
    assert first.texts == second.texts and first.concepts == second.concepts
    assert [list(rows) for rows in first.members] == [list(rows) for rows in second.members]


@pytest.mark.parametrize(
    "concepts",
    [[], [Concept("C1", "cold"), Concept("C2", "flu")], [Concept("C1", "Cold", ("cold", " COLD"))]],
)
def test_an_ontology_without_synonyms_is_refused(make, concepts):
    with pytest.raises(ConnormError, match="CN810"):
        make(concepts=concepts)


def test_synonyms_may_come_from_mentions_alone(make):
    _, report = make(mention("flu", "C1"), concepts=[Concept("C1", "cold")])
    assert report.single_text_concepts == 0


def test_neither_ontology_nor_mentions_is_refused(make):
    with pytest.raises(ConnormError, match=r"CN810.* 2 annotated"):
        make(mention("cold", ""), mention("colds", "C3|C4"), use_ontology=False)


@pytest.mark.parametrize("share", [0, -1, float("nan"), float("inf")])
def test_a_share_is_a_positive_number(make, share):
    with pytest.raises(ConnormError, match="CN006.*data_share"):
        make(data_share=share)


def test_the_report_prints(make):
    lines = dict(make(mention("AMI", "C2"), mention("x", ""), data_share=1)[1].lines())
    assert lines["Times each of them is drawn"] == 8
    assert lines["Mentions left out: no concept"] == 1
    assert "Annotated mentions" not in dict(make()[1].lines())
