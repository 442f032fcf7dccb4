import numpy as np
import pytest

from spacy_connorm.concepts import Concept
from spacy_connorm.errors import ConnormError
from spacy_connorm.evaluation.projection import (
    ConceptTexts,
    choose_concepts,
    mean_average_precision,
    project,
    read_texts,
)

from .conftest import CONCEPTS, SYNONYMS


@pytest.fixture
def many():
    """Enough texts for t-SNE."""
    return [
        ConceptTexts(f"C{concept}", name, tuple(f"{name} type {each}" for each in range(12)))
        for concept, name in enumerate(("influenza", "stroke", "heart attack"))
    ]


def test_concepts_with_many_texts_come_with_a_near_one(lookup):
    lookup.build([*CONCEPTS, Concept("C0", "tic", ("grippe aviaire", "gripe"))], SYNONYMS)
    # C4 has five texts of its own and C0 is near; C1 has four, and no other has three.
    assert choose_concepts(lookup.index) == ["C4", "C0", "C1"]
    assert choose_concepts(lookup.index, count=1) == ["C4"]


def test_texts_are_read_once(lookup):
    concepts = read_texts(lookup.index, ["C2", "C3", "C2"])
    assert [(each.concept_id, each.name) for each in concepts] == [
        ("C2", "stroke"),
        ("C3", "costovertebral angle"),
    ]
    # "CVA" is drawn with the first of its concepts
    assert set(concepts[0].texts) == {"stroke", "CVA", "brain attack"}
    assert concepts[1].texts == ("costovertebral angle",)


def test_unknown_concepts_and_too_few_texts_are_refused(lookup):
    with pytest.raises(ConnormError, match="CN411"):
        read_texts(lookup.index, ["C9"])
    with pytest.raises(ConnormError, match="CN603"):
        read_texts(lookup.index, ["C5"])


def test_equal_texts_give_equal_points(lookup, many):
    one, two = (project(lookup.normalized_encoder, many, label="mine") for _ in range(2))
    assert one.points.shape == (36, 2)
    assert np.isfinite(one.points).all()
    assert np.array_equal(one.points, two.points)
    assert one.precision == 1.0


def test_few_texts_are_laid_out_by_pca(lookup):
    panel = project(lookup.normalized_encoder, read_texts(lookup.index, ["C1", "C4"]), label="mine")
    assert panel.points.shape == (9, 2)
    assert np.allclose(panel.points.mean(axis=0), 0, atol=1e-6)


def test_texts_that_the_encoder_knows_nothing_of_stand_on_one_point(lookup):
    unknown = [ConceptTexts("X", "x", ("\u4e2d", "\u56fd", "\u6587"))]
    assert not project(lookup.normalized_encoder, unknown, label="mine").points.any()


def test_mean_average_precision_by_hand():
    angles = np.radians([0, 10, 30, 90])
    vectors = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    owners = np.asarray([0, 1, 0, 2])
    # text 0 finds its synonym on rank 2, text 2 finds it on rank 2; the others have none
    assert mean_average_precision(vectors, owners) == pytest.approx(0.5)
    assert mean_average_precision(vectors, np.arange(4)) == 0.0


def test_texts_that_the_encoder_cannot_tell_apart_earn_nothing():
    alike = np.ones((4, 2))
    assert mean_average_precision(alike, np.asarray([0, 0, 1, 1])) == pytest.approx(1 / 3)
