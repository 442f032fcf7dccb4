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
    29: {
        "Fractures of the femora": 0x72CAD092C50B3C94,
        "Phalanges, short": 0x78EACFE4650F34DA,
        "Haemorrhagic anaemia": 0x98D58DC9B11D6F0E,
        "Oesophageal tumours": 0x6CDDEFA77C902B61,
        "Crohn's disease": 0x0ED30513F1E1F1CE,
        "Parkinson's diseases": 0x01059FDB6E3C266A,
        "Factor VIII deficiency": 0x77DC42695F472F9F,
        "Stage IIIb carcinoma": 0xD8F9BBEC6AE2BFA2,
        "β-Thalassaemia": 0x3DCC19BDF3F4FDF4,
        "α1-Antitrypsin deficiency": 0x362C286BC65A0DB9,
        "Diabetes mellitus (disorder)": 0x3C040E1211E60C96,
        "Fever (finding)": 0x4452CF88C504EB52,
        "CD4+ T-cells": 0xB33038F4E432836D,
        "Vitamin A deficiency": 0xA3B4552E22D6ACC9,
        "Sjögren syndrome": 0x4EE217B1C4D4227B,
        "Straße": 0x74452E51B453E6D2,
        "Pain in the abdomen": 0xDB4642FE9BB65934,
        "HTN": 0xA7A587E6AD067A55,
        "Metastases to lymph nodes": 0xD2EC071ECF60016B,
        "22q11.2 deletion": 0xC7B33470623FBB4C,
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
