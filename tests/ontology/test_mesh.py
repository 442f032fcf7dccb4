import pytest

from spacy_connorm.errors import ConnormError
from spacy_connorm.ontology import ReadReport
from spacy_connorm.ontology.mesh import read_mesh

from .conftest import by_id


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


def test_mesh_is_read_from_the_xml_of_its_makers(data):
    supplementary = data / "mesh_supplementary.xml"
    concepts = by_id(read_mesh(data / "mesh_descriptors.xml", supplementary=supplementary))
    assert list(concepts) == ["D900000", "D900001", "D900003", "C900009"]
    assert concepts["D900003"].types == ("unplaced",)
    sniffles = concepts["D900001"]
    assert sniffles.names == ("Sniffles", "Runny Nose", "Nose, Runny")
    assert (sniffles.parents, sniffles.types) == (("D900000",), ("C", "C99", "C98"))
    assert sniffles.definition == "A nose that drips."
    assert sniffles.xrefs == ("MESH:D900001", "MESHTREE:C99.100", "MESHTREE:C98.200.100")
    assert concepts["C900009"].names == ("sniffline", "sniffline hydrochloride")
    other = concepts["C900009"]
    assert (other.parents, other.types) == ((), ("D",))
    assert other.definition == "Against sniffles."


def test_mesh_tells_the_lines_of_its_second_files(data, tmp_path):
    tree, others, report = tmp_path / "tree.tsv", tmp_path / "scr.tsv", ReadReport()
    tree.write_text("Tree Number\tUi\nC99\tD900000\n\nC98\tNose\n")
    others.write_text("C900009\tsniffline\nX1\tfoo\n")
    list(read_mesh(data / "mesh_descriptors.tsv", tree=tree, supplementary=others, report=report))
    assert {reason: (each.first, each.count) for reason, each in report.left_out.items()} == {
        "a row of the tree without a MeSH id and a tree number": ("line 4 of 'tree.tsv'", 1),
        "a supplementary row without a MeSH id": ("line 2 of 'scr.tsv'", 1),
    }


def test_another_xml_has_no_supplementary_concepts(data):
    descriptors, other = data / "mesh_descriptors.xml", data / "icd10cm_tabular.xml"
    with pytest.raises(ConnormError, match="CN104.*icd10cm_tabular"):
        list(read_mesh(descriptors, supplementary=other))


@pytest.mark.parametrize("setting", ["tree", "supplementary"])
def test_mesh_names_a_second_file_that_is_another(data, setting):
    with pytest.raises(ConnormError, match=r"CN104.*medic\.txt.*has no rows with a MeSH id and"):
        list(read_mesh(data / "mesh_descriptors.tsv", **{setting: data / "medic.txt"}))
