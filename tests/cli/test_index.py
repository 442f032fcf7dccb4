import gzip
import re

import pytest
import spacy

from spacy_connorm.pipeline import presets
from spacy_connorm.workflows import TrainingGain, TrainingPlan, indexing

CONFIG = """
[components]

[components.normalizer]
factory = "concept_normalizer"
top_k = 3

[components.normalizer.encoder]
"""


def test_index_prints_counts(
    invoke, words, tmp_path, demo_ontology, demo_index, ngrams, sugar_corpus
):
    synonyms = tmp_path / "synonyms.tsv.gz"
    synonyms.write_bytes(gzip.compress(b"ticker trouble\tDEMO:0000008\n\nnew thing\tX:1\n"))
    options = ("--corpus", sugar_corpus, "--synonyms", synonyms, "--reuse", demo_index)
    out = tmp_path / "out"
    result = invoke("index", demo_ontology, out, *options, *ngrams)
    assert result.exit_code == 0, result.output
    for line in (
        "Concepts 95",
        "only in annotated data 1",
        "concepts in annotated data 3",
        "of them copied 0",
        "Searches D-T, OD-T",
        "Index of D-T, OD-T exact, as always for n-grams",
        "Wrote the pipeline",
    ):
        assert line in words(result)
    assert "CNW401" in result.output
    assert "out/concept_normalizer" in result.output.replace("\n", "")


def test_a_config_is_read_and_overridden(invoke, tmp_path, demo_ontology, ngrams):
    config = tmp_path / "pipeline.cfg"
    config.write_text(CONFIG)
    names = [option.replace("concept_normalizer", "normalizer") for option in ngrams]
    options = ("--config", config, "--component", "normalizer", *names)
    result = invoke("index", demo_ontology, tmp_path / "out", "-f", "obo", *options)
    assert result.exit_code == 0, result.output
    assert spacy.load(tmp_path / "out").get_pipe("normalizer").cfg["top_k"] == 3


@pytest.mark.parametrize(
    ("options", "code"), [(["encoder.nam=x"], "CN711"), (["index.lists_from", "-5"], "CN006")]
)
def test_a_wrong_setting_leaves_nothing(
    invoke, refused, tmp_path, demo_ontology, ngrams, options, code
):
    options[0] = f"--components.concept_normalizer.{options[0]}"
    refused(invoke("index", demo_ontology, tmp_path / "out", *options, *ngrams), code)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("option", "advice"),
    [
        ("--find-mention", "Possible options: --find-mentions"),
        ("--branches=C1", "settings of a config .*--components.concept_normalizer.branches"),
    ],
)
def test_an_unknown_option_is_not_a_setting(invoke, words, tmp_path, demo_ontology, option, advice):
    result = invoke("index", demo_ontology, tmp_path / "out", option)
    assert result.exit_code == 2
    told = rf"No such option: {option.partition('=')[0]} \({advice}\)"
    assert re.search(f"{told}$", words(result))


@pytest.mark.parametrize("option", ["--semantic-types=T047", "--types", "--tree"])
def test_an_option_of_a_format_belongs_to_another_command(
    invoke, words, tmp_path, demo_ontology, option
):
    result = invoke("index", demo_ontology, tmp_path / "out", option, "T047")
    assert result.exit_code == 2
    told = f"No such option: {option.partition('=')[0]} (options of formats belong to `connorm ont"
    assert told in words(result)


def test_several_ontologies_are_to_be_joined(invoke, refused, words, tmp_path, demo_ontology):
    result = invoke("index", demo_ontology, demo_ontology, tmp_path / "out", "--find-mentions")
    refused(result, "CN006")
    assert "`connorm join`" in words(result)


def test_plain_text_is_read_by_what_index_wrote(invoke, words, tmp_path, demo_ontology, ngrams):
    notes, out = tmp_path / "notes.txt", tmp_path / "found.csv"
    notes.write_text("Fever since Monday.")
    assert not invoke("index", demo_ontology, tmp_path / "i", "--find-mentions", *ngrams).exit_code
    result = invoke("annotate", tmp_path / "i", notes, out)
    assert "mentions: 1, linked: 1" in words(result)


@pytest.mark.parametrize("pays", [True, False])
def test_training_is_announced_and_its_gain_told(
    invoke, words, tmp_path, demo_ontology, monkeypatch, pays
):
    def train(ontology, encoder, folder, *, on_plan, **options):
        assert (encoder, options["minutes"]) == ("fast", 3)
        on_plan(TrainingPlan(steps=9, epochs=4.5, seconds=130, is_shortened=True))
        return presets.NGRAMS, TrainingGain(1000, 34.2, 68.04, pays)

    monkeypatch.setattr(indexing, "train_on_names", train)
    result = invoke("index", demo_ontology, tmp_path / "i", "--train", "--train-minutes", "3")
    assert not result.exit_code, result.output
    assert "about 2 min (4.5 epochs, as long as --train-minutes allows)" in words(result)
    assert "n-grams link 34.2 % to the right concept, the trained encoder 68.0 %" in words(result)
    assert ("it was used" if pays else "training does not help here") in words(result)
