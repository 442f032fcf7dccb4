"""A small ontology, a pipeline that normalizes with it, and encoders that need no download."""

import functools
import gc
import os
import shutil
import string
import sys
from pathlib import Path

import catalogue
import hashing_encoder  # noqa: F401  (registers it)
import pytest
import spacy
from finding import NGRAMS
from hypothesis import HealthCheck, settings
from long_run import is_long
from spacy.cli import app
from spacy.lang.en import English
from spacy.language import Language
from spacy.tokens import DocBin
from spacy.util import import_file
from typer.testing import CliRunner
from vector_files import write_fasttext, write_word2vec

from spacy_connorm import Concept, Ontology, build_index

ASSETS = Path(__file__).parents[1] / "assets"
TRAINING = Path(__file__).parent / "data" / "training"
NGRAM_OPTIONS = (
    "--components.concept_normalizer.encoder.@architectures",
    "spacy-connorm.NgramEncoder.v1",
)

ODD_TEXTS = {
    "empty": "",
    "white space": " \t\n ",
    "NUL": "heart\0attack",
    "lone surrogate": "heart \ud800 attack",
    "surrogate pair": "heart \ud83d\ude00",
    "right to left": "التهاب الكبد \u202eשלום",
    "emoji": "😀🫀 attack",
    "long word": "x" * 10_000,
    "long text": "heart attack " * 800,
}

WORDS = ("heart", "attack", "head", "##ache", "skin", "cancer", "of", "the", "acute")

CONCEPTS = (
    Concept("C1", "heart disease", types=("Disease",)),
    Concept(
        "C2",
        "heart attack",
        ("myocardial infarction", "MI"),
        types=("Disease", "Event"),
        parents=("C1",),
        alt_ids=("OMIM:2",),
    ),
    Concept("C3", "common cold", ("cold",), types=("Disease",)),
    Concept("C4", "low temperature", ("cold",), types=("Phenomenon",)),
    Concept("C5", "dizziness", ("vertigo",), types=("Symptom",)),
    Concept("C6", "aspirin", ("acetylsalicylic acid",), types=("Chemical",)),
)

MENTIONS = {
    "Disease": ("heart attack", "MI", "cold", "heart disease", "head spinning"),
    "Chemical": ("aspirin", "ASA"),
}

HASHES = {**NGRAMS, "encoder": {"@architectures": "tests.HashingEncoder.v1"}}
HYBRID = {
    "encoder": {
        "@architectures": "spacy-connorm.HybridEncoder.v1",
        "dense": HASHES["encoder"],
        "lexical": NGRAMS["encoder"],
        "lexical_weight": 0.5,
    },
    "index": {"@misc": "spacy-connorm.AnnoyIndex.v1", "exact_below": 0, "dtype": "float32"},
}


PUBTATOR_NOTE = """\
7|t|Fever after a tick bite
7|a|Lyme disease, not flu or mumps.
7\t0\t5\tFever\tSymptom\tD005334
7\t24\t36\tLyme disease\tDisease\tD008193
7\t42\t54\tflu or mumps\tDisease\tD007251|D009107
"""


def pytest_addoption(parser):
    parser.addoption("--faults-long", action="store_true", help="run all tests and trials")


def pytest_configure(config):
    config.addinivalue_line("markers", "long: part of the long run only")
    config.addinivalue_line("markers", "apart: needs what slows down every start of spaCy")
    # No test depends on time, on a busy machine either.
    settings.register_profile(
        "timeless", deadline=None, suppress_health_check=[HealthCheck.too_slow]
    )
    settings.load_profile("timeless")


def pytest_collection_modifyitems(config, items):
    left_out = (
        [] if is_long(config) else [item for item in items if item.get_closest_marker("long")]
    )
    config.hook.pytest_deselected(items=left_out)
    items[:] = [item for item in items if item not in left_out]


_MANY_MODULES = 300
_frozen = 0


def pytest_runtest_setup():
    """Garbage is looked for in what tests make, and not in the modules that they have imported:
    each training collects it, which would be two thirds of the time of a small one.
    """
    global _frozen
    if len(sys.modules) > _frozen + _MANY_MODULES:
        _frozen = len(sys.modules)
        gc.collect()
        gc.freeze()


@pytest.fixture(scope="session", autouse=True)
def no_waiting_for_disks():
    """Only a power cut would lose what is not flushed, and no test makes one."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "fsync", lambda descriptor: None)
        yield


@pytest.fixture(scope="session")
def name_embed():
    """The layer that the configs of an NER need, registered."""
    return import_file("name_embed", ASSETS / "name_embed.py")


@pytest.fixture(scope="session", autouse=True)
def entry_points_by_group():
    """To look up one registered function, catalogue goes through the entry points of all packages
    that are installed, which stay as they are. That would be a third of what a pipeline costs.
    """

    class Grouped:
        def __init__(self, entry_points):
            self.select = functools.cache(lambda *, group: entry_points.select(group=group))

    with pytest.MonkeyPatch.context() as patch:
        grouped = Grouped(catalogue.AVAILABLE_ENTRY_POINTS)
        patch.setattr(catalogue, "AVAILABLE_ENTRY_POINTS", grouped)
        yield


@pytest.fixture(scope="session", autouse=True)
def few_exceptions_of_english():
    """English pipelines without the contractions ("I'd've") and smileys of spaCy that no text of a
    test has: with these 1,000 of 1,347 exceptions, a tokenizer takes four times as long to make.
    """
    exceptions = {
        text: tokens
        for text, tokens in English.Defaults.tokenizer_exceptions.items()
        if text[0] not in string.punctuation
        and (len(tokens) == 1 or text.endswith(("n't", "nt", "not", "m", "m.")))
    }
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(English.Defaults, "tokenizer_exceptions", exceptions)
        yield


@pytest.fixture(scope="session")
def without_torch(tmp_path_factory):
    """The environment of processes that start as they do where torch is not installed, which is
    all that most pipelines need. With it, the import of spaCy takes four times as long.
    """
    folder = tmp_path_factory.mktemp("without_torch")
    (folder / "torch.py").write_text('raise ImportError("absent", name="torch")\n')
    path = filter(None, [str(folder), os.environ.get("PYTHONPATH")])
    return {**os.environ, "PYTHONPATH": os.pathsep.join(path)}


@pytest.fixture(scope="session")
def hashes():
    """Settings for dense vectors that are made in no time."""
    return HASHES


@pytest.fixture(scope="session")
def hybrid():
    """Settings for such vectors beside those of n-grams."""
    return HYBRID


@pytest.fixture(scope="session")
def word2vec(tmp_path_factory):
    """A file with vectors of a few words."""
    path = tmp_path_factory.mktemp("word2vec") / "vectors.txt"
    write_word2vec(path)
    return path


@pytest.fixture(scope="session")
def fasttext(tmp_path_factory):
    """A model that has a vector for any word."""
    path = tmp_path_factory.mktemp("fasttext") / "vectors.bin"
    write_fasttext(path)
    return path


@pytest.fixture
def load_grounded():
    """A function that loads a deep averaging network over other vectors."""
    from spacy_connorm.encoders.grounded import GroundedDanEncoder

    def load(**settings):
        model = GroundedDanEncoder(**settings)
        model.initialize()
        return model

    return load


@pytest.fixture(scope="module")
def ontology():
    return Ontology(CONCEPTS)


@pytest.fixture(scope="module")
def blank_pipeline():
    """A function that makes a pipeline which finds mentions, its normalizer not initialized."""

    def make(**settings) -> Language:
        nlp = spacy.blank("en")
        patterns = [
            {"label": label, "pattern": mention}
            for label, mentions in MENTIONS.items()
            for mention in mentions
        ]
        nlp.add_pipe("entity_ruler").add_patterns(patterns)
        nlp.add_pipe("concept_normalizer", config={**NGRAMS, **settings})
        return nlp

    return make


@pytest.fixture(scope="module")
def make_pipeline(blank_pipeline, ontology):
    """A function that makes such a pipeline and indexes the ontology."""

    def make(*, synonyms=(), **settings) -> Language:
        nlp = blank_pipeline(**settings)
        normalizer = nlp.get_pipe("concept_normalizer")
        normalizer.initialize(lambda: [], nlp=nlp, ontology=ontology, synonyms=synonyms)
        return nlp

    return make


@pytest.fixture
def pipeline(make_pipeline):
    return make_pipeline()


@pytest.fixture(scope="module")
def make_normalizer(make_pipeline):
    """A function that makes the component alone."""

    def make(**settings):
        return make_pipeline(**settings).get_pipe("concept_normalizer")

    return make


@pytest.fixture
def normalizer(make_normalizer):
    return make_normalizer()


@pytest.fixture
def changed(make_pipeline):
    """A function that makes a component with annotated data and synonyms changed since."""

    def make(**settings):
        pipeline = make_pipeline(synonyms=[("myocardial infarct", "C2")], **settings)
        normalizer = pipeline.get_pipe("concept_normalizer")
        normalizer.add_synonyms([("head spinning", "C5")], count=2)
        normalizer.remove_synonyms([("cold", "C3")])
        return normalizer

    return make


@pytest.fixture
def blank_normalizer(blank_pipeline):
    """A function that makes the component alone, not initialized."""

    def make(**settings):
        return blank_pipeline(**settings).get_pipe("concept_normalizer")

    return make


@pytest.fixture
def saved(changed, tmp_path):
    """The folder of such a component."""
    changed().to_disk(tmp_path / "saved")
    return tmp_path / "saved"


@pytest.fixture(params=ODD_TEXTS.values(), ids=list(ODD_TEXTS))
def odd_text(request):
    return request.param


@pytest.fixture(scope="session")
def tiny_tokenizer(tmp_path_factory):
    from transformers import BertTokenizerFast

    letters = [chr(code) for code in range(ord("a"), ord("z") + 1)]
    tokens = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *letters, *WORDS]
    vocabulary = tmp_path_factory.mktemp("tokenizer") / "vocab.txt"
    vocabulary.write_text("\n".join(tokens), encoding="utf8")
    return BertTokenizerFast(str(vocabulary))


@pytest.fixture(scope="session")
def save_tiny():
    """A function that saves random weights, with a head and without a pooler, and a tokenizer."""
    import torch
    from transformers import BertConfig, BertForMaskedLM

    def save(folder, tokenizer, *, seed=0):
        config = BertConfig(
            vocab_size=len(tokenizer),
            hidden_size=16,
            num_hidden_layers=2,
            num_attention_heads=2,
            intermediate_size=32,
            max_position_embeddings=40,
        )
        with torch.random.fork_rng():
            torch.manual_seed(seed)
            model = BertForMaskedLM(config)
        model.save_pretrained(folder)
        tokenizer.save_pretrained(folder)
        return folder

    return save


@pytest.fixture(scope="session")
def tiny_folder(tmp_path_factory, tiny_tokenizer, save_tiny):
    """The folder of a pretrained model."""
    return save_tiny(tmp_path_factory.mktemp("tiny"), tiny_tokenizer)


@pytest.fixture(scope="session")
def training_config():
    """A training config that names neither encoder nor data."""
    return TRAINING / "triplet.cfg"


@pytest.fixture(scope="session")
def training_settings(tiny_folder, tmp_path_factory):
    """The settings that name them; three mentions, one of no known concept, are D and dev data."""
    corpus, dev = TRAINING / "corpus.spacy", tmp_path_factory.mktemp("dev") / "dev.spacy"
    shutil.copyfile(corpus, dev)
    data = {
        "ontology": str(TRAINING / "ontology.jsonl"),
        "corpora": [str(corpus)],
        "dev": [str(dev)],
    }
    named = {f"data.{setting}": value for setting, value in data.items()}
    return {"encoder.name": str(tiny_folder), **named}


@pytest.fixture(scope="session")
def invoke():
    """A function that runs a command."""
    import spacy_connorm.cli.in_spacy  # noqa: F401

    return lambda *arguments, input=None: CliRunner().invoke(
        app, ["connorm", *map(str, arguments)], input=input
    )


@pytest.fixture(scope="session")
def ngrams():
    """Options for an encoder that needs no download."""
    return NGRAM_OPTIONS


@pytest.fixture(scope="session")
def demo_ontology():
    return ASSETS / "demo_ontology.obo"


@pytest.fixture(scope="session")
def demo_index(tmp_path_factory, demo_ontology):
    """What `build_index` writes for the demo ontology."""
    overrides = {NGRAM_OPTIONS[0].removeprefix("--"): NGRAM_OPTIONS[1]}
    folder = tmp_path_factory.mktemp("index")
    return build_index(demo_ontology, folder, overrides=overrides).path


@pytest.fixture
def sugar_corpus(tmp_path):
    """A document with a mention of a concept of the demo ontology."""
    nlp = spacy.blank("en")
    doc = nlp("Her sugar is up.")
    doc.ents = [doc.char_span(4, 15, label="Disease", kb_id="DEMO:0000025")]
    DocBin(docs=[doc], store_user_data=True).to_disk(tmp_path / "train.spacy")
    return tmp_path / "train.spacy"


@pytest.fixture
def pubtator_note(tmp_path):
    """A document with three mentions, one of them of two concepts."""
    (tmp_path / "note.pubtator").write_text(PUBTATOR_NOTE, encoding="utf8")
    return tmp_path / "note.pubtator"


@pytest.fixture
def refused():
    """A function that checks that a command ends in one clear message."""

    def check(result, code):
        assert result.exit_code == 1, result.output
        assert f"[{code}]" in result.output
        assert "Traceback" not in result.output

    return check


@pytest.fixture(scope="session")
def words():
    """A function that gives a command's output without its layout."""
    return lambda result: " ".join(result.output.split())
