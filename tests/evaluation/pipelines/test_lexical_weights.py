import pytest
import spacy
from spacy.tokens import DocBin

from spacy_connorm.encoders.hybrid import lexical_weight
from spacy_connorm.errors import ConnormError
from spacy_connorm.evaluation import evaluate
from spacy_connorm.evaluation.pipelines.lexical_weights import reweigh
from spacy_connorm.ontology import read_ontology
from spacy_connorm.pipeline import build_index, search

BLOCK = {
    "@architectures": "spacy-connorm.HybridEncoder.v1",
    "dense": {"@architectures": "tests.HashingEncoder.v1"},
    "lexical": {"@architectures": "spacy-connorm.NgramEncoder.v1"},
}


@pytest.fixture(scope="module")
def hybrid_index(demo_ontology, tmp_path_factory):
    nlp = spacy.blank("en")
    nlp.add_pipe("concept_normalizer", config={"encoder": BLOCK})
    folder = tmp_path_factory.mktemp("index") / "hybrid"
    return build_index(demo_ontology, folder, config=nlp.config).path


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


def test_candidates_have_both_cosines(hybrid_index, demo_index):
    ((hybrid,),) = search(hybrid_index, ["heart attack"], top_k=1)
    ((plain,),) = search(demo_index, ["heart attack"], top_k=1)
    assert [hybrid.score, hybrid.dense, hybrid.lexical] == pytest.approx([1, 1, 1])
    assert (plain.dense, plain.lexical) == (None, None)


def test_each_weight_is_scored(hybrid_index, corpus):
    report = evaluate(hybrid_index, corpus, lexical_weights=[0, 2])
    section = report.sections[-1]
    assert section.title == "Lexical weights on dev.spacy, percent"
    assert [row["lexical weight"] for row in section.rows] == [0.0, 0.3, 2.0]
    (best,) = [row["lexical weight"] for row in section.rows if row["best"]]
    assert report.best_lexical_weight == best


def test_the_best_weight_is_calibrated_and_saved(hybrid_index, corpus, tmp_path):
    out = tmp_path / "sure"
    report = evaluate(hybrid_index, corpus, lexical_weights=[0, 2.5, 1000], calibrate_path=out)
    nlp = spacy.load(out)
    block = nlp.config["components"]["concept_normalizer"]["encoder"]
    lookup = nlp.get_pipe("concept_normalizer").lookup
    best = report.best_lexical_weight
    assert lexical_weight(lookup.encoder) == block["lexical_weight"] == best


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


def test_bad_input(hybrid_index, demo_index, corpus):
    for arguments, weight, code in (
        ((hybrid_index, corpus), -1, "CN309"),
        ((demo_index, corpus), 1, "CN313"),
        ((demo_index,), 1, "CN733"),
    ):
        with pytest.raises(ConnormError, match=code):
            evaluate(*arguments, lexical_weights=[weight])
