"""SapBERT's comparisons: their rows, what each loss is trained with, and the pairs of a batch."""

import numpy as np
import pytest
from thinc.api import Config

pytest.importorskip("torch")


@pytest.fixture
def options(data, tiny_folder):
    return ("--dataset", "ncbi", "--encoder", tiny_folder, "--data", data)


def test_each_loss_is_trained_with_each_seed_and_scored(rows_of, options, work, tmp_path):
    picture = tmp_path / "pairs.svg"
    losses = ("nca-mining-on", "multisimilarity-mining-on", "multisimilarity-mining-off")
    given = ("--seeds", 2, "--steps", 2, "--learning-rate", 1e-4, "--loss", *losses)
    names = tmp_path / "names.svg"
    rows = rows_of("sapbert.py", *options, *given, "--picture", picture, "--map", names)
    losses = [row for row in rows if row["table"] == "Losses"]
    named = [(row["loss"], row["mining"], row["seeds"]) for row in losses]
    assert named == [
        ("start", None, 1),
        ("NCA", "on", 2),
        ("multi-similarity", "on", 2),
        ("multi-similarity", "off", 2),
    ]
    assert losses[0]["lenient@1 +-"] is None and losses[1]["lenient@1 +-"] is not None
    assert (losses[-1]["paper@1"], losses[-2]["paper@1"]) == (52.3, 67.2)
    off, on = (row for row in rows if row["table"] == "Pairs of a batch")
    assert (off["mining"], on["mining"]) == ("off", "on")
    assert on["positives"] <= off["positives"] and on["negatives"] <= off["negatives"]
    for row in (off, on):
        assert (row["mean_positive"] is None) == (row["positives"] == 0)
    assert off["positives"] > 0 and -1 <= off["mean_positive"] <= 1
    assert "<svg" in picture.read_text() and "<svg" in names.read_text()
    before, after = (row for row in rows if row["table"] == "Names of some concepts")
    assert (before["encoder"], after["encoder"]) == ("start", "multi-similarity")
    assert before["names"] > before["concepts"] > 1
    assert -1 <= before["silhouette"] <= 1 and -1 <= after["silhouette"] <= 1
    (path,) = work.glob("sapbert-nca-mining-on-1-*.cfg")
    training = Config().from_disk(path, interpolate=False)["training"]
    assert training["objective"] == {
        "@losses": "sapbert.Nca.v1",
        "scale": 20.0,
        "mining_margin": 0.2,
    }
    assert (training["seed"], training["arguments"]["max_steps"]) == (1, 2)
    assert training["arguments"]["learning_rate"] == 1e-4


def test_each_loss_has_its_own_best_rate_and_steps(rows_of, options, tmp_path, work):
    losses = ("nca-mining-on", "multisimilarity-mining-off")
    given = ("--steps", 1, 3, "--learning-rate", 1e-4, 0.3, "--loss", *losses)
    rows = rows_of("sapbert.py", *options, *given, "--seeds", 1)
    tried = [row for row in rows if row["table"].startswith("Learning rates")]
    lengths = [(row["rate"], row["steps"]) for row in tried]
    assert lengths == [(1e-4, 1), (1e-4, 3), (0.3, 1), (0.3, 3)] * 2
    _, *found = (row for row in rows if row["table"] == "Losses")
    for place, row in enumerate(found):
        own = tried[4 * place : 4 * place + 4]
        best = max(own, key=lambda each: each["mean"])
        assert (row["rate"], row["steps"]) == (best["rate"], best["steps"])
        assert row["part"] == "dev"
        assert 0 <= row["kept_positives"] <= 100 and 0 <= row["kept_negatives"] <= 100
    # Each was trained once.
    assert len(list(work.glob("sapbert-*-0-*.cfg"))) == 8


def test_what_is_drawn_has_to_be_trained(run, options, capsys):
    losses = ("--loss", "nca-mining-on", "--seeds", 1, "--steps", 1)
    with pytest.raises(SystemExit):
        run("sapbert.py", *options, *losses, "--map", "names.svg")
    assert "--map draws what multisimilarity-mining-on learns" in capsys.readouterr().err


def test_names_are_drawn_of_the_concepts_with_the_most(modules):
    from _common.name_map import NAMES, choose_names, separation

    from spacy_connorm.concepts import Concept, Ontology

    sizes = [3, *[NAMES + 2] * 25]
    ontology = Ontology(
        Concept(f"C:{row}", f"n{row}", tuple(f"n{row} {number}" for number in range(1, size)))
        for row, size in enumerate(sizes)
    )
    names, concepts = choose_names(ontology)
    assert len(names) == len(set(names)) == 20 * NAMES
    assert len(set(concepts)) == 20 and "C:0" not in concepts
    assert all(
        name.split()[0][1:] == concept[2:] for name, concept in zip(names, concepts, strict=True)
    )
    apart = np.array([[1.0, 0.0], [1.0, 0.1], [0.0, 1.0], [0.1, 1.0]])
    assert separation(apart, list("aabb")) > 0.9 > 0 > separation(apart, list("abab"))


def test_histograms_overlap_by_what_they_share(modules):
    from sapbert import overlap

    low, high = np.full(10, -0.9), np.full(30, 0.9)
    assert overlap(low, high) == 0
    assert overlap(low, low[:3]) == 1
    assert overlap(np.concatenate([low, high[:10]]), high) == 0.5


def test_a_dan_is_trained_as_its_own_config_does(modules, write_config):
    from _common.config_variants import config_from

    path = write_config()
    own = Config().from_disk(path, interpolate=False)["training"]
    start = {"@architectures": "spacy-connorm.TransformerEncoder.v1"}
    config = config_from(path, start)
    assert (config["encoder"], config["training"]) == (start, own)
    fitted = config_from(path, {"@architectures": "spacy-connorm.DanEncoder.v1"})["training"]
    assert fitted == {
        **own,
        "micro_batch_tokens": 10_000_000,
        "arguments": {
            **own["arguments"],
            "learning_rate": 3e-3,
            "optim": "adamw_torch_fused",
            "max_grad_norm": 0.0,
        },
    }


def test_a_start_that_has_seen_mentions(run, write_config, data, capsys):
    with pytest.raises(SystemExit) as exit:
        run("sapbert.py", "--encoder", write_config(), "--data", data)
    assert exit.value.code == 2
    assert "expected dan, minilm or a FOLDER" in capsys.readouterr().err
