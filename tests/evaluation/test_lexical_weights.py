import numpy as np
import pytest
import spacy
from spacy.tokens import DocBin

from spacy_connorm.errors import ConnormError
from spacy_connorm.evaluation import evaluate
from spacy_connorm.evaluation.lexical_weights import best_weight
from spacy_connorm.evaluation.metrics import Evaluation, NilScore, Ranks
from spacy_connorm.ontology import read_ontology
from spacy_connorm.workflows import build_index, search


def scores(lenient, strict):
    ranks = Ranks(np.asarray(lenient), np.asarray(strict))
    return Evaluation({"all": ranks}, NilScore(0, None, None, None))


def test_the_best_weight_is_the_best_leniently_then_strictly_then_the_least():
    worse, better = scores([1, 0, 2], [1, 0, 0]), scores([1, 1, 2], [1, 0, 0])
    strict = scores([1, 1, 0], [1, 1, 0])
    assert best_weight({0.0: worse, 0.5: better, 1.0: better}) == 0.5
    assert best_weight({0.0: worse, 0.5: better, 1.0: strict}) == 1.0


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
    for row in section.rows:
        assert 0 < row["unseen lenient@1"] == row["lenient@1"] < 100


def test_bad_input(hybrid_index, demo_index, corpus):
    for arguments, weight, code in (
        ((hybrid_index, corpus), -1, "CN006"),
        ((demo_index, corpus), 1, "CN313"),
        ((demo_index,), 1, "CN733"),
    ):
        with pytest.raises(ConnormError, match=code):
            evaluate(*arguments, lexical_weights=[weight])
