"""Each mention comes with the names that score highest now, and with its hypernyms."""

import warnings

import numpy as np
import pytest
from spacy import registry

from spacy_connorm import Concept
from spacy_connorm.encoders.ngram import NgramEncoder
from spacy_connorm.errors import ConnormError, ConnormWarning
from spacy_connorm.training.batchers import Ranking
from spacy_connorm.training.batches import Relevance
from spacy_connorm.training.candidate_batcher import CandidateBatcher, Hierarchy

from .conftest import make_mention

CONCEPTS = tuple(
    Concept(f"C{number}", f"{kind} {organ}", (f"{organ} {kind}ness",), parents=parents)
    for number, (kind, organ, parents) in enumerate(
        (kind, organ, ("C0",) if kind == "pain" else ())
        for kind in ("ill", "pain", "rash")
        for organ in ("heart", "skin", "head")
    )
)
MENTIONS = [
    (f"{word} {organ}", f"C{3 * kind + part}")
    for kind, word in enumerate(("sick", "hurting", "itching"))
    for part, organ in enumerate(("heart", "skin", "head"))
]


class Now:
    """An encoder of fixed vectors, and a weight."""

    def __init__(self, vectors, **ranking):
        self.fixed = vectors
        self.asked = []
        self.ranking = Ranking(self.vectors, **{"lexical_weight": 0.5, **ranking})

    def vectors(self, rows):
        self.asked.append(rows)
        return self.fixed[rows]


@pytest.fixture
def pool(gather):
    return gather(CONCEPTS, [make_mention(*mention) for mention in MENTIONS])[0]


def vectors_of(pool, seed=0):
    return np.random.default_rng(seed).standard_normal((len(pool.texts), 5)).astype("float32")


def draw(batcher, pool, now, *, seed=0, epoch=0):
    return batcher.batches(pool, seed=seed, epoch=epoch, ranking=now.ranking)


def unit(vectors):
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def lists_of(batches):
    """The candidates, relevances and lexical cosines of each mention, by row."""
    return {
        int(rows[mention]): (
            rows[lists.candidates[place]].tolist(),
            lists.relevance[place].tolist(),
            lists.lexical[place].tolist(),
        )
        for rows, lists in batches
        for place, mention in enumerate(lists.mentions)
    }


@pytest.mark.parametrize("normalized", [True, False])
@pytest.mark.parametrize("weight", [0.01, 0.5, 20.0])
def test_candidates_are_the_names_of_the_highest_scores(pool, normalized, weight):
    vectors = vectors_of(pool)
    now = Now(vectors, normalized=normalized, lexical_weight=weight)
    found = lists_of(draw(CandidateBatcher(size=4, candidates=5), pool, now))
    encoder = NgramEncoder()
    encoder.initialize(X=pool.texts)
    ngrams = unit(encoder.predict(pool.texts).toarray())
    points = unit(vectors) if normalized else vectors
    assert sorted(found) == pool.mentions.tolist()
    for mention, (candidates, _, lexical) in found.items():
        scores = {
            int(name): points[mention] @ points[name] + weight * (ngrams[mention] @ ngrams[name])
            for name in pool.names
        }
        assert candidates == sorted(scores, key=scores.get, reverse=True)[:5]
        np.testing.assert_allclose(lexical, ngrams[mention] @ ngrams[candidates].T, atol=1e-5)


def test_relevance_and_hypernyms_are_the_ontology_s(pool):
    batches = draw(CandidateBatcher(candidates=18, hypernyms=3), pool, Now(vectors_of(pool)))
    above = {pool.texts.index(text) for text in ("ill heart", "heart illness")}
    assert pool.texts.index("heart illness") in above
    for rows, lists in batches:
        for place, mention in enumerate(rows[lists.mentions]):
            own = set(pool.concepts[mention])
            is_pain = pool.texts[mention].startswith("hurting")
            expected = above if is_pain else set()
            hypernyms = lists.hypernyms[place]
            assert set(rows[hypernyms[hypernyms >= 0]]) == expected
            for candidate, relevance in zip(
                rows[lists.candidates[place]], lists.relevance[place], strict=True
            ):
                kinds = {0: candidate in expected, 2: bool(own & set(pool.concepts[candidate]))}
                assert relevance == (2 if kinds[2] else 1 if kinds[0] else 0)


def test_other_vectors_and_another_weight_draw_other_candidates(pool):
    batcher = CandidateBatcher(candidates=4)
    first, again, moved, weighed = (
        lists_of(draw(batcher, pool, now))
        for now in (
            Now(vectors_of(pool)),
            Now(vectors_of(pool)),
            Now(vectors_of(pool, seed=1)),
            Now(vectors_of(pool), lexical_weight=30.0),
        )
    )
    assert first == again
    assert first != moved and first != weighed


def test_every_batch_holds_its_texts_once_in_order(pool):
    counts = set()
    for epoch in range(3):
        batches = draw(CandidateBatcher(size=4), pool, Now(vectors_of(pool)), epoch=epoch)
        counts.add(len(batches))
        for rows, lists in batches:
            assert rows.dtype == np.int64
            assert (np.diff(rows) > 0).all()
            assert 1 <= len(lists.mentions) <= 4
            used = [lists.mentions, lists.candidates.ravel(), lists.hypernyms[lists.hypernyms >= 0]]
            assert set(np.concatenate(used)) == set(range(len(rows)))
    assert counts == {3}


def test_the_order_follows_seed_and_epoch(pool):
    def order(**drawn):
        batches = draw(CandidateBatcher(size=3), pool, Now(vectors_of(pool)), **drawn)
        return [rows[lists.mentions].tolist() for rows, lists in batches]

    assert order(seed=1, epoch=2) == order(seed=1, epoch=2)
    assert order(seed=1, epoch=2) != order(seed=1, epoch=3)
    assert order(seed=1, epoch=2) != order(seed=2, epoch=2)


def test_scores_in_parts_are_those_at_once(pool, monkeypatch):
    now = Now(vectors_of(pool))
    whole = lists_of(draw(CandidateBatcher(), pool, now))
    monkeypatch.setattr("spacy_connorm.training.candidate_batcher.COMPARED_AT_ONCE", 40)
    assert lists_of(draw(CandidateBatcher(), pool, now)) == whole


def test_each_text_is_encoded_once(pool):
    now = Now(vectors_of(pool))
    draw(CandidateBatcher(), pool, now)
    (rows,) = now.asked
    assert len(np.unique(rows)) == len(rows) == len(pool.texts)


def test_a_pool_of_few_names_gives_short_lists_and_no_hypernyms(pool):
    ((_, lists),) = draw(CandidateBatcher(candidates=100, hypernyms=0), pool, Now(vectors_of(pool)))
    assert lists.candidates.shape == (9, len(pool.names))
    assert lists.hypernyms.shape == (9, 0)


def test_n_grams_of_one_s_own_choice(pool):
    encoder = NgramEncoder(ngram_range=[2, 2], analyzer="char")
    now = Now(vectors_of(pool))
    other = lists_of(draw(CandidateBatcher(lexical=encoder), pool, now))
    assert other != lists_of(draw(CandidateBatcher(), pool, now))
    # It is fitted aside: the one of the config stays empty.
    assert not encoder.has_dim("nO")


def test_without_parents_it_warns_once(gather):
    flat = [
        Concept(concept.concept_id, concept.canonical_name, concept.aliases) for concept in CONCEPTS
    ]
    pool, _ = gather(flat, [make_mention("sick heart", "C0")])
    now = Now(vectors_of(pool))
    with pytest.warns(ConnormWarning, match="CNW830"):
        draw(CandidateBatcher(), pool, now)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        draw(CandidateBatcher(), pool, now, epoch=1)
        draw(CandidateBatcher(hypernyms=0), pool, now)


@pytest.mark.filterwarnings("ignore:.*CNW810")
def test_mentions_of_unknown_concepts_have_no_list(gather):
    mentions = [make_mention("sick heart", "C0"), make_mention("strange", "X1")]
    pool, _ = gather(CONCEPTS, mentions)
    ((rows, lists),) = draw(CandidateBatcher(), pool, Now(vectors_of(pool)))
    assert [pool.texts[row] for row in rows[lists.mentions]] == ["sick heart"]
    pool, _ = gather(CONCEPTS, mentions[1:])
    with pytest.raises(ConnormError, match="CN810.*1 annotated"):
        draw(CandidateBatcher(), pool, Now(vectors_of(pool)))


@pytest.mark.parametrize("share", [0.0, 0.5, 1.0])
def test_n_grams_alone_choose_a_share_of_the_candidates(pool, share):
    vectors = vectors_of(pool)
    batcher = CandidateBatcher(size=4, candidates=6, lexical_share=share)
    encoder = NgramEncoder()
    encoder.initialize(X=pool.texts)
    ngrams, points = unit(encoder.predict(pool.texts).toarray()), unit(vectors)
    for mention, (candidates, _, _) in lists_of(draw(batcher, pool, Now(vectors))).items():
        first = round(share * 6)
        lexical = {name: float(ngrams[mention] @ ngrams[name]) for name in pool.names.tolist()}
        own = sorted((lexical[name] for name in candidates[:first]), reverse=True)
        assert own == pytest.approx(sorted(lexical.values(), reverse=True)[:first], abs=1e-6)
        left = [name for name in pool.names.tolist() if name not in candidates[:first]]
        dense = {name: float(points[mention] @ points[name]) for name in left}
        assert candidates[first:] == sorted(left, key=dense.get, reverse=True)[: 6 - first]
        assert len({*candidates}) == 6


@pytest.mark.parametrize("share", [-0.1, 1.1, float("nan")])
def test_a_share_that_cannot_be(share):
    with pytest.raises(ConnormError, match="CN006.*lexical_share"):
        CandidateBatcher(lexical_share=share)


@pytest.mark.parametrize("settings", [{"size": 0}, {"candidates": 0}, {"hypernyms": -1}])
def test_bad_settings(settings):
    with pytest.raises(ConnormError, match=f"CN006.*{next(iter(settings))}"):
        CandidateBatcher(**settings)


def test_n_grams_must_be_sparse(tiny_folder):
    from spacy_connorm.encoders.transformer import TransformerEncoder

    with pytest.raises(ConnormError, match="CN006.*lexical"):
        CandidateBatcher(lexical=TransformerEncoder(name=str(tiny_folder)))


def test_it_is_registered():
    block = {
        "@batchers": "spacy-connorm.CandidateBatcher.v1",
        "size": 8,
        "lexical": {"@architectures": "spacy-connorm.NgramEncoder.v1"},
    }
    assert registry.resolve({"batcher": block})["batcher"].size == 8


DISEASES = (
    Concept("C1", "disease", ("disorder",)),
    Concept("C2", "lymphoma", ("cancer of lymph",), parents=("C1",)),
    Concept("C3", "blood disease", parents=("C1",), alt_ids=("OLD3",)),
    Concept("C4", "B-cell lymphoma", ("lymphoma, B-cell",), parents=("C2", "OLD3", "C99")),
)


@pytest.fixture
def make_diseases(gather):
    """A function that gathers concepts and mentions."""
    return lambda *mentions, concepts=DISEASES: gather(concepts, mentions)[0]


def relevances(pool, text):
    found = Hierarchy(pool).relevances(pool.texts.index(text), pool.names.tolist())
    return {pool.texts[row]: each for row, each in zip(pool.names, found, strict=True)}


def hypernyms(pool, text, *, limit=10):
    found = Hierarchy(pool).hypernyms(pool.texts.index(text), limit=limit)
    return [pool.texts[row] for row in found]


def test_parents_are_hypernyms_and_those_above_them_are_not(make_diseases):
    assert relevances(make_diseases(make_mention("B-NHL", "C4")), "B-NHL") == {
        "B-cell lymphoma": Relevance.SYNONYM,
        "lymphoma, B-cell": Relevance.SYNONYM,
        "lymphoma": Relevance.HYPERNYM,
        "cancer of lymph": Relevance.HYPERNYM,
        "blood disease": Relevance.HYPERNYM,
        "disease": Relevance.NONE,
        "disorder": Relevance.NONE,
    }


def test_a_synonym_that_is_a_hypernym_too_is_a_synonym(make_diseases):
    pool = make_diseases(make_mention("lymphoma", "C4"))
    assert relevances(pool, "lymphoma")["cancer of lymph"] == Relevance.SYNONYM
    assert hypernyms(pool, "lymphoma") == ["blood disease", "disease", "disorder"] or hypernyms(
        pool, "lymphoma"
    ) == ["disease", "disorder", "blood disease"]


def test_hypernyms_come_parent_by_parent_each_once(make_diseases):
    pool = make_diseases(make_mention("B-NHL", "C4"))
    assert hypernyms(pool, "B-NHL") == ["lymphoma", "cancer of lymph", "blood disease"]
    assert hypernyms(pool, "B-NHL", limit=2) == ["lymphoma", "cancer of lymph"]
    assert hypernyms(pool, "B-NHL", limit=0) == []


def test_a_root_and_an_unknown_concept_have_no_hypernyms(make_diseases):
    with pytest.warns(match="CNW810"):
        pool = make_diseases(make_mention("illness", "C1"), make_mention("strange", "C77"))
    assert hypernyms(pool, "illness") == hypernyms(pool, "strange") == []
    hierarchy = Hierarchy(pool)
    assert hierarchy.has_name(pool.texts.index("illness"))
    assert not hierarchy.has_name(pool.texts.index("strange"))
    assert set(relevances(pool, "strange").values()) == {Relevance.NONE}


def test_a_pool_without_parents_has_no_hypernyms(make_pool):
    pool = make_pool([0, 1], [2])
    assert Hierarchy(pool).hypernyms(0, limit=3) == []


def test_names_and_mentions_are_told_apart(make_diseases):
    pool = make_diseases(
        make_mention("B-NHL", "C4"), make_mention("LYMPHOMA", "C2"), make_mention("both", "C1|C2")
    )
    assert [pool.texts[row] for row in pool.mentions] == ["lymphoma", "B-NHL"]
    assert {pool.texts[row] for row in pool.names} == {
        name for concept in DISEASES for name in concept.names
    }


def test_parents_and_annotations_count_for_the_digest(make_diseases):
    flat = tuple(
        Concept(
            disease.concept_id, disease.canonical_name, disease.aliases, alt_ids=disease.alt_ids
        )
        for disease in DISEASES
    )
    pools = (
        make_diseases(),
        make_diseases(concepts=flat),
        make_diseases(make_mention("disease", "C1")),
    )
    assert len({pool.digest() for pool in pools}) == 3
