"""How a component finds the concept normalizer of its pipeline."""

import pickle

import pytest

from spacy_connorm.errors import ConnormError
from spacy_connorm.pipeline.mention_finder import MentionFinder


def test_the_first_or_the_named_one(make_pipeline):
    nlp = make_pipeline()
    first = nlp.get_pipe("concept_normalizer")
    named = MentionFinder(nlp, normalizer="concept_normalizer")
    assert MentionFinder(nlp).normalizer is named.normalizer is first
    with pytest.raises(ConnormError, match="a concept normalizer 'mesh'; the pipeline has concept"):
        _ = MentionFinder(nlp, normalizer="mesh").normalizer


def test_a_normalizer_that_is_removed_is_missed_and_one_added_later_is_used(make_pipeline):
    nlp = make_pipeline()
    finder = MentionFinder(nlp)
    nlp.remove_pipe("concept_normalizer")
    with pytest.raises(ConnormError, match="a concept normalizer; the pipeline has none"):
        _ = finder.normalizer
    nlp.add_pipe("concept_normalizer")
    assert finder.normalizer is nlp.get_pipe("concept_normalizer")


def test_it_takes_the_normalizer_along_to_a_worker(make_pipeline):
    finder = pickle.loads(pickle.dumps(MentionFinder(make_pipeline())))
    found = finder.normalizer.candidates(["heart attack"])
    assert found[0][0].concept_id == "C2"
