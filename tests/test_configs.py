"""The configs in assets/: they are what their comments say, resolve, make pipelines and train."""

import re
import shlex
from pathlib import Path

import numpy as np
import pytest
import spacy
from spacy.cli.train import train
from spacy.tokens import DocBin
from spacy.util import load_config, load_model_from_config, registry
from thinc.api import Config
from typer.main import get_command

from spacy_connorm import convert_corpus, evaluate, save_pipeline
from spacy_connorm.cli import app
from spacy_connorm.cli.app import parse_overrides
from spacy_connorm.files.configs import read_config
from spacy_connorm.pipeline.factory import DEFAULTS

ROOT = Path(__file__).parent.parent
PIPELINE = ROOT / "assets" / "pipeline.cfg"
CONFIGS = sorted((ROOT / "assets").glob("*.cfg"))
NERS = [path for path in CONFIGS if path.name.startswith("ner-")]
PIPELINES = [
    path for path in CONFIGS if "\n[nlp]\n" in path.read_text(encoding="utf8") and path not in NERS
]
TRAININGS = [path for path in CONFIGS if path not in PIPELINES + NERS]
ONTOLOGY = """
{"concept_id": "C1", "canonical_name": "heart attack", "aliases": ["attack of the heart"]}
{"concept_id": "C2", "canonical_name": "headache", "aliases": ["acute headache", "the headache"]}
{"concept_id": "C3", "canonical_name": "skin cancer", "aliases": ["skin tumour"], "parents": ["C1"]}
"""


def name_of(path):
    return path.name


def comments(path):
    """A config's comments, a space for the sign before each line."""
    lines = path.read_text(encoding="utf8").splitlines()
    return "\n".join(line.replace("#", " ", 1) for line in lines if line.startswith("#"))


@pytest.mark.parametrize("path", PIPELINES, ids=name_of)
def test_none_repeats_a_default(path):
    block = read_config(path)["components"]["concept_normalizer"]
    # Those that are null stand there to be set.
    same = [name for name in block.keys() & DEFAULTS.keys() if block[name] == DEFAULTS[name]]
    assert not [name for name in same if block[name] is not None]


def sections(path, **overrides):
    config = read_config(path, overrides)
    return {name: config[name] for name in ("encoder", "data", "training")}


@pytest.fixture
def files(tmp_path):
    """The ontology and the corpus that training configs want, tiny."""
    ontology, corpus = tmp_path / "ontology.jsonl", tmp_path / "train.spacy"
    ontology.write_text(ONTOLOGY.strip(), encoding="utf8")
    doc = spacy.blank("en")("the heart attack")
    doc.ents = [doc.char_span(0, len(doc.text), label="Disease", kb_id="C1")]
    DocBin(docs=[doc]).to_disk(corpus)
    return {"paths.ontology": str(ontology), "data.corpora": [str(corpus)]}


@pytest.mark.parametrize("path", PIPELINES, ids=name_of)
def test_pipelines_are_made(path):
    nlp = load_model_from_config(load_config(path), auto_fill=True, validate=True)
    assert nlp.pipe_names[-2:] == ["mention_finder", "concept_normalizer"]
    initialize = nlp.config.interpolate()["initialize"]["components"]
    assert initialize["concept_normalizer"]["index"] == "training/index/concept_normalizer"
    finder = nlp.get_pipe("mention_finder")
    assert finder.normalizer is nlp.get_pipe("concept_normalizer")


def test_the_papers_own_sieve_ranks_by_cosines_alone():
    config = load_config(ROOT / "assets" / "pipeline-triplet.cfg")
    nlp = load_model_from_config(config, auto_fill=True)
    normalizer = nlp.get_pipe("concept_normalizer")
    sieve = normalizer.lookup.sieve
    assert (sieve.searches, sieve.thresholds) == (("D-T", "OD-T"), (0.95,))
    assert normalizer.cfg["nil_threshold"] is None
    assert not normalizer.cfg["compare_words"]


@pytest.mark.parametrize("name", ["DanEncoder", "TransformerEncoder"])
def test_the_kind_of_encoder_is_an_override(name):
    architecture = f"spacy-connorm.{name}.v1"
    override = {"components.concept_normalizer.encoder.@architectures": architecture}
    config = load_config(PIPELINE, overrides=override)
    nlp = load_model_from_config(config, auto_fill=True, validate=True)
    components = nlp.config.interpolate()["components"]
    assert components["concept_normalizer"]["encoder"]["@architectures"] == architecture


def test_all_that_the_issue_names_are_there():
    names = {"triplet.cfg", "sapbert.cfg", "bcnh.cfg", "grounded.cfg", "minilm-cpu.cfg", "dan.cfg"}
    assert names <= set(map(name_of, TRAININGS))


@pytest.mark.parametrize("path", CONFIGS, ids=name_of)
def test_comments_say_for_whom(path):
    text = path.read_text(encoding="utf8")
    head = re.match(r"(#.*\n)+", text)
    assert head and re.search(r"\b(use it|for)\b", head[0].lower())


@pytest.mark.parametrize("path", TRAININGS, ids=name_of)
def test_commands_in_comments_work(path):
    text = re.sub(r"\n {8,}(?=\S)", " ", comments(path))  # a command's next line
    lines = re.findall(r"^ +connorm (.+)", text, flags=re.MULTILINE)
    assert any(line.startswith(f"train assets/{path.name} ") for line in lines)
    for line in lines:
        name, *arguments = shlex.split(line)
        command = get_command(app).commands[name]
        context = command.make_context(name, arguments)
        if name == "train":
            config = ROOT / context.params["config"]
            assert registry.resolve(sections(config, **parse_overrides(context)))


@pytest.mark.parametrize("path", TRAININGS, ids=name_of)
def test_arguments_are_the_trainers(path, tmp_path):
    pytest.importorskip("accelerate")
    from spacy_connorm.training.arguments import make_arguments

    training = registry.resolve(sections(path))["training"]
    arguments = make_arguments(training, tmp_path, use_cpu=True, scored=True)
    for name, value in training.arguments.items():
        assert getattr(arguments, name) == value


@pytest.mark.parametrize("path", TRAININGS, ids=name_of)
def test_it_trains(path, files, tiny_folder, fasttext, tmp_path):
    pytest.importorskip("accelerate")
    from spacy_connorm.training import train

    overrides = {**files, "encoder.name": str(tiny_folder)}
    if path.name == "grounded.cfg":
        overrides = {**files, "encoder.hidden": 8, "paths.vectors": str(fasttext)}
    if "buckets" in sections(path)["encoder"]:
        overrides["encoder.buckets"] = 64
    if "eval_steps" in sections(path)["training"]["arguments"]:
        overrides["training.arguments.eval_steps"] = 1
        overrides["training.arguments.save_steps"] = 1
    config = read_config(path, {**overrides, "training.arguments.num_train_epochs": 1})
    out = tmp_path / "encoder"
    train(config, out)
    encoder = registry.resolve({"encoder": {**config["encoder"], "name": str(out)}})["encoder"]
    encoder.initialize()
    assert np.isfinite(encoder.predict(["heart attack"])).all()


@pytest.fixture
def ner_paths(demo_index, name_embed, tmp_path):
    """What configs of an NER want, from the demo's corpora."""
    paths = {"paths.index": str(demo_index)}
    for part in ("train", "dev"):
        paths[f"paths.{part}"] = str(tmp_path / f"{part}.spacy")
        source = ROOT / "assets" / f"demo_{part}.pubtator"
        convert_corpus(source, paths[f"paths.{part}"], label="MENTION")
    return paths


@pytest.mark.parametrize(
    "path",
    [
        pytest.param(path, marks=pytest.mark.apart if "transformer" in path.name else ())
        for path in NERS
    ],
    ids=name_of,
)
def test_an_ner_trains_and_its_mentions_are_linked(path, ner_paths, tiny_folder, tmp_path):
    if "transformer" in path.name:
        pytest.importorskip("spacy_transformers")
        ner_paths["paths.transformer"] = str(tiny_folder)
        ner_paths["training.optimizer.learn_rate.initial_rate"] = 0.01
        ner_paths["components.transformer.model.get_spans.window"] = 5
        ner_paths["components.transformer.model.get_spans.stride"] = 4
    # After 30 steps, whether anything is found depends on the processor.
    overrides = {**ner_paths, "training.max_epochs": 0, "training.max_steps": 75}
    overrides["training.eval_frequency"] = 15
    train(path, tmp_path / "ner", overrides=overrides)
    out = save_pipeline(tmp_path / "ner" / "model-best", tmp_path / "pipeline")
    nlp = spacy.load(out)
    assert nlp.get_pipe("names").normalizer is nlp.get_pipe("concept_normalizer")
    (row,) = evaluate(out, ner_paths["paths.train"], end_to_end=True).rows
    assert row["found"] and row["mention_f1"] and row["linked_f1"]
    doc = nlp("He had asthma and a cough.")
    assert [span.text for span in doc.spans["names"]] == ["asthma", "cough"]


@pytest.mark.apart
def test_an_ner_and_the_normalizer_share_a_frozen_transformer(
    ner_paths, tiny_folder, demo_ontology, tmp_path
):
    pytest.importorskip("spacy_transformers")
    page = (ROOT / "docs" / "ner.md").read_text(encoding="utf8")
    section = page.split("### One transformer for both")[1]
    (tmp_path / "shared.cfg").write_text(
        "[components]\n[initialize]\n[initialize.components]\n" + config_blocks(section)[0]
    )
    names = {
        "components.transformer.model.name": str(tiny_folder),
        "components.transformer.model.get_spans.window": 5,
        "components.transformer.model.get_spans.stride": 4,
        "initialize.components.concept_normalizer.ontology.path": str(demo_ontology),
    }
    assembled = load_config(tmp_path / "shared.cfg", overrides=names)
    nlp = load_model_from_config(assembled, auto_fill=True)
    nlp.initialize()
    nlp.to_disk(tmp_path / "index")
    changes = Config().from_str(
        "[paths]\nindex = null\n[components]\n" + config_blocks(section)[1], interpolate=False
    )
    config = Config().from_disk(ROOT / "assets" / "ner-transformer.cfg", interpolate=False)
    config["components"]["transformer"] = changes["components"]["transformer"]
    config["training"].update(changes["training"])
    config.to_disk(tmp_path / "ner.cfg")
    steps = {"training.max_steps": 4, "training.eval_frequency": 2}
    paths = {**ner_paths, "paths.index": str(tmp_path / "index")}
    train(tmp_path / "ner.cfg", tmp_path / "ner", overrides={**paths, **steps})
    nlp = spacy.load(tmp_path / "ner" / "model-last")
    normalizer = nlp.get_pipe("concept_normalizer")
    held = normalizer.lookup.encoder.shims[0]._model
    assert held.transformer is nlp.get_pipe("transformer").model.transformer
    saved = tmp_path / "ner" / "model-last" / "concept_normalizer" / "encoder"
    assert saved.stat().st_size < 200
    assert normalizer.candidates(["asthma"])[0]


def config_blocks(text):
    return re.findall(r"```cfg\n(.*?)```", text, flags=re.S)


def test_ners_differ_in_what_reads_the_words_alone():
    tok2vec, transformer = (
        load_config(ROOT / "assets" / f"ner-{name}.cfg") for name in ("tok2vec", "transformer")
    )
    for section in ("corpora", "initialize"):
        assert tok2vec[section] == transformer[section]
    for name in ("abbreviation_resolver", "names", "concept_normalizer"):
        assert tok2vec["components"][name] == transformer["components"][name]
    for key in ("frozen_components", "annotating_components", "score_weights"):
        assert tok2vec["training"][key] == transformer["training"][key]


def test_the_papers_numbers_stand_in_their_configs():
    triplet, sapbert = (
        sections(ROOT / "assets" / f"{name}.cfg") for name in ("triplet", "sapbert")
    )
    assert triplet["encoder"]["max_length"] == 8
    assert triplet["data"]["data_share"] == 1 / 3
    assert triplet["training"]["batcher"]["size"] == 1500
    assert triplet["training"]["arguments"]["num_train_epochs"] == 100
    assert triplet["training"]["arguments"]["learning_rate"] == 3e-5
    assert sapbert["encoder"]["pooling"] == "cls"
    assert sapbert["encoder"]["max_length"] == 25
    batcher = sapbert["training"]["batcher"]
    assert (batcher["size"], batcher["max_pairs"]) == (512, 50)
    assert sapbert["training"]["arguments"]["learning_rate"] == 2e-5


def test_the_numbers_of_bcnh_stand_in_its_config():
    training = sections(ROOT / "assets" / "bcnh.cfg")["training"]
    batcher, objective = training["batcher"], training["objective"]
    assert (batcher["size"], batcher["candidates"], batcher["hypernyms"]) == (16, 20, 10)
    assert (objective["similarity"], objective["temperature"]) == ("inner_product", 1.0)
    assert (objective["lexical_weight"], batcher["lexical_share"]) == (0.0, 0.5)
    assert (batcher["lexical"]["analyzer"], batcher["lexical"]["ngram_range"]) == ("char", [1, 2])
    assert training["arguments"]["learning_rate"] == 1e-5


@pytest.mark.parametrize("name", ["sapbert", "triplet", "bcnh"])
def test_what_a_paper_does_not_mention_is_set_in_sight(name):
    # Otherwise gradients would be clipped by the default of transformers, without a word.
    arguments = sections(ROOT / "assets" / f"{name}.cfg")["training"]["arguments"]
    assert arguments["max_grad_norm"] == 1.0


def test_the_numbers_of_conceptual_grounding_stand_in_its_config():
    config = sections(ROOT / "assets" / "grounded.cfg")
    training, batcher = config["training"], config["training"]["batcher"]
    assert (batcher["size"], batcher["neighbours"], batcher["max_pairs"]) == (64, 200, None)
    assert (batcher["name_dropout"], config["encoder"]["dropout"]) == (0.5, 0.5)
    assert training["objective"]["margin"] == 0.1
    assert training["arguments"]["learning_rate"] == 1e-3
    assert (training["metric"], training["patience"]) == ("map", 1)


def test_ranks_of_adapters_train_as_many_weights_as_their_table_says():
    torch = pytest.importorskip("torch")
    pytest.importorskip("peft")
    from transformers import BertConfig, BertModel

    from spacy_connorm.encoders.transformer_module import TransformerModule
    from spacy_connorm.training.adapters import LoraAdapter

    minilm = {"hidden_size": 384, "num_hidden_layers": 6, "intermediate_size": 1536}
    table = comments(ROOT / "assets" / "sapbert.cfg")
    rows = re.findall(r" (\d+) +([\d,]{6,}) +([\d.]+) %", table)
    assert len(rows) == 4
    for settings, (rank, expected, share) in zip(({}, {}, minilm, minilm), rows, strict=True):
        module = TransformerModule.__new__(TransformerModule)
        torch.nn.Module.__init__(module)
        with torch.device("meta"):
            module.transformer = BertModel(BertConfig(**settings))
        whole = sum(weights.numel() for weights in module.parameters())
        LoraAdapter(rank=int(rank)).add(module)
        trained = sum(weights.numel() for weights in module.parameters() if weights.requires_grad)
        assert trained == int(expected.replace(",", ""))
        assert f"{100 * trained / whole:.1f}" == share
