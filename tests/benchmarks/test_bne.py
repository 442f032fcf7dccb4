"""BNE, the reference of the conceptual grounding paper: its network, its losses, when it stops."""

import numpy as np
import pytest

torch = pytest.importorskip("torch")

WORDS = ["heart", "attack", "pain", "of", "the"]


@pytest.fixture
def bne(modules):
    from _common import bne

    return bne


@pytest.fixture
def table():
    from spacy_connorm.encoders.grounded.words import WordTable

    vectors = np.random.default_rng(0).normal(size=(len(WORDS), 4)).astype("float32")
    return WordTable(WORDS, vectors)


def test_a_name_is_encoded_alike_alone_and_beside_longer_ones(bne, table):
    torch.manual_seed(0)
    module = bne.Bne(table, units=6)
    texts = ["heart attack", "Pain", "attack of the heart", "unknown", ""]
    together = module.encode(texts)
    assert together.shape == (5, 4)
    for text, vector in zip(texts, together, strict=True):
        assert np.allclose(module.encode([text])[0], vector, atol=1e-6)
    assert np.abs(together[:3]).min() > 0 and not together[3:].any()
    # Words count by their order, unlike in a mean.
    assert not np.allclose(module.encode(["attack heart"])[0], together[0], atol=1e-3)


def test_the_three_losses(bne):
    vectors = torch.tensor([[1.0, 0], [0, 1], [1, 1], [5, 5]])
    triplets = bne.Triplets(
        rows=np.asarray([3, 5, 7, 8]),
        anchors=np.asarray([0]),
        positives=np.asarray([1]),
        negatives=np.asarray([2]),
    )
    means, prototypes = torch.zeros(9, 2), torch.zeros(9, 2)
    means[3], prototypes[3] = torch.tensor([1.0, 1]), torch.tensor([-2.0, 0])
    # cos(anchor, positive) = 0, cos(anchor, negative) = cos(anchor, words) = 0.7071, and
    # cos(anchor, prototype) = -1.
    expected = (0.7071068 + 0.1) + 2 + (1 - 0.7071068)
    found = bne.bne_loss(vectors, triplets, bne.Anchors(means, prototypes))
    assert float(found) == pytest.approx(expected, abs=1e-6)


def test_only_the_names_of_triplets_are_read(bne):
    from spacy_connorm.training.batches import Batch, Groundings

    places = [np.asarray(each) for each in ([0, 2], [2, 0], [3, 3])]
    nothing = np.empty(0, dtype="int64")
    batch = Batch(np.asarray([4, 6, 9, 11]), Groundings(*places, nothing, nothing, nothing))
    triplets = bne.Triplets.of(batch)
    assert triplets.rows.tolist() == [4, 9, 11]
    for own, before in zip(triplets[1:], places, strict=True):
        assert np.array_equal(triplets.rows[own], batch.rows[before])


def test_training_keeps_the_weights_of_before_the_fall(bne, table, tmp_path, monkeypatch):
    from _common.grounding_encoders import Size
    from _common.synonym_sets import Split

    split = Split({"C1": ["heart", "the heart"], "C2": ["pain", "the pain"]}, [], [], {})
    seen, scores = [], iter([0.1, 0.5, 0.4, 0.9])

    def dev_map(module, split):
        seen.append({name: each.clone() for name, each in module.state_dict().items()})
        return next(scores)

    monkeypatch.setattr(bne, "dev_map", dev_map)
    facts = bne.train_bne(split, table, tmp_path / "bne", Size(6, None, 5), seed=0)
    assert facts["epochs"] == 1 and len(seen) == 3
    kept = bne.load_bne(tmp_path / "bne", table, units=6).state_dict()
    assert all(torch.equal(kept[name], seen[1][name]) for name in kept)
    assert any(not torch.equal(kept[name], seen[2][name]) for name in kept)
