"""spaCy's own entity linker on top: the same text, told apart by its context."""

import numpy as np
import pytest
import spacy
from spacy.kb import InMemoryLookupKB
from spacy.tokens import Span
from spacy.training import Example
from spacy.util import fix_random_seed

from spacy_connorm.errors import ConnormError
from spacy_connorm.pipeline.kb import (
    build_knowledge_base,
    create_candidate_generator,
    create_kb_loader,
)

ILLNESS, CHILL = "C3", "C4"
TRAINING = {
    ILLNESS: [
        "She caught a cold and sneezed.",
        "He had a cold with a runny nose.",
        "The patient has a cold and a cough.",
        "My cold brought fever and cough.",
        "A cold with a sore throat and fever.",
        "The cold made the patient sneeze.",
        "He caught his cold from a patient with fever.",
        "She sneezed, her nose was runny, she had a cold.",
    ],
    CHILL: [
        "The cold froze the water in the pipes.",
        "Outside the cold of winter and snow.",
        "Ice and cold cover the lake in winter.",
        "The freezer keeps its cold with ice.",
        "Snow fell and the cold of night came.",
        "The engine stops in the cold of winter.",
        "Water turns to ice in the cold.",
        "Winter brings snow, wind and cold.",
    ],
}
HELD_OUT = {
    "The patient caught a cold with fever.": ILLNESS,
    "She has a cold, a cough and a runny nose.": ILLNESS,
    "The cold of winter brings ice and snow.": CHILL,
    "Water froze in the cold outside.": CHILL,
}
LINKER = {
    "incl_prior": False,
    "get_candidates": {"@misc": "spacy-connorm.CandidateGenerator.v1"},
    "model": {
        "@architectures": "spacy.EntityLinker.v2",
        "tok2vec": {
            "@architectures": "spacy.HashEmbedCNN.v2",
            "pretrained_vectors": None,
            "width": 32,
            "depth": 1,
            "embed_size": 500,
            "window_size": 1,
            "maxout_pieces": 2,
            "subword_features": False,
        },
    },
}


@pytest.fixture
def dense_pipeline(make_pipeline, hashes):
    """Top k is 2: only the two senses of a cold are candidates."""
    return make_pipeline(**hashes, top_k=2)


def gold(nlp, text, kb_id):
    reference = nlp.make_doc(text)
    place = [token.text for token in reference].index("cold")
    reference.ents = [Span(reference, place, place + 1, label="Disease", kb_id=kb_id)]
    for token in reference:
        token.is_sent_start = token.i == 0
    return Example(nlp.make_doc(text), reference)


def train(nlp):
    examples = [gold(nlp, text, kb_id) for kb_id, texts in TRAINING.items() for text in texts]
    optimizer = nlp.initialize(lambda: examples)
    optimizer.learn_rate = 0.01
    for _ in range(15):
        nlp.update(
            examples, sgd=optimizer, annotates=["sentencizer", "entity_ruler", "concept_normalizer"]
        )


def linked(nlp):
    return {doc.text: doc.ents[0].kb_id_ for doc in nlp.pipe(HELD_OUT)}


def test_trained_linker_tells_two_senses_apart_by_context(dense_pipeline, tmp_path):
    fix_random_seed(0)
    nlp = dense_pipeline
    nlp.get_pipe("concept_normalizer").to_disk(tmp_path / "index")
    nlp.add_pipe("sentencizer", first=True)
    nlp.add_pipe("entity_linker", config=LINKER)
    nlp.config["initialize"]["components"] = {
        "entity_ruler": {"patterns": nlp.get_pipe("entity_ruler").patterns},
        "entity_linker": {
            "kb_loader": {
                "@misc": "spacy-connorm.KnowledgeBase.v1",
                "path": str(tmp_path / "index"),
            }
        },
    }
    train(nlp)
    assert linked(nlp) == HELD_OUT
    nlp.to_disk(tmp_path / "pipeline")
    loaded = spacy.load(tmp_path / "pipeline")
    assert linked(loaded) == HELD_OUT
    assert [ent._.candidates for ent in loaded("A cold.").ents] == [
        ent._.candidates for ent in nlp("A cold.").ents
    ]


def test_knowledge_base_holds_the_mean_vectors_of_concepts(dense_pipeline):
    lookup = dense_pipeline.get_pipe("concept_normalizer").lookup
    kb = build_knowledge_base(lookup.index, dense_pipeline.vocab)
    assert sorted(kb.get_entity_strings()) == ["C1", "C2", "C3", "C4", "C5", "C6"]
    mean = lookup.encoder.predict(["common cold", "cold"]).mean(axis=0)
    np.testing.assert_allclose(kb.get_vector("C3"), mean, rtol=1e-5)


def test_candidates_that_the_knowledge_base_lacks_are_passed_over(dense_pipeline):
    kb = InMemoryLookupKB(dense_pipeline.vocab, entity_vector_length=2)
    kb.add_entity("C4", freq=1, entity_vector=[0.5, 1])
    (span,) = dense_pipeline("A cold.").ents
    (candidate,) = create_candidate_generator()(kb, span)
    assert (candidate.entity_, candidate.alias_, candidate.prior_prob) == ("C4", "cold", 1.0)
    np.testing.assert_array_equal(candidate.entity_vector, kb.get_vector("C4"))


def test_candidates_of_a_normalizer_with_a_prefix(make_pipeline, hashes):
    nlp = make_pipeline(**hashes, attribute_prefix="own_")
    kb = build_knowledge_base(nlp.get_pipe("concept_normalizer").lookup.index, nlp.vocab)
    (span,) = nlp("A cold.").ents
    assert {each.entity_ for each in create_candidate_generator("own_")(kb, span)} >= {"C3", "C4"}
    with pytest.raises(ConnormError, match="CN007"):
        create_candidate_generator()(kb, span)


def test_span_without_candidates(dense_pipeline):
    index = dense_pipeline.get_pipe("concept_normalizer").lookup.index
    kb = build_knowledge_base(index, dense_pipeline.vocab)
    doc = dense_pipeline("A cold.", disable=["concept_normalizer"])
    with pytest.raises(ConnormError, match="CN007.*from character 2 to 6"):
        create_candidate_generator()(kb, doc.ents[0])


def test_entity_set_since_then_has_no_candidates(dense_pipeline):
    index = dense_pipeline.get_pipe("concept_normalizer").lookup.index
    kb = build_knowledge_base(index, dense_pipeline.vocab)
    doc = dense_pipeline("No mention at all.")
    assert create_candidate_generator()(kb, doc[1:2]) == []


def test_sparse_vectors(pipeline):
    index = pipeline.get_pipe("concept_normalizer").lookup.index
    with pytest.raises(ConnormError, match="CN008"):
        build_knowledge_base(index, pipeline.vocab)


def test_no_index(tmp_path, pipeline):
    with pytest.raises(ConnormError, match="CN400"):
        create_kb_loader(tmp_path)(pipeline.vocab)
