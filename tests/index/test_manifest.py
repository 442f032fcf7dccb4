"""What an index says about itself, and what its format version stands for."""

import pytest

from spacy_connorm.errors import ConnormError
from spacy_connorm.index.concept_index import ConceptIndex
from spacy_connorm.index.manifest import FORMAT_VERSION, read_facts
from spacy_connorm.index.search import SEARCHES
from spacy_connorm.text.bag_hashes import hash_bag
from spacy_connorm.text.words import words_of

from .conftest import build

# The hashes of names in the indexes of each format version: plurals, spellings, possessives,
# numerals, Greek letters, tags, accents, function words and numbers.
NAME_HASHES = {
    16: {
        "Fractures of the femora": 0x37E16C6A285FFA4B,
        "Phalanges, short": 0xC57362CF45F37B71,
        "Haemorrhagic anaemia": 0x38FD91A33F96FDF4,
        "Oesophageal tumours": 0x92C0D402A4E75D1A,
        "Crohn's disease": 0xFD633EB62F94B7B7,
        "Parkinson's diseases": 0x0AC9C89D1090DD36,
        "Factor VIII deficiency": 0x2E0692925163B984,
        "Stage IIIb carcinoma": 0x2955D8F459934A4B,
        "β-Thalassaemia": 0x7A315FDB95657788,
        "α1-Antitrypsin deficiency": 0xE6BC3D854EC2DB30,
        "Diabetes mellitus (disorder)": 0x8D9EC8CC9CB17641,
        "Fever (finding)": 0xE60E3814AF510099,
        "CD4+ T-cells": 0xD882752B10B46B5F,
        "Vitamin A deficiency": 0x3EDC2B51F4BAF0E1,
        "Sjögren syndrome": 0x76F25C2599590B01,
        "Straße": 0x2AB66D0C338240E4,
        "Pain in the abdomen": 0xC01CA202F22F2B75,
        "HTN": 0x7A2A0FC397BF2FC0,
        "Metastases to lymph nodes": 0xF492ACC3E6E5F4AC,
        "22q11.2 deletion": 0xB129E06E19BB888B,
    }
}
MEND = (
    "The words of these names have changed, so indexes on disk no longer have their hashes: raise "
    "FORMAT_VERSION in spacy_connorm/index/manifest.py, and pin the new hashes under it in place "
    "of the old ones."
)


def test_a_format_version_stands_for_the_hashes_of_names():
    pinned = NAME_HASHES.get(FORMAT_VERSION)
    assert pinned is not None, f"Pin the hashes of names under the version {FORMAT_VERSION}."
    words = words_of("en")
    changed = {
        name: f"0x{hash_bag(words.bag(name)):016X}"
        for name, pinned_hash in pinned.items()
        if hash_bag(words.bag(name)) != pinned_hash
    }
    assert not changed, MEND


@pytest.fixture
def index(tmp_path) -> ConceptIndex:
    return build(tmp_path / "index", synonyms=[])


def test_an_index_says_how_it_is_searched(index):
    facts = read_facts(index.folder, index.manifest)
    assert facts.searches == list(SEARCHES)
    assert (facts.metric, facts.language) == ("cosine", "en")
    assert facts.fingerprint == index.fingerprint


def test_an_index_of_another_version_is_refused(index):
    with pytest.raises(ConnormError, match="CN401.*8, not"):
        read_facts(index.folder, {**index.manifest, "index_format": 8})


@pytest.mark.parametrize("field", ["searches", "encoder", "backend", "language", "endings"])
def test_an_index_that_lacks_a_fact_is_damaged(index, field):
    manifest = {name: value for name, value in index.manifest.items() if name != field}
    with pytest.raises(ConnormError, match="CN402.*does not name"):
        read_facts(index.folder, manifest)
