from pathlib import Path

import pytest

from spacy_connorm.documents import CORPUS_FORMATS, EXPORT_FORMATS, export_docs, find_export_format
from spacy_connorm.errors import ConnormError


@pytest.mark.parametrize(
    "pair",
    [
        "a.jsonl > jsonl",
        "a.jsonl.gz > jsonl",
        "A.CSV > csv",
        "a.spacy > spacy",
        "a.pubtator > pubtator",
        "a.pubtator.txt > pubtator",
        "a.xml > bioc-xml",
        "a.bioc.json > bioc-json",
        "a.omop.csv.gz > omop",
        "a.fhir.ndjson > fhir-ndjson",
        "a.fhir.json > fhir-bundle",
        "a.parquet > parquet",
    ],
)
def test_a_name_tells_the_format(pair):
    path, name = pair.split(" > ")
    assert find_export_format(Path(path)).name == name
    assert find_export_format(Path(path), name).name == name


def test_a_folder_may_have_any_name():
    assert find_export_format(Path("notes.v2"), "brat").is_folder


@pytest.mark.parametrize(
    ("path", "name", "code"),
    [
        ("a", None, "CN111"),
        ("a.txt", None, "CN111"),
        ("a.json", None, "CN111"),
        ("a.ndjson", None, "CN111"),
        ("a.csv", "excel", "CN118"),
        ("a.csv", "jsonl", "CN708"),
        ("a.spacy.gz", "spacy", "CN708"),
    ],
)
def test_other_names_are_refused(path, name, code):
    with pytest.raises(ConnormError, match=code):
        find_export_format(Path(path), name)


@pytest.mark.parametrize("form", EXPORT_FORMATS.values(), ids=list(EXPORT_FORMATS))
def test_every_format_makes_its_exporter(form, docs, tmp_path):
    assert form.make_exporter() == form.make_exporter()
    name = f"a{next(iter(form.endings), '')}"
    with pytest.raises(ConnormError, match=rf"CN113.*'{form.name}'.* colour"):
        export_docs(docs, tmp_path / name, format=form.name, colour="blue")


@pytest.mark.parametrize("form", CORPUS_FORMATS.values(), ids=list(CORPUS_FORMATS))
def test_every_format_has_a_reader(form):
    assert callable(form.read)
