"""An explanation shows the scores, the probabilities and the answer that a mention gets."""

import pytest
from nil_settings import nil_below

from spacy_connorm.concepts import NIL
from spacy_connorm.linker.calibration import Calibration, CandidateFeatures
from spacy_connorm.linker.decision import written_id
from spacy_connorm.linker.explanation import explain_mention
from spacy_connorm.linker.linking import REWORDED, candidates_of

FITTED = {"intercept": -2.0, "score": 3.0, "margin": 4.0}


@pytest.mark.parametrize("mention", ["head spinning", "MI", "cold", "hart atack", "", "☃"])
def test_explanation_is_what_happens(make_pipeline, mention):
    normalizer = make_pipeline(synonyms=[("head spinning", "C5")]).get_pipe("concept_normalizer")
    explanation = normalizer.explain(mention)
    (answering,) = [step for step in explanation.steps if step.answers]
    assert [answering.candidates] == normalizer.candidates([mention])
    assert all(candidate.search == answering.search for candidate in answering.candidates)


def test_explanation_tells_each_search_of_the_sieve(make_pipeline):
    nlp = make_pipeline(synonyms=[("chest pain", "C1")], compare_words=False)
    normalizer = nlp.get_pipe("concept_normalizer")
    explanation = normalizer.explain(" chest \n painful")
    assert (explanation.mention, explanation.searched) == (" chest \n painful", "chest painful")
    rows = [(step.search, step.threshold, step.answers) for step in explanation.steps]
    assert rows == [("D-T", 0.98, False), ("OD-T", None, True)]
    assert all(step.candidates[0].text == "chest pain" for step in explanation.steps)
    assert 0.5 < explanation.steps[0].candidates[0].score < 0.95


def test_explanation_keeps_to_the_settings(make_normalizer):
    steps = make_normalizer(top_k=1, types=["Phenomenon"]).explain("cold").steps
    assert [candidate.concept_id for candidate in steps[-1].candidates] == ["C4"]


def test_an_explanation_keeps_the_steps_of_the_way(make_normalizer):
    normalizer = make_normalizer()
    retriever, query = normalizer.lookup.retriever, normalizer.query(top_k=2)
    for mention in ("severe colds", "MI and colds", ""):
        explanation = explain_mention(retriever, mention, query)
        (found,) = candidates_of(retriever, [mention], query)
        answers = [
            step.candidates for part in explanation.parts for step in part.steps if step.answers
        ]
        assert [each.score for own in answers for each in own] == [each.score for each in found]
        assert explanation.interpretations[0].candidates == found


def test_an_explanation_has_the_same_scores(make_normalizer):
    normalizer = make_normalizer()
    explanation = normalizer.explain("severe colds")
    (step,) = (step for step in explanation.steps if step.answers)
    (found,) = normalizer.candidates(["severe colds"])
    assert step.candidates == found


@pytest.fixture
def explain_reworded(make_normalizer):
    """A function that links and explains a mention for which a finder has matched a name with
    another word.
    """

    def explain(**settings):
        normalizer = make_normalizer(compare_words=False, **settings)
        retriever, query = normalizer.lookup.retriever, normalizer.query()
        mention, name = "cardiac attack", "heart attack"
        (candidates,) = candidates_of(retriever, [mention], query, matched_names=[name])
        explanation = explain_mention(retriever, mention, query, matched_name=name)
        assert explanation.interpretations[0].kind == "reworded name"
        assert explanation.interpretations[0].candidates == candidates
        return explanation, candidates

    return explain


def test_the_score_of_a_reworded_name_is_lowered_wherever_it_is_shown(explain_reworded):
    explanation, candidates = explain_reworded()
    assert candidates[0].score == REWORDED
    (answering,) = (step for step in explanation.steps if step.answers)
    assert answering.candidates == candidates
    scores = [candidate.score for step in explanation.steps for candidate in step.candidates]
    assert max(scores) == REWORDED
    thresholds = [step.threshold for step in explanation.steps]
    assert thresholds == [pytest.approx(0.98 * REWORDED), None]


def test_the_probability_of_a_reworded_name_is_that_of_its_lowered_score(explain_reworded):
    explanation, (first, second, *_) = explain_reworded(calibration=FITTED)
    (_, (plain, *_)) = explain_reworded()
    assert first._replace(probability=None) == plain
    (answering,) = (step for step in explanation.steps if step.answers)
    assert answering.candidates[0].probability == first.probability
    margin = first.score - second.score
    expected = Calibration(**FITTED).probability(CandidateFeatures(REWORDED, margin, 1, 1, 0, 0))
    assert first.probability == pytest.approx(expected)
    full = CandidateFeatures(1, 1 - second.score / REWORDED, 1, 1, 0, 0)
    assert first.probability < Calibration(**FITTED).probability(full)


@pytest.mark.parametrize(("score", "kb_id"), [(0.92, "C2"), (0.95, NIL)])
def test_a_reworded_name_is_nil_by_the_score_that_is_shown(explain_reworded, score, kb_id):
    explanation, candidates = explain_reworded(**nil_below(score))
    (answering,) = (step for step in explanation.steps if step.answers)
    assert written_id(candidates, 0.5) == kb_id
    assert written_id(answering.candidates, 0.5) == kb_id


def test_all_steps_of_an_explanation_have_probabilities(make_normalizer):
    explanation = make_normalizer(calibration=FITTED).explain("severe colds")
    for step in explanation.steps:
        assert all(candidate.probability is not None for candidate in step.candidates)
