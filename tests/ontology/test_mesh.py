import pytest

from spacy_connorm.errors import ConnormError
from spacy_connorm.ontology import ReadReport
from spacy_connorm.ontology.mesh import read_mesh

from .conftest import by_id, lenient


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
    tree, others = tmp_path / "tree.tsv", tmp_path / "scr.tsv"
    tree.write_text("Tree Number\tUi\nC99\tD900000\n\nC98\tNose\n")
    others.write_text("C900009\tsniffline\nX1\tfoo\n")
    descriptors = data / "mesh_descriptors.tsv"
    for files, place in (
        ({"tree": tree}, "tree.tsv', line 4"),
        ({"supplementary": others}, "scr.tsv', line 2"),
    ):
        report = lenient()
        list(read_mesh(descriptors, **files, report=report))
        assert report.odd.skipped == 1
        assert place in str(report.odd.first)


def test_another_xml_has_no_supplementary_concepts(data):
    descriptors, other = data / "mesh_descriptors.xml", data / "icd10cm_tabular.xml"
    with pytest.raises(ConnormError, match="CN104.*icd10cm_tabular"):
        list(read_mesh(descriptors, supplementary=other))


@pytest.mark.parametrize("setting", ["tree", "supplementary"])
def test_mesh_names_a_second_file_that_is_another(data, setting):
    files = {setting: data / "medic.txt"}
    with pytest.raises(ConnormError, match=r"CN115.*medic\.txt', line 2.*it has no MeSH id"):
        list(read_mesh(data / "mesh_descriptors.tsv", **files))
    with pytest.raises(ConnormError, match=r"CN104.*medic\.txt.*has no rows with a MeSH id and"):
        list(read_mesh(data / "mesh_descriptors.tsv", **files, report=lenient()))


def test_mesh_is_read_in_part(data):
    report = ReadReport()
    files = {"tree": data / "mesh_tree.tsv", "supplementary": data / "mesh_supplementary.tsv"}
    every = by_id(read_mesh(data / "mesh_descriptors.tsv", **files))
    part = by_id(
        read_mesh(data / "mesh_descriptors.tsv", **files, semantic_types=["C98"], report=report)
    )
    assert list(part) == [key for key, concept in every.items() if "C98" in concept.types]
    assert part["D900001"].parents == ()
    (left_out,) = report.left_out.values()
    assert left_out.count == len(every) - len(part) > 0
