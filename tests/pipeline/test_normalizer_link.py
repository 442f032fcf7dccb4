"""How a component finds the concept normalizer of its pipeline."""

import pickle

import pytest

from spacy_connorm.errors import ConnormError
from spacy_connorm.pipeline.mention_finder import NormalizerLink

MESSAGE = "no {component}"


def test_the_first_or_the_named_one(make_pipeline):
    nlp = make_pipeline()
    link = NormalizerLink(nlp)
    first = nlp.get_pipe("concept_normalizer")
    assert link.require(None, MESSAGE) is link.require("concept_normalizer", MESSAGE) is first
    with pytest.raises(ConnormError, match="no concept normalizer 'mesh'"):
        link.require("mesh", MESSAGE)


def test_one_that_is_added_later_or_removed(make_pipeline):
    nlp = make_pipeline()
    link = NormalizerLink(nlp)
    nlp.remove_pipe("concept_normalizer")
    with pytest.raises(ConnormError, match="no concept normalizer"):
        link.require(None, MESSAGE)
    nlp.add_pipe("concept_normalizer")
    assert link.require(None, MESSAGE) is nlp.get_pipe("concept_normalizer")


def test_it_takes_the_normalizer_along_to_a_worker(make_pipeline):
    link = pickle.loads(pickle.dumps(NormalizerLink(make_pipeline())))
    found = link.require("concept_normalizer", MESSAGE).candidates(["heart attack"])
    assert found[0][0].concept_id == "C2"
