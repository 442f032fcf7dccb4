"""Each rule of the finder, by a window that it refuses."""

import pytest

from spacy_connorm.finder.rules import REASONS, RULES

from .name_pipeline import build

CAPITALS = {"match_capitals": True}
# By rule: names, a text with the window in brackets, and settings of the finder.
REFUSED = {
    "stop text": (["fever"], "a [fever]", {"stop_texts": ["fevers"]}),
    "other sign": (["ER+ cancer"], "an [ER- cancer]", {}),
    "too short": (["ab"], "the [ab]", {}),
    "other letters": (["ALL"], "[all] of it", {}),
    "function word": (["more"], "and [more]", {}),
    "no capital": (["Rena"], "a [rena]", CAPITALS),
    "statement": (["abnormal cell"], "the [cells is abnormal]", {}),
    "count": (["dystrophy 6"], "a [dystrophy in 6] patients", {}),
    "across": (["apex of heart"], "the [apex and heart]", {}),
    "denied name": (["absence seizures", "seizure"], "the [absence of seizures]", {}),
    "other punctuation": (["heart attack"], "his [heart (attack)]", {}),
    "list": (["arthritis, rheumatoid"], "fever, [arthritis, rheumatoid] nodules", {}),
    "end of compound": (["fever"], "a non-[febrile] boy", {}),
    "other word": (["fall"], "a [fall] screening", {}),
    "proper name": (["cancer"], "seen by the Boston [Cancer] Group", {}),
    "species": (["tuberculosis"], "a Mycobacterium [tuberculosis] lysate", {}),
    "other name": (["fever"], "yellow [fever]", {}),
    "cut": (["decreased vision"], "has [decreased visual] acuity", {}),
    "modifier": (["small kidneys", "kidney stones"], "a [small kidney] stone", {}),
    "kind": (["hepatitis"], "a [hepatitis] C", {}),
    "part of list": (["renal and hepatic failure"], "his [renal/hepatic failure]/shock", {}),
    "uncertain": (["cerebral edema"], "[edema by the brain]", {}),
    "everyday word": (["Data"], "[Data] are missing (unpublished data, data)", CAPITALS),
}
# Tested with what they need: concepts that are left out, long texts, a background vocabulary, and
# French and Spanish.
ELSEWHERE = {
    *("adjective", "adjective of a noun"),
    *("not allowed", "undefined short form", "part of other name"),
}


def test_rules_have_names_of_their_own_and_an_example():
    names = [rule.name for rule in RULES]
    assert len({*names}) == len(names)
    assert {*names} == REFUSED.keys() | ELSEWHERE
    assert [*REASONS] == names and all(REASONS.values())


@pytest.mark.parametrize("rule", REFUSED)
def test_a_rule_refuses_its_example(rule):
    names, marked, settings = REFUSED[rule]
    nlp = build(names)
    finder = nlp.get_pipe("mention_finder")
    finder.cfg.update(settings)
    before, inside, after = (part for piece in marked.split("[") for part in piece.split("]"))
    doc = nlp.make_doc(before + inside + after)
    span = doc.char_span(len(before), len(before + inside))
    explained = finder.explain(span)
    assert (explained.rule, explained.is_mention) == (rule, False)
    assert explained.reason == REASONS[rule]


@pytest.mark.parametrize("texts", [("today", "than before"), ("than before", "today")])
def test_answers_do_not_depend_on_the_documents_before(texts):
    nlp = build(["increased heart rate"])
    found = {text: [*map(str, nlp(f"Heart rate was higher {text}.").ents)] for text in texts}
    assert found == {"today": ["Heart rate was higher"], "than before": []}
