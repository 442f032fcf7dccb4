import pytest
import spacy
from spacy.tokens import DocBin


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


@pytest.fixture
def corpus(tmp_path):
    docs = []
    for text, concept in (("hart attack", "DEMO:0000006"), ("mitral stenosys", "DEMO:0000009")):
        doc = spacy.blank("en")(text)
        doc.ents = [doc.char_span(0, len(text), label="Disease", kb_id=concept)]
        docs.append(doc)
    DocBin(docs=docs, store_user_data=True).to_disk(tmp_path / "dev.spacy")
    return tmp_path / "dev.spacy"


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


def test_bad_input(invoke, refused, hybrid_index, demo_index, corpus):
    refused(invoke("evaluate", hybrid_index, corpus, "-w", "-1"), "CN309")
    refused(invoke("evaluate", demo_index, corpus, "-w", "1"), "CN313")
    refused(invoke("evaluate", demo_index, "-w", "1"), "CN733")
