import pytest

from spacy_connorm.concepts import Candidate
from spacy_connorm.errors import ConnormError
from spacy_connorm.linker.document_context import raise_certain
from spacy_connorm.linker.explanation import Interpretation


def answer(text, *found):
    texts = text if isinstance(text, tuple) else (text,)
    parts = tuple(
        [
            Candidate(concept, concept, score, "", "O-T", searched=text)
            for concept, score in each.items()
        ]
        for each, text in zip(found, texts, strict=True)
    )
    return Interpretation("parts" if len(parts) > 1 else "as written", texts, parts)


def ranked(answers, bonus=0.05):
    return [
        [(each.concept_id, round(each.score, 5)) for each in raised.candidates]
        for raised in raise_certain(answers, bonus)
    ]


CERTAIN = answer("hypertension", {"H": 1.0, "O": 0.9})
UNCERTAIN = answer("hypertensive", {"E": 0.72, "H": 0.7})


def test_certain_links_raise_the_same_concept():
    assert ranked([UNCERTAIN, CERTAIN]) == [[("H", 0.75), ("E", 0.72)], [("H", 1.0), ("O", 0.9)]]


@pytest.mark.parametrize(
    "other",
    [
        answer("hypertension", {"H": 0.79, "O": 0.5}),
        answer("hypertension", {"H": 0.9, "O": 0.86}),
        answer("hypertension", {"X": 1.0}),
        answer("", {}),
    ],
    ids=["low", "rivalled", "another concept", "nothing"],
)
def test_other_links_raise_nothing(other):
    assert raise_certain([UNCERTAIN, other], 0.05)[0] == UNCERTAIN


def test_certain_mentions_and_longer_ones_stay():
    sure = answer("high pressure", {"E": 0.85, "H": 0.8})
    longer = answer("hypertensive crisis", {"E": 0.72, "H": 0.7})
    assert raise_certain([sure, longer, CERTAIN], 0.05) == [sure, longer, CERTAIN]


def test_parts_count_and_stay():
    parts = answer(("hypertension", "stroke"), {"H": 1.0}, {"S": 0.5, "E": 0.48})
    stroke = answer("stroke", {"E": 1.0})
    raised = raise_certain([parts, UNCERTAIN, stroke], 0.05)
    assert raised[0] == parts
    assert [each.concept_id for each in raised[1].candidates] == ["E", "H"]
    assert [each.score for each in raised[1].candidates] == pytest.approx([0.77, 0.75])


def test_scores_stay_at_most_one_and_ties_are_broken():
    tied = answer("CD", {"A": 1.0, "H": 1.0})
    assert ranked([tied, CERTAIN])[0] == [("H", 1.0), ("A", 1.0)]


DOCUMENT = "heart disease MI cold"


def test_a_document_depends_on_itself_alone(make_pipeline):
    nlp, plain = (make_pipeline(document_context=bonus) for bonus in (0.5, 0.0))
    texts = ["cold", DOCUMENT, "MI", "cold vertigo"]

    def found(nlp, texts, **settings):
        docs = nlp.pipe(texts, **settings)
        return {doc.text: [ent._.candidates for ent in doc.ents] for doc in docs}

    alone = {text: found(nlp, [text])[text] for text in texts}
    assert found(nlp, texts, batch_size=4) == found(nlp, texts[::-1], batch_size=3) == alone
    assert found(nlp, texts, n_process=2) == alone
    # Texts of one mention have no context.
    assert found(plain, ["cold", "MI"]) == {text: alone[text] for text in ("cold", "MI")}


def test_spans_are_explained_in_their_document(make_pipeline):
    nlp = make_pipeline(document_context=0.5)
    doc = nlp(DOCUMENT)
    for ent in doc.ents:
        explained = nlp.get_pipe("concept_normalizer").explain(ent)
        assert tuple(explained.interpretations[0].candidates) == tuple(ent._.candidates)


@pytest.mark.parametrize("bonus", [-0.1, 1.1, "much", None])
def test_an_invalid_bonus(make_normalizer, bonus):
    with pytest.raises((ConnormError, ValueError)):
        make_normalizer(document_context=bonus)
