import re

import pytest
import spacy
from spacy.tokens import DocBin

from spacy_connorm.encoders.hybrid import lexical_weight
from spacy_connorm.evaluation.pipelines.lexical_weights import reweigh
from spacy_connorm.ontology import read_ontology


@pytest.fixture(scope="module")
def hybrid_index(invoke, demo_ontology, tmp_path_factory):
    folder = tmp_path_factory.mktemp("index") / "hybrid"
    config = folder.with_suffix(".cfg")
    nlp = spacy.blank("en")
    block = {
        "@architectures": "spacy-connorm.HybridEncoder.v1",
        "dense": {"@architectures": "tests.HashingEncoder.v1"},
        "lexical": {"@architectures": "spacy-connorm.NgramEncoder.v1"},
    }
    nlp.add_pipe("concept_normalizer", config={"encoder": block})
    nlp.config.to_disk(config)
    result = invoke("index", demo_ontology, folder, "--config", config)
    assert result.exit_code == 0, result.output
    return folder


@pytest.fixture(scope="module")
def corpus(tmp_path_factory, demo_ontology):
    """Names with a letter less, every other one with the id of another concept."""
    concepts = list(read_ontology(demo_ontology))[:40]
    path = tmp_path_factory.mktemp("corpus") / "dev.spacy"
    nlp, docs = spacy.blank("en"), []
    for place, concept in enumerate(concepts):
        doc = nlp(concept.canonical_name[:-1])
        gold = concepts[(place + place % 2) % 40].concept_id
        doc.ents = [doc.char_span(0, len(doc.text), label="Disease", kb_id=gold)]
        docs.append(doc)
    DocBin(docs=docs, store_user_data=True).to_disk(path)
    return path


def test_candidates_show_both_cosines(invoke, words, hybrid_index, demo_index):
    shown = words(invoke("search", hybrid_index, "heart attack", "-k", "1"))
    assert "Score Dense Lexical Found as Search" in shown
    assert "myocardial infarction 1.000 1.000 1.000 heart attack" in shown
    assert "Dense" not in words(invoke("search", demo_index, "heart attack", "-k", "1"))
    assert "nothing found" in words(invoke("search", hybrid_index, " "))


def test_each_weight_is_scored(invoke, words, hybrid_index, corpus):
    result = invoke("evaluate", hybrid_index, corpus, "-w", "0", "-w", "2")
    assert result.exit_code == 0, result.output
    shown = words(result)
    assert "Lexical weights on dev.spacy" in shown
    assert [weight for weight in ("0.0 ", "0.3 ", "2.0 ") if weight not in shown] == []


def test_the_best_weight_is_calibrated_and_saved(invoke, hybrid_index, corpus, tmp_path):
    out = tmp_path / "sure"
    weights = ("-w", "0", "-w", "2.5", "-w", "1000")
    result = invoke("evaluate", hybrid_index, corpus, *weights, "--calibrate", out)
    assert result.exit_code == 0, result.output
    (best,) = re.findall(r"^ *([\d.]+) .*\bbest *$", result.output, flags=re.MULTILINE)
    nlp = spacy.load(out)
    block = nlp.config["components"]["concept_normalizer"]["encoder"]
    lookup = nlp.get_pipe("concept_normalizer").lookup
    assert lexical_weight(lookup.encoder) == block["lexical_weight"] == float(best)


def test_another_weight_is_saved_with_a_pipeline(hybrid_index, tmp_path):
    nlp = spacy.load(hybrid_index)
    normalizer = nlp.get_pipe("concept_normalizer")
    before = normalizer.lookup.candidates(["hart attack"], top_k=1)
    reweigh(nlp, normalizer, 2.5)
    nlp.to_disk(tmp_path / "weighed")
    loaded = spacy.load(tmp_path / "weighed").get_pipe("concept_normalizer").lookup
    assert lexical_weight(loaded.encoder) == 2.5
    after = loaded.candidates(["hart attack"], top_k=1)
    assert after == normalizer.lookup.candidates(["hart attack"], top_k=1)
    assert after[0][0].score != before[0][0].score


def test_bad_input(invoke, refused, hybrid_index, demo_index, corpus):
    refused(invoke("evaluate", hybrid_index, corpus, "-w", "-1"), "CN309")
    refused(invoke("evaluate", demo_index, corpus, "-w", "1"), "CN313")
    refused(invoke("evaluate", demo_index, "-w", "1"), "CN733")
