import gzip
import shutil

import pytest

from spacy_connorm.errors import ConnormError
from spacy_connorm.ontology import ReadReport
from spacy_connorm.ontology.formats import find_format
from spacy_connorm.ontology.rrf import read_rrf

from .conftest import lenient, strict


def read(path, **settings):
    return {concept.concept_id: concept for concept in read_rrf(path, **settings)}


@pytest.fixture
def meta(data, tmp_path):
    """A copy to take files from or to spoil."""
    return shutil.copytree(data / "META", tmp_path / "META")


def test_a_concept_is_joined_from_four_files(data):
    report = ReadReport()
    concepts = read(data / "META", report=report)
    assert list(concepts) == ["C0000001", "C0000002", "C0000004", "C0000005"]
    sniffles = concepts["C0000001"]
    assert sniffles.names == ("Sniffles", "The sniffles", "sniffles, the", "Runny nose")
    assert sniffles.types == ("T184", "T047")
    assert sniffles.definition == "A nose that drips."
    assert sniffles.parents == ("C0000002", "C0000004")
    assert concepts["C0000002"].parents == ()
    assert sniffles.xrefs == ("UMLS:C0000001", "MESH:X1", "NCIT:X1")
    assert {reason: kind.count for reason, kind in report.left_out.items()} == {
        "a name in another language": 2,
        "a suppressed name": 1,
        "a concept with no names left": 1,
    }


def test_codes_of_sources_whose_names_are_left_out_are_kept(data):
    sniffles = read(data / "META", sources=["NCI"])["C0000001"]
    assert sniffles.names == ("The sniffles",)
    assert sniffles.xrefs == ("UMLS:C0000001", "MESH:X1", "NCIT:X1")


@pytest.mark.parametrize("folder", ["META", "META/MRCONSO.RRF", "."])
def test_a_release_is_found_by_file_or_folder(data, folder):
    assert len(read(data / folder)) == 4


def test_languages_in_order_of_preference(data):
    concepts = read(data / "META", languages=("SPA", "ENG"))
    assert concepts["C0000001"].canonical_name == "Moqueo"
    assert "C0000003" in concepts
    assert read(data / "META", languages=())["C0000001"].canonical_name == "Sniffles"


def test_sources(data):
    concepts = read(data / "META", sources=("NCI",))
    assert list(concepts) == ["C0000001"]
    assert concepts["C0000001"].names == ("The sniffles",)
    assert concepts["C0000001"].parents == ("C0000004",)


def test_semantic_types(data):
    report = ReadReport()
    assert list(read(data / "META", semantic_types=("T121",), report=report)) == ["C0000005"]
    assert report.left_out["a concept of another semantic type"].count == 4


def test_trade_names_become_synonyms_of_the_drug_and_stay_concepts(data):
    concepts = read(data / "META", tradenames=True)
    assert concepts["C0000005"].names == ("sniffline", "Snifex", "Snifex brand")
    assert concepts["C0000004"].names == ("Snifex", "Snifex brand")
    assert read(data / "META")["C0000005"].aliases == ()


def test_files_but_mrconso_may_be_absent(meta):
    report = ReadReport()
    for name in ("MRSTY", "MRDEF", "MRREL"):
        (meta / f"{name}.RRF").unlink()
    concepts = read(meta, report=report)
    assert not any(c.types or c.definition or c.parents for c in concepts.values())
    assert "MRREL.RRF, which is missing" in report.left_out
    with pytest.raises(ConnormError, match="CN100"):
        read(meta, tradenames=True)


def test_compressed_files(data, meta):
    for path in meta.glob("*.RRF"):
        path.with_name(f"{path.name}.gz").write_bytes(gzip.compress(path.read_bytes()))
        path.unlink()
    assert read(meta) == read(data / "META")


def test_a_folder_without_release(tmp_path):
    with pytest.raises(ConnormError, match="CN104"):
        read(tmp_path)


@pytest.mark.parametrize("name", ["MRCONSO", "MRSTY", "MRREL", "MRDEF"])
def test_rows_that_are_not_sorted(meta, name):
    with (meta / f"{name}.RRF").open("r+") as file:
        early = file.readline().replace("C0000001", "C0000000")
        file.seek(0, 2)
        file.write(early)
    with pytest.raises(ConnormError, match=rf"CN116.*{name}.*'C0000000' comes after") as error:
        read(meta, report=strict())
    assert "LC_ALL=C sort" in str(error.value)


def test_a_row_that_is_too_short(meta):
    with (meta / "MRCONSO.RRF").open("a") as file:
        file.write("C0000006|ENG|P|\n")
    with pytest.raises(ConnormError, match=r"CN115.*line 12.*4 columns"):
        read(meta, report=strict())


def test_a_short_file_may_have_as_many_odd_rows_as_all_together(tmp_path):
    row = "C{:07}|ENG|P|L1|PF|S1|Y|A1||||MSH|PT|D1|name {}|0|N||\n"
    names = "".join(row.format(number, number) for number in range(40))
    (tmp_path / "MRCONSO.RRF").write_text(names)
    (tmp_path / "MRDEF.RRF").write_text("odd\n")
    report = ReadReport()
    assert len(read(tmp_path, report=report)) == 40
    assert report.odd.skipped == 1
    (tmp_path / "MRDEF.RRF").write_text("odd\n" * 4)
    with pytest.raises(ConnormError, match="CN115.*4 of 44"):
        read(tmp_path)


@pytest.mark.parametrize("name", ["MRCONSO", "MRSTY", "MRREL", "MRDEF"])
@pytest.mark.parametrize("cui", ["C0000000", "C12345678901", "\U0010ffff" * 12, "Z" * 9, ""])
def test_a_row_whose_cui_is_odd_is_skipped(meta, name, cui):
    expected, file = read(meta), meta / f"{name}.RRF"
    first, *rest = file.read_text().splitlines(keepends=True)
    odd = cui + first[first.index("|") :]
    # A row at the beginning is in order.
    for lines in ([odd, first, *rest], [first, *rest, odd])[cui == "C0000000" :]:
        file.write_text("".join(lines))
        report = lenient()
        assert read(meta, report=report) == expected
        assert report.odd.skipped == 1


def test_rxnorm_has_its_own_files_and_order(data):
    report = ReadReport()
    concepts = read(data / "rxnorm", report=report, tradenames=True)
    assert list(concepts) == ["9", "10", "100"]
    drug = concepts["9"]
    assert drug.names == ("sniffline", "SNIFfline", "sniffle acid", "Snifex")
    assert (drug.types, drug.parents) == (("T109", "T121"), ())
    assert drug.xrefs == ("MESH:X1", "RXNORM:9")
    assert {reason: kind.count for reason, kind in report.left_out.items()} == {
        "a suppressed name": 1
    }


@pytest.mark.parametrize("name", ["RXNCONSO.RRF", "rxnorm.txt"])
def test_rxnorm_is_not_medic_and_its_ids_are_none_of_umls(tmp_path, name):
    path = tmp_path / name
    path.write_text(
        "161|ENG||||||A1|A1|161||RXNORM|IN|161|acetaminophen||N|4096|\n"
        "161|ENG||||||A2|A2|161||RXNORM|IN|161|APAP||N|4096|\n"
    )
    if path.suffix == ".txt":
        with pytest.raises(ConnormError, match="CN111"):
            find_format(path)
    else:
        assert find_format(path) == "rrf"
    (drug,) = read(path).values()
    assert (drug.names, drug.xrefs) == (("acetaminophen", "APAP"), ("RXNORM:161",))
