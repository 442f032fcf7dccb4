"""SNOMED CT's release format, with invented concepts."""

import shutil

import pytest
import spacy

from spacy_connorm import build_index, read_ontology
from spacy_connorm.concepts import Concept
from spacy_connorm.errors import ConnormError
from spacy_connorm.ontology import ReadReport
from spacy_connorm.ontology.snomed import read_snomed

from .conftest import by_id, counts, strict

BRITISH = "900000000000508004"


@pytest.fixture
def release(data, tmp_path):
    """A copy to take files from or to spoil."""
    return shutil.copytree(data / "snomed", tmp_path / "release")


def descriptions(release):
    return next(release.glob("Snapshot/Terminology/sct2_Description*"))


def test_a_concept_is_joined_from_five_files(data):
    report = ReadReport()
    concepts = by_id(read_snomed(data / "snomed", report=report))
    assert concepts["1000002"] == Concept(
        "1000002",
        "Sniffles",
        ("Runny nose",),
        ("disorder",),
        "A nose that drips.",
        ("1000001",),
        (),
        ("SNOMEDCT:1000002",),
    )
    winter = concepts["1000003"]
    assert winter.names == ('WS - winter "sniffles"', "Winter sniffles")
    assert (winter.parents, winter.definition) == (("1000002",), "")
    assert concepts["1000004"].types == ("qualifier value",)
    assert concepts["1000004"].names == ("Dripping", "Dripping (degree of dripping)")
    assert (concepts["1000005"].names, concepts["1000005"].types) == (("Nameless",), ("untagged",))
    assert counts(report) == {"an inactive concept": 1}


def test_the_dialect_chooses_preferred_names(data):
    concepts = by_id(read_snomed(data / "snomed", dialect=BRITISH))
    assert concepts["1000002"].canonical_name == "Runny nose"
    # This one is preferred in the US only.
    assert concepts["1000003"].canonical_name == 'WS - winter "sniffles"'
    with pytest.raises(ConnormError, match=f"CN006.*dialect.*{BRITISH}.*'en-GB'"):
        list(read_snomed(data / "snomed", dialect="en-GB"))


@pytest.mark.parametrize("place", [".", "Snapshot", "Snapshot/Terminology", ".."])
def test_a_release_is_found_by_its_folders(release, place):
    assert len(read_ontology(release / place)) == 5


def test_a_release_is_found_by_its_descriptions(release):
    assert len(read_ontology(descriptions(release))) == 5


def test_the_other_files_may_be_absent(release):
    for path in [*release.rglob("sct2_[CRT]*"), *release.rglob("der2*")]:
        path.unlink()
    with pytest.warns(UserWarning, match="CNW102.*missing") as warned:
        concepts = read_ontology(release)
    assert len(warned) == 2
    assert concepts["1000006"].canonical_name == "Retired sniffles"
    assert not any(concept.parents or concept.definition for concept in concepts)


def test_a_relative_path_finds_the_other_files(release, monkeypatch):
    monkeypatch.chdir(descriptions(release).parent)
    concepts = by_id(read_snomed(descriptions(release).name, dialect=BRITISH))
    assert concepts["1000002"].canonical_name == "Runny nose"


def test_an_extension_has_terms_of_concepts_that_it_does_not_list(release):
    file = next(release.rglob("sct2_Concept*"))
    file.write_text("id\teffectiveTime\tactive\n1000006\t20990101\t0\n")
    assert len(by_id(read_snomed(release))) == 5


def test_english_is_read_if_there_are_several_languages(release):
    english = descriptions(release)
    spanish = english.with_name(english.name.replace("-en", "-es"))
    shutil.copy(english, spanish)
    definitions = next(release.rglob("sct2_TextDefinition*"))
    other = definitions.with_name(definitions.name.replace("-en", "-es"))
    other.write_text(definitions.read_text().replace("A nose that drips.", "Una nariz."))
    (spanish.parent / f"._{spanish.name}").touch()
    concepts = by_id(read_snomed(release))
    assert (len(concepts), concepts["1000002"].definition) == (5, "A nose that drips.")
    english.rename(english.with_name(english.name.replace("-en", "-sv")))
    with pytest.raises(ConnormError, match="CN006.*one of the files.*-es.*-sv"):
        list(read_snomed(release))


@pytest.mark.parametrize("name", ["_Full-en_INT_", "_UKCLFull-en_GB_", "_Delta_INT_"])
def test_a_full_release_is_refused(release, name):
    file = descriptions(release)
    full = file.rename(file.with_name(file.name.replace("_Snapshot-en_INT_", name)))
    with pytest.raises(ConnormError, match=f"CN006.*snapshot.*{name}"):
        read_ontology(full)


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("\tterm", "\ttext", "CN114.*'term'"),
        ("\ten\t900000000000013009\tRunny nose\t9", "", "CN115.*line 4.*columns"),
    ],
)
def test_a_damaged_file(release, old, new, expected):
    file = descriptions(release)
    file.write_text(file.read_text().replace(old, new))
    with pytest.raises(ConnormError, match=expected):
        list(read_snomed(release, report=strict()))


def test_qualifiers_are_not_mentions(data, tmp_path):
    overrides = {
        "components.concept_normalizer.encoder.@architectures": "spacy-connorm.NgramEncoder.v1"
    }
    built = build_index(data / "snomed", tmp_path / "a", find_mentions=True, overrides=overrides)
    assert built.profile is not None and built.profile.name == "snomed"
    doc = spacy.load(built.path)("Dripping: winter sniffles, a runny nose")
    assert [(ent.text, ent.kb_id_) for ent in doc.ents] == [
        ("winter sniffles", "1000003"),
        ("runny nose", "1000002"),
    ]
