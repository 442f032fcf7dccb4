import json

import pytest

from spacy_connorm.workflows.corrections import Correction, Undo, effective, from_line, to_line

TEXT = "Had MI, then MI."


def test_lines_are_read_as_they_were_written():
    for record in (
        Correction(TEXT, 4, 6, "C1|C2", "Disease", "long", True, (0, 6), "Ann"),
        Correction(TEXT, 4, 6, "NIL"),
        Undo("abc", "Bob"),
    ):
        assert from_line(to_line(record)) == record


def test_ids_and_times_are_made():
    first, second = Correction(TEXT, 4, 6, "C1"), Correction(TEXT, 4, 6, "C1")
    assert first.id != second.id
    assert first.time.endswith("+00:00")


def test_fields_of_later_versions_are_ignored():
    line = json.dumps({**json.loads(to_line(Undo("abc"))), "reason": "new"})
    assert from_line(line).undoes == "abc"


@pytest.mark.parametrize(
    "changes",
    [
        {"start": 5, "end": 5},
        {"end": 99},
        {"text": None},
        {"kb_id": 1},
        {"start": "0"},
        {"label": 3},
        {"author": 3},
        {"marked": "yes"},
        {"replaces": 3},
        {"replaces": ["a", "b"]},
    ],
)
def test_anything_else_is_refused(changes):
    line = json.dumps({**json.loads(to_line(Correction(TEXT, 4, 6, "C1"))), **changes})
    with pytest.raises((ValueError, TypeError)):
        from_line(line)
    for other in ("", "[]", '{"undoes": 3}', '{"text": "a"}', "7"):
        with pytest.raises(ValueError):
            from_line(other)


def test_a_defined_short_form_makes_synonyms_of_its_long_form_alone():
    correction = Correction(TEXT, 4, 6, "C1|C2", long_form="heart attack")
    assert correction.mention == "MI"
    assert correction.synonyms == [("heart attack", "C1"), ("heart attack", "C2")]
    assert Correction(TEXT, 4, 6, "C1").synonyms == [("MI", "C1")]
    assert Correction(TEXT, 4, 6, "NIL").synonyms == []


def test_the_last_correction_of_a_mention_counts_unless_it_is_undone():
    first, second = Correction(TEXT, 4, 6, "C1"), Correction(TEXT, 4, 6, "C2")
    other, undo = Correction(TEXT, 13, 15, "C3"), Undo(second.id)
    assert effective([first, other]) == [first, other]
    assert effective([first, other, second]) == [other, second]
    assert effective([first, other, second, undo]) == [first, other]
    assert effective([first, second, undo, Undo(first.id)]) == []
