from pathlib import Path

import pytest

from spacy_connorm.documents.exports import FORMATS, find_export_format
from spacy_connorm.errors import ConnormError


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("a.jsonl", "jsonl"),
        ("a.jsonl.gz", "jsonl"),
        ("A.CSV", "csv"),
        ("a.spacy", "spacy"),
        ("a.pubtator", "pubtator"),
        ("a.pubtator.txt", "pubtator"),
        ("a.xml", "bioc-xml"),
        ("a.bioc.json", "bioc-json"),
        ("a.omop.csv.gz", "omop"),
        ("a.fhir.ndjson", "fhir-ndjson"),
        ("a.fhir.json", "fhir-bundle"),
        ("a.parquet", "parquet"),
    ],
)
def test_a_name_tells_the_format(path, name):
    assert find_export_format(Path(path)).name == name
    assert find_export_format(Path(path), name).name == name


def test_a_folder_may_have_any_name():
    assert find_export_format(Path("notes.v2"), "brat").is_folder


@pytest.mark.parametrize(
    ("path", "name", "code"),
    [
        ("a.docx", None, "CN770"),
        ("a", None, "CN770"),
        ("a.txt", None, "CN770"),
        ("a.gz", None, "CN770"),
        ("a.json", None, "CN770"),
        ("a.ndjson", None, "CN770"),
        ("a.csv", "excel", "CN771"),
        ("a.csv", "CSV", "CN771"),
        ("a.csv", "jsonl", "CN708"),
        ("a.spacy.gz", "spacy", "CN708"),
    ],
)
def test_other_names_are_refused(path, name, code):
    with pytest.raises(ConnormError, match=code):
        find_export_format(Path(path), name)


@pytest.mark.parametrize("form", FORMATS.values(), ids=list(FORMATS))
def test_every_format_makes_its_exporter(form):
    assert form.make({}) == form.make({})
    with pytest.raises(ConnormError, match=rf"CN772.*'{form.name}'.* colour"):
        form.make({"colour": "blue"})
