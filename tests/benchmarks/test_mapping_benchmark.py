"""Mappings of two small ontologies, scored by their cross-references."""

import gzip

import pytest

DO = """format-version: 1.2

[Term]
id: DOID:1
name: heart attack
synonym: "myocardial infarction" EXACT []
xref: MESH:D1
xref: ICD10CM:I21

[Term]
id: DOID:2
name: apoplexy
xref: MESH:D2
xref: ICD10CM:I63.9

[Term]
id: DOID:3
name: nothing to compare with
xref: UMLS_CUI:C1
"""
CTD = (
    "# CTD\n# DiseaseName\tDiseaseID\tAltDiseaseIDs\tDefinition\tParentIDs\tTreeNumbers\t"
    "ParentTreeNumbers\tSynonyms\tSlimMappings\n"
    "Heart Attack\tMESH:D1\t\t\t\t\t\t\t\nStroke\tMESH:D9\t\t\t\t\t\t\t\n"
)
ICD = (
    "00001 I21     0 Myocardial infarction                                        "
    "Myocardial infarction\n"
    "00002 I639    1 Cerebral infarction                                          "
    "Cerebral infarction\n"
)
ICD_LIST = (
    "<ICD10CM.tabular><chapter><desc>Vessels</desc><section><diag><name>I63.9</name>"
    "<desc>Cerebral infarction</desc><includes><note>apoplexy (of the brain)</note></includes>"
    "</diag></section></chapter></ICD10CM.tabular>"
)


@pytest.fixture
def diseases(tmp_path):
    for name, content in (
        ("disease_ontology/doid_2016-09-01.obo.gz", DO),
        ("ctd_diseases_2017/CTD_diseases.tsv.gz", CTD),
        ("icd10cm_2021/icd10cm-order-Jan-2021.txt.gz", ICD),
        ("icd10cm_2021/icd10cm_tabular_2021.xml.gz", ICD_LIST),
    ):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(gzip.compress(content.encode()))
    return tmp_path


def test_right_and_wrong_mappings_are_counted(rows_of, diseases):
    arguments = ("--set", "do-ctd", "icd10-do", "--encoder", "ngram", "--data", diseases)
    rows = rows_of("mapping.py", *arguments)
    found = {(row["set"], row["accepted"]): row for row in rows}
    every = found["do-ctd", "all"]
    assert (every["terms"], every["accuracy@1"], every["in_ontology"]) == (2, 50.0, 1)
    assert every["in_ontology_accuracy@1"] == 100.0
    assert (every["coverage"], every["precision"]) == (100.0, 50.0)
    exact = found["icd10-do", "skos:exactMatch"]
    assert (exact["terms"], exact["coverage"], exact["precision"]) == (2, 50.0, 100.0)


def test_what_implied_names_gain(rows_of, diseases):
    arguments = ("--set", "do-icd10", "do-icd10-listed", "--encoder", "ngram", "--data", diseases)
    rows = rows_of("mapping.py", *arguments)
    same = {row["set"]: row["coverage"] for row in rows if row["accepted"] == "from 0.9"}
    # "Heart attack" is an everyday phrase, "apoplexy" only what a note implies.
    assert same == {"do-icd10": 100.0, "do-icd10-listed": 50.0}


def test_without_data(run, tmp_path, capsys):
    with pytest.raises(SystemExit):
        run("mapping.py", "--set", "do-ctd", "--encoder", "ngram", "--data", tmp_path)
    assert "No data" in capsys.readouterr().err
