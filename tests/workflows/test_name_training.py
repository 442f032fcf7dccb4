import pytest
import spacy

from spacy_connorm import Concept, Ontology, build_index
from spacy_connorm.errors import ConnormError
from spacy_connorm.pipeline import presets
from spacy_connorm.workflows import indexing, name_training
from spacy_connorm.workflows.name_training import TrainingGain, _compare, _plan, leave_out_names

ORGANS = ("renal", "hepatic", "gastric", "pulmonary", "cardiac", "cutaneous", "ocular", "dental")
PLACES = ("kidney", "liver", "stomach", "lung", "heart", "skin", "eye", "tooth")
DISORDERS = (
    "atrophy",
    "calculus",
    "swelling",
    "bleeding",
    "infarct",
    "neoplasm",
    "pain",
    "rupture",
    "stenosis",
    "infection",
    "opacity",
    "absence",
)
LAY_DISORDERS = (
    "wasting",
    "stone",
    "edema",
    "hemorrhage",
    "stroke",
    "tumor",
    "ache",
    "tear",
    "narrowing",
    "sepsis",
    "cloudiness",
    "missing",
)
CONCEPTS = [
    Concept(
        f"X:{place}{n}",
        f"{organ} {disorder}",
        (f"{place} {lay}", f"{organ} {lay}"),
        related=(f"{organ} {lay}",),
    )
    for organ, place in zip(ORGANS, PLACES, strict=True)
    for n, (disorder, lay) in enumerate(zip(DISORDERS, LAY_DISORDERS, strict=True))
]
ONTOLOGY = Ontology(CONCEPTS)


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    """A smaller network, batches of fewer names, and no words that n-grams could go by."""
    monkeypatch.setattr(name_training, "COMPARE_WORDS", ())
    monkeypatch.setattr(name_training, "_MEASURED_STEPS", 2)
    monkeypatch.setattr(name_training, "_FEWEST", 5)
    fast = presets.TRAINED_ENCODERS["fast"]
    smaller = {
        "encoder.buckets": 512,
        "encoder.principal_components": 64,
        "training.batcher.size": 64,
    }
    monkeypatch.setitem(presets.TRAINED_ENCODERS, "fast", {**fast, **smaller})


def test_left_out_synonyms_are_of_concepts_that_keep_names():
    shared = [Concept("A", "a", ("shared",)), Concept("B", "b", ("Shared",))]
    rest, left_out = leave_out_names(Ontology([*CONCEPTS, *shared]))
    assert len(left_out) == round(0.1 * (2 * len(CONCEPTS) + 2))
    assert len({concept_id for _, concept_id in left_out}) == len(left_out)
    for name, concept_id in left_out:
        before, after = ONTOLOGY[concept_id], rest[concept_id]
        assert name in before.aliases
        assert after.aliases == tuple(alias for alias in before.aliases if alias != name)
        assert name not in after.related
    assert leave_out_names(Ontology([*CONCEPTS, *shared]))[1] == left_out


@pytest.mark.parametrize("concepts", [CONCEPTS[:10], [Concept("A", "a")]])
def test_too_few_synonyms_are_refused(concepts):
    with pytest.raises(ConnormError, match="CN810.*synonyms"):
        leave_out_names(Ontology(concepts))


def test_what_takes_too_long_is_shortened():
    config = {"training": {"arguments": {"num_train_epochs": 8}}}
    plan = _plan(config, seconds=2, steps_per_epoch=10, minutes=10)
    assert plan == (80, 8.0, 160, False)
    plan = _plan(config, seconds=2, steps_per_epoch=10, minutes=1)
    assert plan == (30, 3.0, 60, True)
    assert _plan(config, seconds=2, steps_per_epoch=10, minutes=0.01).steps == 1


def test_a_gain_is_more_than_chance():
    before, after = [True] * 10 + [False] * 10, [True] * 20
    assert _compare(before, after) == TrainingGain(20, 50.0, 100.0, True)
    assert not _compare(after, before).pays
    few = [True] * 13 + [False] * 7
    assert not _compare(before, few).pays
    assert not _compare(before, before).pays


def test_an_index_has_the_trained_encoder_if_it_gains(tmp_path):
    plans = []
    built = build_index(ONTOLOGY, tmp_path / "out", train=True, on_training=plans.append)
    assert built.gain is not None and built.gain.trained > built.gain.ngrams
    assert built.gain.pays and built.gain.names == 19
    (plan,) = plans
    assert plan.seconds > 0 and not plan.is_shortened
    normalizer = spacy.load(built.path).get_pipe("concept_normalizer")
    assert "dan" in normalizer.lookup.encoder.name
    # Names that were left out are searched, too.
    assert built.manifest["counts"]["ontology_members"] == 3 * len(CONCEPTS)
    assert [path.name for path in tmp_path.iterdir() if path.suffix != ".lock"] == ["out"]


def test_ngrams_are_kept_if_training_gains_nothing(tmp_path, monkeypatch):
    monkeypatch.setattr(name_training, "_DEVIATIONS", 100)
    built = build_index(ONTOLOGY, tmp_path / "out", train=True, train_minutes=0.0001)
    assert built.gain is not None and not built.gain.pays
    normalizer = spacy.load(built.path).get_pipe("concept_normalizer")
    assert "ngram" in normalizer.lookup.encoder.name


def test_an_interrupted_training_leaves_nothing(tmp_path, monkeypatch):
    folders = []

    def stop(ontology, encoder, folder, **options):
        folders.append(folder)
        raise KeyboardInterrupt

    monkeypatch.setattr(indexing, "train_on_names", stop)
    with pytest.raises(KeyboardInterrupt):
        build_index(ONTOLOGY, tmp_path / "out", train=True)
    assert not [path for path in tmp_path.iterdir() if path.suffix != ".lock"]
    assert not folders[0].exists()


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"encoder": "ngrams"}, "fast, accurate"),
        ({"config": "any.cfg"}, "config"),
        ({"train_minutes": 0}, "above 0"),
        ({"train_minutes": float("nan")}, "above 0"),
    ],
)
def test_what_cannot_be_trained(tmp_path, options, told):
    with pytest.raises(ConnormError, match=f"CN006.*{told}"):
        build_index(ONTOLOGY, tmp_path / "out", train=True, **options)
