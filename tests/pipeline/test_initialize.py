"""Where the index of a component comes from."""

import gc

import pytest
import spacy
from confection import Config, ConfigValidationError
from spacy.tokens import Doc, DocBin, Span
from spacy.training import Example

from spacy_connorm import Ontology
from spacy_connorm.concepts import ConceptStream, Source
from spacy_connorm.errors import ConnormError
from spacy_connorm.pipeline.loading import load_normalizer
from spacy_connorm.pipeline.presets import NGRAMS
from spacy_connorm.workflows.indexing import build_index
from spacy_connorm.workflows.pipeline_plan import plan_pipeline

CONFIG = """
[paths]
ontology = null
corpus = null

[nlp]
lang = "en"
pipeline = ["concept_normalizer"]

[components]

[components.concept_normalizer]
factory = "concept_normalizer"

[components.concept_normalizer.encoder]
@architectures = "spacy-connorm.NgramEncoder.v1"

[components.concept_normalizer.index]
@misc = "spacy-connorm.ExactIndex.v1"

[initialize]

[initialize.components]

[initialize.components.concept_normalizer]
synonyms = [["chest attack", "C2"]]

[initialize.components.concept_normalizer.ontology]
@readers = "spacy-connorm.Ontology.v1"
path = ${paths.ontology}

[initialize.components.concept_normalizer.corpus]
path = ${paths.corpus}
"""
SPACY_CORPUS = '@readers = "spacy.Corpus.v1"\ngold_preproc = false'
PUBTATOR_CORPUS = '@readers = "spacy-connorm.PubTatorCorpus.v1"'

PUBTATOR = "1|t|A head spinning.\n1|a|\n1\t2\t15\thead spinning\tSymptom\tC5\n\n"


def best(normalizer, text):
    (candidates,) = normalizer.candidates([text], top_k=1)
    return [(candidate.concept_id, candidate.search) for candidate in candidates]


def example(nlp, words, kb_id, *, label="Symptom", spans_key=None):
    """An example whose first two words are a mention."""
    reference = Doc(nlp.vocab, words=words)
    mention = Span(reference, 0, 2, label=label, kb_id=kb_id)
    if spans_key:
        reference.spans[spans_key] = [mention]
    else:
        reference.ents = [mention]
    return Example(nlp.make_doc(reference.text), reference)


@pytest.fixture
def blank(blank_pipeline):
    nlp = blank_pipeline()
    return nlp, nlp.get_pipe("concept_normalizer")


@pytest.fixture
def ontology_path(ontology, tmp_path):
    ontology.to_disk(tmp_path / "ontology.jsonl")
    return tmp_path / "ontology.jsonl"


def test_names_of_an_ontology_are_found(blank, ontology):
    nlp, normalizer = blank
    normalizer.initialize(lambda: [], nlp=nlp, ontology=ontology)
    assert best(normalizer, "MI") == [("C2", "OD-T")]


def test_a_function_that_returns_an_ontology_is_indexed(blank, ontology):
    _, normalizer = blank
    normalizer.initialize(lambda: [], ontology=lambda: ontology)
    assert best(normalizer, "MI") == [("C2", "OD-T")]


@pytest.mark.parametrize("nothing", ["CUI-less", "NIL", "-1"])
def test_what_has_no_concept_is_not_annotated_data(blank, ontology, nothing):
    _, normalizer = blank
    pairs = [("odd sensation", nothing), ("head spinning", "C5")]
    normalizer.initialize(lambda: [], ontology=ontology, synonyms=pairs)
    assert normalizer.lookup.index.store.number(nothing) is None
    assert best(normalizer, "head spinning") == [("C5", "D-T")]


def test_gold_mentions_of_examples_are_annotated_data(blank, ontology):
    nlp, normalizer = blank
    examples = [example(nlp, ["head", "spinning", "."], "C5")]
    normalizer.initialize(lambda: examples, nlp=nlp, ontology=ontology)
    assert best(normalizer, "head spinning") == [("C5", "D-T")]


def test_gold_mentions_of_the_spans_key_are_annotated_data(blank_pipeline, ontology):
    nlp = blank_pipeline(spans_key="sc")
    normalizer = nlp.get_pipe("concept_normalizer")
    examples = [example(nlp, ["head", "spinning", "."], "C5", spans_key="sc")]
    normalizer.initialize(lambda: examples, ontology=ontology)
    assert best(normalizer, "head spinning") == [("C5", "D-T")]


def test_gold_mentions_of_other_labels_are_left_out(blank_pipeline, ontology):
    nlp = blank_pipeline(labels=["Disease"])
    normalizer = nlp.get_pipe("concept_normalizer")
    examples = [example(nlp, ["head", "spinning", "."], "C5")]
    normalizer.initialize(lambda: examples, ontology=ontology)
    assert best(normalizer, "head spinning")[0][1] == "OD-T"


def test_annotated_data_alone(blank):
    _, normalizer = blank
    with pytest.warns(UserWarning, match="CNW401"):
        normalizer.initialize(lambda: [], synonyms=[("head spinning", "C5")])
    assert best(normalizer, "head spinning") == [("C5", "D-T")]


@pytest.mark.parametrize("save", ["to_disk", "connorm index"])
def test_index_of_a_folder(blank, normalizer, tmp_path, save):
    normalizer.to_disk(tmp_path / "saved", exclude=[] if save == "to_disk" else ["cfg"])
    nlp, other = blank
    other.initialize(lambda: [], nlp=nlp, index=tmp_path / "saved")
    assert other.candidates(["MI", "cold"]) == normalizer.candidates(["MI", "cold"])


def test_index_of_a_folder_keeps_the_settings(blank_pipeline, normalizer, tmp_path):
    normalizer.to_disk(tmp_path / "saved")
    other = blank_pipeline(top_k=2).get_pipe("concept_normalizer")
    other.initialize(lambda: [], index=str(tmp_path / "saved"))
    assert len(other.candidates(["MI"])[0]) == 2


def test_index_of_another_kind_of_encoder(blank, hashes, make_pipeline, tiny_folder, tmp_path):
    _, normalizer = blank
    encoder = {"@architectures": "spacy-connorm.TransformerEncoder.v1", "name": str(tiny_folder)}
    settings = {**hashes, "encoder": encoder}
    make_pipeline(**settings).to_disk(tmp_path / "other")
    index = tmp_path / "other" / "concept_normalizer"
    with pytest.raises(ConnormError, match="CN318.*transformer.*, but.*ngram.*source=spacy"):
        normalizer.initialize(lambda: [], index=index)
    # The two ways that the message names.
    other = spacy.blank("xx").add_pipe("concept_normalizer", config=settings)
    other.initialize(lambda: [], index=index)
    taken = spacy.blank("xx").add_pipe("concept_normalizer", source=spacy.load(tmp_path / "other"))
    assert taken.candidates(["MI"]) == other.candidates(["MI"])


def test_index_that_is_a_pipeline(blank, pipeline, tmp_path):
    _, normalizer = blank
    pipeline.to_disk(tmp_path / "saved")
    with pytest.raises(ConnormError, match="CN400.*saved.*name the concept normalizer's folder"):
        normalizer.initialize(lambda: [], index=tmp_path / "saved")
    normalizer.initialize(lambda: [], index=tmp_path / "saved" / "concept_normalizer")


def test_index_beside_other_sources(blank, ontology, tmp_path):
    _, normalizer = blank
    with pytest.raises(ConnormError, match="CN006.*index.*only source"):
        normalizer.initialize(lambda: [], ontology=ontology, index=tmp_path)


def test_again_without_sources_keeps_the_index(pipeline):
    normalizer = pipeline.get_pipe("concept_normalizer")
    normalizer.add_synonyms([("head spinning", "C5")])
    before = normalizer.candidates(["head spinning", "cold"])
    normalizer.initialize(lambda: [example(pipeline, ["a", "chill"], "C4")], nlp=pipeline)
    assert normalizer.candidates(["head spinning", "cold"]) == before


def test_again_with_sources_starts_anew(normalizer, ontology):
    normalizer.add_synonyms([("head spinning", "C5")])
    normalizer.initialize(lambda: [], ontology=ontology)
    assert best(normalizer, "head spinning")[0][1] == "OD-T"


@pytest.mark.parametrize("searches", [["D-T", "OD-T"], ["D-C", "OD-C"]], ids="+".join)
def test_index_that_was_replaced_leaves_no_files(make_normalizer, ontology, searches):
    sieve = {"@misc": "spacy-connorm.Sieve.v1", "searches": searches}
    normalizer = make_normalizer(sieve=sieve)
    normalizer.candidates(["cold"])
    folder = normalizer.lookup.index.folder
    normalizer.initialize(lambda: [], ontology=ontology)
    gc.collect()
    assert not folder.exists()
    assert normalizer.lookup.index.folder.exists()


def test_initialize_without_any_names_is_refused(blank):
    _, normalizer = blank
    with pytest.raises(ConnormError, match="CN004.*concept_normalizer"):
        normalizer.initialize(lambda: [])
    with pytest.raises(ConnormError, match="CN006.*get_examples.*`ontology=...`.*hp.obo"):
        normalizer.initialize("hp.obo")


@pytest.mark.parametrize("lazily", [True, False])
def test_an_ontology_that_can_be_read_only_once_is_indexed(blank, ontology, lazily):
    _, normalizer = blank
    stream = ConceptStream(iter(ontology), Source("names.jsonl"))
    normalizer.initialize(lambda: [], ontology=(lambda: stream) if lazily else stream)
    assert normalizer.lookup.index.manifest["ontology"]["path"] == "names.jsonl"
    assert len(normalizer.lookup.index.store) == len(ontology)


def test_a_file_is_enough_and_answers_as_an_index_built_from_it_does(ontology, tmp_path):
    path = tmp_path / "o.jsonl"
    ontology.to_disk(path)
    nlp = spacy.blank("en")
    normalizer = nlp.add_pipe("concept_normalizer", config={"encoder": NGRAMS})
    normalizer.initialize(ontology=str(path))
    other = load_normalizer(build_index(path, tmp_path / "built", encoder="ngrams").path)
    mentions = ["heart attacks", "cardiac attack", "colds", "kitchen table", "severe headaches"]
    assert normalizer.candidates(mentions) == other.candidates(mentions)
    assert (normalizer.cfg, normalizer.lookup.backend) == (other.cfg, other.lookup.backend)
    assert nlp.meta["requirements"] == []
    nlp.add_pipe("concept_normalizer", "default", config={"attribute_prefix": "x_"})
    planned = plan_pipeline().make().get_pipe_config("concept_normalizer")
    default = nlp.get_pipe_config("default")
    parts = ("encoder", "index", "sieve")
    assert [planned[part] for part in parts] == [default[part] for part in parts]
    with pytest.raises(ConnormError, match="CN100.*missing.obo"):
        normalizer.initialize(ontology=tmp_path / "missing.obo")


@pytest.mark.parametrize("names", [[], [" \t"]])
def test_ontology_without_names(blank, ontology, names):
    _, normalizer = blank
    with pytest.raises(ConnormError, match="CN409"):
        normalizer.initialize(lambda: [], ontology=Ontology(), synonyms=[(n, "C1") for n in names])


@pytest.mark.parametrize(
    ("settings", "code"), [({"types": ["Planet"]}, "CN406"), ({"branches": ["C0"]}, "CN406")]
)
def test_filter_that_the_ontology_lacks(make_pipeline, settings, code):
    with pytest.raises(ConnormError, match=code):
        make_pipeline(**settings)


def test_failure_leaves_the_old_index(normalizer, ontology, monkeypatch):
    before = normalizer.candidates(["MI", "cold"])

    def full_disk(*args, **kwargs):
        raise ConnormError("CN108")

    monkeypatch.setattr("spacy_connorm.index.builder.write_index", full_disk)
    with pytest.raises(ConnormError, match="CN108"):
        normalizer.initialize(lambda: [], ontology=ontology, synonyms=[("zzz", "C5")])
    assert normalizer.candidates(["MI", "cold"]) == before


@pytest.fixture
def spacy_corpus(tmp_path):
    nlp = spacy.blank("en")
    reference = example(nlp, ["head", "spinning", "."], "C5").reference
    DocBin(docs=[reference]).to_disk(tmp_path / "corpus.spacy")
    return tmp_path / "corpus.spacy"


@pytest.fixture
def initialized(ontology_path):
    """A function that initializes the pipeline of the config above."""

    def initialize(corpus, *, reader=SPACY_CORPUS, config=CONFIG):
        overrides = {"paths.ontology": str(ontology_path), "paths.corpus": str(corpus)}
        config = Config().from_str(f"{config}{reader}", overrides=overrides)
        nlp = spacy.util.load_model_from_config(config, auto_fill=True)
        nlp.initialize()
        return nlp.get_pipe("concept_normalizer")

    return initialize


def test_config_with_spacys_corpus(initialized, spacy_corpus):
    normalizer = initialized(spacy_corpus)
    assert best(normalizer, "MI") == [("C2", "OD-T")]
    assert best(normalizer, "chest attack") == [("C2", "D-T")]
    assert best(normalizer, "head spinning") == [("C5", "D-T")]
    facts = normalizer.lookup.index.manifest["ontology"]
    assert facts["path"] == "ontology.jsonl" and len(facts["sha256"]) == 64


def test_config_with_a_pubtator_corpus(initialized, tmp_path):
    path = tmp_path / "corpus.pubtator"
    path.write_text(PUBTATOR, encoding="utf8")
    normalizer = initialized(path, reader=PUBTATOR_CORPUS)
    assert best(normalizer, "head spinning") == [("C5", "D-T")]


def test_unknown_setting_of_the_initialize_block(initialized, spacy_corpus):
    with pytest.raises(ConfigValidationError, match="synonym"):
        initialized(spacy_corpus, config=CONFIG.replace("synonyms =", "synonym ="))


def test_package_asks_for_the_extra_of_its_encoder(tmp_path, tiny_folder, blank_pipeline, ontology):
    name = {"@architectures": "spacy-connorm.TransformerEncoder.v1", "name": str(tiny_folder)}
    nlp = blank_pipeline(encoder=name)
    normalizer = nlp.get_pipe("concept_normalizer")
    for _ in range(2):
        normalizer.initialize(lambda: [], nlp=nlp, ontology=ontology)
    (requirement,) = nlp.meta["requirements"]
    assert requirement.startswith("spacy-connorm[transformers]>=")


def test_a_config_that_gives_no_synonyms_is_not_warned_about(pipeline, tmp_path, recwarn):
    pipeline.to_disk(tmp_path)
    pipeline.config["initialize"]["components"] = {
        "concept_normalizer": {"index": str(tmp_path / "concept_normalizer")}
    }
    pipeline.initialize()
    assert not [str(warning.message) for warning in recwarn]
