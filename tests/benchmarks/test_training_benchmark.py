"""The two training loops beside each other."""

import pytest

torch = pytest.importorskip("torch")

from spacy_connorm.encoders import trainable  # noqa: E402
from spacy_connorm.encoders.transformer import TransformerEncoder  # noqa: E402
from spacy_connorm.training.pool import SynonymPool  # noqa: E402

NAMES = (
    ("heart attack", "attack of the heart", "acute heart attack of the heart"),
    ("headache", "acute headache", "the headache"),
    ("skin cancer", "cancer of the skin", "cancer of skin"),
)
TABLES = (
    "Texts a second",
    "Our loop against the SapBERT-style one",
)


@pytest.fixture
def module(tiny_folder):
    """Without dropout, which no two loops draw alike."""
    encoder = TransformerEncoder(name=str(tiny_folder), max_length=25)
    encoder.initialize()
    module = trainable(encoder)
    for part in module.modules():
        if isinstance(part, torch.nn.Dropout):
            part.p = 0.0
        if hasattr(part, "dropout_prob"):  # attention drops weights by itself
            part.dropout_prob = 0.0
    return module


@pytest.fixture
def batches(modules, module, tmp_path):
    import numpy as np
    from _common.training_loops import Batches

    pool = SynonymPool(
        texts=[name for names in NAMES for name in names],
        concepts=[(number,) for number, names in enumerate(NAMES) for _ in names],
        members=[np.arange(3, dtype="int32") + 3 * number for number in range(len(NAMES))],
        concept_ids=[f"C{number}" for number in range(len(NAMES))],
    )
    return Batches(pool, module, size=8, micro_batch_tokens=24, folder=tmp_path)


def test_both_loops_learn_the_same(module, batches):
    from _common.training_loops import OurLoop, SapBertStyle

    settings = {"precision": "fp32", "learning_rate": 1e-3}
    loops = [SapBertStyle(module, **settings), OurLoop(module, **settings)]
    before = [weights.clone() for weights in module.parameters()]
    for number in range(len(batches)):
        losses = [loop.step(batches, number) for loop in loops]
        assert losses[0] == pytest.approx(losses[1], rel=1e-4)
    assert losses[0] > 0
    weights = [list(loop.module.parameters()) for loop in loops]
    assert all(torch.equal(old, new) for old, new in zip(before, module.parameters(), strict=True))
    assert not all(torch.equal(old, new) for old, new in zip(before, weights[0], strict=True))
    for theirs, ours in zip(*weights, strict=True):
        torch.testing.assert_close(theirs, ours, rtol=0, atol=2e-4)


def test_padding_is_counted(batches, module):
    from _common.training_loops import MAX_LENGTH, OurLoop, SapBertStyle

    settings = {"precision": "fp32", "learning_rate": 1e-3}
    lengths = batches.tokens.lengths[batches.rows[0]].tolist()
    padded = SapBertStyle(module, **settings).tokens_per_text(batches, 0)
    sorted_by_length = OurLoop(module, **settings).tokens_per_text(batches, 0)
    assert padded == MAX_LENGTH
    assert sum(lengths) / len(lengths) <= sorted_by_length < MAX_LENGTH


def test_a_text_of_several_concepts_is_labelled_with_the_one_that_others_have(batches):
    batches.pool.concepts[0] = (0, 7)
    for number, rows in enumerate(batches.rows):
        labels = dict(zip(rows.tolist(), batches.labels(number), strict=True))
        assert labels.get(0, 0) == 0


def test_the_tables(rows_of, data, tiny_folder):
    options = ("--data", data, "--encoder", tiny_folder, "--batch", "4", "--steps", "1")
    tables = {title: [] for title in TABLES}
    for row in rows_of("training.py", *options):
        tables[row.pop("table")].append(row)
    speeds, speedups = tables.values()
    assert {row["loop"] for row in speeds} == {"SapBERT-style", "spacy_connorm"}
    for row in speeds:
        assert row["slowest"] <= row["texts_per_s"] <= row["fastest"]
        assert row["repeats"] == 5
    assert [row["comparison"] for row in speedups] == ["same precision", "as configured"]
    assert (speedups[0]["theirs"], speedups[0]["ours"]) == ("fp32", "fp32")


def test_sparse_encoders_are_refused(run, data, capsys):
    with pytest.raises(SystemExit) as exit:
        run("training.py", "--data", data, "--encoder", "ngram")
    assert exit.value.code == 1
    assert "compared on a transformer" in capsys.readouterr().err
