"""Indexes of all backends are sound as they are built."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spacy_connorm.concepts import Concept
from spacy_connorm.index.verification import verify_index, verify_texts

from .conftest import build

NAMES = st.sampled_from(["one", "ONE", "two", "three", "four", "", " ", "5", "6"])
CONCEPTS = st.builds(
    Concept,
    concept_id=st.sampled_from("ABCDE"),
    canonical_name=NAMES,
    aliases=st.lists(NAMES, max_size=3).map(tuple),
)


def test_what_was_built_is_sound(index, encoder_of):
    read = []
    verify_index(index, report=read.append)
    verify_texts(index, encoder_of.model, report=read.append)
    assert sum(read) > 2 * len(index.vectors)


@settings(max_examples=30)
@given(
    concepts=st.lists(CONCEPTS, min_size=1, max_size=6),
    synonyms=st.lists(st.tuples(NAMES.filter(str.strip), st.sampled_from("ABXY")), max_size=5),
)
@pytest.mark.filterwarnings("ignore:.*CNW")
def test_whatever_is_built_is_sound(tmp_path_factory, concepts, synonyms):
    index = build(tmp_path_factory.mktemp("built"), concepts=concepts, synonyms=synonyms)
    verify_index(index, report=lambda _: None)
