from spacy_connorm.ontology import ReadReport
from spacy_connorm.ontology.medic import read_medic

from .conftest import by_id, counts


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
