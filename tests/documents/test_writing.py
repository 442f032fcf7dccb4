import base64
import csv
import io
import json
from functools import reduce
from xml.etree import ElementTree

import pytest
import spacy
from bioc import biocjson
from pyarrow import csv as arrow_csv

from spacy_connorm.concepts import Candidate
from spacy_connorm.documents import export_docs, read_corpus
from spacy_connorm.documents.document import set_other_fields
from spacy_connorm.documents.spans import set_span_attributes
from spacy_connorm.documents.sssom import MappingSet, TermMapping, read_sssom, write_sssom
from spacy_connorm.errors import ConnormError

# Everything that ends a line, a string or a file for some reader.
ODD = "\r\n\x85\u2028\u2029\x00\x0b\x0c\x1a\x1c\t\",;'|\\ \ufeff"
# 950 lists in each other. The parser of JSON would need that much of the stack, which tests share.
DEEP = reduce(lambda inner, depth: [inner], range(949), [])


def test_a_corpus_is_written_with_its_gold_ids(tmp_path):
    note = "7|t|Fever after a bite\n7|a|Lyme?\n7\t0\t5\tFever\tSymptom\tD1|D2\n"
    source, out = tmp_path / "a.pubtator", tmp_path / "b.pubtator"
    source.write_text(note, encoding="utf8")
    assert export_docs(read_corpus(source, nlp=spacy.blank("en")), out) == 1
    assert out.read_text(encoding="utf8") == note + "\n"


def test_a_failure_leaves_the_old_file(docs, tmp_path):
    def failing():
        yield docs[0]
        raise RuntimeError("stop")

    path = tmp_path / "a.csv"
    path.write_text("old")
    with pytest.raises(RuntimeError, match="stop"):
        export_docs(failing(), path)
    assert [path.read_text(), list(tmp_path.iterdir())] == ["old", [path]]


def test_documents_are_written_as_they_come(docs, tmp_path):
    path = tmp_path / "new" / "a.jsonl"

    def watched():
        yield docs[0].copy()
        for _ in range(2_000):
            yield docs[1]
        (part,) = path.parent.glob(".a.part-*")
        assert part.stat().st_size > 0
        yield docs[2]

    assert export_docs(watched(), path) == 2_002


@pytest.mark.parametrize(
    ("name", "code"), [("a.docx", "CN111"), (".", "CN111"), ("a.csv/b.csv", "CN108")]
)
def test_bad_outputs_and_options_are_refused(docs, tmp_path, name, code):
    (tmp_path / "a.csv").write_text("old")
    with pytest.raises(ConnormError, match=code):
        export_docs(docs, tmp_path / name)
    with pytest.raises(ConnormError, match="CN113"):
        export_docs(docs, tmp_path / "b.csv", colour="blue")


TEXT_EXPORTS = ["a.csv", "a.omop.csv", "a.jsonl", "a.bioc.json", "a.xml", "a.pubtator", "brat"]
TEXT_EXPORTS += ["a.fhir.ndjson", "a.fhir.json"]


def _odd_docs():
    """RETURNS (List[Doc]): A document for each odd character, which its mention and its id have."""
    nlp = spacy.blank("xx")
    for number, odd in enumerate(ODD):
        mention = f"heart{odd}attack"
        doc = nlp(f"A {mention}, then{odd} more.")
        span = doc.char_span(2, 2 + len(mention), label="D", alignment_mode="expand")
        found = Candidate(f"C{number}", f"name{odd}x", 0.5, f"text{odd}x", "O-T")
        doc.spans["sc"] = [span]
        set_span_attributes(doc, [span], [f"C{number}"], [[found]], prefix="")
        set_other_fields(doc, {"id": f"{number}\ud800", "other": f"a{odd}b\udfff"})
        yield doc


def _rows(path):
    """RETURNS (Dict[str, List[str]]): The columns of a table, as pyarrow reads it."""
    options = arrow_csv.ParseOptions(newlines_in_values=True)
    with path.open(newline="", encoding="utf8") as file:
        rows = list(csv.DictReader(file))
    convert = arrow_csv.ConvertOptions(column_types=dict.fromkeys(rows[0], "string"))
    read = arrow_csv.read_csv(path, parse_options=options, convert_options=convert)
    assert rows == read.to_pylist()
    return read.to_pydict()


@pytest.mark.filterwarnings("ignore::spacy_connorm.errors.ConnormWarning")
@pytest.mark.parametrize("name", TEXT_EXPORTS)
def test_another_reader_reads_odd_characters_back(tmp_path, name):
    path = tmp_path / name
    settings = {"format": "brat"} if name == "brat" else {}
    if name == "a.csv":
        settings["raw"] = True
    expected = [span.text for doc in _odd_docs() for span in doc.spans["sc"]]
    texts = [doc.text for doc in _odd_docs()]
    assert export_docs(_odd_docs(), path, spans_key="sc", **settings) == len(ODD)
    if path.is_file():
        content = path.read_bytes().decode("utf8")  # without lone surrogates
    if name == "a.csv":
        rows = _rows(path)
        assert rows["text"] == expected
        assert rows["name"] == [f"name{odd}x" for odd in ODD]
    elif name == "a.omop.csv":
        rows = _rows(path)
        assert rows["lexical_variant"] == expected
        assert rows["snippet"] == texts
    elif name in ("a.jsonl", "a.fhir.ndjson"):
        records = [json.loads(line) for line in content.splitlines()]
        assert len(records) == len(ODD)
        if name == "a.jsonl":
            assert [record["text"] for record in records] == texts
            assert [record["other"] for record in records] == [f"a{odd}b\udfff" for odd in ODD]
    elif name == "a.fhir.json":
        resources = [entry["resource"] for entry in json.loads(content)["entry"]]
        notes = [
            resource["content"][0]["attachment"] for resource in resources if "content" in resource
        ]
        assert [base64.b64decode(note["data"]).decode() for note in notes] == texts
    elif name == "a.bioc.json":
        read = biocjson.load(io.StringIO(content))
        assert [document.passages[0].text for document in read.documents] == texts
        assert [document.passages[0].annotations[0].text for document in read.documents] == expected
    elif name == "a.xml":
        found = [node.text for node in ElementTree.parse(path).iterfind(".//annotation/text")]
        not_xml = str.maketrans(dict.fromkeys("\x00\x0b\x0c\x1a\x1c", "\ufffd"))
        assert found == [text.translate(not_xml) for text in expected]
    elif name == "a.pubtator":
        rows = [line.split("\t") for line in content.splitlines() if "\t" in line]
        assert [row[3].split()[-1] for row in rows] == [text.split()[-1] for text in expected]
        assert {len(row) for row in rows} == {6}
    else:
        for text, mention in zip(texts, expected, strict=True):
            (own,) = [each for each in path.glob("*.txt") if each.read_bytes().decode() == text]
            lines = own.with_suffix(".ann").read_bytes().decode().splitlines()
            span = lines[0].split("\t")[1].split()
            assert text[int(span[1]) : int(span[2])] == mention
            assert all(line[0] in "TN#" for line in lines)


def test_mappings_of_odd_characters_are_read_back(tmp_path):
    mappings = [
        TermMapping(f"X:{number}", "skos:exactMatch", "C:1", "semapv:LexicalMatching", f"a{odd}b")
        for number, odd in enumerate(ODD)
    ]
    expected = [mapping.subject_label for mapping in mappings]
    for name in ("a.sssom.tsv", "a.csv"):
        path = tmp_path / name
        write_sssom(MappingSet({"license": "x"}, mappings), path, raw=True)
        with path.open(newline="", encoding="utf8") as file:
            lines = (line for line in file if not line.startswith("#"))
            rows = list(csv.DictReader(lines, delimiter="\t" if name.endswith("tsv") else ","))
        assert [row["subject_label"] for row in rows] == expected
    read = read_sssom(tmp_path / "a.sssom.tsv").mappings
    assert [mapping.subject_label for mapping in read] == expected


@pytest.mark.parametrize("format", ["spacy", "parquet", "jsonl", "bioc-json"])
@pytest.mark.parametrize("value", [2**70, -(2**64), DEEP], ids=["large", "small", "deep"])
def test_a_field_that_a_format_cannot_hold_is_an_error_of_ours(tmp_path, format, value):
    doc = spacy.blank("en")("one")
    set_other_fields(doc, {"id": "1", "other": value})
    path = tmp_path / ("a.json" if format == "bioc-json" else f"a.{format}")
    try:
        export_docs([doc], path, format=format)
    except ConnormError as error:
        assert error.code == "CN775"
        assert format != "jsonl" or isinstance(value, list)
