import pytest

from spacy_connorm.concepts import Concept
from spacy_connorm.errors import ConnormError
from spacy_connorm.ontology import ReadReport
from spacy_connorm.ontology.ctd import read_ctd, read_medic

from .conftest import by_id, lenient


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


def test_ctd_takes_synonyms_of_several_columns(tmp_path):
    path = tmp_path / "CTD_chemicals.tsv"
    columns = ("ChemicalName", "ChemicalID", "MESHSynonyms", "CTDCuratedSynonyms")
    path.write_text("# Fields:\n# " + "\t".join(columns) + "\n#\naspirin\tMESH:D1\tA|B\tASA|B\n")
    (concept,) = read_ctd(path)
    assert concept.aliases == ("A", "B", "ASA")


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
    path, report = tmp_path / "medic.txt", lenient()
    path.write_text("D1||one\nnot medic\n||no id\n")
    assert list(by_id(read_medic(path, report=report))) == ["D1"]
    assert (report.odd.skipped, report.odd.read) == (2, 3)
    assert "line 2: can't be read as MEDIC" in str(report.odd.first)
