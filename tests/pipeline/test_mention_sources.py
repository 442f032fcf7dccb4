"""Pipelines whose normalizer gets no mentions, or those of another pipeline, are warned of."""

from functools import partial

import pytest
import spacy
from finding import NGRAMS, make_finder
from spacy.language import Language

from spacy_connorm import Concept, Ontology
from spacy_connorm.errors import ConnormWarning

CONCEPTS = [Concept("C1", "Breast Neoplasms", ("breast cancer",)), Concept("C2", "cancer")]
TEXTS = ["An MI and a cold.", "Nothing here.", "", "MI, cold, aspirin."]


@pytest.fixture(scope="module")
def make():
    """A function that makes a pipeline from plain text to ids."""
    return partial(make_finder, CONCEPTS, first=["abbreviation_resolver"])


def found(nlp, text):
    return [(ent.text, ent.kb_id_) for ent in nlp(text).ents]


def test_one_from_another_pipeline_finds_the_names_of_its_own(make):
    nlp = spacy.blank("en")
    nlp.add_pipe("mention_finder", source=make())
    normalizer = nlp.add_pipe("concept_normalizer", config=NGRAMS)
    normalizer.initialize(lambda: [], ontology=Ontology([Concept("C7", "gout")]))
    with pytest.warns(ConnormWarning, match="CNW004.*'mention_finder'.*'concept_normalizer'"):
        nlp("Gout")
    assert found(nlp, "Gout, no breast cancer.")[0][0] == "breast cancer"  # it warns once
    nlp.get_pipe("mention_finder").initialize(lambda: [], nlp=nlp)
    assert found(nlp, "Gout, no breast cancer.") == [("Gout", "C7")]


def test_one_with_its_own_normalizer_does_not_warn(make):
    first, second = make(), make()
    second.add_pipe("mention_finder", name="again", before="concept_normalizer")
    nlp = spacy.blank("en")
    for name in ("mention_finder", "concept_normalizer"):
        nlp.add_pipe(name, source=first)
    assert found(nlp, "breast cancer") == [("breast cancer", "C1")]
    # What one pipeline has annotated may be read by another one.
    second.get_pipe("concept_normalizer").initialize(lambda: [], ontology=Ontology(CONCEPTS[:1]))
    second.get_pipe("concept_normalizer")(first("breast cancer"))
    assert found(second, "breast cancer") == [("breast cancer", "C1")]


@Language.component("finds_nothing")
def finds_nothing(doc):
    return doc


def test_a_normalizer_that_gets_no_mentions_is_told_once(make_pipeline):
    nlp, ruled = make_pipeline(), make_pipeline()
    nlp.remove_pipe("entity_ruler")
    nlp.add_pipe("sentencizer", first=True)
    nlp.add_pipe("entity_ruler", source=ruled)
    order = "sentencizer, concept_normalizer, entity_ruler"
    with pytest.warns(ConnormWarning, match=f"CNW006.*'concept_normalizer'.*{order}") as told:
        list(nlp.pipe(TEXTS, batch_size=2))
        nlp("An MI.")
    assert len(told) == 1


def test_mentions_may_come_from_elsewhere(make_pipeline):
    nlp = make_pipeline()
    assert not nlp("Nothing.").ents
    nlp.remove_pipe("entity_ruler")
    annotated, nothing = nlp.make_doc("An MI."), nlp.make_doc("Nothing.")
    annotated.ents = [annotated.char_span(3, 5, label="X")]
    nothing.ents = []
    assert nlp(annotated).ents[0].kb_id_ == "C2"
    assert not nlp(nothing).ents and not nlp("").ents
    # It declares nothing, so it may set entities where there are some.
    nlp.add_pipe("finds_nothing", first=True)
    assert not nlp("Nothing.").ents
