"""Indexes of all backends are sound as they are built, and fit their encoders."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spacy_connorm.concepts import Concept
from spacy_connorm.errors import ConnormError
from spacy_connorm.index.verification import verify_texts

from .conftest import DENSE, build
from .soundness import require_sound

NAMES = st.sampled_from(["one", "ONE", "two", "three", "four", "", " ", "5", "6"])
CONCEPTS = st.builds(
    Concept,
    concept_id=st.sampled_from("ABCDE"),
    canonical_name=NAMES,
    aliases=st.lists(NAMES, max_size=3).map(tuple),
)


def test_what_was_built_is_sound(index, encoder_of):
    require_sound(index)
    read = []
    verify_texts(index, encoder_of.model, report=read.append)
    assert sum(read) == len(index.members.concept)


@settings(max_examples=30)
@given(
    concepts=st.lists(CONCEPTS, min_size=1, max_size=6),
    synonyms=st.lists(st.tuples(NAMES.filter(str.strip), st.sampled_from("ABXY")), max_size=5),
)
@pytest.mark.filterwarnings("ignore:.*CNW")
def test_whatever_is_built_is_sound(tmp_path_factory, concepts, synonyms):
    require_sound(build(tmp_path_factory.mktemp("built"), concepts=concepts, synonyms=synonyms))


@pytest.mark.filterwarnings("ignore:.*CNW")
@pytest.mark.parametrize(
    "other",
    [
        {"inputs": lambda texts: [text.encode() for text in texts]},
        {"encode": lambda texts: -DENSE.encode(texts)},
        {"encode": lambda texts: 2 * DENSE.encode(texts)},
        {"encode": lambda texts: np.roll(DENSE.encode(texts), 1, axis=0)},
    ],
    ids=["inputs", "turned", "longer", "of others"],
)
def test_an_encoder_that_computes_something_else_is_named(tmp_path, other):
    index = build(tmp_path / "index")
    verify_texts(index, DENSE.model, report=lambda count: None)
    with pytest.raises(ConnormError, match=r"CN402.*\.npy"):
        verify_texts(index, replace(DENSE, **other).model, report=lambda count: None)
