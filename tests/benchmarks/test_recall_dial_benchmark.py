"""Mentions dropped and windows added by a probability."""

import numpy as np
import pytest

from spacy_connorm.evaluation.end_to_end import DocumentSpans, LinkedSpan

from .conftest import MEDIC, pack

HPO = "".join(
    f"[Term]\nid: {number}\nname: {name}\n\n"
    for number, name in (("HP:1", "Small heart valve"), ("HP:2", "Gait loss"), ("HP:3", "Red eye"))
)
NOTE = (
    "1|t|Red eye. Small left heart valve. Eye loss.\n1|a|\n"
    "1\t0\t7\tRed eye\tDisease\t{eye}\n1\t9\t31\tSmall left heart valve\tDisease\t{heart}\n\n"
)
NAMES = "D1||Small heart valve\nD2||Gait loss\nD3||Red eye\n"


def span(start, text, *ids):
    return LinkedSpan(start, start + len(text), text, frozenset(ids))


@pytest.fixture
def dial(modules):
    import recall_dial

    return recall_dial


def test_marks_of_one_ontology_are_judged_by_those_of_another(rows_of, data):
    pack(data / "medic_2012" / "medic_06Jul2012.txt.gz", MEDIC + NAMES.replace("D", "D9"))
    pack(data / "hpo_2017" / "hp_2017-04-13.obo.gz", HPO)
    pack(data / "hpo_2017" / "gsc_plus_dev.pubtator.txt.gz", NOTE.format(eye="HP:3", heart="HP:1"))
    pack(data / "ncbi_disease" / "dev.pubtator.txt.gz", NOTE.format(eye="D93", heart="D91"))
    given = ["--dataset", "ncbi", "hpo-abstracts", "--encoder", "ngram", "--data", data]
    rows = rows_of("recall_dial.py", *given)
    assert len(rows) == 2 * (1 + 2 * 5)
    now = [row for row in rows if row["marks"] == "as now"]
    assert [(row["document_precision"], row["document_recall"]) for row in now] == [(100, 50)] * 2
    # "Small left heart valve" is near "Small heart valve" for both.
    added = [row for row in rows if row["marks"] == "added" and row["cut"] in ("best", "0.5")]
    assert [(row["changed"], row["document_recall"]) for row in added] == [(1, 100)] * 4


def test_one_ontology_alone_is_refused(run, data, capsys):
    with pytest.raises(SystemExit) as exit:
        run("recall_dial.py", "--dataset", "ncbi", "bc5cdr-d", "--data", data)
    assert exit.value.code == 1
    assert "two ontologies" in capsys.readouterr().err


def test_a_right_window_is_mostly_the_gold_mention(dial):
    gold = [span(0, "severe heart pain", "D1")]
    assert dial.is_right(span(7, "heart pain", "D1"), gold, 0.5)
    assert not dial.is_right(span(13, "pain", "D1"), gold, 0.5)
    assert dial.is_right(span(13, "pain", "D1"), gold, 0)
    assert not dial.is_right(span(0, "severe heart pain", "D2"), gold, 0)


def test_of_overlapping_windows_the_likeliest_is_chosen(dial):
    marks = [dial.Mark(0, span(place, "heart", "D1"), (), True) for place in (0, 3, 8)]
    marks.append(dial.Mark(1, span(0, "heart", "D1"), (), True))
    chosen = dial.choose(marks, np.array([0.2, 0.6, 0.3, 0.1]))
    assert [(likely, mark.document, mark.span.start) for likely, mark in chosen] == [
        (0.6, 0, 3),
        (0.3, 0, 8),
        (0.1, 1, 0),
    ]


def test_the_curve_counts_the_ids_of_documents(dial):
    gold = [span(0, "a", "D1"), span(4, "b", "D2"), span(8, "c", "D3")]
    documents = [DocumentSpans(gold, [span(0, "a", "D1"), span(2, "x", "D9")])]
    windows = [
        (0.8, dial.Mark(0, span(4, "b", "D2"), (), True)),
        (0.4, dial.Mark(0, span(6, "y", "D8"), (), False)),
        (0.25, dial.Mark(0, span(10, "z", "D7"), (), False)),
    ]
    curve = dial.Curve.of(documents, windows, dial.ADDED)
    rows = {row["cut"]: row for row in (curve.row("none", 0), *curve.rows())}
    assert [rows[cut]["changed"] for cut in ("best", "0.2", "0.3", "0.7")] == [1, 3, 2, 1]
    assert (rows["0.3"]["right"], rows["0.7"]["right"]) == (50, 100)
    assert (rows["none"]["document_precision"], rows["none"]["document_recall"]) == (50, 33.33)
    assert (rows["0.3"]["document_precision"], rows["0.3"]["document_recall"]) == (50, 66.67)
    found = [
        (0.9, dial.Mark(0, span(0, "a", "D1"), (), True)),
        (0.4, dial.Mark(0, span(2, "x", "D9"), (), False)),
    ]
    rows = {row["cut"]: row for row in dial.Curve.of(documents, found, dial.DROPPED).rows()}
    assert (rows["best"]["changed"], rows["best"]["right"]) == (1, 0)
    assert (rows["best"]["document_precision"], rows["best"]["document_recall"]) == (100, 33.33)
    assert (rows["0.2"]["changed"], rows["0.2"]["right"]) == (0, None)
    assert rows["0.2"]["document_precision"] == 50
