import pytest

from spacy_connorm.errors import ConnormError
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


def test_neighbours_need_no_corpus(here):
    report = evaluate("pipeline", beside=["other"], neighbours=["heart"])
    assert (report.rows, report.mistakes) == ([], {})
    assert set(report.neighbours["heart"]) == {"pipeline", "other"}
    (section,) = report.sections
    assert section.title == "Texts near 'heart'"
    assert section.rows[0]["pipeline text"] == report.neighbours["heart"]["pipeline"][0].text


@pytest.mark.parametrize(
    ("arguments", "options", "code"),
    [
        (["absent", "gold.spacy"], {}, "CN700"),
        (["pipeline", "absent.spacy"], {}, "CN100"),
        (["pipeline", "text.spacy"], {}, "CN706"),
        (["pipeline", "without.spacy"], {}, "CN600"),
        (["pipeline", "gold.spacy"], {"train_path": "absent.spacy"}, "CN100"),
        (["pipeline", "gold.spacy"], {"searches": ["X-T"]}, "CN118"),
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
        (["pipeline", "gold.spacy"], {"protocol": "papers"}, "CN118"),
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
        (["pipeline", "gold.spacy"], {"grid": True, "threshold": 9}, "CN006"),
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
