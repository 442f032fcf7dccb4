"""Each reader reads its format: what it takes, what it makes of it, what it leaves out."""

import gzip
import tracemalloc
from itertools import starmap

import pytest

from spacy_connorm.concepts import Concept, Ontology, write_concepts
from spacy_connorm.errors import ConnormError
from spacy_connorm.files.licence import write_licence
from spacy_connorm.ontology import ReadReport, stream_ontology
from spacy_connorm.ontology.ctd import read_ctd
from spacy_connorm.ontology.icd10cm import read_icd10cm
from spacy_connorm.ontology.jsonl import read_jsonl
from spacy_connorm.ontology.medic import read_medic
from spacy_connorm.ontology.mesh import read_mesh
from spacy_connorm.ontology.obo import read_obo
from spacy_connorm.ontology.tsv import read_tsv


def by_id(concepts):
    return {concept.concept_id: concept for concept in concepts}


def counts(report):
    return {reason: kind.count for reason, kind in report.left_out.items()}


def test_jsonl_reads_what_was_written_and_the_licence_beside_it(tmp_path):
    concept = Concept("T:1", "a", ("b",), ("T047",), "d", ("T:0",), ("T:9",))
    path, report = tmp_path / "kb.jsonl.gz", ReadReport()
    write_concepts([concept], path)
    write_licence("Be kind.", path)
    assert list(read_jsonl(path, report=report)) == [concept]
    assert report.licence == "Be kind."


def test_medic_ids_take_the_form_of_the_corpora(data):
    concepts = by_id(read_medic(data / "medic.txt"))
    assert concepts["D900001"].alt_ids == ("OMIM:900001", "C900009")
    assert concepts["D900001"].names == ("Sniffles", "Runny nose", "Drip")
    assert concepts["OMIM:900002"].names == ("Sneeze syndrome", "ACHOO")
    assert concepts["D900000"].aliases == ()
    assert concepts["D900001"].xrefs == ("MESH:D900001", "OMIM:900001", "MESH:C900009")


def test_medic_reads_escaped_characters(tmp_path):
    path = tmp_path / "medic.txt"
    path.write_text("D1||Crohn&apos;s Disease|M&#233;ni&#232;re &amp; co\n")
    assert by_id(read_medic(path))["D1"].names == ("Crohn's Disease", "Ménière & co")


def test_medic_leaves_out_lines_of_another_kind(tmp_path):
    path, report = tmp_path / "medic.txt", ReadReport()
    path.write_text("D1||one\nnot medic\n||no id\n")
    assert list(by_id(read_medic(path, report=report))) == ["D1"]
    assert counts(report) == {"a line without `id||name`": 2}


def test_ctd_reads_hierarchy_alternate_ids_and_terms_of_use(data):
    report = ReadReport()
    concepts = by_id(read_ctd(data / "ctd_diseases.tsv", report=report))
    assert concepts["D900001"] == Concept(
        concept_id="D900001",
        canonical_name="Sniffles",
        aliases=("Runny nose", "Drip"),
        types=("Respiratory tract disease",),
        definition="A runny nose.",
        parents=("D900000",),
        alt_ids=("DOID:90001", "OMIM:900001"),
        xrefs=("MESH:D900001", "DOID:90001", "OMIM:900001"),
    )
    assert concepts["OMIM:900002"].parents == ("D900000", "D900001")
    assert concepts["D900000"].parents == ()
    assert report.licence == "A vocabulary of no one\n\nUse it as you like."


def test_ctd_reads_chemicals_too(tmp_path):
    path = tmp_path / "CTD_chemicals.tsv"
    path.write_text(
        "# Fields:\n# ChemicalName\tChemicalID\tCasRN\tDefinition\tParentIDs\tSynonyms\n"
        "sniffline\tMESH:C900009\t1-2-3\t\tMESH:D900003\tsnifflin|C9\n"
    )
    parents, xrefs = ("D900003",), ("MESH:C900009", "CAS:1-2-3")
    concept = Concept("C900009", "sniffline", ("snifflin", "C9"), parents=parents, xrefs=xrefs)
    assert list(read_ctd(path)) == [concept]


def test_ctd_needs_its_header(tmp_path):
    path = tmp_path / "CTD_diseases.tsv"
    path.write_text("# no columns here\nSniffles\tMESH:D900001\n")
    with pytest.raises(ConnormError, match=r"CN115.*line 2"):
        list(read_ctd(path))


def test_mesh_joins_descriptors_tree_and_supplementary_concepts(data):
    report = ReadReport()
    concepts = by_id(
        read_mesh(
            data / "mesh_descriptors.tsv",
            tree=data / "mesh_tree.tsv",
            supplementary=data / "mesh_supplementary.tsv",
            report=report,
        )
    )
    assert list(concepts) == ["D900000", "D900001", "D900002", "C900009", "C900010"]
    sniffles = concepts["D900001"]
    assert sniffles.parents == ("D900000",)
    assert sniffles.types == ("C", "C99", "C98")
    assert concepts["C900009"].names == ("sniffline", "sniffline hydrochloride")
    assert sniffles.xrefs == ("MESH:D900001", "MESHTREE:C99.100", "MESHTREE:C98.200.100")
    assert report.merged == 1


def test_mesh_tells_the_lines_of_its_second_files(data, tmp_path):
    tree, others, report = tmp_path / "tree.tsv", tmp_path / "scr.tsv", ReadReport()
    tree.write_text("Tree Number\tUi\nC99\tD900000\n\nC98\tNose\n")
    others.write_text("C900009\tsniffline\nX1\tfoo\n")
    list(read_mesh(data / "mesh_descriptors.tsv", tree=tree, supplementary=others, report=report))
    assert {reason: (each.first, each.count) for reason, each in report.left_out.items()} == {
        "a row of the tree without a MeSH id and a tree number": ("line 4 of 'tree.tsv'", 1),
        "a supplementary row without a MeSH id": ("line 2 of 'scr.tsv'", 1),
    }


@pytest.mark.parametrize("setting", ["tree", "supplementary"])
def test_mesh_names_a_second_file_that_is_another(data, setting):
    with pytest.raises(ConnormError, match=r"CN104.*medic\.txt.*rows must have a MeSH id and"):
        list(read_mesh(data / "mesh_descriptors.tsv", **{setting: data / "medic.txt"}))


def test_obo_takes_the_synonyms_of_all_scopes(data):
    report = ReadReport()
    concepts = by_id(read_obo(data / "small.obo", report=report))
    assert concepts["T:2"] == Concept(
        concept_id="T:2",
        canonical_name='head, neck and "face" pain',
        aliases=("headache or neck ache", "cephalalgia", "pain", "migraine", "stiff neck"),
        types=("symptom",),
        definition='Pain above the shoulders, "by definition".',
        parents=("T:1",),
        alt_ids=("T:20", "T:21"),
        xrefs=("MESH:D900003", "UMLS:C0000009"),
        narrow=("migraine",),
        broad=("pain",),
        related=("stiff neck",),
    )
    assert concepts["T:1"].types == ("finding",)
    assert report.licence == "Licence: free for tests."
    assert counts(report) == {"an obsolete term": 1}
    assert report.scopes == {"EXACT": 2, "BROAD": 1, "NARROW": 1, "RELATED": 1}


def test_scopes_that_are_left_out_are_counted(data):
    report = ReadReport()
    concepts = by_id(read_obo(data / "small.obo", scopes=["EXACT"], report=report))
    assert concepts["T:2"].aliases == ("headache or neck ache", "cephalalgia")
    assert concepts["T:2"].exact_names == concepts["T:2"].names
    scopes = ("BROAD", "NARROW", "RELATED")
    assert counts(report) == {
        "an obsolete term": 1,
        **{f"a synonym of scope {scope}": 1 for scope in scopes},
    }


def test_obo_takes_synonyms_of_old_tags(tmp_path):
    path = tmp_path / "old.obo"
    path.write_text(
        'format-version: 1.0\n\n[Term]\nid: A:1\nname: one\nexact_synonym: "a" []\n'
        'narrow_synonym: "b" [X:1]\nbroad_synonym: "c" []\nrelated_synonym: "d" []\n'
        'synonym: "e" []\n'
    )
    (concept,) = read_obo(path)
    assert concept.exact_names == ("one", "a")
    assert (concept.narrow, concept.broad, concept.related) == (("b",), ("c",), ("e", "d"))


@pytest.mark.parametrize(
    "between", ["\n! part two\n\n", "\n! part two\n", " ! part two\n", "", "\n \n\n"]
)
def test_obo_stanzas_begin_at_their_first_line(tmp_path, between):
    path, report = tmp_path / "a.obo", ReadReport()
    stanzas = ["[Term]\nid: A:1\nname: one\n", "[Typedef]\nid: t\n", "[Term] ! two\nid: A:2\n"]
    header = "default-namespace: d\nremark: licence: free\n"
    path.write_text(between.join(["! ours\n", header, *stanzas, "name: two\n", "is_a: A:1\n"]))
    assert list(read_obo(path, report=report)) == [
        Concept("A:1", "one", types=("d",)),
        Concept("A:2", "two", types=("d",), parents=("A:1",)),
    ]
    assert report.licence == "licence: free"


@pytest.mark.parametrize("broken", ["this line is broken", "[Term", "[term]", ": x"])
def test_obo_tells_the_line_that_is_broken(tmp_path, broken):
    path = tmp_path / "a.obo"
    path.write_text(f"[Term]\nid: A:1\n\n{broken}\nname: one\nxref: A:5\n\n[Term]\nid: A:2\n")
    with pytest.raises(ConnormError, match=r"CN115.*line 4: .*OBO.*tag"):
        list(read_obo(path))


@pytest.mark.parametrize("synonym", ["synonym: a EXACT []", 'exact_synonym: "a', 'synonym: ""'])
def test_obo_tells_the_line_of_a_synonym_that_it_cannot_read(tmp_path, synonym):
    path, report = tmp_path / "a.obo", ReadReport()
    path.write_text(f'[Term]\nid: A:1\nname: one\n{synonym}\nsynonym: "b" EXACT []\n')
    (concept,) = read_obo(path, report=report)
    assert concept.aliases == ("b",)
    left_out = report.left_out["a synonym without a text in quotation marks"]
    assert (left_out.first, left_out.count, left_out.broken) == ("line 4", 1, True)


def test_cross_references_without_a_prefix_are_counted(tmp_path):
    obo, table, report = tmp_path / "a.obo", tmp_path / "a.tsv", ReadReport()
    xrefs = ("MIM:1", "611644", "PMID:2", "http://x.org/3", "611645")
    lines = "".join(f"xref: {each}\n" for each in xrefs)
    obo.write_text(f"[Term]\nid: A:1\nname: one\n{lines}")
    table.write_text(f"id\tname\tcodes\nA:1\tone\t{'|'.join(xrefs)}\n")
    readings = (read_obo(obo, report=report), read_tsv(table, xrefs="codes", report=report))
    assert [each.xrefs for reading in readings for each in reading] == [("OMIM:1",)] * 2
    left_out = report.left_out["a cross-reference without the prefix of its vocabulary"]
    assert (left_out.first, left_out.count, left_out.broken) == ("'611644'", 4, True)


def test_a_synonym_of_two_scopes_is_exact(tmp_path):
    path = tmp_path / "two.obo"
    path.write_text('[Term]\nid: A:1\nname: one\nsynonym: "a" RELATED []\nsynonym: "a" EXACT []\n')
    (concept,) = read_obo(path)
    assert (concept.related, concept.exact_names) == ((), ("one", "a"))


def test_jsonl_keeps_scopes_and_reads_some(data, tmp_path):
    path = tmp_path / "small.jsonl"
    Ontology(read_obo(data / "small.obo")).to_disk(path)
    assert by_id(read_jsonl(path)) == by_id(read_obo(data / "small.obo"))
    for scopes in (["EXACT"], ["EXACT", "NARROW"], ["BROAD"], []):
        read = by_id(read_jsonl(path, scopes=scopes))["T:2"]
        assert read == by_id(read_obo(data / "small.obo", scopes=scopes))["T:2"]
    with pytest.raises(ConnormError, match="CN118.*scopes.*EXAKT"):
        list(read_jsonl(path, scopes=["EXAKT"]))


def test_obo_settings(data):
    concepts = by_id(
        read_obo(data / "small.obo", scopes=("NARROW", "BROAD"), types="subset", obsolete=True)
    )
    assert concepts["T:2"].aliases == ("pain", "migraine")
    assert concepts["T:2"].types == ("common", "painful")
    assert concepts["T:1"].types == ()
    assert "T:3" in concepts


@pytest.mark.parametrize("setting", [{"scopes": ("EXAKT",)}, {"types": "xref"}])
def test_obo_names_settings_it_does_not_know(data, setting):
    with pytest.raises(ConnormError, match="CN118"):
        list(read_obo(data / "small.obo", **setting))


def test_icd10cm_order_file_alone(data):
    concepts = by_id(read_icd10cm(data / "icd10cm_order.txt"))
    assert all(each.xrefs == (f"ICD10CM:{code}",) for code, each in concepts.items())
    assert list(concepts) == ["A90", "A90.0", "A90.1", "A90.1X1", "A90.1X1A"]
    assert concepts["A90"].parents == ()
    assert concepts["A90.0"].names == ("Nose fever with sneezing", "Nose fever w sneezing")
    assert concepts["A90.1X1"].parents == ("A90.1",)
    assert concepts["A90.1X1A"].parents == ("A90.1X1",)


def test_icd10cm_tabular_list_adds_synonyms_and_chapters(data):
    concepts = by_id(read_icd10cm(data / "icd10cm_order.txt", tabular=data / "icd10cm_tabular.xml"))
    assert concepts["A90.0"].aliases == (
        "Nose fever w sneezing",
        "Sneezing fever",
        "Pyrexia sternutatoria",
    )
    assert concepts["A90.1"].aliases == ("Oth nose fever", "Nose fever, other")
    assert {c.types for c in concepts.values()} == {("Diseases of the nose (A90-A99)",)}


@pytest.mark.parametrize(
    ("content", "code"),
    [("<ICD10CM.tabular/>", "CN104"), ("<ClaML/>", "CN123"), ("A90 no XML", "CN115")],
)
def test_icd10cm_names_a_tabular_list_without_codes(data, tmp_path, content, code):
    path = tmp_path / "tab.xml"
    path.write_text(content)
    with pytest.raises(ConnormError, match=rf"{code}.*tab\.xml"):
        list(read_icd10cm(data / "icd10cm_order.txt", tabular=path))


def test_icd10cm_tabular_list_alone(data):
    concepts = by_id(read_icd10cm(data / "icd10cm_tabular.xml"))
    assert list(concepts) == ["A90", "A90.0", "A90.1"]
    assert concepts["A90.0"].parents == ("A90",)


@pytest.mark.parametrize(
    ("name", "implied"),
    [
        ("Nose fever (acute) (chronic)", ["Nose fever"]),
        ("(Acute) nose fever(s), left", ["nose fever, left"]),
        ("Human nose virus [HNV] disease", ["Human nose virus disease"]),
        ("Nose fever, unspecified organism", ["Nose fever NOS"]),
        ("Nose fever, left, site not specified", ["Nose fever, left NOS"]),
        ("Nose fever, organism unspecified", ["Nose fever NOS"]),
        ("Nose fever, unspecified, unspecified nostril", ["Nose fever NOS"]),
        (
            "Nose (nasal) fever, unspecified nostril",
            ["Nose fever, unspecified nostril", "Nose (nasal) fever NOS", "Nose fever NOS"],
        ),
        ("Nose fever, unspecified", []),
        ("Nose fever, unspecified with sneezing", []),
        ("Unspecified nose fever", []),
        ("(nasal)", []),
    ],
)
def test_icd10cm_implies_names(tmp_path, name, implied):
    path = tmp_path / "icd10cm.xml"
    path.write_bytes(tabular(section("A90", name, ["Sneeze"])))
    assert by_id(read_icd10cm(path))["A90"].aliases == ("Sneeze", *implied)
    assert by_id(read_icd10cm(path, implied_names=False))["A90"].aliases == ("Sneeze",)


def test_icd10cm_notes_of_what_a_code_includes_are_synonyms(tmp_path):
    path = tmp_path / "icd10cm.xml"
    included = ["sneeze", "sniffles (mild)", "any fever", "whatever is in A91.2", "a " * 13]
    path.write_bytes(tabular(section("A90", "Nose fever (mild)", ["sneeze"], included)))
    concept = by_id(read_icd10cm(path))["A90"]
    assert concept.aliases == ("sneeze", "sniffles (mild)", "Nose fever", "sniffles")
    assert by_id(read_icd10cm(path, implied_names=False))["A90"].aliases == ("sneeze",)


def test_icd10cm_implied_names_stay_with_the_broadest_code(tmp_path):
    path = tmp_path / "icd10cm.xml"
    eye = "Sneezing, unspecified eye"
    named = [("A90", "sneezing (dry)"), ("A90.0", eye), ("A90.00", "Sneezing (wet)"), ("A91", eye)]
    path.write_bytes(tabular(*starmap(section, named)))
    aliases = {code: each.aliases for code, each in by_id(read_icd10cm(path)).items()}
    assert aliases == {"A90": ("sneezing",), "A90.0": (), "A90.00": (), "A91": ("Sneezing NOS",)}


@pytest.mark.parametrize("name", ["TAB.XML", "tabular.txt.Xml.GZ"])
def test_icd10cm_tabular_list_in_capitals(data, tmp_path, name):
    content = (data / "icd10cm_tabular.xml").read_bytes()
    (tmp_path / name).write_bytes(gzip.compress(content) if name.endswith("GZ") else content)
    assert list(by_id(stream_ontology(tmp_path / name))) == ["A90", "A90.0", "A90.1"]


def tabular(*sections, encoding="utf8"):
    """A tabular list without line breaks."""
    head = f'<?xml version="1.0" encoding="{encoding}"?><ICD10CM.tabular><chapter><desc>é</desc>'
    return f"{head}{''.join(sections)}</chapter></ICD10CM.tabular>".encode(encoding)


def section(code, name="", terms=(), includes=()):
    """A section with one code, its name, inclusion terms and notes of what it includes."""
    notes = [
        f"<{kind}>{''.join(f'<note>{note}</note>' for note in each)}</{kind}>"
        for kind, each in (("inclusionTerm", terms), ("includes", includes))
    ]
    inside = f"<name>{code}</name><desc>{name or f'café {code}'}</desc>{''.join(notes)}"
    return f"<section><diag>{inside}</diag></section>"


def test_the_encoding_that_the_tabular_list_declares_is_read(tmp_path):
    path = tmp_path / "a.xml"
    path.write_bytes(tabular(section("A90"), encoding="iso-8859-1"))
    (concept,) = stream_ontology(path)
    assert (concept.canonical_name, concept.types) == ("café A90", ("é",))


def test_a_tabular_list_without_line_breaks_is_not_read_whole(tmp_path):
    path = tmp_path / "a.xml"
    path.write_bytes(
        tabular(*(section(f"A{each}", includes=["x " * 20_000]) for each in range(10, 99)))
    )
    tracemalloc.start()
    try:
        assert sum(1 for _ in stream_ontology(path)) == 89
        assert tracemalloc.get_traced_memory()[1] < 1_500_000
    finally:
        tracemalloc.stop()


def test_tsv_with_header(tmp_path):
    path, report = tmp_path / "table.tsv", ReadReport()
    path.write_text(
        'cui\tlabel\tother\tkind\ttext\tabove\told\n"T:2"\t"a ""b"" c"\tx; y;\tT047\td\tT:1\tT:8\n'
        '\n\tno id\n"T:1"\t"one" and "two"\n'
    )
    concepts = by_id(
        read_tsv(
            path,
            id="cui",
            name="label",
            synonyms="other",
            types="kind",
            definition="text",
            parents="above",
            alt_ids="old",
            separator=";",
            report=report,
        )
    )
    assert concepts["T:2"] == Concept(
        "T:2", 'a "b" c', ("x", "y"), ("T047",), "d", ("T:1",), ("T:8",)
    )
    assert concepts["T:1"].canonical_name == '"one" and "two"'
    assert report.left_out["a row without id or name"].first == "line 4"


def test_tsv_without_header_goes_by_number(tmp_path):
    path, report = tmp_path / "table.tsv", ReadReport()
    path.write_text("one\tT:1\nuno\tT:1\ntwo\tT:2\n")
    concepts = by_id(read_tsv(path, id=2, name="1", header=False, report=report))
    assert concepts["T:1"].names == ("one", "uno")
    assert concepts["T:2"].names == ("two",)
    assert report.merged == 1


def test_tsv_takes_ids_in_other_vocabularies_row_by_row(tmp_path):
    path = tmp_path / "allXREFinDO.tsv"
    path.write_text(
        '"id"\t"label"\t"xref"\n"DOID:1"\t"a"\t"MIM:264300"\n"DOID:1"\t"a"\t"ICD10CM:E29.1"\n'
        '"DOID:2"\t"b"\t"see there"\n'
    )
    concepts = by_id(read_tsv(path, name="label", xrefs="xref"))
    assert concepts["DOID:1"].xrefs == ("OMIM:264300", "ICD10CM:E29.1")
    assert concepts["DOID:2"].xrefs == ()


def test_the_vocabulary_of_a_tables_ids_can_be_told(tmp_path):
    path = tmp_path / "table.tsv"
    path.write_text("id\tname\tcode\n404640003\tdizziness\tR42\n")
    (concept,) = read_tsv(path, prefix="SNOMED")
    assert concept.xrefs == ("SNOMEDCT:404640003",)


@pytest.mark.parametrize("prefix", ["SNOMEDCT:", "a b", "_X", "PMID"])
def test_a_prefix_that_makes_no_cross_reference(tmp_path, prefix):
    path = tmp_path / "table.tsv"
    path.write_text("id\tname\n1\tdizziness\n")
    with pytest.raises(ConnormError, match="CN006.*prefix"):
        list(read_tsv(path, prefix=prefix))


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({"separator": ""}, "CN006.*separator.*at least one character"),
        ({"parents_by_name": True}, "CN733.*--parents-by-name.*--parents`"),
    ],
)
def test_tsv_settings_that_have_no_meaning(tmp_path, settings, expected):
    path = tmp_path / "table.tsv"
    path.write_text("id\tname\n1\tdizziness\n")
    with pytest.raises(ConnormError, match=expected):
        list(read_tsv(path, **settings))


def test_tsv_parents_by_name(tmp_path):
    path = tmp_path / "table.tsv"
    path.write_text("id\tname\tabove\nT:2\tmigraine\theadache\nT:1\theadache\tpain\n")
    concepts = by_id(read_tsv(path, parents="above", parents_by_name=True))
    assert concepts["T:2"].parents == ("T:1",)
    assert concepts["T:1"].parents == ("pain",)


def test_csv_fields_may_hold_commas_and_lines(tmp_path):
    path = tmp_path / "table.csv.gz"
    with gzip.open(path, "wt") as file:
        file.write('\ufeffid,name,definition\nT:1,"pain, acute","two\nlines"\n')
    (concept,) = read_tsv(path, definition="definition")
    assert concept.canonical_name == "pain, acute"
    assert concept.definition == "two\nlines"


@pytest.mark.parametrize("column", ["label", 4, "0", 0])
def test_tsv_names_the_columns_there_are(tmp_path, column):
    path = tmp_path / "table.tsv"
    path.write_text("id\tname\tkind\nT:1\tone\tx\n")
    with pytest.raises(ConnormError, match=r"CN114.*id, name, kind"):
        list(read_tsv(path, synonyms=column))
    with pytest.raises(ConnormError, match=r"CN114.*by their numbers|CN114.*their numbers"):
        list(read_tsv(path, header=False))


def test_two_columns_of_one_name(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text("id,name,name\nT:1,one,two\n")
    with pytest.raises(ConnormError, match=r"CN125.*table\.csv.*'name'"):
        list(read_tsv(path))
    (concept,) = read_tsv(path, name=2, synonyms=3)
    assert (concept.canonical_name, concept.aliases) == ("one", ("two",))


def test_csv_with_a_quotation_mark_that_does_not_end(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text('id,name\nT:1,"one\nT:2,two\n')
    with pytest.raises(ConnormError, match=r"CN115.*line 2.*is not closed"):
        list(read_tsv(path))


def test_obo_quotes_may_hold_what_begins_comments_and_modifiers(tmp_path):
    path = tmp_path / "o.obo"
    path.write_text(
        "format-version: 1.2\n\n[Term]\nid: X:1\nname: x\n"
        'def: "Of the !Kung {people}." [PMID:1] ! a comment\n'
        'synonym: "foo ! bar" EXACT [] {source="a"}\nsynonym: "a \\! b" NARROW []\n'
    )
    (concept,) = read_obo(path)
    assert concept.definition == "Of the !Kung {people}."
    assert (concept.aliases, concept.narrow) == (("foo ! bar", "a ! b"), ("a ! b",))


def test_ctd_takes_synonyms_of_several_columns(tmp_path):
    path = tmp_path / "CTD_chemicals.tsv"
    columns = ("ChemicalName", "ChemicalID", "MESHSynonyms", "CTDCuratedSynonyms")
    path.write_text("# Fields:\n# " + "\t".join(columns) + "\n#\naspirin\tMESH:D1\tA|B\tASA|B\n")
    (concept,) = read_ctd(path)
    assert concept.aliases == ("A", "B", "ASA")


def test_a_row_with_more_fields_than_columns_is_refused(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text("id,name,syn\nF1,dizziness,giddiness,\nF2,pain, chest,angina\n")
    with pytest.raises(ConnormError, match=r"CN115.*line 3.*4 fields.*3 columns.*quotation marks"):
        list(read_tsv(path, synonyms="syn"))


def test_without_a_header_the_first_row_and_the_settings_tell_the_columns(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text("F1,dizziness\nF2,pain,angina\n")
    concepts = by_id(read_tsv(path, id=1, name=2, synonyms=3, header=False))
    assert concepts["F2"].aliases == ("angina",)
    with pytest.raises(ConnormError, match=r"CN115.*line 2.*3 fields.*2 columns"):
        list(read_tsv(path, id=1, name=2, header=False))
