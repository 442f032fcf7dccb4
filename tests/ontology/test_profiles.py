import pytest

from spacy_connorm.errors import ConnormError
from spacy_connorm.ontology.profiles import PROFILES, Described, choose_profile


def below(*known, share=1.0, ids=(), types=(), is_flat=False):
    """Describe an ontology: the share of its concepts below roots, ids, and semantic types."""

    def share_below(roots):
        return share if {*roots} & {*known} else 0.0

    return Described(not is_flat, share_below, ids or known or ("X1",), types)


@pytest.mark.parametrize("name", [name for name, each in PROFILES.items() if each.roots])
def test_an_ontology_is_known_by_its_roots(name):
    profile = PROFILES[name]
    assert choose_profile("auto", below(*profile.roots)) == profile
    assert choose_profile(name, below()) == profile


def test_others_have_none():
    assert choose_profile("auto", below("DOID:4")) is None
    assert choose_profile("none", below("HP:0000001")) is None


def test_half_of_a_joined_ontology_is_not_a_profile():
    assert choose_profile("auto", below("HP:0000001", share=0.5)) is None


@pytest.mark.parametrize("name", ["hpo", "mondo", "ordo", "so", "uberon", "chebi", "ncbitaxon"])
def test_a_part_without_its_roots_is_known_by_its_ids(name):
    assert choose_profile("auto", below(ids=SOME_IDS[name][1:], share=0.0)) == PROFILES[name]
    assert choose_profile("auto", below(ids=[*SOME_IDS[name], "X1"], share=0.0)) is None


def test_an_ontology_with_other_ids_below_its_root_is_joined():
    ids = ["HP:0000001", *(f"DOID:{number}" for number in range(3))]
    assert choose_profile("auto", below("HP:0000001", ids=ids)) is None


def test_an_unknown_profile_is_refused():
    with pytest.raises(ConnormError, match="CN118.*'hp'.*auto, none, hpo"):
        choose_profile("hp", below())


def test_organisms_are_known_by_their_ids_alone():
    ids = [f"NCBITaxon:{number}" for number in range(20)]
    assert choose_profile("auto", below(ids=[*ids, "NCBITaxon:species"])).name == "ncbitaxon"
    assert choose_profile("auto", below(ids=[*ids, *("X1",) * 5])) is None


def test_genes_are_known_by_their_ids():
    assert choose_profile("auto", below(ids=["HGNC:5", "HGNC:20387"])) == PROFILES["hgnc"]
    assert choose_profile("auto", below(ids=["HGNC:5", "ENSG00000121410"])) is None


EXTERNAL = "External causes of morbidity (V00-Y99)"


@pytest.mark.parametrize(
    ("name", "ids", "types", "kept"),
    [
        ("mesh", ["D000001", "C538288"], ["C", "C04", "V", "V03", "Z01"], ["C", "C04"]),
        ("icd10cm", ["A00", "V84.0", "O9A.119"], ["Neoplasms (C00-D49)", EXTERNAL], None),
        ("ncit", ["NCIT:C2852", "C12"], ["Neoplastic Process", "Spatial Concept"], None),
        ("umls", ["C0012833"], ["T047", "T079", "T082", "T170", "T184"], ["T047", "T184"]),
    ],
)
def test_an_ontology_without_roots_is_known_by_its_ids_and_types(name, ids, types, kept):
    profile = choose_profile("auto", below(ids=ids, types=types))
    assert profile == PROFILES[name]
    assert profile.kept_types(types) == (kept or types[:1])
    # Ids alone do not tell: CTD has MeSH's. Nor do those of a few concepts.
    assert choose_profile("auto", below(ids=ids, types=["Cancer"])) is None
    assert choose_profile("auto", below(ids=[*ids, "X1"], types=types)) is None


# The ids of a few concepts that no profile leaves out.
SOME_IDS = {
    "hpo": ["HP:0000001", "HP:0001250"],
    "mondo": ["MONDO:0000001", "MONDO:0004979"],
    "ordo": ["Orphanet:C001", "ORPHA:558"],
    "so": ["SO:0000110", "SO:0000704"],
    "uberon": ["UBERON:0001062", "UBERON:0002107"],
    "chebi": ["CHEBI:24431", "CHEBI:15365"],
    "ncbitaxon": ["NCBITaxon:1", "NCBITaxon:9606"],
}


@pytest.mark.parametrize("name", [*SOME_IDS])
@pytest.mark.parametrize("chosen", ["auto", "own"])
def test_a_table_without_a_hierarchy_keeps_all_branches(name, chosen):
    table = below(share=0.0, ids=SOME_IDS[name], is_flat=True)
    profile, own = choose_profile(name if chosen == "own" else "auto", table), PROFILES[name]
    assert profile is not None and not profile.branches and not profile.excluded
    changed = {"branches": (), "excluded": (), "reason": profile.reason}
    assert profile == own._replace(**changed)
    assert "no concept has a parent" in profile.reason


def test_a_table_of_mesh_is_not_taken_for_its_chemicals():
    chemicals = PROFILES["mesh-chemicals"]
    flat = below(*chemicals.roots, share=0.0, ids=["D009930", "D012640"], is_flat=True)
    assert choose_profile("auto", flat) is None
    with_types = below(share=0.0, ids=["D009930", "D012640"], types=["C04", "V03"], is_flat=True)
    assert choose_profile("auto", with_types) == PROFILES["mesh"]
