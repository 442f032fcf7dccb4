import csv
import gzip
import io
from collections import Counter

import pytest

from spacy_connorm.documents.document import Document
from spacy_connorm.documents.mentions import Mention
from spacy_connorm.documents.tables import COLUMNS, CsvExporter
from spacy_connorm.errors import ConnormError

from .conftest import FOUND

ROWS = "DEMO:12\tMyocardial infarction\tHEART ATTACK\nDEMO:7\tDizziness\t head spinning \n"


def test_each_row_is_a_document(read):
    docs, mentions, report = read(ROWS, name="phrases.tsv")
    assert [doc.text for doc in docs] == ["HEART ATTACK", "head spinning"]
    assert [doc.ents[0].text for doc in docs] == ["HEART ATTACK", "head spinning"]
    assert mentions[1] == [Mention("head spinning", "MENTION", "DEMO:7", ((0, 13),))]
    assert len(report.doc_ids) == 2


def test_columns_are_named_by_the_user(read):
    text = "phrase\tkind\tconcept\nhead spinning\tSymptom\tDEMO:7\nthat thing\tSymptom\t\n"
    columns = ("mention", "type", "id")
    _, mentions, report = read(text, name="phrases.tsv", columns=columns, header=True)
    assert mentions == [
        [Mention("head spinning", "Symptom", "DEMO:7", ((0, 13),))],
        [Mention("that thing", "Symptom", "", ((0, 10),))],
    ]
    assert report.without_id == {"Symptom": 1}


def test_quoted_cells_are_read_as_in_ontologies(read):
    rows = '"DEMO:7"\t"a ""b"" c"\t"feeling ""odd"""\nDEMO:8\tx\t"odd" and "weird"\nDEMO:9\tx\t5"\n'
    docs, mentions, _ = read(rows, name="phrases.tsv")
    assert [doc.text for doc in docs] == ['feeling "odd"', '"odd" and "weird"', '5"']
    assert [each.kb_id for (each,) in mentions] == ["DEMO:7", "DEMO:8", "DEMO:9"]


@pytest.mark.parametrize(
    ("row", "code"),
    [
        ("DEMO:7\thead spinning", "CN204"),
        ("a\tb\tc\td", "CN204"),
        ("DEMO:7\tDizziness\t ", "CN207"),
    ],
)
def test_bad_rows_are_named(read, row, code):
    with pytest.raises(ConnormError, match=rf"\[{code}\] .*phrases\.tsv', line 3:"):
        read(f"{ROWS}{row}\n", name="phrases.tsv")


def test_other_columns_than_the_default_are_to_be_named(read):
    with pytest.raises(ConnormError, match=r"it has 2 columns.*id, name, mention.*`--columns`"):
        read("Dizziness\tDEMO:7\n", name="phrases.tsv")


def test_columns_without_a_mention_are_an_error(read):
    with pytest.raises(ConnormError, match="CN006"):
        read(ROWS, name="phrases.tsv", columns=("id", "name", "phrase"))


@pytest.mark.parametrize("name", ["found.csv", "found.csv.gz"])
def test_every_candidate_is_a_row(export, documents, name):
    path = export(name)
    content = path.read_bytes()
    content = gzip.decompress(content) if path.suffix == ".gz" else content
    rows = list(csv.DictReader(io.StringIO(content.decode(), newline="")))
    assert tuple(rows[0]) == COLUMNS
    for mention in documents[0].mentions:
        own = [row for row in rows if (int(row["start"]), int(row["end"])) == mention.extent]
        label, kb_id, candidates = FOUND[mention.text]
        assert len(own) == max(1, len(candidates))
        for row in own:
            assert (row["doc_id"], row["text"], row["label"]) == ("note 7|a", mention.text, label)
            assert (row["kb_id"], row["long_form"]) == (kb_id, mention.long_form)
        found = [(row["concept_id"], row["name"], row["score"]) for row in own if row["rank"]]
        assert found == [
            (candidate.concept_id, candidate.name, str(candidate.score)) for candidate in candidates
        ]
        ranks = [(int(row["part"]), int(row["rank"])) for row in own if row["rank"]]
        assert ranks == sorted({*ranks}) and all(rank for _, rank in ranks)


def test_texts_are_not_formulas(tmp_path):
    document = Document(
        "=1", "@cold", (Mention("@cold", "-X", "+C1", ((0, 5),), long_form="\tlong"),)
    )
    for raw, mark in ((False, "'"), (True, "")):
        exporter, changes = CsvExporter(raw=raw), Counter()
        rendered = exporter.render(document, changes)
        exporter.write([rendered], tmp_path / "found.csv", changes)
        with (tmp_path / "found.csv").open(newline="") as file:
            (row,) = csv.DictReader(file)
        assert row["doc_id"] == f"{mark}=1" and row["text"] == f"{mark}@cold"
        assert row["label"] == f"{mark}-X" and row["kb_id"] == f"{mark}+C1"
        assert row["long_form"] == f"{mark}\tlong" and row["start"] == "0"


def test_the_best_candidates_of_the_parts_have_the_first_rank(export):
    with export("found.csv").open(newline="") as file:
        best = [row for row in csv.DictReader(file) if row["rank"] == "1"]
    both = [row for row in best if row["text"] == "breast and ovarian cancer"]
    assert [(row["part"], row["matched"]) for row in both] == [
        ("1", "breast cancer"),
        ("2", "ovarian cancer"),
    ]
    assert {row["kb_id"].count("|") for row in both} == {1}


@pytest.mark.parametrize("kb_id", ["-5", "+12", "-1.5", "7"])
def test_numbers_are_not_changed(tmp_path, kb_id):
    document, exporter = Document("-3", "x", (Mention("x", "D", kb_id, ((0, 1),)),)), CsvExporter()
    exporter.write([exporter.render(document, Counter())], tmp_path / "a.csv", Counter())
    with (tmp_path / "a.csv").open(newline="") as file:
        (row,) = csv.DictReader(file)
    assert (row["doc_id"], row["kb_id"]) == ("-3", kb_id)
