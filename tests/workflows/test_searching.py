import pytest
import spacy

from spacy_connorm.concepts import Candidate
from spacy_connorm.errors import ConnormError
from spacy_connorm.workflows import explain, search


@pytest.fixture(scope="module")
def nlp(demo_index):
    return spacy.load(demo_index)


def test_candidates_of_each_mention(demo_index, capsys):
    found = search(str(demo_index), ["hart attack", " "], top_k=2)
    assert [[each.concept_id for each in candidates][:1] for candidates in found] == [
        ["DEMO:0000006"],
        [],
    ]
    assert len(found[0]) == 2 and isinstance(found[0][0], Candidate)
    assert capsys.readouterr() == ("", "")


def test_a_loaded_pipeline_is_asked(nlp):
    assert search(nlp, ("heart attack",)) == search(nlp, ["heart attack"])
    assert len(search(nlp, ["heart attack"])[0]) == 10


def test_one_search_alone(nlp):
    assert search(nlp, ["flu"], search="D-T") == [[]]
    ((best,),) = search(nlp, ["heart attack"], search="O-T", top_k=1)
    assert (best.concept_id, best.score, best.search) == ("DEMO:0000006", 1.0, "O-T")


def test_one_search_alone_splits_composites_too(nlp):
    composite = ["influenza and heart attack"]
    (found,) = search(nlp, composite, search="O-T", top_k=1)
    assert (
        found == nlp.get_pipe("concept_normalizer").candidates(composite, search="O-T", top_k=1)[0]
    )
    assert [each.part for each in found] == [1, 2]


def test_types_and_branches(nlp):
    for one_search in (None, "O-T"):
        ((drug,),) = search(nlp, ["MS"], types=["drug"], top_k=1, search=one_search)
        ((valve,),) = search(nlp, ["MS"], branches=["DEMO:0000005"], top_k=1, search=one_search)
        assert (drug.name, valve.name) == ("morphine", "mitral stenosis")


def test_each_search_is_explained(nlp):
    (explanation,) = explain(nlp, [" hart  attack"], top_k=1)
    assert explanation.searched == "hart attack"
    assert [(step.search, step.answers) for step in explanation.steps] == [
        ("D-T", False),
        ("OD-T", True),
    ]


def test_each_part_of_a_composite_is_explained(nlp):
    (explanation,) = explain(nlp, ["flu and heart attack"], top_k=1)
    assert [part.searched for part in explanation.parts] == ["flu", "heart attack"]
    for part, candidates in zip(
        explanation.parts, explanation.interpretations[0].parts, strict=True
    ):
        (answering,) = (step for step in part.steps if step.answers)
        assert answering.candidates == candidates
    assert explanation.steps is explanation.parts[0].steps


def test_an_explanation_tells_codes(nlp):
    (explanation,) = explain(nlp, ["flu and heart attack"], code_systems=["DEMO"])
    steps = [step for part in explanation.parts for step in part.steps]
    found = [each for step in steps for each in step.candidates]
    found += [each for reading in explanation.interpretations for each in reading.candidates]
    assert found and all(
        each.codes == {"DEMO": [each.concept_id.removeprefix("DEMO:")]} for each in found
    )


@pytest.mark.parametrize(
    ("pipeline", "options", "code"),
    [
        ("nowhere", {}, "CN700"),
        (".", {}, "CN701"),
        (None, {"component": "ner"}, "CN704"),
        (None, {"types": ["planet"]}, "CN406"),
        (None, {"types": "drug"}, "CN006"),
        (None, {"branches": ["C1"]}, "CN407"),
        (None, {"search": "O-C"}, "CN408"),
        (None, {"search": "best"}, "CN118"),
    ],
)
def test_bad_input(nlp, tmp_path, monkeypatch, pipeline, options, code):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ConnormError, match=code):
        search(pipeline or nlp, ["flu"], **options)


def test_one_text_in_no_list_is_refused(nlp):
    for ask in (search, explain):
        with pytest.raises(ConnormError, match="CN006.*a list of texts"):
            ask(nlp, "flu")


@pytest.mark.parametrize("wrong", [None, 3, ["cold"]])
def test_only_texts_and_spans_are_explained(nlp, wrong):
    with pytest.raises(ConnormError, match="CN006.*`mention` must be a text or a span"):
        nlp.get_pipe("concept_normalizer").explain(wrong)
    with pytest.raises(ConnormError, match="CN006.*`mention` must be a text or a span"):
        nlp.get_pipe("concept_normalizer").explain(nlp("a cold"))
