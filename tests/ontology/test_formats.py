"""Formats are told from names and first lines; what is not read is refused."""

import gzip
from zipfile import ZipFile

import pytest

from spacy_connorm.errors import ConnormError
from spacy_connorm.ontology import FORMATS, read_ontology
from spacy_connorm.ontology.formats import find_format, find_reader

RDF = '<?xml version="1.0"?>\n<rdf:RDF xmlns="http://x.org#"\n     xml:base="http://x.org">\n'
ROBOT = "robot convert --input .*--output ontology.obo"
LINE = '{"concept_id": "T:1", "canonical_name": "one", "aliases": [], "types": []}\n'


@pytest.mark.parametrize(
    "pair",
    [
        "small.obo > obo",
        "small.owl > rdf",
        "small.ttl > rdf",
        "small.json > obographs",
        "ctd_diseases.tsv > ctd",
        "medic.txt > medic",
        "mesh_descriptors.tsv > mesh",
        "mesh_descriptors.xml > mesh",
        "mesh_supplementary.tsv > tsv",
        "icd10cm_order.txt > icd10cm",
        "icd10cm_tabular.xml > icd10cm",
        "META/MRCONSO.RRF > rrf",
        "rxnorm/RXNCONSO.RRF > rrf",
        "snomed/Snapshot/Terminology/sct2_Description_Snapshot-en_INT_20990101.txt > snomed",
    ],
)
def test_the_format_is_told_from_name_and_first_lines(data, tmp_path, pair):
    name, format = pair.split(" > ")
    assert find_format(data / name) == format
    compressed = tmp_path / f"{(data / name).name}.gz"
    compressed.write_bytes(gzip.compress((data / name).read_bytes()))
    assert find_format(compressed) == format


@pytest.mark.parametrize(
    "content",
    [
        RDF + "</rdf:RDF>",
        '<?xml version="1.0"?>\n<!DOCTYPE rdf:RDF [\n',
        "# made by hand\nPREFIX : <http://x.org#>\n",
        "@base <http://x.org/> .\n",
        "<http://x.org/a> <http://x.org/b> <http://x.org/c> .\n",
    ],
)
@pytest.mark.parametrize("name", ["a", "a.owl", "a.xml", "a.rdf", "a.ttl", "a.nt"])
def test_rdf_is_told_whatever_its_name(tmp_path, name, content):
    (tmp_path / name).write_text(content)
    assert find_format(tmp_path / name) == "rdf"


@pytest.mark.parametrize("name", ["release.zip", "terms.xlsx", "terms.csv"])
def test_archives_are_told(tmp_path, name):
    with ZipFile(tmp_path / name, "w") as archive:
        archive.writestr("a.txt", "a")
    with pytest.raises(ConnormError, match="CN123.*zip archive.*Unzip.*CSV"):
        read_ontology(tmp_path / name)


@pytest.mark.parametrize("format", FORMATS)
def test_every_format_has_its_reader(format):
    assert callable(find_reader(format))


@pytest.mark.parametrize(
    ("name", "content", "code"),
    [
        ("a.obo", LINE, "CN112"),
        ("a.dat", "What is this?\n", "CN111"),
        ("a.jsonl", "What is this?\n", "CN115"),
        ("a.obo", "What is this?\n", "CN115"),
        ("a.tsv", "What is this?\n", "CN127"),
        ("a.xml", "What is this?\n", "CN115"),
        ("a.jsonl", "", "CN104"),
        ("a.obo", "format-version: 1.2\n", "CN104"),
        ("a.jsonl", LINE + "{not json}\n", r"CN115.*line 2"),
        ("a.jsonl", LINE + '{"concept_id": "T:2"}\n', r"CN115.*line 2.*CN101.*canonical_name"),
        ("a.jsonl", LINE + '{"canonical_name": "x"}\n', r"CN115.*line 2.*CN101.*concept_id"),
        ("a.jsonl", LINE + LINE.replace("[]", "7"), r"CN115.*line 2.*CN006.*aliases"),
        ("a.jsonl", "[" * 100_000, "CN115"),
        ("a.xml", "<ICD10CM.tabular>\n<chapter>\n</chaptre>\n", r"CN115.*line 3"),
        ("a.xml", "<ICD10CM.tabular>\n<a>\ud800</a>\n", r"CN115.*line 2.*lone surrogate"),
    ],
)
def test_files_that_are_not_what_they_should_be(tmp_path, name, content, code):
    path = tmp_path / name
    path.write_text(content, "utf8", "surrogatepass")
    with pytest.raises(ConnormError, match=code):
        read_ontology(path)


@pytest.mark.parametrize(
    ("name", "content", "expected"),
    [
        ("a.owx", '<?xml version="1.0"?>\n<Ontology xmlns="http://x.org">\n', "OWL/XML"),
        ("a.ofn", "Prefix(:=<http://x.org#>)\nOntology(<http://x.org>\n", f"functional.*{ROBOT}"),
        ("a.omn", "Prefix: : <http://x.org#>\n", "Manchester"),
        ("a.txt", "id\teffectiveTime\tactive\tmoduleId\tsourceId\n", "SNOMED CT.*folder"),
        ("a.xml.gz", "\ufeff<?xml version='1.0'?><ClaML version='2.0.0'>", "ClaML.*table"),
        ("a.xml", "<?xml version='1.0'?>\n<JDBOR><DisorderList>", "Orphadata.*table"),
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
        ("a.tsv", "id\tname\tsynonyms\tskos:prefLabel\nC1\tVertigo\t\tdizzy\n"),
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


def test_formats_and_settings_that_are_asked_for(data):
    with pytest.raises(ConnormError, match=r"CN118.*owl.*jsonl, obo"):
        read_ontology(data / "small.obo", format="owl")
    with pytest.raises(ConnormError, match=r"CN112.*jsonl"):
        read_ontology(data / "small.obo", format="jsonl")
    with pytest.raises(ConnormError, match=r"CN113.*scope.*Its options: scopes"):
        read_ontology(data / "small.obo", scope="EXACT")
    ontology = read_ontology(data / "mesh_supplementary.tsv", id="mesh_scr_id")
    assert len(ontology) == 2
