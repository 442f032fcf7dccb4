"""What raises and lowers scores after a search."""

from string import ascii_letters

import pytest

from spacy_connorm import Concept, Ontology
from spacy_connorm.errors import ConnormError
from spacy_connorm.linker.rescoring import extra_share
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
    assert extra_share(mention, name, WORDS) == pytest.approx(share)


def scores(normalizer, mention, **limits):
    (found,) = normalizer.candidates([mention], **limits)
    return {each.concept_id: (each.score, each.text) for each in found}


def test_scores_are_lowered_by_words_that_the_mention_lacks(make_normalizer):
    plain, lowered = make_normalizer(), make_normalizer(extra_words_weight=0.5)
    for mention in ("colds", "severe headaches"):
        before, after = (scores(each, mention, top_k=100) for each in (plain, lowered))
        assert before.keys() == after.keys()
        for concept_id, (score, text) in after.items():
            same_text = before[concept_id]
            assert same_text[1] == text
            expected = same_text[0] - 0.5 * extra_share(mention, text, WORDS)
            assert score == pytest.approx(expected, abs=1e-4)
        assert list(after.values()) == sorted(after.values(), key=lambda each: -each[0])
        assert list(scores(lowered, mention, top_k=2)) == list(after)[:2]


def test_texts_of_the_index_are_left_alone(make_normalizer):
    for mention in ("cold", "vertigo"):
        found = [
            scores(make_normalizer(extra_words_weight=weight), mention) for weight in (0.0, 0.5)
        ]
        assert all(each == found[0] for each in found)


@pytest.mark.parametrize("weight", [-0.1, 1.1, "0.2"])
def test_a_weight_is_a_number_from_0_to_1(make_normalizer, weight):
    with pytest.raises(ConnormError, match="CN006.*extra_words_weight"):
        make_normalizer(extra_words_weight=weight)


def test_scores_of_rewritten_names_are_not_lowered(blank_pipeline):
    def scored(**settings):
        nlp = blank_pipeline(**settings)
        normalizer = nlp.get_pipe("concept_normalizer")
        concepts = [Concept("U1", "testis"), Concept("U2", "testicular artery of the trunk")]
        normalizer.initialize(lambda: [], nlp=nlp, ontology=Ontology(concepts))
        return scores(normalizer, "testicular")["U1"]

    cosine, _ = scored(rewriting_weight=0.0)
    for weight in (0.0, 0.5):
        found = scored(rewriting_weight=0.5, extra_words_weight=weight)
        assert found == (pytest.approx(cosine + 0.45 * (1 - cosine), abs=1e-4), "testis")


def test_answers_do_not_depend_on_what_else_was_asked(blank_pipeline):
    concepts = [
        Concept("C1", "sid risk factor"),
        Concept("C2", "sids risk factor x"),
        Concept("C3", "risk of SIDS, infant"),
    ]

    def normalizer():
        nlp = blank_pipeline(extra_words_weight=0.5)
        found = nlp.get_pipe("concept_normalizer")
        found.initialize(lambda: [], nlp=nlp, ontology=Ontology(concepts))
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

    def make(**settings):
        normalizer = make_normalizer(**{**config, **settings})
        normalizer.initialize(lambda: [], ontology=ontology, substitutions=SUBSTITUTIONS)
        return normalizer

    return make


def first(normalizer, mention, **limits):
    ((best, *_),) = normalizer.candidates([mention], **limits)
    return best


def test_mentions_in_other_words_are_found(make):
    normalizer = make(rewriting_weight=1.0)
    best = first(normalizer, "cardiac illness")
    assert (best.concept_id, best.text) == ("C1", "heart disease")
    assert best.score == pytest.approx(0.99 * 0.9, abs=0.15)
    assert first(normalizer, "Arrest, Cardiac").concept_id == "C2"


def test_scores_are_raised_by_the_weight(make):
    plain, raised = (first_of(make(rewriting_weight=weight)) for weight in (0.0, 0.5))
    expected = plain["C1"] + 0.5 * 0.99 * 0.9 * (1 - plain["C1"])
    assert raised["C1"] == pytest.approx(expected, abs=1e-4)
    del plain["C1"], raised["C1"]
    assert plain == raised


def first_of(normalizer):
    (found,) = normalizer.candidates(["cardiac illness"])
    return {each.concept_id: each.score for each in found}


def test_a_mention_with_a_minus_gains_nothing_from_a_name_with_a_plus(make_normalizer):
    def score(weight, mention):
        normalizer = make_normalizer(rewriting_weight=weight)
        normalizer.initialize(lambda: [], ontology=Ontology([Concept("C1", "ER+ breast cancer")]))
        return first(normalizer, mention).score

    assert score(1.0, "breast cancer, ER+") > score(0.0, "breast cancer, ER+")
    assert score(1.0, "breast cancer, ER-") == score(0.0, "breast cancer, ER-")


def test_names_and_filters_are_as_without(make):
    normalizer = make(rewriting_weight=1.0)
    assert first(normalizer, "heart attack").score == pytest.approx(1, abs=1e-4)
    assert first(normalizer, "cardiac illness", types=["Symptom"]).concept_id == "C5"
    normalizer.remove_synonyms([("heart disease", "C1")])
    assert all(each.score < 0.85 for each in normalizer.candidates(["cardiac illness"])[0])


def test_changing_the_weight_changes_answers(make):
    normalizer = make(rewriting_weight=1.0)
    raised = first_of(normalizer)
    normalizer.cfg["rewriting_weight"] = 0.0
    assert first_of(normalizer)["C1"] < raised["C1"]


def test_the_table_is_saved(make, make_normalizer, tmp_path):
    normalizer = make(rewriting_weight=1.0)
    normalizer.to_disk(tmp_path / "saved")
    other = make()
    few = [other.lookup.index.concept(concept_id) for concept_id in ("C3", "C4")]
    other.initialize(lambda: [], ontology=Ontology(few))
    assert other.lookup.index.rewriting is None
    other.from_disk(tmp_path / "saved")
    assert first_of(other) == first_of(normalizer)


@pytest.mark.parametrize("weight", [-0.1, 1.1, "1"])
def test_weights_are_shares(blank_pipeline, weight):
    with pytest.raises((ConnormError, ValueError), match="rewriting_weight"):
        blank_pipeline(rewriting_weight=weight).get_pipe("concept_normalizer")


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
    assert best_concept(make_shared(same_words_weight=0.0), mention) == alone


def test_a_synonym_that_was_added_raises_no_other_name(make_shared):
    sieve = {"@misc": "spacy-connorm.Sieve.v1", "searches": ["OD-T"], "thresholds": []}
    settings = {"sieve": sieve, "rewriting_weight": 0.0}
    normalizer = make_shared(**settings)
    # Nearer than "joint", and at its place among the texts that were added.
    others = [each for each in SHARED if each not in ("C3", "C4")]
    normalizer.add_synonyms(
        (f"joint's{letter}", each) for letter, each in zip(ascii_letters, others, strict=False)
    )
    before, after = (
        scores(each, "joint's", top_k=20) for each in (make_shared(**settings), normalizer)
    )
    assert after["C8"] > after["C4"] == before["C4"]


def test_words_in_another_order_are_another_name(make_shared, hashes):
    (found,) = make_shared(**hashes).candidates(["bone collar"])
    scores = {each.concept_id: each.score for each in found}
    assert scores["C5"] < scores["C6"] == 1


def test_annotated_data_filters_and_removed_names_decide_among_them(make_shared):
    normalizer = make_shared()
    assert best_concept(normalizer, "lungs", branches=["C2"]) == "C2"
    normalizer.add_synonyms([("lungs", "C2")])
    assert best_concept(normalizer, "lungs") == "C2"
    normalizer = make_shared()
    normalizer.remove_synonyms([("joint", "C4")])
    assert best_concept(normalizer, "joints") == "C3"
