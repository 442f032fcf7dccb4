import gzip
import warnings

import pytest

from spacy_connorm.concepts import Concept
from spacy_connorm.errors import ConnormError
from spacy_connorm.ontology import ReadReport
from spacy_connorm.ontology.tsv import read_tsv

from .conftest import by_id, lenient


@pytest.fixture
def read(tmp_path):
    """A function that reads a table from a text, tab-separated if it has tabs."""

    def concepts(content, **options):
        path = tmp_path / f"table.{'tsv' if chr(9) in content else 'csv'}"
        path.write_text(content)
        return list(read_tsv(path, **options))

    return concepts


def test_tsv_with_header(read):
    report = lenient()
    table = (
        'cui\tlabel\tother\tkind\ttext\tabove\told\n"T:2"\t"a ""b"" c"\tx; y;\tT047\td\tT:1\tT:8\n'
        '\n\tno id\n"T:1"\t"one" and "two"\n'
    )
    named = {"id": "cui", "name": "label", "synonyms": "other", "types": "kind"}
    named |= {"definition": "text", "parents": "above", "alt_ids": "old"}
    concepts = by_id(read(table, **named, separator=";", report=report))
    assert concepts["T:2"] == Concept(
        "T:2", 'a "b" c', ("x", "y"), ("T047",), "d", ("T:1",), ("T:8",)
    )
    assert concepts["T:1"].canonical_name == '"one" and "two"'
    assert "line 4: can't be read as a concept (the row has no id" in str(report.odd.first)


@pytest.mark.parametrize("concept_id", ["NIL", "-1", "CUI-less"])
def test_a_row_whose_id_stands_for_no_concept_is_named(read, concept_id):
    report = lenient()
    (concept,) = read(f"id\tname\nT:1\tone\n{concept_id}\ttwo\n", report=report)
    assert concept.concept_id == "T:1" and report.odd.skipped == 1
    assert "line 3: can't be read as a concept (the row has no id" in str(report.odd.first)


@pytest.mark.parametrize(
    "header",
    [
        "id,name,synonyms,types,definition,parents,alt_ids,xrefs",
        "ID,Name,Synonyms,Types,Definition,Parents,Alt IDs,XRefs",
        "concept_id,canonical_name,aliases,types,definition,parents,alt_ids,xrefs",
        "Class ID,Preferred Label,Synonyms,Semantic Types,Definitions,Parents,alt_ids,xrefs",
        "icd_code,long_title,synonyms,types,definition,parents,alt_ids,xrefs",
        "Code,Description,synonyms,types,definition,parents,alt_ids,xrefs",
        "concept_id,concept_name,synonyms,types,definition,parents,alt_ids,xrefs",
    ],
)
def test_columns_with_usual_names_are_read_without_options(read, header):
    (concept,) = read(f"{header}\nT:1,one,uno|un,T047,first,T:0,T:9,MESH:D003920\n")
    assert concept == Concept(
        "T:1",
        "one",
        ("uno", "un"),
        ("T047",),
        "first",
        ("T:0",),
        ("T:9",),
        ("MESH:D003920",),
    )


def test_all_names_may_be_in_one_column(tmp_path):
    path = tmp_path / "Thesaurus.txt"
    path.write_text("C1\turl\tC7|C9\tMelanoma|melanoma|Malignant Melanoma\nC2\turl\t\t|\n")
    report = lenient()
    concepts = by_id(
        read_tsv(path, id=1, name=4, synonyms=4, parents=3, header=False, report=report)
    )
    assert concepts["C1"].names == ("Melanoma", "melanoma", "Malignant Melanoma")
    assert concepts["C1"].parents == ("C7", "C9")
    assert report.odd.skipped == 1


def test_a_table_of_medcat(read):
    table = (
        "cui,name,ontologies,name_status,type_ids\n"
        "C1,vertigo,X,A,T1|T2\nC2,flu,X,P,T1\nC1,Dizziness|giddiness,X,P,T1\n"
    )
    concepts = by_id(read(table))
    assert concepts["C1"].canonical_name == "Dizziness"
    assert {*concepts["C1"].aliases} == {"giddiness", "vertigo"}
    assert ({*concepts["C1"].types}, concepts["C2"].types) == ({"T1", "T2"}, ("T1",))


def test_synonyms_may_be_in_several_columns(read):
    table = "id\tsymbol\tname\talias,old\nG:1\tBRCA1\tBRCA1, repair\tRNF53|BRCC1\n"
    (concept,) = read(table, name="symbol", synonyms="name,4")
    assert concept.names == ("BRCA1", "BRCA1, repair", "RNF53", "BRCC1")
    (concept,) = read(table, name="symbol", synonyms="alias,old")
    assert concept.names == ("BRCA1", "RNF53", "BRCC1")
    with pytest.raises(ConnormError, match="CN114.*'old'"):
        read(table, name="symbol", synonyms="name,old")


def test_a_named_column_comes_before_the_usual_one(read):
    (concept,) = read("id,name,synonyms,brand\nT:1,one,uno,Uno\n", synonyms="brand")
    assert concept.names == ("one", "Uno")


def test_a_description_is_a_name_only_without_another(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text("code,description,title\nT:1,the first of all,one\n")
    with pytest.warns(UserWarning, match="CNW107.*description"):
        assert [concept.names for concept in read_tsv(path)] == [("one",)]


@pytest.mark.parametrize(
    ("header", "missing", "options"),
    [
        (
            "HGNC ID,Approved symbol,Approved name",
            "id or name",
            "'HGNC ID' --name 'Approved symbol'",
        ),
        (
            "MedDRA Code,MedDRA SOC,CTCAE Term,Grade 1 ",
            "id or name",
            "'MedDRA Code' --name 'CTCAE Term'",
        ),
        ("ICDO3.2,Level,Term,Code reference", "id", "COLUMN --name Term"),
        ("code,Bezeichnung", "name", "code --name COLUMN"),
        ("HGNC ID,name", "id", "'HGNC ID' --name name"),
    ],
)
def test_the_command_for_other_columns_is_told(tmp_path, header, missing, options):
    path = tmp_path / "table.csv"
    path.write_text(f"{header}\n1,one\n")
    with pytest.raises(ConnormError, match="CN127") as caught:
        list(read_tsv(path))
    columns = ", ".join(header.split(","))
    assert f"such as {missing}. It has: {columns}." in str(caught.value)
    assert str(caught.value).endswith(f"{path} ontology.jsonl --id {options}`.")


def test_what_was_named_stays_in_the_command(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text("key,long name\n1,one\n")
    with pytest.raises(ConnormError, match="CN127.*--id key --name 'long name'"):
        list(read_tsv(path, id="key"))


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("id,name,other terms,brand\n1,one,uno,Uno\n", "CNW107.*other terms, brand.*--synonyms"),
        ("id,name,synonyms\n1,one,uno;un\n2,two,dos;deux\n", "CNW108.*'|'.*';' .2."),
        ('id,name,synonyms\n1,one,"uno, un"\n2,two,dos\n', "CNW108.*', ' .1."),
        ("id,name,synonyms\n1,one|uno,un\n", "CNW109.*names with a '|'.*.1..*--synonyms 2"),
    ],
)
def test_synonyms_that_are_not_read_are_reported(read, content, expected):
    with pytest.warns(UserWarning, match=expected):
        read(content)


@pytest.mark.parametrize(
    "content",
    [
        "id,name\n1,one\n",
        "id,name,synonyms\n1,one,uno\n2,two,dos\n",
        "id,name,synonyms\n1,one,uno|un\n2,2-(x;y),a;b\n",
        'id,name,synonyms\n1,one,uno|un\n2,two,"a, b"\n',
        'cui,name,name_status\n1,one,P\n1,"one, first",A\n',
    ],
)
def test_tables_without_doubt_have_no_warning(read, content):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert read(content)[0].canonical_name == "one"


def test_tsv_without_header_goes_by_number(read):
    report = ReadReport()
    table = "one\tT:1\nuno\tT:1\ntwo\tT:2\n"
    concepts = by_id(read(table, id=2, name="1", header=False, report=report))
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


def test_the_vocabulary_of_a_tables_ids_can_be_told(read):
    (concept,) = read("id\tname\n404640003\tdizziness\n", prefix="SNOMED")
    assert concept.xrefs == ("SNOMEDCT:404640003",)


@pytest.mark.parametrize("prefix", ["SNOMEDCT:", "a b", "_X", "PMID"])
def test_a_prefix_that_makes_no_cross_reference(read, prefix):
    with pytest.raises(ConnormError, match="CN006.*prefix"):
        read("id\tname\n1\tdizziness\n", prefix=prefix)


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({"separator": ""}, "CN006.*separator.*at least one character"),
    ],
)
def test_tsv_settings_that_have_no_meaning(read, settings, expected):
    with pytest.raises(ConnormError, match=expected):
        read("id\tname\n1\tdizziness\n", **settings)


def test_csv_fields_may_hold_commas_and_lines(tmp_path):
    path = tmp_path / "table.csv.gz"
    with gzip.open(path, "wt") as file:
        file.write('\ufeffid,name,definition\nT:1,"pain, acute","two\nlines"\n')
    (concept,) = read_tsv(path, definition="definition")
    assert concept.canonical_name == "pain, acute"
    assert concept.definition == "two\nlines"


@pytest.mark.parametrize("column", ["label", 4, "0", 0])
def test_tsv_names_the_columns_there_are(read, column):
    table = "id\tname\tkind\nT:1\tone\tx\n"
    with pytest.raises(ConnormError, match=r"CN114.*id, name, kind"):
        read(table, synonyms=column)
    with pytest.raises(ConnormError, match=r"CN114.*by their numbers|CN114.*their numbers"):
        read(table, header=False)


def test_two_columns_of_one_name(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text("id,name,name\nT:1,one,two\n")
    with pytest.raises(ConnormError, match=r"CN125.*table\.csv.*'name'"):
        list(read_tsv(path))
    (concept,) = read_tsv(path, name=2, synonyms=3)
    assert (concept.canonical_name, concept.aliases) == ("one", ("two",))


def test_csv_with_a_quotation_mark_that_does_not_end(read):
    with pytest.raises(ConnormError, match=r"CN115.*line 2.*is not closed"):
        read('id,name\nT:1,"one\nT:2,two\n')


def test_a_row_with_more_fields_than_columns_is_refused(read):
    with pytest.raises(ConnormError, match=r"CN115.*line 3.*4 fields.*3 columns.*quotation marks"):
        read("id,name,syn\nF1,dizziness,giddiness,\nF2,pain, chest,angina\n", synonyms="syn")


def test_without_a_header_the_first_row_and_the_settings_tell_the_columns(read):
    table = "F1,dizziness\nF2,pain,angina\n"
    concepts = by_id(read(table, id=1, name=2, synonyms=3, header=False))
    assert concepts["F2"].aliases == ("angina",)
    with pytest.raises(ConnormError, match=r"CN115.*line 2.*3 fields.*2 columns"):
        read(table, id=1, name=2, header=False)
