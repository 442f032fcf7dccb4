import gzip

import pytest

from spacy_connorm.concepts import Concept
from spacy_connorm.errors import ConnormError
from spacy_connorm.files.odd_lines import OddLines
from spacy_connorm.ontology import ReadReport
from spacy_connorm.ontology.obographs import read_obographs
from spacy_connorm.ontology.rdf import read_rdf
from spacy_connorm.ontology.report import Retired

from .conftest import by_id, counts

HEAD = """<?xml version="1.0"?>
<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"
 xmlns:rdfs="http://www.w3.org/2000/01/rdf-schema#" xmlns:owl="http://www.w3.org/2002/07/owl#"
 xmlns:efo="http://www.ebi.ac.uk/efo/" xmlns:skos="http://www.w3.org/2004/02/skos/core#"
 xmlns:umls="http://bioportal.bioontology.org/ontologies/umls/"
 xmlns:ncit="http://ncicb.nci.nih.gov/xml/owl/EVS/Thesaurus.owl#">
"""


@pytest.mark.parametrize(
    ("read", "name", "others"),
    [
        (read_rdf, "small.owl", {"a text in another language": 1}),
        (read_obographs, "small.json", {}),
    ],
)
def test_owl_and_obo_graphs_have_the_same_concepts(data, read, name, others):
    report = ReadReport()
    concepts = by_id(read(data / name, report=report))
    assert concepts == {
        "T:0000002": Concept(
            concept_id="T:0000002",
            canonical_name='head, neck and "face" pain',
            aliases=("cephalalgia", "migraine", "pain", "stiff neck"),
            types=("symptom",),
            definition="Pain above the shoulders.",
            parents=("T:0000001",),
            alt_ids=("T:0000020",),
            xrefs=("MESH:D900003",),
            narrow=("migraine",),
            broad=("pain",),
            related=("stiff neck",),
        ),
        "T:0000001": Concept("T:0000001", "clinical finding"),
    }
    assert report.licence == "Free for tests."
    assert report.scopes == {"EXACT": 1, "NARROW": 1, "BROAD": 1, "RELATED": 1}
    assert report.retired == {"T:0000003": Retired(replaced_by=("T:0000002",))}
    assert counts(report) == {
        "an obsolete term": 1,
        "a class without a name": 1,
        "a class of an imported ontology": 1,
        **others,
    }
    assert "UBERON:0000033" in by_id(read(data / name, imports=True))


@pytest.mark.parametrize(
    ("read", "name"), [(read_rdf, "small.owl"), (read_obographs, "small.json")]
)
def test_scopes_of_owl_are_chosen(data, read, name):
    concepts = by_id(read(data / name, scopes=["EXACT"]))
    assert concepts["T:0000002"].aliases == ("cephalalgia",)
    with pytest.raises(ConnormError, match="CN118"):
        list(read(data / name, scopes=["exact"]))


def test_skos_is_read_in_one_language(data):
    report = ReadReport()
    assert by_id(read_rdf(data / "small.ttl", report=report)) == {
        "heart": Concept("heart", "Heart disease"),
        "I21": Concept(
            "I21",
            "Myocardial infarction",
            ("heart attack", "hart attack"),
            definition="Death of heart muscle.",
            parents=("heart",),
        ),
    }
    assert report.licence == "Free for tests."
    assert counts(report) == {"a text in another language": 2, "a class without a name": 1}
    german = by_id(read_rdf(data / "small.ttl", language="de"))
    assert {concept.canonical_name for concept in german.values()} == {
        "Herzinfarkt",
        "Vorhofflattern",
    }


@pytest.mark.parametrize(
    ("iri", "inside", "expected"),
    [
        (
            "http://www.orpha.net/ORDO/Orphanet_558",
            "<rdfs:label xml:lang='en'>Marfan syndrome</rdfs:label>"
            "<efo:alternative_term xml:lang='en'>MFS</efo:alternative_term>"
            "<skos:notation>ORPHA:558</skos:notation>",
            Concept("Orphanet:558", "Marfan syndrome", ("MFS",)),
        ),
        (
            "http://purl.bioontology.org/ontology/ICD10CM/A00",
            "<skos:prefLabel>Cholera</skos:prefLabel><skos:notation>A00</skos:notation>"
            "<umls:cui>C0008354</umls:cui>"
            "<umls:hasSTY rdf:resource='http://purl.bioontology.org/ontology/STY/T047'/>",
            Concept("A00", "Cholera", types=("T047",), xrefs=("UMLS:C0008354",)),
        ),
        (
            "http://ncicb.nci.nih.gov/xml/owl/EVS/Thesaurus.owl#C2852",
            "<rdfs:label>Adenocarcinoma</rdfs:label><ncit:P90>adenoma, malignant</ncit:P90>"
            "<ncit:P106>Neoplastic Process</ncit:P106><ncit:P207>C0001418</ncit:P207>",
            Concept(
                "C2852",
                "Adenocarcinoma",
                ("adenoma, malignant",),
                types=("Neoplastic Process",),
                xrefs=("UMLS:C0001418",),
            ),
        ),
        (
            "http://purl.obolibrary.org/obo/NCBITaxon_Union_0000022",
            "<rdfs:label>Protists or fungi</rdfs:label>",
            Concept("NCBITaxon_Union:0000022", "Protists or fungi"),
        ),
        (
            "http://example.org/Heart_Failure",
            "<rdfs:label>heart failure</rdfs:label>",
            Concept("Heart_Failure", "heart failure"),
        ),
        ("http://example.org/gout/", "<rdfs:label>gout</rdfs:label>", Concept("gout", "gout")),
    ],
)
def test_ontologies_of_several_makers(tmp_path, iri, inside, expected):
    path = tmp_path / "a.owl"
    path.write_text(f"{HEAD}<owl:Class rdf:about='{iri}'>{inside}</owl:Class></rdf:RDF>")
    assert list(read_rdf(path)) == [expected]


def test_n_triples_may_be_packed(tmp_path):
    about, path = "<http://x.org/T_1>", tmp_path / "a.nt.gz"
    lines = (
        f"{about} <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> "
        "<http://www.w3.org/2002/07/owl#Class> .\n"
        f'{about} <http://www.w3.org/2000/01/rdf-schema#label> "vertigo" .\n'
    )
    path.write_bytes(gzip.compress(lines.encode()))
    assert list(read_rdf(path)) == [Concept("T:1", "vertigo")]
    path.write_bytes(path.read_bytes()[:-10])
    with pytest.raises(ConnormError, match=r"CN106.*a\.nt\.gz"):
        list(read_rdf(path))


def declared(*entities):
    return f'<?xml version="1.0"?>\n<!DOCTYPE rdf:RDF [\n{"".join(entities)}]>\n'


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.owl", HEAD + "<owl:Class>", "line 7.*RDF"),
        ("a.owl", HEAD + "<owl:Class>\n</owl:Class>", "line 8.*RDF"),
        ("a.owl", HEAD + "<owl:Class></rdf:RDF>", "line 7.*RDF"),
        ("a.ttl", "@prefix a: <http://x.org/> .\na:b a a:c .\na:d foo", "line 3.*RDF"),
        (
            "a.owl",
            declared("<!ENTITY a 'lol'>\n", "<!ENTITY b '&a;&a;'>\n") + HEAD[22:],
            "line 4.*entity",
        ),
        ("a.owl", declared("<!ENTITY a SYSTEM 'file:///etc/passwd'>\n") + HEAD[22:], "entity"),
        ("a.owl", declared(f"<!ENTITY a '{'x' * 1001}'>\n") + HEAD[22:], "entity"),
        ("a.owl", declared("<!ENTITY a>\n") + HEAD[22:], "line 3.*XML"),
        ("a.json", '{"graphs": [{"nodes": [\n', "line 2.*JSON"),
        ("a.json", '{"graphs": [{"nodes": 3}]}', "OBO Graphs"),
        ("a.json", '{"graphs": 1}', "OBO Graphs"),
    ],
)
def test_files_that_cannot_be_read_are_told(tmp_path, name, content, message):
    path = tmp_path / name
    path.write_text(content)
    read = read_obographs if name.endswith("json") else read_rdf
    with pytest.raises(ConnormError, match=f"(?s)CN115.*{message}"):
        list(read(path))


CLASS = '<owl:Class rdf:about="http://x.org/T_{0}"><rdfs:label>{1}</rdfs:label>{2}</owl:Class>\n'


@pytest.mark.parametrize("encoding", ["ISO-8859-1", "windows-1252", "utf-8", "US-ASCII"])
def test_owl_in_any_encoding(tmp_path, encoding):
    path = tmp_path / "a.owl"
    name = "fever" if encoding == "US-ASCII" else "fièvre"
    head = HEAD.replace('"1.0"', f'"1.0" encoding="{encoding}"')
    path.write_bytes((head + CLASS.format(1, name, "") + "</rdf:RDF>").encode(encoding))
    (concept,) = read_rdf(path)
    assert concept.canonical_name == name


@pytest.mark.parametrize(
    "obsolete",
    [
        '<rdfs:subClassOf rdf:resource="http://www.geneontology.org/formats/oboInOwl#ObsoleteClass"/>',
        '<rdf:type rdf:resource="http://www.geneontology.org/formats/oboInOwl#ObsoleteClass"/>',
        "<owl:deprecated>true</owl:deprecated>",
    ],
)
def test_obsolete_classes_are_left_out(tmp_path, obsolete):
    path, report = tmp_path / "a.owl", ReadReport()
    own = '<owl:Class rdf:about="http://www.geneontology.org/formats/oboInOwl#ObsoleteClass">'
    own += "<rdfs:label>Obsolete Class</rdfs:label></owl:Class>"
    classes = CLASS.format(1, "one", "") + CLASS.format(2, "two", obsolete) + own
    path.write_text(f"{HEAD}{classes}</rdf:RDF>")
    assert list(by_id(read_rdf(path, report=report))) == ["T:1"]
    assert counts(report) == {"an obsolete term": 2}


@pytest.mark.parametrize(
    ("name", "content", "reason"),
    [
        ("a.owl", '<?xml version="1.0"?>\ud800' + HEAD[22:], "surrogate"),
        ("a.owl", HEAD + "\ud800</rdf:RDF>", "RDF|surrogate"),
        ("a.json", '{"graphs": ' + "[" * 100_000, "nested too deeply"),
        ("a.json", '{"graphs": [{"nodes": [], "x": ' + "9" * 6_000 + "}]}", "number is too long"),
    ],
)
def test_files_that_another_library_refuses_are_told(tmp_path, name, content, reason):
    path = tmp_path / name
    path.write_text(content, errors="surrogatepass")
    with pytest.raises(ConnormError, match=f"CN115.*({reason})"):
        list((read_obographs if name.endswith("json") else read_rdf)(path))


@pytest.mark.parametrize(
    "node",
    [
        '{"id": "http://x.org/T_9", "type": "CLASS", "lbl": NaN}',
        '{"id": "http://x.org/T_9", "type": "CLASS", "lbl": "x", "meta": {"synonyms": [{}]}}',
        '{"id": "http://x.org/T_9", "type": "CLASS", "lbl": "x", "meta": 3}',
        '{"type": "CLASS", "lbl": "x"}',
        "[3]",
    ],
)
def test_an_odd_node_is_skipped_and_named(tmp_path, node):
    path, report = tmp_path / "a.json", ReadReport(odd=OddLines(1))
    good = '{"id": "http://x.org/T_1", "type": "CLASS", "lbl": "one"}'
    path.write_text(f'{{"graphs": [{{"nodes": [\n{good},\n{node}\n]}}]}}')
    assert list(by_id(read_obographs(path, report=report))) == ["T:1"]
    assert report.odd.skipped == 1
    line = 3 if "http" in node else 1
    assert f"line {line}: can't be read as OBO Graphs" in str(report.odd.first)
