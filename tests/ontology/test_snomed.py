"""SNOMED CT's release format, with invented concepts."""

import shutil

import pytest
import spacy

from spacy_connorm import build_index, read_ontology
from spacy_connorm.concepts import Concept
from spacy_connorm.errors import ConnormError
from spacy_connorm.ontology import ReadReport
from spacy_connorm.ontology.snomed import read_snomed

from .conftest import by_id, counts

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
        *("1000002", "Sniffles", ("Runny nose",), ("disorder",), "A nose that drips."),
        *(("1000001",), (), ("SNOMEDCT:1000002",)),
    )
    winter = concepts["1000003"]
    assert winter.names == ('WS - winter "sniffles"', "Winter sniffles")
    assert (winter.parents, winter.definition) == (("1000002",), "")
    assert concepts["1000004"].types == ("qualifier value",)
    assert concepts["1000004"].names == ("Dripping", "Dripping (degree of dripping)")
    assert (concepts["1000005"].names, concepts["1000005"].types) == (("Nameless",), ("untagged",))
    assert counts(report) == {"an inactive concept": 1}


@pytest.mark.parametrize(
    ("dialect", "name"), [(BRITISH, "Runny nose"), ("of another edition", "Sniffles")]
)
def test_the_dialect_chooses_preferred_names(data, dialect, name):
    concepts = by_id(read_snomed(data / "snomed", dialect=dialect))
    assert concepts["1000002"].canonical_name == name


@pytest.mark.parametrize("place", [".", "Snapshot", "Snapshot/Terminology", ".."])
def test_a_release_is_found_by_its_folders(release, place):
    assert len(read_ontology(release / place)) == 5


def test_a_release_is_found_by_its_descriptions(release):
    assert len(read_ontology(descriptions(release))) == 5


def test_the_other_files_may_be_absent(release):
    for path in [*release.rglob("sct2_[CRT]*"), *release.rglob("der2*")]:
        path.unlink()
    report = ReadReport()
    concepts = by_id(read_snomed(release, report=report))
    assert concepts["1000006"].canonical_name == "Retired sniffles"
    assert not any(each.parents or each.definition for each in concepts.values())
    assert len(report.left_out) == 4


def test_english_is_read_if_there_are_several_languages(release):
    english = descriptions(release)
    spanish = english.with_name(english.name.replace("-en", "-es"))
    shutil.copy(english, spanish)
    assert len(by_id(read_snomed(release))) == 5
    english.rename(english.with_name(english.name.replace("-en", "-sv")))
    with pytest.raises(ConnormError, match="CN006.*one of the files.*-es.*-sv"):
        list(read_snomed(release))


def test_a_full_release_is_refused(release):
    file = descriptions(release)
    full = file.rename(file.with_name(file.name.replace("Snapshot", "Full")))
    with pytest.raises(ConnormError, match="CN006.*snapshot.*Full"):
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
        list(read_snomed(release))


def test_qualifiers_are_no_mentions(data, tmp_path):
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
