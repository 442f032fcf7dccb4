"""The ablation of BCNH: its rows, what each variant is trained with, and the intervals."""

import pytest
from thinc.api import Config

pytest.importorskip("torch")

ONTOLOGY = """
{"concept_id": "OMIM:100", "canonical_name": "Infarct", "aliases": ["Infarcts"], "parents": ["D3"]}
{"concept_id": "D2", "canonical_name": "Stroke", "aliases": ["CVA"], "parents": ["D3"]}
{"concept_id": "D3", "canonical_name": "Disease", "aliases": []}
"""
NAMES = ["start, without n-grams", "start", "BioSyn", "BioSyn (+ norm)", "BCNH (+ list-wise)"]


@pytest.fixture
def start(write_config):
    return write_config()


def test_each_variant_is_trained_with_each_seed_and_scored(rows_of, data, start, work, tmp_path):
    ontology = tmp_path / "ontology.jsonl"
    ontology.write_text(ONTOLOGY.strip(), encoding="utf8")
    options = ("--encoder", start, "--seeds", 2, "--epochs", 1)
    rows = rows_of("bcnh.py", *options, "--ontology", ontology, "--data", data)
    accuracy = [row for row in rows if row["table"] == "Accuracy"]
    assert [row["model"] for row in accuracy] == [*NAMES, "BCNH (both)"]
    assert [row["seeds"] for row in accuracy] == [1, 1, 2, 2, 2, 2]
    assert {row["mentions"] for row in accuracy} == {2}
    assert accuracy[0]["lexical_weight"] == 0 and accuracy[1]["lexical_weight"] == 0.3
    assert accuracy[0]["lenient@1 +-"] is None and accuracy[2]["lenient@1 +-"] is not None
    assert {row["hypernym@1"] for row in accuracy} <= {0.0, 50.0, 100.0}
    assert all(row["length_ratio"] > 0 for row in accuracy)
    examples = [row for row in rows if "rank" in row]
    assert [row["rank"] for row in examples] == [1, 2, 3]
    settings = {
        name: read_training(work, f"{name}-1")
        for name in ("biosyn", "biosyn-norm", "bcnh-list-wise", "bcnh-both")
    }
    found = {
        name: (each["objective"]["@losses"].split(".")[1], each["objective"]["norm_weight"])
        for name, each in settings.items()
    }
    assert found == {
        "biosyn": ("BioSyn", 0.0),
        "biosyn-norm": ("BioSyn", 1.0),
        "bcnh-list-wise": ("Bcnh", 0.0),
        "bcnh-both": ("Bcnh", 1.0),
    }
    for name, each in settings.items():
        assert each["batcher"]["hypernyms"] == (0 if name in ("biosyn", "bcnh-list-wise") else 10)
        assert (each["seed"], each["arguments"]["num_train_epochs"]) == (1, 1)
        assert each["arguments"]["learning_rate"] == 1e-3
        assert each["batcher"]["lexical_share"] == 0.5
        compared = {key: each["objective"][key] for key in ("similarity", "lexical_weight")}
        assert compared == {"similarity": "inner_product", "lexical_weight": 0.0}


def test_of_several_temperatures_each_loss_has_its_best_on_dev(
    rows_of, data, start, work, tmp_path
):
    ontology = tmp_path / "ontology.jsonl"
    ontology.write_text(ONTOLOGY.strip(), encoding="utf8")
    options = ("--encoder", start, "--seeds", 1, "--epochs", 1, "--model", "bcnh-list-wise")
    wanted = ("--temperature", 0.5, 2, "--part", "test", "--ontology", ontology)
    rows = rows_of("bcnh.py", *options, *wanted, "--data", data)
    tried = [row for row in rows if row["table"].startswith("Temperatures")]
    assert [(row["model"], row["temperature"]) for row in tried] == [
        *(("BioSyn", each) for each in (0.5, 2.0)),
        *(("BCNH (+ list-wise)", each) for each in (0.5, 2.0)),
    ]
    chosen = {}
    for row in tried:
        best = chosen.setdefault(row["model"], row)
        chosen[row["model"]] = row if row["lenient@1"] > best["lenient@1"] else best
    accuracy = {row["model"]: row for row in rows if row["table"] == "Accuracy"}
    assert list(accuracy) == [*NAMES[:3], "BCNH (+ list-wise)"]
    for name, row in chosen.items():
        assert accuracy[name]["temperature"] == row["temperature"]
    assert accuracy["start"]["temperature"] is None
    # Two trainings on train alone, to choose, and one on all of D.
    kept = [Config().from_disk(path) for path in work.glob("bcnh-list-wise-0-*.cfg")]
    assert {row["training"]["objective"]["temperature"] for row in kept} == {0.5, 2.0}
    assert len([*work.glob("bcnh-list-wise-0-*/training.cfg")]) == 3


def read_training(work, stem):
    """The training block of the one config whose name starts so."""
    (path,) = work.glob(f"{stem}-*.cfg")
    return Config().from_disk(path, interpolate=False)["training"]


def test_names_and_mentions_are_prepared_as_biosyn_does(data, modules, tmp_path):
    from _common.datasets import Data
    from _common.prepared import PreparedData

    ontology = tmp_path / "ontology.jsonl"
    ontology.write_text(ONTOLOGY.replace("CVA", "C.V.A., Stroke").strip(), encoding="utf8")
    prepared = PreparedData("ncbi", data, ontology=ontology)
    assert [concept.names for concept in prepared.ontology] == [
        ("infarct", "infarcts"),
        ("stroke", "c v a stroke"),
        ("disease",),
    ]
    assert next(concept.parents for concept in prepared.ontology) == ("D3",)
    assert prepared.synonyms == [
        ("heart attacks", "OMIM:100"),
        ("apoplexy", "D2"),
        ("heart attacks", "D1"),
    ]
    as_it_is = Data("ncbi", data, ontology=ontology)
    assert prepared.digest(with_data=True) != as_it_is.digest(with_data=True)


def test_the_interval_is_student_s(modules):
    from _common.seeds import half_width

    assert half_width([90.0]) is None
    assert half_width([90.0, 91.0, 92.0]) == 2.48  # 4.303 * 1 / sqrt(3)
    assert half_width([90.0, 90.0]) == 0.0


def test_gains_are_over_the_same_seed(modules):
    from bcnh import Outcome, gains

    first, second, start = (
        [Outcome(0.0, {"lenient@1": score, "lenient@5": 99.0}, 1.0, []) for score in scores]
        for scores in ((90.0, 91.0), (91.0, 92.0), (80.0,))
    )
    for own, gain, interval in ((second, 1.0, 0.0), (first, 0.0, 0.0), (start, -10.5, 6.35)):
        found = gains(own, first)
        assert (found["lenient@1 gain"], found["lenient@1 gain +-"]) == (gain, interval)
        assert found["lenient@5 gain"] == 0.0


def test_what_is_right_and_what_is_a_hypernym_is_marked(modules):
    from bcnh import EXAMPLE_ID, example_rows

    from spacy_connorm.concepts import Candidate, Concept, Ontology

    ontology = Ontology(
        [Concept(EXAMPLE_ID, "B", parents=("OLD",)), Concept("P", "A", alt_ids=("OLD",))]
    )
    found = {
        name: [
            Candidate(concept_id, "name", 0.5, f"text of {concept_id}", "OD-T")
            for concept_id in ids
        ]
        for name, ids in {"before": ("P", EXAMPLE_ID), "after": (EXAMPLE_ID, "X", "P")}.items()
    }
    assert example_rows(found, ontology) == [
        {"rank": 1, "before": "text of P +", "after": f"text of {EXAMPLE_ID} *"},
        {"rank": 2, "before": f"text of {EXAMPLE_ID} *", "after": "text of X"},
    ]


def test_the_hierarchy_shows_in_lengths_and_in_wrong_answers(modules):
    from bcnh import hypernym_share, length_ratio

    from spacy_connorm.concepts import Candidate, Concept, Ontology
    from spacy_connorm.evaluation import Gold, Prediction
    from spacy_connorm.evaluation.mistakes import ConceptFacts

    ontology = Ontology(
        [
            Concept("D1", "a"),
            Concept("D2", "bb", parents=("OLD",)),
            Concept("D3", "cccccc", alt_ids=("OLD",), parents=("D1",)),
        ]
    )
    assert length_ratio(LengthEncoder(), ontology) == pytest.approx((1 + 6) / 2 / 2)
    gold = Gold("x", frozenset({"D2"}), True)
    found = [
        Prediction([Candidate(each, "name", 0.5, "text", "OD-T")], each)
        for each in ("D1", "D2", "D3", "X")
    ]
    facts = ConceptFacts({"D2": {"D1", "D3"}}.get, in_data=bool)
    assert hypernym_share([gold] * 4, found, facts) == 50.0


def test_without_a_hierarchy_nothing_is_trained(run, data, start, tmp_path, capsys):
    ontology = tmp_path / "ontology.jsonl"
    ontology.write_text(ONTOLOGY.replace('["D3"]', "[]").strip(), encoding="utf8")
    with pytest.raises(SystemExit):
        run("bcnh.py", "--encoder", start, "--ontology", ontology, "--data", data)
    assert "The ontology of ncbi has no parents" in capsys.readouterr().err


class LengthEncoder:
    """A text is a vector of its length."""

    def predict(self, texts):
        return [[float(len(text)), 0.0] for text in texts]
