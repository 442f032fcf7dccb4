"""Settings of a config and of presets become a pipeline."""

import pytest
import spacy

from spacy_connorm.errors import ConnormError
from spacy_connorm.files.configs import read_config
from spacy_connorm.pipeline.factory import DEFAULTS
from spacy_connorm.pipeline.presets import (
    FINDER,
    GPU_ENCODERS,
    NORMALIZER,
    PRESETS,
    preset_settings,
)
from spacy_connorm.pipeline.presets import NGRAMS as NGRAM_ENCODER
from spacy_connorm.pipeline.settings import FinderSettings
from spacy_connorm.workflows import plan_pipeline

from .building import COMPONENT, CONFIG


@pytest.mark.parametrize(
    ("encoder", "expected"),
    [
        (None, "OnnxEncoder"),
        ("accurate", "OnnxEncoder"),
        ("fast", "DanEncoder"),
        ("ngrams", "NgramEncoder"),
    ],
)
def test_an_encoder_is_chosen_by_name(encoder, expected):
    normalizer = plan_pipeline(encoder=encoder).make().get_pipe("concept_normalizer")
    assert expected.removesuffix("Encoder").lower() in normalizer.lookup.encoder.name


def test_the_default_encoder_of_a_gpu_is_in_half_precision_unless_another_one_is_chosen():
    def block(**overrides):
        nlp = plan_pipeline(
            encoders=GPU_ENCODERS,
            overrides={f"{COMPONENT}.encoder.{k}": v for k, v in overrides.items()},
        ).make()
        return nlp.config["components"]["concept_normalizer"]["encoder"]

    assert block()["mixed_precision"] and block(batch_size=7)["mixed_precision"]
    assert "mixed_precision" not in block(**{"@architectures": "spacy-connorm.NgramEncoder.v1"})


def test_settings_of_a_chosen_encoder_are_overridden():
    overrides = {f"{COMPONENT}.encoder.ngram_range": [2, 2]}
    nlp = plan_pipeline(encoder="ngrams", overrides=overrides).make()
    block = nlp.config["components"]["concept_normalizer"]["encoder"]
    assert list(block["ngram_range"]) == [2, 2]


@pytest.fixture
def config(tmp_path):
    path = tmp_path / "pipeline.cfg"
    path.write_text(CONFIG)
    return path


def test_encoders_that_cannot_be_chosen(tmp_path):
    refused = "CN006.*fast, accurate, ngrams, a folder, or the name.*--pooling cls"
    for encoder in ("best", "some/where/else"):
        with pytest.raises(ConnormError, match=refused):
            plan_pipeline(encoder=encoder)
    for encoder in ("ngrams", "accurate", None):
        with pytest.raises(ConnormError, match="CN006.*pooling"):
            plan_pipeline(encoder=encoder, pooling="cls")
    with pytest.raises(ConnormError, match="CN118.*pooling.*mean, cls, max"):
        plan_pipeline(encoder="some/where", pooling="first")
    (tmp_path / "a.cfg").write_text(CONFIG, encoding="utf8")
    with pytest.raises(ConnormError, match="CN006.*encoder"):
        plan_pipeline(tmp_path / "a.cfg", encoder="fast").make()


def test_settings_come_from_a_config_and_are_overridden(config):
    overrides = {f"{COMPONENT}.top_k": 7}
    for source in (config, str(config), read_config(config)):
        nlp = plan_pipeline(source, overrides=overrides).make()
        assert (nlp.lang, nlp.pipe_names) == ("de", ["abbreviation_resolver", "concept_normalizer"])
        settings = nlp.get_pipe_config("concept_normalizer")
        assert settings["top_k"] == 7
        assert settings["encoder"]["@architectures"] == "spacy-connorm.NgramEncoder.v1"
        assert list(settings["sieve"]["searches"]) == ["D-T", "OD-T"]


def test_one_of_several_normalizers_is_named(config):
    config.write_text(CONFIG + '\n[components.other]\nfactory = "concept_normalizer"\n')
    assert plan_pipeline(config, component="other").make().pipe_names == [
        "abbreviation_resolver",
        "other",
    ]
    with pytest.raises(ConnormError, match="CN703"):
        plan_pipeline(config).make()
    with pytest.raises(ConnormError, match="CN704"):
        plan_pipeline(config, component="ner").make()


@pytest.mark.parametrize(
    ("setting", "value", "reason"),
    [
        ("encoder.nam", "x", "encoder.nam"),
        ("encoder.@architectures", "nope.v1", "nope.v1"),
        ("topk", "x", "topk"),
        ("sieve.searches.0", "x", "sieve.searches.0"),
    ],
)
def test_a_wrong_setting_is_named(setting, value, reason):
    with pytest.raises(ConnormError, match=f"CN711.*{reason}"):
        plan_pipeline(overrides={f"{COMPONENT}.{setting}": value}).make()


@pytest.mark.parametrize("text", ["[nlp", "[nlp]\nlang = ${paths.none}"])
def test_a_file_that_is_not_a_config_is_refused(tmp_path, text):
    path = tmp_path / "broken.cfg"
    path.write_text(text)
    with pytest.raises(ConnormError, match="CN711"):
        plan_pipeline(path).make()


def test_presets_make_add_pipe_answer_as_an_index_does():
    """The settings of each component are those of the presets, and of nothing else."""
    nlp = plan_pipeline(encoder="ngrams", find_mentions=True, clinical=True).make()
    for factory in (NORMALIZER, FINDER):
        alone = spacy.blank("en")
        settings = preset_settings(factory, "clinical_notes")
        config = settings if factory == FINDER else {"encoder": NGRAM_ENCODER}
        made = alone.add_pipe(factory, config=config)
        expected = dict(nlp.get_pipe(factory).cfg)
        assert dict(made.cfg) | {"normalizer": NORMALIZER} == expected | {"normalizer": NORMALIZER}


@pytest.mark.parametrize("name", PRESETS)
def test_a_preset_differs_from_the_defaults_it_replaces(name):
    for factory, settings in PRESETS[name].items():
        made = spacy.blank("en").add_pipe(factory, config=settings)
        declared = {NORMALIZER: DEFAULTS, FINDER: FinderSettings.defaults()}[factory]
        assert made and all(declared[key] != value or value == 0 for key, value in settings.items())


def test_an_encoder_is_a_folder_or_a_name_on_the_hub(tmp_path):
    def block(encoder, **others):
        return plan_pipeline(encoder=encoder, **others).components[NORMALIZER]["encoder"]

    on_hub = block("cambridgeltl/SapBERT-from-PubMedBERT-fulltext", pooling="cls")
    assert on_hub["@architectures"] == "spacy-connorm.TransformerEncoder.v1"
    assert (on_hub["name"].split("/")[0], on_hub["pooling"]) == ("cambridgeltl", "cls")
    kinds = {"connorm-dan": "DanEncoder.v1", "bert": "TransformerEncoder.v1"}
    name = "intfloat/multilingual-e5-small"
    e5 = {"@architectures": "spacy-connorm.OnnxEncoder.v1", "name": name}
    assert block(name) == e5
    assert block(name, encoders=GPU_ENCODERS) == e5
    for kind, expected in kinds.items():
        (tmp_path / "config.json").write_text(f'{{"model_type": "{kind}"}}', encoding="utf8")
        found = block(str(tmp_path))
        assert found == {"@architectures": f"spacy-connorm.{expected}", "name": str(tmp_path)}
    for file in ("tokenizer.json", "model.safetensors"):
        (tmp_path / file).touch()
    assert block(str(tmp_path)) == {**e5, "name": str(tmp_path)}


def test_a_multilingual_encoder_stands_beside_n_grams_where_names_are_foreign():
    plan = plan_pipeline(encoder="intfloat/multilingual-e5-small")
    dense = plan.components[NORMALIZER]["encoder"]
    encoder = plan.for_foreign_names().components[NORMALIZER]["encoder"]
    assert encoder["@architectures"] == "spacy-connorm.HybridEncoder.v1"
    assert encoder["dense"] == dense and 0 < encoder["lexical_weight"] < 1
    assert plan.for_foreign_names().make()
    for name in ("ngrams", "accurate"):
        english = plan_pipeline(encoder=name)
        assert english.for_foreign_names() == english


def test_settings_of_a_finder_need_one(config):
    overrides = {"components.mention_finder.short_letters": 4}
    with pytest.raises(ConnormError, match="CN006.*mention_finder.short_letters.*find_mentions"):
        plan_pipeline(encoder="ngrams", overrides=overrides)
    plan = plan_pipeline(encoder="ngrams", overrides=overrides, find_mentions=True)
    assert plan.components["mention_finder"]["short_letters"] == 4
    config.write_text(CONFIG + '\n[components.names]\nfactory = "mention_finder"\nlabel = "X"\n')
    with pytest.raises(ConnormError, match="CN006.*names.label"):
        plan_pipeline(config, overrides={"components.names.label": "Y"})
