"""A pipeline's wheel requires all that the pipeline needs, whatever its encoder and its index."""

import json
from configparser import ConfigParser
from itertools import product

import pytest
import spacy
import srsly
from packaging.requirements import Requirement
from pipeline_package import make_package

from spacy_connorm import read_ontology, save_pipeline
from spacy_connorm.pipeline.serialization import require_extras

from .environments import LINK_WITHOUT_NETWORK, ROOT, build_wheel, make_installed, make_linked, run

# Each encoder and each index, with the extras that it needs.
ENCODERS = {
    "NgramEncoder.v1": set(),
    "DanEncoder.v1": {"dan"},
    "OnnxEncoder.v1": {"onnx"},
    "TransformerEncoder.v1": {"transformers"},
    "SharedTransformerEncoder.v1": {"ner"},
    "HybridEncoder.v1": {"dan"},
    "WordVectorEncoder.v1": set(),
    "GroundedDanEncoder.v1": {"dan"},
}
INDEXES = {
    "AutoIndex.v1": set(),
    "ExactIndex.v1": set(),
    "AnnoyIndex.v1": set(),
    "IvfIndex.v1": {"faiss"},
}
# These have every encoder and every index.
PACKAGED = [
    ("DanEncoder.v1", "IvfIndex.v1"),
    ("GroundedDanEncoder.v1", "AnnoyIndex.v1"),
    ("HybridEncoder.v1", "AnnoyIndex.v1"),
    ("NgramEncoder.v1", "ExactIndex.v1"),
    ("OnnxEncoder.v1", "AutoIndex.v1"),
    ("TransformerEncoder.v1", "ExactIndex.v1"),
    ("WordVectorEncoder.v1", "ExactIndex.v1"),
]


def encoder_block(name, **folders):
    if name == "HybridEncoder.v1":
        sides = {"dense": "DanEncoder.v1", "lexical": "NgramEncoder.v1"}
        settings = {side: encoder_block(each, **folders) for side, each in sides.items()}
    elif name == "GroundedDanEncoder.v1":
        settings = {"input": encoder_block("WordVectorEncoder.v1", **folders), "hidden": 8}
    else:
        settings = {"name": folders[name]} if name in folders else {}
    if name == "DanEncoder.v1":
        settings["buckets"] = 64
    return {"@architectures": f"spacy-connorm.{name}", **settings}


def index_block(name):
    # Even few vectors get lists.
    settings = {"exact_below": 16, "lists": 4} if name == "IvfIndex.v1" else {}
    return {"@misc": f"spacy-connorm.{name}", **settings}


def add_normalizer(nlp, encoder, index, name="concept_normalizer", **settings):
    blocks = {"encoder": encoder_block(encoder), "index": index_block(index)}
    return nlp.add_pipe("concept_normalizer", name, config={**blocks, **settings})


def extras_of(requirements):
    return [
        requirement.extras
        for requirement in map(Requirement, requirements)
        if requirement.name == "spacy-connorm"
    ]


@pytest.mark.parametrize(("encoder", "index"), list(product(ENCODERS, INDEXES)))
def test_a_package_requires_the_extras_of_its_encoder_and_its_index(encoder, index):
    nlp = spacy.blank("xx")
    add_normalizer(nlp, encoder, index)
    require_extras(nlp)
    extras = ENCODERS[encoder] | INDEXES[index]
    assert extras_of(nlp.meta["requirements"]) == ([extras] if extras else [])


def test_every_registered_encoder_and_index_is_tried_here():
    setup = ConfigParser(interpolation=None)
    setup.read(ROOT / "setup.cfg", encoding="utf8")
    lines = "".join(setup["options.entry_points"].values()).splitlines()
    names = {line.split(" = ")[0].removeprefix("spacy-connorm.") for line in lines}
    assert {name for name in names if name.endswith("Encoder.v1")} == set(ENCODERS)
    assert {name for name in names if name.endswith("Index.v1")} == set(INDEXES)
    # One has no transformer of its own to pack.
    assert {each for each, _ in PACKAGED} == set(ENCODERS) - {"SharedTransformerEncoder.v1"}
    assert {each for _, each in PACKAGED} == set(INDEXES)


def test_several_normalizers_share_one_requirement():
    nlp = spacy.blank("xx")
    nlp.meta["requirements"] = ["numpy>=1", "spacy-connorm[train]>=0.0.1,<0.1.0"]
    add_normalizer(nlp, "DanEncoder.v1", "IvfIndex.v1")
    add_normalizer(nlp, "OnnxEncoder.v1", "ExactIndex.v1", "other", attribute_prefix="other_")
    nlp.disable_pipe("other")
    require_extras(nlp)
    other, ours = nlp.meta["requirements"]
    assert other == "numpy>=1"
    assert Requirement(ours).extras == {"dan", "faiss", "onnx"}


def test_a_pipeline_is_saved_with_its_requirements(blank_pipeline, ontology, tmp_path):
    nlp = blank_pipeline(index=index_block("IvfIndex.v1"))
    nlp.get_pipe("concept_normalizer").initialize(list, ontology=ontology)
    save_pipeline(nlp, tmp_path / "pipeline")
    meta = srsly.read_json(tmp_path / "pipeline" / "meta.json")
    assert extras_of(meta["requirements"]) == [{"faiss"}]


# Wheels


@pytest.fixture(scope="module")
def wheel_of(request, demo_ontology, tmp_path_factory):
    """A function that builds the wheel of a pipeline."""
    ontology = read_ontology(demo_ontology)

    def make(encoder, index):
        folders = {}
        if encoder in ("WordVectorEncoder.v1", "GroundedDanEncoder.v1"):
            folders = {"WordVectorEncoder.v1": str(request.getfixturevalue("fasttext"))}
        elif encoder != "NgramEncoder.v1":
            tiny = str(request.getfixturevalue("tiny_folder"))
            kinds = ("DanEncoder.v1", "OnnxEncoder.v1", "TransformerEncoder.v1")
            folders = dict.fromkeys(kinds, tiny)
        nlp = spacy.blank("en")
        patterns = [{"label": "FINDING", "pattern": text} for text in ("heart attack", "headache")]
        nlp.add_pipe("entity_ruler").add_patterns(patterns)
        blocks = {"encoder": encoder_block(encoder, **folders), "index": index_block(index)}
        nlp.add_pipe("concept_normalizer", config=blocks).initialize(list, ontology=ontology)
        folder = tmp_path_factory.mktemp("package")
        save_pipeline(nlp, folder / "pipeline")
        name = f"{encoder}_{index}".lower().replace(".", "_")
        return build_wheel(make_package(folder / "pipeline", folder, name, "0.0.1"), folder)

    return make


@pytest.fixture(scope="module")
def our_wheel(tmp_path_factory):
    return build_wheel(ROOT, tmp_path_factory.mktemp("ours"))


def link_text(python, wheel):
    module = wheel.name.split("-")[0]
    output = run(python, "-I", "-c", LINK_WITHOUT_NETWORK, module, cwd=wheel.parent)
    answer = json.loads(output.splitlines()[-1])
    assert answer["ids"] == {"heart attack": "DEMO:0000006", "headache": "DEMO:0000057"}
    assert answer["found"]
    assert "pytest" not in answer["imported"]


def test_what_a_wheel_requires_is_enough(wheel_of, trials, tmp_path):
    for number in range(trials(2, len(PACKAGED))):
        wheel = wheel_of(*PACKAGED[number])
        link_text(make_linked(tmp_path / str(number), wheel), wheel)


@pytest.mark.long
@pytest.mark.parametrize(("encoder", "index"), PACKAGED)
def test_pip_installs_a_wheel_and_all_it_requires(wheel_of, our_wheel, tmp_path, encoder, index):
    wheel = wheel_of(encoder, index)
    link_text(make_installed(tmp_path / "environment", wheel, our_wheel), wheel)
