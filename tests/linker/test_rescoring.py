"""What raises and lowers scores after a search."""

from string import ascii_letters

import pytest
import spacy
from finding import NGRAMS

from spacy_connorm import Concept, Ontology
from spacy_connorm.linker.linking import candidates_of
from spacy_connorm.linker.rescoring import (
    OtherWords,
    RewrittenWords,
    SameWords,
    by_first_letters,
    extra_share,
)
from spacy_connorm.text.substitutions import Substitution
from spacy_connorm.text.words import words_of

WORDS = words_of("en")


@pytest.mark.parametrize(
    ("mention", "name", "share"),
    [
        ("kidney problems", "Kidney Diseases", 0.5),
        ("kidney problems", "Problem of the Kidneys", 0),
        ("hypertensive", "Hypertension", 0),
        ("hypertensive", "Hypertensive Retinopathy", 0.5),
        ("neuron", "pyramidal neuron of cortex", 2 / 3),
        ("cell", "cellulitis", 1),
        ("renal", "rectal", 1),
        ("", "cold", 1),
        ("cold", "of the", 1),
        ("cold", "", 0),
    ],
)
def test_the_share_of_words_that_the_mention_lacks(mention, name, share):
    assert share_of(mention, name) == pytest.approx(share)


def share_of(mention, name):
    return extra_share(by_first_letters(WORDS.bag(mention)), WORDS.bag(name))


def found_with(normalizer, mention, *rescorers, **limits):
    query = normalizer.query(**limits)._replace(rescorers=rescorers)
    return candidates_of(normalizer.lookup.retriever, [mention], query)[0]


def scores(normalizer, mention, *rescorers, **limits):
    found = found_with(normalizer, mention, *rescorers, **limits)
    return {candidate.concept_id: (candidate.score, candidate.text) for candidate in found}


def test_scores_are_lowered_by_words_that_the_mention_lacks(make_normalizer):
    normalizer = make_normalizer()
    for mention in ("colds", "severe headaches"):
        before = scores(normalizer, mention, top_k=100)
        after = scores(normalizer, mention, OtherWords(0.5), top_k=100)
        assert before.keys() == after.keys()
        for concept_id, (score, text) in after.items():
            same_text = before[concept_id]
            assert same_text[1] == text
            expected = same_text[0] - 0.5 * share_of(mention, text)
            assert score == pytest.approx(expected, abs=1e-4)
        assert list(after.values()) == sorted(after.values(), key=lambda each: -each[0])
        assert list(scores(normalizer, mention, OtherWords(0.5), top_k=2)) == list(after)[:2]


def test_texts_of_the_index_are_left_alone(make_normalizer):
    normalizer = make_normalizer()
    for mention in ("cold", "vertigo"):
        assert scores(normalizer, mention) == scores(normalizer, mention, OtherWords(0.5))


def test_scores_of_rewritten_names_are_not_lowered(make_normalizer):
    normalizer = make_normalizer()
    concepts = [Concept("U1", "testis"), Concept("U2", "testicular artery of the trunk")]
    normalizer.initialize(ontology=Ontology(concepts))
    cosine, _ = scores(normalizer, "testicular")["U1"]
    for others in ((), (OtherWords(0.5),)):
        found = scores(normalizer, "testicular", RewrittenWords(0.5), *others)["U1"]
        assert found == (pytest.approx(cosine + 0.45 * (1 - cosine), abs=1e-4), "testis")


def test_answers_do_not_depend_on_what_else_was_asked(blank_pipeline):
    concepts = [
        Concept("C1", "sid risk factor"),
        Concept("C2", "sids risk factor x"),
        Concept("C3", "risk of SIDS, infant"),
    ]

    def normalizer():
        found = blank_pipeline().get_pipe("concept_normalizer")
        found.initialize(ontology=Ontology(concepts))
        return found

    alone = [normalizer().candidates([text])[0] for text in ("SIDS risk", "sids risk")]
    assert alone[0] != alone[1]
    assert normalizer().candidates(["SIDS risk", "sids risk"]) == alone
    asked = normalizer()
    assert [asked.candidates([text])[0] for text in ("sids risk", "SIDS risk")] == alone[::-1]


# None of these words is like those that it stands for.
SUBSTITUTIONS = [
    Substitution(("cardiac",), ("heart",), 99, 0),
    Substitution(("illness",), ("disease",), 9, 0),
    Substitution(("arrest",), ("attack",), 9, 0),
]


@pytest.fixture(params=["ngrams", "hashes", "hybrid"])
def make(request, make_normalizer, ontology, hashes, hybrid):
    """A function that makes a normalizer with a table."""
    config = {"ngrams": {}, "hashes": hashes, "hybrid": hybrid}[request.param]

    def make():
        normalizer = make_normalizer(**config)
        normalizer.initialize(ontology=ontology, substitutions=SUBSTITUTIONS)
        return normalizer

    return make


def first(normalizer, mention, **limits):
    ((best, *_),) = normalizer.candidates([mention], **limits)
    return best


def test_mentions_in_other_words_are_found(make):
    normalizer = make()
    best = first(normalizer, "cardiac illness")
    assert (best.concept_id, best.text) == ("C1", "heart disease")
    assert best.score == pytest.approx(0.99 * 0.9, abs=0.15)
    assert first(normalizer, "Arrest, Cardiac").concept_id == "C2"


def test_a_statement_says_what_its_words_say_without_the_verb(make):
    normalizer = make()
    stated, plain = first(normalizer, "illness was cardiac"), first(normalizer, "cardiac illness")
    assert (stated.concept_id, stated.score) == ("C1", pytest.approx(plain.score, abs=0.05))


@pytest.mark.parametrize(
    ("lang", "name", "statement"),
    [
        ("es", "visión borrosa", "Visión está borrosa"),
        ("it", "cute secca", "cute è secca"),
        ("en", "valve has two leaflets", "two leaflets has the valve"),
    ],
)
def test_a_statement_is_a_name_with_or_without_its_verb(lang, name, statement):
    normalizer = spacy.blank(lang).add_pipe("concept_normalizer", config=NGRAMS)
    normalizer.initialize(ontology=Ontology([Concept("C1", name), Concept("C2", "cough")]))
    assert first(normalizer, statement).score == pytest.approx(1, abs=1e-4)


@pytest.mark.parametrize("weight", [0.5, 1.0])
def test_scores_are_raised_by_the_weight(make, weight):
    normalizer = make()
    plain = scores(normalizer, "cardiac illness")
    raised = scores(normalizer, "cardiac illness", RewrittenWords(weight))
    score, _ = plain.pop("C1")
    expected = score + weight * 0.99 * 0.9 * (1 - score)
    assert raised.pop("C1")[0] == pytest.approx(expected, abs=1e-4)
    assert plain == raised


def test_a_mention_with_a_minus_gains_nothing_from_a_name_with_a_plus(make_normalizer):
    normalizer = make_normalizer()
    normalizer.initialize(ontology=Ontology([Concept("C1", "ER+ breast cancer")]))

    def score(mention, *rescorers):
        return scores(normalizer, mention, *rescorers)["C1"][0]

    assert score("breast cancer, ER+", RewrittenWords()) > score("breast cancer, ER+")
    assert score("breast cancer, ER-", RewrittenWords()) == score("breast cancer, ER-")


def test_names_and_filters_are_as_without(make):
    normalizer = make()
    assert first(normalizer, "heart attack").score == pytest.approx(1, abs=1e-4)
    assert first(normalizer, "cardiac illness", types=["Symptom"]).concept_id == "C5"
    normalizer.remove_synonyms([("heart disease", "C1")])
    assert all(
        candidate.score < 0.85 for candidate in normalizer.candidates(["cardiac illness"])[0]
    )


def test_words_are_compared_unless_a_setting_says_otherwise(make):
    normalizer = make()
    raised = scores_of(normalizer)
    normalizer.cfg["compare_words"] = False
    assert scores_of(normalizer)["C1"] < raised["C1"]
    assert scores_of(normalizer) == {
        concept: score for concept, (score, _) in scores(normalizer, "cardiac illness").items()
    }


def scores_of(normalizer):
    (found,) = normalizer.candidates(["cardiac illness"])
    return {candidate.concept_id: candidate.score for candidate in found}


def test_the_table_is_saved(make, make_normalizer, tmp_path):
    normalizer = make()
    normalizer.to_disk(tmp_path / "saved")
    other = make()
    few = [other.lookup.index.concept(concept_id) for concept_id in ("C3", "C4")]
    other.initialize(lambda: [], ontology=Ontology(few))
    assert not len(other.lookup.index.rewriting.words)
    other.from_disk(tmp_path / "saved")
    assert scores_of(other) == scores_of(normalizer)


# Each with its names, the preferred one first, and its parent.
SHARED = {
    "C1": (["lung"], None),
    "C2": (["pair of lungs", "lungs"], None),
    "C3": (["skeletal joint", "joints"], "C4"),
    "C4": (["articulation", "joint"], None),
    "A1": (["amphetamine"], "A2"),
    "A2": (["amphetamines"], None),
    "C5": (["collar bone"], None),
    "C6": (["bone collar"], None),
    "C7": (["CATS"], None),
    "C8": (["cat"], None),
    "C9": (["CD4 positive cell", "CD4+ cell"], None),
    "E1": (["kind of tissue", "tissue"], "E2"),
    "E2": (["matter", "tissue"], None),
    "D1": (["CD4 negative cell", "CD4- cells"], None),
}


@pytest.fixture
def make_shared(blank_pipeline):
    """RETURNS (Callable): From settings to a normalizer of `SHARED`."""

    def make(**settings):
        nlp = blank_pipeline(**settings)
        ontology = Ontology(
            Concept(each, name, aliases, parents=[parent] if parent else [])
            for each, ((name, *aliases), parent) in SHARED.items()
        )
        normalizer = nlp.get_pipe("concept_normalizer")
        normalizer.initialize(lambda: [], nlp=nlp, ontology=ontology)
        return normalizer

    return make


def best_concept(normalizer, mention, **limits):
    return normalizer.candidates([mention], **limits)[0][0].concept_id


@pytest.mark.parametrize(
    ("mention", "concept", "alone"),
    [
        # A preferred name first, then the mention itself, then the general concept.
        ("lungs", "C1", "C2"),
        ("Lungs", "C1", "C2"),
        ("joints", "C4", "C3"),
        ("Joint", "C4", "C4"),
        ("amphetamine", "A1", "A1"),
        ("Amphetamines", "A2", "A2"),
        ("tissues", "E2", "E1"),
        # Short forms and other signs are other names.
        ("CATS", "C7", "C7"),
        ("CD4- cell", "D1", "D1"),
    ],
)
def test_names_with_the_same_words_score_alike(make_shared, mention, concept, alone):
    assert best_concept(make_shared(), mention) == concept
    assert found_with(make_shared(), mention, RewrittenWords(0.5))[0].concept_id == alone


def test_a_synonym_that_was_added_raises_no_other_name(make_shared):
    sieve = {"@misc": "spacy-connorm.Sieve.v1", "searches": ["OD-T"], "thresholds": []}
    normalizer = make_shared(sieve=sieve)
    # Nearer than "joint", and at its place among the texts that were added.
    others = [each for each in SHARED if each not in ("C3", "C4")]
    normalizer.add_synonyms(
        (f"joint's{letter}", each) for letter, each in zip(ascii_letters, others, strict=False)
    )
    before, after = (
        scores(each, "joint's", SameWords(), top_k=20)
        for each in (make_shared(sieve=sieve), normalizer)
    )
    assert after["C8"] > after["C4"] == before["C4"]


def test_words_in_another_order_are_another_name(make_shared, hashes):
    (found,) = make_shared(**hashes).candidates(["bone collar"])
    scores = {candidate.concept_id: candidate.score for candidate in found}
    assert scores["C5"] < scores["C6"] == 1


def test_annotated_data_filters_and_removed_names_decide_among_them(make_shared):
    normalizer = make_shared()
    assert best_concept(normalizer, "lungs", branches=["C2"]) == "C2"
    normalizer.add_synonyms([("lungs", "C2")])
    assert best_concept(normalizer, "lungs") == "C2"
    normalizer = make_shared()
    normalizer.remove_synonyms([("joint", "C4")])
    assert best_concept(normalizer, "joints") == "C3"


@pytest.mark.parametrize(
    ("mention", "contrary", "other"),
    [
        ("severe cold type 2", "cold, type 1", "cold"),
        ("decreased cold", "increased cold", "cold"),
        ("hypocoldness", "hypercoldness", "cold"),
    ],
)
def test_nothing_is_left_of_contrary_names(make_normalizer, mention, contrary, other):
    normalizer = make_normalizer()
    normalizer.initialize(ontology=Ontology([Concept("C1", contrary), Concept("C2", other)]))
    before, after = (
        scores(normalizer, mention, *rescorers, top_k=9) for rescorers in ((), (OtherWords(),))
    )
    assert before["C1"][0] > 0.3
    assert after["C1"][0] == 0
    assert after["C2"][0] > 0
