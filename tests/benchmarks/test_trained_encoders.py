"""Encoders that the benchmarks train themselves, in accuracy and in the grid."""

import gzip
from pathlib import Path

import numpy as np
import pytest
from thinc.api import Config

from .organs import write_medic

pytest.importorskip("torch")

SEARCHES = 14


@pytest.fixture
def score(rows_of, data):
    def invoke(encoder, *arguments):
        command = ["--dataset", "ncbi", "--encoder", encoder, "--data", data]
        (row,) = rows_of("accuracy.py", *command, "--search", "OD-T", *arguments)
        return row

    return invoke


def trained(work):
    return {path.name: path for path in work.glob("small-*") if path.is_dir()}


def test_the_accuracy_of_a_grounded_encoder(score, data, work, few_vectors):
    write_medic(data)
    config = data / "small.cfg"
    grounded = Path(__file__).parents[2] / "assets" / "grounded.cfg"
    text = grounded.read_text(encoding="utf8").replace("hidden = 4800", "hidden = 4")
    text = text.replace("max_pairs = null", "max_pairs = 2")
    config.write_text(text.replace("num_train_epochs = 50", "num_train_epochs = 1"))
    row = score(config)
    assert row["mentions"] == 4
    (folder,) = trained(work).values()
    # The folder is an encoder, too.
    assert score(folder)["lenient@1"] == row["lenient@1"]


def test_a_config_is_trained_once_for_its_text_and_data(score, write_config, work):
    config = write_config()
    first = score(config)
    (folder,) = trained(work).values()
    (folder / "mark").touch()
    assert score(config) == first
    assert (folder / "mark").exists()
    for change in (
        lambda: score(config, "--train", "OD"),
        lambda: score(config, "--train", "OD", "--part", "dev"),
        lambda: score(write_config(epochs=2)),
    ):
        before = trained(work)
        change()
        assert len(trained(work)) == len(before) + 1
    score(write_config(), "--part", "dev")  # O is the same, and so is what was trained on it
    assert len(trained(work)) == 4


def test_rows_tell_what_their_encoder_was_trained_with(score, write_config):
    keys = ("objective", "data_share", "interpolation")
    config = write_config()
    assert [score("ngram")[key] for key in keys] == [None] * 3
    assert [score(config)[key] for key in keys] == ["SupervisedContrastive.v1", None, 1.0]
    assert score(config, "--train", "OD")["data_share"] == "once"
    text = config.read_text().replace("[data]", "[data]\ndata_share = 0.3333333")
    config.write_text(text.replace("[training]\n", "[training]\ninterpolation = 0.5\n"))
    row = score(config, "--train", "OD")
    assert (row["data_share"], row["interpolation"]) == ("0.333", 0.5)


def test_a_trained_folder_scores_as_its_config(score, write_config, work):
    own = score(write_config(), "--train", "OD")
    (folder,) = trained(work).values()
    again = score(folder)
    assert (own.pop("train"), again.pop("train")) == ("OD", None)
    assert own.pop("encoder") != again.pop("encoder")
    assert own == again


def test_a_folder_is_read_with_the_architecture_that_wrote_it(
    modules, data, work, write_config, score, tiny_folder
):
    from _common.builders import encoder_config
    from _common.datasets import Data

    score(write_config())
    (folder,) = trained(work).values()
    own = encoder_config(str(folder), Data("ncbi", data), work=work)
    assert own["buckets"] == 64
    (folder / "training.cfg").unlink()
    for path, architecture in ((folder, "DanEncoder"), (tiny_folder, "TransformerEncoder")):
        block = encoder_config(str(path), Data("ncbi", data), work=work)
        assert block == {
            "@architectures": f"spacy-connorm.{architecture}.v1",
            "name": str(path),
        }


def test_the_grid_has_a_row_for_each_corpus_encoder_and_search(rows_of, data, write_config, score):
    config = write_config()
    markdown = data / "grid.md"
    rows = rows_of(
        "grid.py",
        "--dataset",
        "ncbi",
        "bc5cdr-d",
        "--encoders",
        config,
        "--data",
        data,
        "--markdown",
        markdown,
    )
    assert len({(row["corpus"], row["pipeline"], row["search"]) for row in rows}) == len(rows)
    assert len(rows) == 2 * 2 * SEARCHES
    assert {row["pipeline"] for row in rows} == {"small Train:O", "small Train:OD"}
    for train in ("O", "OD"):
        alone = score(config, "--train", train)
        own = [row for row in rows if row["pipeline"] == f"small Train:{train}"]
        (found,) = [row for row in own if (row["corpus"], row["search"]) == ("ncbi", "OD-T")]
        shared = alone.keys() & found.keys() - {"search"}
        assert {"lenient@1", "strict@1", "mrr", "unseen_lenient@1"} <= shared
        assert {key: found[key] for key in shared} == {key: alone[key] for key in shared}
        assert min(row["lenient@1_rank"] for row in own) == 1
    assert {row["data_share"] for row in rows} == {None, "once"}
    assert "| SupervisedContrastive.v1 |" in markdown.read_text()
    assert "| bc5cdr-d " in markdown.read_text()


def test_means_over_seeds(rows_of, data, write_config, work, capsys):
    config = write_config()
    for command in ("accuracy.py", "ontology_alone.py"):
        given = ("--data", data, "--dataset", "ncbi")
        rows = rows_of(command, *given, "--encoder", config, "--seeds", 2)
        assert {(row["encoder"], row["seeds"]) for row in rows} == {(str(config), 2)}
        alone = []
        for seed in range(2):
            (path,) = work.glob(f"small-seed-{seed}-*.cfg")
            assert Config().from_disk(path, interpolate=False)["training"]["seed"] == seed
            alone.append(rows_of(command, *given, "--encoder", path))
        for row, *same in zip(rows, *alone, strict=True):
            assert row["lenient@1"] == sum(row["lenient@1"] for row in same) / 2
            assert (row["lenient@1 +-"] == 0) == (same[0]["lenient@1"] == same[1]["lenient@1"])


def test_rows_are_averaged_over_seeds(modules):
    from _common.seeds import mean_rows

    runs = [
        [{"search": "O-T", "mentions": 4, "lenient@1": score, "lenient@1_low": 1.0, "p": None}]
        for score in (90.0, 91.0, 92.0)
    ]
    assert mean_rows(runs, ["lenient@1"]) == [
        {
            "search": "O-T",
            "mentions": 4,
            "lenient@1": 91.0,
            "lenient@1 +-": 2.48,  # 4.303 * 1 / sqrt(3)
            "p": None,
            "seeds": 3,
        }
    ]


def test_a_start_is_not_a_config(run, data, write_config, capsys):
    config = write_config()
    with pytest.raises(SystemExit):
        run("grid.py", "--dataset", "ncbi", "--encoders", config, "--data", data, "--start", config)
    assert "expected dan, minilm or a FOLDER" in capsys.readouterr().err


def test_seeds_are_of_trainings(run, data, write_config, capsys):
    given = ("accuracy.py", "--dataset", "ncbi", "--data", data, "--seeds", 2, "--encoder")
    config = write_config()
    for encoder in ("ngram", f"{config}:0.5+ngram:0.5"):
        with pytest.raises(SystemExit):
            run(*given, encoder)
        assert "--seeds trains a config" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        run(*given, config, "--against", "lenient@1=90")
    assert "--seeds does not go with" in capsys.readouterr().err


def test_the_grid_trains_variants_of_a_config(rows_of, data, write_config, work, tiny_folder):
    config = write_config()
    options = ("--dataset", "ncbi", "--encoders", config, "ngram", "--data", data)
    changes = ("--data-share", 0.5, "--epochs", 2, "--learning-rate", 1e-4)
    rows = rows_of("grid.py", *options, "--start", tiny_folder, *changes)
    stem = f"small-from-{tiny_folder.name}-2-epochs-rate-0.0001"
    shares = {row["pipeline"]: row["data_share"] for row in rows}
    assert shares == {
        f"{stem} Train:O": None,
        f"{stem}-share-0.5 Train:OD": "0.5",
        "ngram": None,
        # Where training starts.
        tiny_folder.name: None,
    }
    written = Config().from_disk(work / f"{stem}-share-0.5.cfg", interpolate=False)
    assert written["encoder"] == {
        "@architectures": "spacy-connorm.TransformerEncoder.v1",
        "name": str(tiny_folder),
    }
    changed = {"num_train_epochs": 2, "learning_rate": 1e-4, "bf16": True}
    assert written["training"]["arguments"].items() >= changed.items()


def test_a_search_is_tuned_on_dev_and_scored_on_test(run, rows_of, data, capsys):
    options = ["grid.py", "--dataset", "ncbi", "--encoders", "ngram", "--data", data, "--tune"]
    *rows, chosen = rows_of(*options)
    assert len(rows) == SEARCHES
    best = max(rows, key=lambda row: row["dev_lenient@1"])  # the first of equals
    kept = {key: best[key] for key in best if key != "search"}
    assert chosen == {**kept, "search": "chosen on dev", "chosen": best["search"]}
    printed = capsys.readouterr().out.split("## The search that is best on dev, scored on test")[1]
    assert f"| {best['search']} " in printed.split("##")[0]
    # of "heart attacks" and "apoplexy", train, which is D, has the first
    assert {row["search"]: row["dev_lenient@1"] for row in rows}["D-T"] == 50.0
    with pytest.raises(SystemExit):
        run(*options, "--part", "dev")
    assert "--tune scores on test" in capsys.readouterr().err


def test_the_papers_protocol_splits_composites_by_gold(rows_of, data, capsys):
    note = "1|t|stroke and infarct\n1|a|\n1\t0\t18\tstroke and infarct\tSpecificDisease\tD2|D1\n\n"
    (data / "ncbi_disease" / "test.pubtator.txt.gz").write_bytes(gzip.compress(note.encode()))
    options = ["grid.py", "--dataset", "ncbi", "--encoders", "ngram", "--data", data]
    strict = {}
    for protocol in ("as written", "biosyn", "xu-bethard"):
        rows = rows_of(*options, "--protocol", protocol)
        assert {row["protocol"] for row in rows} == {protocol}
        assert f"(protocol: {protocol}" in capsys.readouterr().out
        strict[protocol] = {row["search"]: row["strict@1"] for row in rows}["OD-T"]
    assert strict == {"as written": 0.0, "biosyn": 100.0, "xu-bethard": 100.0}


def test_the_papers_numbers_stand_beside_its_protocol(rows_of, data, write_config, tiny_folder):
    options = ["grid.py", "--dataset", "ncbi", "--encoders", write_config(), "--data", data]
    options += ["--tune", "--start", tiny_folder, "--seeds", 2, "--epochs", 1]
    rows = rows_of(*options, "--protocol", "xu-bethard")
    beside = {(row["train"], row["search"]): row["against"] for row in rows if "p" in row}
    published = {
        ("nothing", "O-T"): 76.56,
        ("nothing", "D-T+OD-T"): 82.19,
        ("O", "O-T"): 82.6,
        ("O", "D-T+OD-T"): 89.48,
        ("OD", "D-T+OD-T"): 88.96,
        ("OD", "chosen on dev"): 91.15,
    }
    assert beside == {key: f"expected@1={score:g}" for key, score in published.items()}
    for row in rows:
        assert row["seeds"] == 2
        if "p" in row:
            away = row["expected@1"] - published[row["train"], row["search"]]
            assert row["difference"] == pytest.approx(away, abs=0.011)
    # One is chosen by what is expected if equal scores are drawn.
    for train in ("O", "OD", "nothing"):
        own = [row for row in rows if row["train"] == train]
        best = max(own, key=lambda row: row["dev_expected@1"])
        assert own[-1]["chosen"] == best["search"]
    options.remove("--tune")
    for others in (["as written"], ["xu-bethard", "--part", "dev"]):
        assert not any("p" in row for row in rows_of(*options, "--protocol", *others))


def test_seeds_differ_in_the_grid_too(rows_of, data, write_config, work):
    config = write_config()
    options = ["grid.py", "--dataset", "ncbi", "--encoders", config, "--data", data, "--train", "O"]
    means = rows_of(*options, "--seeds", 2)
    alone = []
    for seed in range(2):
        path = work / f"seed-{seed}" / "small.cfg"
        assert Config().from_disk(path, interpolate=False)["training"]["seed"] == seed
        options[options.index("--encoders") + 1] = path
        alone.append(rows_of(*options))
    for row, *same in zip(means, *alone, strict=True):
        assert row["pipeline"] == same[0]["pipeline"]
        for key in ("lenient@1", "expected@1"):
            assert row[key] == pytest.approx(sum(each[key] for each in same) / 2, abs=0.011)
            assert (row[f"{key} +-"] == 0) == (same[0][key] == same[1][key])


def test_parts_of_composites_keep_their_own_ids(data, modules):
    from _common.prepared import PreparedData, SplitData

    # The corpus names the ids in another order than the parts; O has both as names.
    text = "stroke and infarct"
    note = f"1|t|{text}\n1|a|\n1\t0\t18\t{text}\tSpecificDisease\tD1|D2\n"
    note += "1\t0\t6\tstroke\tSpecificDisease\tD2|D3\n\n"
    for part in ("train", "dev"):
        path = data / "ncbi_disease" / f"{part}.pubtator.txt.gz"
        path.write_bytes(gzip.compress(note.encode()))
    for read in (PreparedData, SplitData):
        own = read("ncbi", data, part="dev").synonyms
        assert set(own) == {("stroke", "D2"), ("infarct", "D1"), ("stroke", "D3")}
        docs = read("ncbi", data, part="dev").docs
        assert [ent.kb_id_ for doc in docs for ent in doc.ents] == ["D2", "D1", "D2|D3"]


def test_one_of_equal_scores_is_drawn(modules):
    from _common.prepared import expected_accuracy

    from spacy_connorm.concepts import Candidate
    from spacy_connorm.evaluation import Gold, Prediction

    def found(*answers):
        return Prediction(
            [Candidate(*answer[:1], "", answer[1], "", "", "", *answer[2:]) for answer in answers],
            "",
        )

    gold = Gold("a mention", frozenset("AB"), in_ontology=True)
    assert expected_accuracy(gold, found()) == 0
    assert expected_accuracy(gold, found(("A", 1.0), ("C", 1.0), ("B", 0.9))) == 0.5
    assert expected_accuracy(gold, found(("C", 1.0), ("A", 0.9))) == 0
    parts = (("A", 1.0, 1), ("C", 1.0, 1), ("B", 0.8, 2), ("D", 0.8, 2), ("E", 0.8, 2))
    assert expected_accuracy(gold, found(*parts)) == pytest.approx(1 / 6)


def test_what_is_found_for_a_phrase_is_shown(run, data, capsys):
    options = ["grid.py", "--dataset", "ncbi", "--encoders", "ngram", "--data", data]
    run(*options, "--phrase", "heart attack", "strokes")
    printed = capsys.readouterr().out
    for phrase, first in (("heart attack", "Heart Attack, D1, 1.000"), ("strokes", "Stroke, D2")):
        table = printed.split(f"What is found for '{phrase}' by OD-T")[1].split("##")[0]
        assert f"| 1 | {first}" in " ".join(table.split())


def test_means_of_concepts_are_made_in_several_ways(modules, data):
    from _common.concept_means import means_row
    from _common.datasets import Data
    from _common.prepared import SearchedMentions

    from spacy_connorm.evaluation import Gold

    vectors = {"Heart Attack": (4, 0), "Infarct": (0, 2), "Stroke": (-1, 0), "CVA": (0, -1)}
    vectors |= {"Angle": (0, -2), "near": (1, 1), "far": (0, -0.6), "tilt": (-1, 1.2)}

    class Encoder:
        def predict(self, texts):
            return np.array([vectors[text] for text in texts], dtype="float32")

    # Means: D1 at (2, 1), D2 at (-0.5, -0.5), D3, which has "CVA", too, at (0, -1.5).
    asked = {"near": "D1", "tilt and tilt": "D2", "CVA": "D2", "far": "D2", "tilt": "D2"}
    gold = [Gold(text, frozenset([each]), in_ontology=True) for text, each in asked.items()]
    texts, counts = ["near", "tilt", "tilt", "CVA", "far", "tilt"], [1, 2, 1, 1, 1]
    row = means_row(Encoder(), Data("ncbi", data), SearchedMentions(gold, texts, counts))
    assert row == {
        "texts, cosine": 60.0,
        "texts, Euclidean": 100.0,
        "means, cosine": 60.0,
        "means, Euclidean": 80.0,
        "means of unit vectors, cosine": 20.0,
        "coherence": 80.1,
    }


def test_the_grid_shows_what_means_depend_on(rows_of, data, tiny_folder, capsys):
    options = ("--dataset", "ncbi", "--encoders", tiny_folder, "--data", data, "--means")
    *rows, means = rows_of("grid.py", *options)
    found = {row["search"]: row["lenient@1"] for row in rows}
    assert (means["texts, cosine"], means["means, cosine"]) == (found["O-T"], found["O-C"])
    assert "## Means of concepts in O" in capsys.readouterr().out


def test_means_need_dense_vectors(run, data, capsys):
    with pytest.raises(SystemExit) as exit:
        run("grid.py", "--dataset", "ncbi", "--encoders", "ngram", "--data", data, "--means")
    assert exit.value.code == 1
    assert "ngram's are sparse" in capsys.readouterr().err.splitlines()[-1]


def test_encoders_of_one_name(run, data, capsys):
    arguments = ["--dataset", "ncbi", "--encoders", "ngram", "ngram", "--data", data]
    with pytest.raises(SystemExit) as exit:
        run("grid.py", *arguments)
    assert exit.value.code == 1
    assert "different names" in capsys.readouterr().err.splitlines()[-1]
