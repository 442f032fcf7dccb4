import json

import pytest
import spacy
from spacy.tokens import DocBin

from spacy_connorm.errors import ConnormError, ConnormWarning
from spacy_connorm.evaluation import evaluate
from spacy_connorm.evaluation.score_files import read_scores


def titles(report):
    return [section.title for section in report.sections]


def test_both_protocols_stand_beside_each_other(here, capsys):
    report = evaluate("pipeline", "gold.spacy", json_path="scores.json")
    (row,) = report.rows
    expected = {
        "search": "D-T+OD-T",
        "mentions": 4,
        "lenient@1": 75.0,
        "strict@1": 25.0,
        "strict@5": 50.0,
        "in_ontology_mentions": 3,
        "in_ontology_lenient@1": 100.0,
        "unseen_mentions": 3,
        "unseen_lenient@1": 66.67,
        "nil_mentions": 1,
        "nil_recall": 100.0,
    }
    assert {key: row[key] for key in expected} == expected
    assert read_scores("scores.json") == report.rows
    scores, nil = report.sections
    assert [line["mentions"] for line in scores.rows] == [
        *("all", "gold id in the ontology", "text seen in D", "text unseen in D")
    ]
    assert nil.title.startswith("Mentions of no concept (NIL)")
    assert (report.neighbours, report.drawing, report.calibrated) == ({}, None, None)
    assert capsys.readouterr() == ("", "")


def test_searches_alone_are_compared_with_the_sieve(here):
    report = evaluate("pipeline", "gold.spacy", searches=["D-T", "OD-T"])
    assert [row["search"] for row in report.rows] == ["D-T+OD-T", "D-T", "OD-T"]
    assert "strict@1_p" not in report.rows[0]
    assert report.rows[1]["strict@1_difference"] == 0.0
    assert any(title.startswith("Compared with D-T+OD-T") for title in titles(report))


def test_unseen_is_told_by_another_d_if_one_is_named(here):
    report = evaluate("pipeline", "gold.spacy", train_path=here / "train.spacy")
    assert report.rows[0]["unseen_mentions"] == 3


def test_pipelines_stand_beside_each_other_and_are_compared(here):
    report = evaluate(here / "pipeline", "gold.spacy", beside=[here / "other"], labels=["first"])
    one, other = report.rows
    assert (one["pipeline"], one["corpus"], "against" in one) == ("first", "gold", False)
    assert (other["pipeline"], other["against"]) == ("other", "first D-T+OD-T")
    assert other["lenient@1_difference"] == other["lenient@1"] - one["lenient@1"]
    assert any(title.startswith("Compared with first D-T+OD-T") for title in titles(report))
    assert set(report.mistakes) == {"first", "other"}


def test_the_grid_is_fourteen_rows_a_pipeline(here):
    report = evaluate(
        "pipeline",
        "gold.spacy",
        beside=["other"],
        grid=True,
        corpus_name="mine",
        markdown_path="grid.md",
    )
    rows = report.rows
    assert len(rows) == 28
    assert {row["corpus"] for row in rows} == {"mine"}
    by_name = {(row["pipeline"], row["search"]): row for row in rows}
    # the sieve that the other rows are compared with, and the same search of the first pipeline
    assert "against" not in by_name["pipeline", "D-T+OD-T"]
    assert by_name["pipeline", "O-C"]["against"] == "pipeline D-T+OD-T"
    assert by_name["other", "O-C"]["against"] == "pipeline O-C"
    assert by_name["other", "D-C+O-T"]["threshold"] == 0.98
    assert {"lenient@1_rank", "lenient@1_average_rank", "seen_mentions"} <= rows[0].keys()
    text = (here / "grid.md").read_text(encoding="utf8")
    written = [line.removeprefix("## ") for line in text.splitlines() if line.startswith("## ")]
    assert written == titles(report)
    protocol = "(protocol: as written)"
    assert written[0] == f"Lenient Acc@1 by corpus, percent {protocol}"
    assert written[-1] == f"mine: Compared with another run, paired bootstrap {protocol}"
    assert text.count("| D-C+OD-C |") == 2 * len(written) == 12


def test_a_row_of_the_grid_is_what_the_pipeline_and_searches_alone_give(here):
    grid = {row["search"]: row for row in evaluate("pipeline", "gold.spacy", grid=True).rows}
    for row in evaluate("pipeline", "gold.spacy", searches=["O-T", "D-T", "OD-T"]).rows:
        same = {key: value for key, value in row.items() if key not in ("against", "protocol")}
        assert same == {key: grid[row["search"]][key] for key in same}


def test_the_grid_has_no_sieves_of_inner_products(here):
    report = evaluate("dot", "gold.spacy", grid=True)
    searches = ["O-T", "O-C", "D-T", "D-C", "OD-T", "OD-C"]
    assert sorted(row["search"] for row in report.rows) == sorted(searches)


def test_the_threshold_of_the_grid_can_be_another(here):
    report = evaluate("pipeline", "gold.spacy", grid=True, threshold=0.5)
    (row,) = [row for row in report.rows if row["search"] == "D-T+OD-T"]
    assert row["threshold"] == 0.5
    assert row["against"] == "D-T+OD-T"  # at the pipeline's own


def test_corpora_stand_in_one_table(here):
    evaluate("pipeline", "gold.spacy", grid=True, json_path="first.json")
    rows = evaluate("pipeline", "small.spacy", grid=True, add=["first.json"]).rows
    assert [row["corpus"] for row in rows] == ["gold"] * 14 + ["small"] * 14
    for row, other in zip(rows[:14], rows[14:], strict=True):
        ranks = [each["lenient@1_rank"] for each in (row, other)]
        assert row["lenient@1_average_rank"] == other["lenient@1_average_rank"] == sum(ranks) / 2


def test_no_row_stands_twice_in_a_table(here):
    evaluate("pipeline", "gold.spacy", json_path="once.json")
    with pytest.raises(ConnormError, match="CN602"):
        evaluate("pipeline", "gold.spacy", add=["once.json"])


def test_neighbours_need_no_corpus(here):
    report = evaluate("pipeline", beside=["other"], neighbours=["heart"])
    assert (report.rows, report.mistakes) == ([], {})
    assert set(report.neighbours["heart"]) == {"pipeline", "other"}
    (section,) = report.sections
    assert section.title == "Texts near 'heart'"
    assert section.rows[0]["pipeline text"] == report.neighbours["heart"]["pipeline"][0].text


@pytest.mark.parametrize("name", ["picture.svg", "picture.png"])
def test_a_picture_needs_no_corpus(here, name):
    report = evaluate("pipeline", beside=["other"], picture_path=name, concepts=["C1", "C2"])
    assert (here / name).stat().st_size > 1000
    assert [concept.concept_id for concept in report.drawing.concepts] == ["C1", "C2"]
    assert [panel.label for panel in report.drawing.panels] == ["pipeline", "other"]


@pytest.mark.parametrize("name", ["errors.tsv", "errors.jsonl", "errors.md"])
def test_wrong_answers_are_listed(here, name):
    report = evaluate("pipeline", "gold.spacy", errors_path=name)
    assert sorted(row["kind"] for row in report.mistakes["pipeline"]) == [
        *("abbreviation", "composite", "not in the ontology")
    ]
    text = (here / name).read_text(encoding="utf8")
    if name.endswith(".md"):
        for title in ("## pipeline, D-T+OD-T", "### not in the ontology: 1", "### abbreviation: 1"):
            assert title in text
    else:
        lines = text.splitlines()
        assert len(lines) == (4 if name.endswith(".tsv") else 3)
        for expected in ("CVA", "costovertebral angle", "stroke; influenza", "not in the index"):
            assert sum(expected in line for line in lines) == 1


def test_ids_written_otherwise_are_told(here):
    with pytest.warns(ConnormWarning, match=r"CNW600.*'MESH:C4'.*'C1'"):
        evaluate("pipeline", "foreign.spacy")


@pytest.mark.parametrize(
    ("arguments", "options", "code"),
    [
        (["absent", "gold.spacy"], {}, "CN700"),
        (["pipeline", "absent.spacy"], {}, "CN100"),
        (["pipeline", "text.spacy"], {}, "CN706"),
        (["pipeline", "without.spacy"], {}, "CN600"),
        (["pipeline", "gold.spacy"], {"train_path": "absent.spacy"}, "CN100"),
        (["pipeline", "gold.spacy"], {"searches": ["X-T"]}, "CN500"),
        (["pipeline", "gold.spacy"], {"searches": ["O-C"]}, "CN408"),
        (["pipeline", "gold.spacy"], {"errors_path": "errors.csv"}, "CN708"),
        (["pipeline", "gold.spacy"], {"json_path": "pipeline"}, "CN105"),
        (["pipeline", "gold.spacy"], {"markdown_path": "pipeline"}, "CN105"),
        (["pipeline", "gold.spacy"], {"component": "ner"}, "CN704"),
        (["pipeline", "gold.spacy"], {"gpu_id": 99}, "CN713"),
        (["pipeline", "gold.spacy"], {"beside": ["absent"]}, "CN700"),
        (["pipeline", "gold.spacy"], {"beside": ["sites"]}, "CN601"),
        (["pipeline", "gold.spacy"], {"beside": ["pipeline"]}, "CN731"),
        (["pipeline", "gold.spacy"], {"labels": ["a", "b"]}, "CN731"),
        (["pipeline"], {}, "CN732"),
        (["pipeline", "gold.spacy"], {"protocol": "papers"}, "CN735"),
        (["pipeline", "gold.spacy"], {"json_path": "r", "markdown_path": "r"}, "CN124"),
        (["pipeline", "gold.spacy"], {"json_path": "r.md", "errors_path": "./r.md"}, "CN124"),
        (["pipeline", "gold.spacy"], {"threshold": 0.9}, "CN733"),
        (["pipeline", "gold.spacy"], {"concepts": ["C1"]}, "CN733"),
        (["pipeline", "gold.spacy"], {"curves": ["curves.svg"]}, "CN733"),
        (["pipeline"], {"grid": True}, "CN733"),
        (["pipeline"], {"neighbours": ["flu"], "json_path": "a.json"}, "CN733"),
        (["pipeline"], {"neighbours": ["flu"], "searches": ["O-T"]}, "CN733.*--search"),
        (["pipeline"], {"neighbours": ["flu"], "protocol": "biosyn"}, "CN733.*--protocol"),
        (["pipeline"], {"neighbours": ["flu"], "train_path": "gold.spacy"}, "CN733.*--train"),
        (["pipeline"], {"picture_path": "p.svg", "corpus_name": "c"}, "CN733.*--corpus-name"),
        (["pipeline"], {"neighbours": ["flu"], "calibrate_path": "out"}, "CN733"),
        (["pipeline", "gold.spacy"], {"grid": True, "threshold": 9}, "CN502"),
        (["pipeline", "gold.spacy"], {"add": ["absent.json"]}, "CN100"),
        (["pipeline", "gold.spacy"], {"add": ["text.spacy"]}, "CN605"),
        (["pipeline", "gold.spacy"], {"add": ["object.json"]}, "CN605"),
        (["pipeline", "gold.spacy"], {"add": ["old.json"]}, "CN605"),
        (["pipeline"], {"picture_path": "p.jpg"}, "CN708"),
        (["pipeline"], {"picture_path": "p.svg", "concepts": ["C9"]}, "CN411"),
    ],
)
def test_bad_input(here, arguments, options, code):
    with pytest.raises(ConnormError, match=code):
        evaluate(*arguments, **options)


def test_the_protocol_is_named_in_every_table_and_row(here):
    report = evaluate("pipeline", "composite.spacy", protocol="biosyn", searches=["OD-T"])
    assert {row["protocol"] for row in report.rows} == {"biosyn"}
    # split by the number of gold ids; the one of OMIM counts as none
    assert (report.rows[0]["lenient@1"], report.rows[0]["strict@1"]) == (100.0, 100.0)
    caution = "(protocol: biosyn, which splits composites by the number of gold ids)"
    assert titles(report) and all(title.endswith(caution) for title in titles(report))


def test_the_grid_splits_under_the_papers_protocol_too(here):
    report = evaluate("pipeline", "composite.spacy", protocol="biosyn", grid=True)
    (row,) = [row for row in report.rows if row["search"] == "OD-T"]
    assert (row["lenient@1"], row["strict@1"], row["protocol"]) == (100.0, 100.0, "biosyn")


def test_protocols_are_not_mixed(here):
    evaluate("pipeline", "gold.spacy", protocol="biosyn", json_path="biosyn.json")
    with pytest.raises(ConnormError, match="CN610"):
        evaluate("pipeline", "gold.spacy", labels=["open"], add=["biosyn.json"])


def test_a_pipeline_that_resolves_abbreviations_reads_the_corpus_with_them(here):
    nlp = spacy.load("pipeline")
    # not the angle or the stroke that the index calls CVA
    doc = nlp.make_doc("Cardiac vein attack (CVA) is known. CVA was seen.")
    doc.ents = [doc.char_span(36, 39, label="Disease", kb_id="C1")]
    DocBin(docs=[doc], store_user_data=True).to_disk("short.spacy")
    nlp.add_pipe("abbreviation_resolver", first=True)
    nlp.to_disk("resolving")
    report = evaluate("resolving", "short.spacy", beside=["pipeline"])
    assert [row["strict@1"] for row in report.rows] == [100.0, 0.0]
    # the papers' protocol reads definitions by itself
    (row,) = evaluate("pipeline", "short.spacy", protocol="biosyn").rows
    assert row["strict@1"] == 100.0


def test_rows_are_json(here):
    rows = evaluate("pipeline", "gold.spacy", beside=["other"]).rows
    assert json.loads(json.dumps(rows)) == rows
