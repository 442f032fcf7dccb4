"""Pipelines that are corrected, and what tests say of their mentions."""

import pytest

from spacy_connorm.workflows import CorrectedPipeline

NOTE = "Complains of head spinning after a cold."
OTHER_NOTE = "No more head spinning. Had a cold, took aspirin."


@pytest.fixture
def path(tmp_path):
    return tmp_path / "corrections.jsonl"


@pytest.fixture
def corrected(make_pipeline, path):
    """A pipeline with corrections, whose ruler finds "cold", "head spinning" and others."""
    return CorrectedPipeline(make_pipeline(), path)


@pytest.fixture
def resolving(make_pipeline, path):
    """A pipeline with corrections that reads the abbreviations of documents."""
    nlp = make_pipeline()
    nlp.add_pipe("abbreviation_resolver", first=True)
    return CorrectedPipeline(nlp, path)


@pytest.fixture
def answers():
    """A function that gives what a pipeline finds in a text: ids by mention."""

    def read(pipeline, text):
        (record,) = pipeline.annotate([text])
        return {ent["text"]: ent["kb_id"] for ent in record["ents"]}

    return read


@pytest.fixture
def correct():
    """A function that corrects a mention of a text."""

    def say(pipeline, text, mention, kb_id, **options):
        start = text.index(mention)
        return pipeline.correct(text, start, start + len(mention), kb_id, **options)

    return say
