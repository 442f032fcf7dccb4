"""Reading in whatever format, with whatever is wrong with the file."""

import gzip
import json

import pytest

from spacy_connorm.concepts import Concept, Ontology
from spacy_connorm.errors import ConnormError, ConnormWarning
from spacy_connorm.files.licence import read_licence
from spacy_connorm.ontology import (
    FORMATS,
    ReadReport,
    create_ontology_reader,
    open_ontology,
    read_ontology,
    stream_ontology,
)
from spacy_connorm.ontology.formats import find_format, find_reader

LINE = '{"concept_id": "T:1", "canonical_name": "one", "aliases": [], "types": []}\n'


@pytest.mark.parametrize(
    ("name", "format"),
    [
        ("small.obo", "obo"),
        ("ctd_diseases.tsv", "ctd"),
        ("medic.txt", "medic"),
        ("mesh_descriptors.tsv", "mesh"),
        ("mesh_supplementary.tsv", "tsv"),
        ("icd10cm_order.txt", "icd10cm"),
        ("icd10cm_tabular.xml", "icd10cm"),
        ("META/MRCONSO.RRF", "rrf"),
    ],
)
def test_the_format_is_told_from_name_and_first_lines(data, tmp_path, name, format):
    assert find_format(data / name) == format
    compressed = tmp_path / f"{(data / name).name}.gz"
    compressed.write_bytes(gzip.compress((data / name).read_bytes()))
    assert find_format(compressed) == format


@pytest.mark.parametrize("format", FORMATS)
def test_every_format_has_its_reader(format):
    assert callable(find_reader(format))


@pytest.mark.parametrize(
    ("name", "content", "code"),
    [
        ("a.obo", LINE, "CN119"),
        ("a.jsonl", "format-version: 1.2\n", "CN119"),
        ("a.dat", "What is this?\n", "CN111"),
        ("a.jsonl", "What is this?\n", "CN103"),
        ("a.obo", "What is this?\n", "CN115"),
        ("a.tsv", "What is this?\n", "CN114"),
        ("a.xml", "What is this?\n", "CN115"),
        ("a.jsonl", "", "CN104"),
        ("a.obo", "format-version: 1.2\n", "CN104"),
        ("a.jsonl", LINE + "{not json}\n", r"CN103.*line 2"),
        ("a.jsonl", LINE + "[1, 2]\n", r"CN103.*line 2"),
        ("a.jsonl", LINE + '{"concept_id": "T:2"}\n', r"CN103.*line 2.*CN101.*canonical_name"),
        ("a.jsonl", LINE + '{"canonical_name": "x"}\n', r"CN103.*line 2.*CN101.*concept_id"),
        ("a.jsonl", LINE + LINE.replace("[]", "7"), r"CN103.*line 2.*CN102.*aliases"),
        ("a.jsonl", "[" * 100_000, "CN103"),
        ("a.xml", "<ICD10CM.tabular>\n<chapter>\n</chaptre>\n", r"CN115.*line 3"),
        ("a.xml", "<ICD10CM.tabular>\n<chapter>", r"CN115.*line 2"),
        ("a.xml", "<ICD10CM.tabular>\n<a>\ud800</a>\n", r"CN115.*line 2.*lone surrogate"),
    ],
)
def test_files_that_are_not_what_they_should_be(tmp_path, name, content, code):
    path = tmp_path / name
    path.write_text(content, "utf8", "surrogatepass")
    with pytest.raises(ConnormError, match=code):
        read_ontology(path)


RDF = '<?xml version="1.0"?>\n<rdf:RDF xmlns="http://x.org#"\n     xml:base="http://x.org">\n'
ROBOT = "robot convert --input .*--output ontology.obo"


@pytest.mark.parametrize(
    ("name", "content", "expected"),
    [
        ("a.owl", RDF + "<owl:Ontology/></rdf:RDF>\n", f"OWL as RDF/XML.*{ROBOT}"),
        ("a.xml", RDF, f"OWL as RDF/XML.*{ROBOT}"),
        ("a.rdf", '<?xml version="1.0"?>\n<!DOCTYPE rdf:RDF [\n', "OWL as RDF/XML"),
        ("a.owx", '<?xml version="1.0"?>\n<Ontology xmlns="http://x.org">\n', "OWL/XML"),
        ("a.ofn", "Prefix(:=<http://x.org#>)\nOntology(<http://x.org>\n", "functional"),
        ("a.omn", "Prefix: : <http://x.org#>\n", "Manchester"),
        ("a.ttl", "@prefix owl: <http://www.w3.org/2002/07/owl#> .\n", f"Turtle.*{ROBOT}"),
        ("a.ttl", "# made by hand\nPREFIX : <http://x.org#>\n", "Turtle"),
        ("a.ttl", "@prefix a: <http://x.org#> .\na:1 a skos:Concept .\n", "SKOS.*table"),
        ("a.rdf", RDF + "<skos:Concept/></rdf:RDF>\n", "SKOS.*table"),
        ("a.xml", "<!DOCTYPE DescriptorRecordSet>\n<DescriptorRecordSet>\n", "MeSH as XML.*table"),
        ("a.xml.gz", "\ufeff<?xml version='1.0'?><ClaML version='2.0.0'>", "ClaML.*table"),
        ("a.xml", "<?xml version='1.0'?>\n<JDBOR><DisorderList>", "Orphadata.*table"),
        ("a.json", '{\n  "graphs" : [ {\n    "nodes" : [ ]\n', f"OBO Graphs JSON.*{ROBOT}"),
    ],
)
def test_formats_that_are_not_read_are_told(tmp_path, name, content, expected):
    (tmp_path / name).write_bytes(
        gzip.compress(content.encode()) if name.endswith(".gz") else content.encode()
    )
    with pytest.raises(ConnormError, match=f"CN123.*looks like.*{expected}"):
        read_ontology(tmp_path / name)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.tsv", "id\tname\tskos:prefLabel\nC1\tVertigo\tdizzy\n"),
        ("a.jsonl", '{"concept_id": "C1", "canonical_name": "Vertigo", "types": ["skos:Concept"]}'),
        ("a.obo", "ontology: skos:Concept\n\n[Term]\nid: C1\nname: Vertigo\n"),
    ],
)
def test_words_of_other_formats_do_not_matter_in_files_of_ours(tmp_path, name, content):
    (tmp_path / name).write_text(content)
    (concept,) = read_ontology(tmp_path / name)
    assert concept.canonical_name == "Vertigo"


@pytest.mark.parametrize("name", ["a.jsonl", "a.obo", "a.tsv", "a.xml", "a.RRF", "a.txt"])
@pytest.mark.parametrize(("content", "line"), [(bytes(range(256)) * 50, 2), (b"caf\xe9\n", 1)])
def test_bytes_that_are_not_text(tmp_path, name, content, line):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(ConnormError, match=rf"CN107.*line {line}"):
        read_ontology(tmp_path / name)


def test_compressed_files_that_are_damaged(tmp_path):
    whole = gzip.compress("".join(LINE.replace("T:1", f"T:{i}") for i in range(999)).encode())
    flipped = bytearray(whole)
    flipped[len(whole) // 2] ^= 0xFF
    for content in (LINE.encode(), whole[: len(whole) // 2], bytes(flipped)):
        path = tmp_path / "a.jsonl.gz"
        path.write_bytes(content)
        with pytest.raises(ConnormError, match=r"CN10[367]"):
            read_ontology(path)


def test_a_missing_file_and_a_folder(tmp_path):
    with pytest.raises(ConnormError, match=r"CN100.*nowhere\.jsonl"):
        read_ontology(tmp_path / "nowhere.jsonl")
    with pytest.raises(ConnormError, match="CN117"):
        read_ontology(tmp_path)
    with pytest.raises(ConnormError, match="CN105"):
        Ontology.from_disk(tmp_path)


def test_formats_and_settings_that_are_asked_for(data):
    with pytest.raises(ConnormError, match=r"CN118.*owl.*jsonl, obo"):
        read_ontology(data / "small.obo", format="owl")
    with pytest.raises(ConnormError, match=r"CN112.*jsonl"):
        read_ontology(data / "small.obo", format="jsonl")
    with pytest.raises(ConnormError, match=r"CN113.*scope.*scopes, types, obsolete"):
        read_ontology(data / "small.obo", scope="EXACT")
    ontology = read_ontology(data / "mesh_supplementary.tsv", id="mesh_scr_id")
    assert len(ontology) == 2


def test_names_are_cleaned(tmp_path):
    path = tmp_path / "a.jsonl"
    records = [
        {"concept_id": " T:1\x00", "canonical_name": "heart\x00attack", "aliases": ["a \ud83d b"]},
        {"concept_id": "T:2", "canonical_name": "نوبة قلبية", "aliases": ["💔", " 💔 ", "\t"]},
        {"concept_id": "T:3", "canonical_name": "\x01\x02"},
        {"concept_id": "T:4", "canonical_name": "x" * 10_000},
    ]
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    with pytest.warns(ConnormWarning) as caught:
        ontology = read_ontology(path)
    assert [str(w.message)[:8] for w in caught] == ["[CNW102]", "[CNW105]"]
    assert ontology["T:1"].names == ("heart attack", "a b")
    assert ontology["T:2"].names == ("نوبة قلبية", "💔")
    assert len(ontology["T:4"].canonical_name) == 10_000
    ontology.to_disk(tmp_path / "b.jsonl")
    assert list(Ontology.from_disk(tmp_path / "b.jsonl")) == list(ontology)


def test_what_is_doubtful_is_warned_of_once(tmp_path):
    path = tmp_path / "a.tsv"
    path.write_text("id\tname\tabove\nT:1\tone\tT:2\nT:2\ttwo\tT:1|T:9\n\tnone\t\n")
    with pytest.warns(ConnormWarning) as caught:
        read_ontology(path, parents="above")
    assert [str(w.message)[:8] for w in caught] == ["[CNW102]", "[CNW103]", "[CNW104]"]
    assert "line 4" in str(caught[0].message)


def test_a_repeated_id_is_merged_with_a_warning(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_text(LINE + LINE.replace("one", "uno"))
    with pytest.warns(ConnormWarning, match="CNW101.*T:1") as caught:
        ontology = read_ontology(path)
    assert len(caught) == 1
    assert ontology["T:1"].names == ("one", "uno")


def test_a_stream_is_one(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_text(LINE + "no json\n")
    concepts = stream_ontology(path)
    assert next(concepts) == Concept("T:1", "one")
    with pytest.raises(ConnormError, match="CN103"):
        next(concepts)


def test_nothing_left_tells_what_was_left_out(data):
    with pytest.raises(ConnormError, match=r"CN104.*another language \(\d"):
        read_ontology(data / "META", languages=["ZZZ"])


@pytest.mark.parametrize("concept", [Concept("", "one"), Concept("T:1", "")])
def test_concept_without_id_or_name(concept):
    with pytest.raises(ConnormError, match="CN101"):
        Ontology([concept])


def test_the_source_is_kept(data):
    ontology = read_ontology(data / "small.obo")
    assert ontology.source.path == "small.obo"
    assert len(ontology.source.sha256) == 64
    assert ontology.source.licence == "Licence: free for tests."
    assert read_ontology(data / "small.obo", licence="Mine.").source.licence == "Mine."
    assert read_ontology(data / "META").source.path == "MRCONSO.RRF"


def test_the_licence_travels_with_the_file(data, tmp_path):
    path = tmp_path / "small.jsonl"
    read_ontology(data / "small.obo").to_disk(path)
    assert Ontology.from_disk(path).source.licence == "Licence: free for tests."
    assert Ontology.from_disk(path, licence="Mine.").source.licence == "Mine."
    report = ReadReport()
    assert len(list(stream_ontology(path, report=report))) == 2
    assert report.licence == "Licence: free for tests."
    Ontology([Concept("T:1", "one")]).to_disk(path)
    assert read_licence(path) == ""


def test_nothing_is_read_before_the_registered_reader_is_called(data, tmp_path):
    create_ontology_reader(tmp_path / "not_there_yet.obo")
    options = {"scopes": ["EXACT", "BROAD"]}
    ontology = create_ontology_reader(data / "small.obo", licence="Mine.", options=options)()
    assert "pain" in ontology["T:20"].aliases
    assert ontology.source.licence == "Mine."


def test_the_reader_is_registered(data):
    from spacy.util import registry

    config = {
        "ontology": {"@readers": "spacy-connorm.Ontology.v1", "path": str(data / "medic.txt")}
    }
    assert len(registry.resolve(config)["ontology"]()) == 3


@pytest.mark.parametrize(
    "field", ["aliases", "types", "parents", "alt_ids", "xrefs", "narrow", "broad", "related"]
)
def test_string_in_the_place_of_a_tuple(field):
    with pytest.raises(ConnormError, match=f"CN102.*{field}"):
        Concept("T:1", "one", **{field: ("two")})


def test_opened_it_is_the_ontology_that_is_read(tmp_path):
    path = tmp_path / "o.jsonl"
    Ontology([Concept("A", "one", ("two",)), Concept("B", "three")]).to_disk(path)
    (read, stream) = read_ontology(path, licence="mine"), open_ontology(path, licence="mine")
    assert stream.source == read.source
    assert list(stream) == list(read)


def test_opened_it_warns_of_what_looks_like_a_mistake_at_the_end(tmp_path):
    path = tmp_path / "o.jsonl"
    concepts = [Concept("A", "one", parents=("X1",)), Concept("B", "two", parents=("Y",))]
    Ontology(concepts).to_disk(path)
    stream = open_ontology(path)
    with pytest.warns(ConnormWarning, match="CNW103.*2 .*'X1'") as warned:
        assert len(list(stream)) == 2
    assert len(warned) == 1


def test_opened_it_says_at_once_that_it_is_empty(tmp_path):
    (tmp_path / "o.jsonl").write_text("\n")
    with pytest.raises(ConnormError, match="CN104"):
        open_ontology(tmp_path / "o.jsonl")
