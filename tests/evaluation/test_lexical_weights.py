from itertools import cycle

import numpy as np
import pytest
import spacy
from spacy.tokens import DocBin

from spacy_connorm.documents import Mention
from spacy_connorm.encoders.hybrid import lexical_weight
from spacy_connorm.errors import ConnormError
from spacy_connorm.evaluation import Gold, calibrate, evaluate
from spacy_connorm.evaluation.lexical_weights import (
    WeighedAnswers,
    best_weight,
    reweigh,
    weight_rows,
)
from spacy_connorm.evaluation.metrics import Evaluation, NilScore, Ranks
from spacy_connorm.evaluation.queries import MentionQuery
from spacy_connorm.evaluation.tuning import FOLDS
from spacy_connorm.ontology import read_ontology
from spacy_connorm.workflows import build_index, search


def ranks(lenient, strict):
    return Ranks(np.asarray(lenient), np.asarray(strict))


def test_the_best_weight_is_the_best_leniently_then_strictly_then_the_least():
    worse, better = ranks([1, 0, 2], [1, 0, 0]), ranks([1, 1, 2], [1, 0, 0])
    strict = ranks([1, 1, 0], [1, 1, 0])
    assert best_weight({0.0: worse, 0.5: better, 1.0: better}) == 0.5
    assert best_weight({0.0: worse, 0.5: better, 1.0: strict}) == 1.0
    assert weight_rows({0.3: Evaluation({"all": worse}, NilScore(0, None, None, None))})[0] == {
        "lexical weight": 0.3,
        "lenient@1": 33.33,
        "strict@1": 33.33,
        "best": "best",
    }


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


def test_a_weight_is_chosen_without_the_held_out_mentions(hybrid_index, corpus, monkeypatch):
    choose, asked = WeighedAnswers.best, []

    def best(answers, kept):
        asked.append(kept)
        return choose(answers, kept)

    monkeypatch.setattr(WeighedAnswers, "best", best)
    calibrated = calibrate(hybrid_index, corpus, lexical_weights=[0, 1000])
    everything, *kept = asked
    assert everything.all() and len(kept) == FOLDS
    assert (np.sum(kept, axis=0) == FOLDS - 1).all()
    rows = {row["setting"]: row for section in calibrated.sections[1:2] for row in section.rows}
    weighed = calibrated.weighed
    assert rows["lexical_weight"] == {
        "setting": "lexical_weight",
        "as it was": "0.3000",
        "fitted": f"{weighed.best:.4f}",
    }


def test_each_part_of_the_mentions_has_its_own_best_weight(hybrid_index, demo_ontology):
    """The gold ids are what one weight answers, and for the other mentions another weight."""
    normalizer = spacy.load(hybrid_index).get_pipe("concept_normalizer")
    names = [concept.canonical_name[2:] for concept in read_ontology(demo_ontology)][:40]
    queries = [MentionQuery(Mention(name, "", "", ((0, 1),))) for name in names]
    nothing = [Gold(name, frozenset("C0"), in_ontology=True) for name in names]
    answers = WeighedAnswers(normalizer, queries, nothing, [0, 1000]).answers
    apart = [
        place
        for place, pair in enumerate(zip(answers[0], answers[1000], strict=True))
        if len({each.candidates[0].concept_id for each in pair}) == 2
    ]
    assert len(apart) >= 2
    gold = [
        Gold(names[place], frozenset([answers[weight][place].candidates[0].concept_id]), True)
        for place, weight in zip(apart, cycle([0, 1000]))
    ]
    asked = WeighedAnswers(normalizer, [queries[place] for place in apart], gold, [0, 1000])
    even = np.arange(len(apart)) % 2 == 0
    assert (asked.best(even), asked.best(~even)) == (0, 1000)
    assert lexical_weight(normalizer.lookup.encoder) == 0.3
    found = asked.find(1000)
    assert found is asked.find(1000) and found.keys() == set(normalizer.lookup.sieve.searches)


def test_what_was_is_told_of_the_old_weight(hybrid_index, corpus):
    weighed = calibrate(hybrid_index, corpus, lexical_weights=[1000])
    before = weighed.outcomes["as they were"].predictions
    plain = calibrate(hybrid_index, corpus).outcomes["as they were"].predictions
    assert before == plain


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
