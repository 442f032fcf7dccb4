"""Retriever worked out before and answers given lately are those that a search would give now."""

import errno
import pickle
import stat
import threading

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from spacy_connorm import Concept, Ontology
from spacy_connorm.errors import ConnormError
from spacy_connorm.linker.memo import Memo
from spacy_connorm.linker.verification import verify_memo

PLAIN = {"memo_size": 0, "cache_size": 0}
SYNONYMS = [("cold", "C3"), ("myocardial infarct", "C2"), ("chill", "C4"), ("€", "C6")]
TEXTS = [
    *("heart disease", "heart attack", "myocardial infarction", "MI", "common cold", "cold"),
    *("low temperature", "dizziness", "vertigo", "aspirin", "acetylsalicylic acid"),
    *(text for text, _ in SYNONYMS),
]
ASKED = [
    *TEXTS,
    *(text.upper() for text in TEXTS),
    *("", " \n", "heart  attack", "heart attacks", "nothing of the kind", "head\ud800ache", "cold"),
]
MEANS = {"@misc": "spacy-connorm.Sieve.v1", "searches": ["D-C", "OD-C"], "thresholds": [0.9]}
ONE = {"@misc": "spacy-connorm.Sieve.v1", "searches": ["OD-T"], "thresholds": []}
ANNOY = {"index": {"@misc": "spacy-connorm.AnnoyIndex.v1", "exact_below": 0, "dtype": "float32"}}
DOT = {
    "index": {"@misc": "spacy-connorm.ExactIndex.v1", "metric": "dot"},
    **{"sieve": ONE, "rewriting_weight": 0.0, "split_composites": False},
}
HALF = {"index": {"@misc": "spacy-connorm.ExactIndex.v1", "dtype": "float16"}}
CHANGES = st.lists(
    st.tuples(
        st.sampled_from(["add", "remove"]),
        st.sampled_from([*TEXTS, "heart attacks", "colds", "vertigos", "dizzy"]),
        st.sampled_from(["C1", "C2", "C3", "C4", "C5", "C6"]),
    ),
    max_size=4,
)


@pytest.fixture(
    scope="module",
    params=[
        *("ngrams", "annoy", "half", "hybrid"),
        *("means", "one", "dot", "dot-hybrid", "dot-ngrams"),
    ],
)
def config(request, hashes, hybrid):
    return {
        "ngrams": {},
        "annoy": {**hashes, **ANNOY},
        "half": {**hashes, **HALF},
        "hybrid": hybrid,
        "means": {**hashes, "sieve": MEANS},
        "one": {"sieve": ONE},
        "dot": {**hashes, **DOT},
        "dot-hybrid": {**hybrid, **DOT},
        "dot-ngrams": DOT,
    }[request.param]


@pytest.fixture
def make(make_pipeline):
    """A function that makes a component whose index has annotated data."""

    def make(**config):
        return make_pipeline(synonyms=SYNONYMS, **config).get_pipe("concept_normalizer")

    return make


@pytest.fixture
def refuse_work(monkeypatch):
    """A function that lets every further search and encoding fail."""

    def refuse(*_, **__):
        raise RuntimeError("it works")

    def forbid(normalizer):
        monkeypatch.setattr("spacy_connorm.linker.retriever.run_sieve", refuse)
        monkeypatch.setattr(type(normalizer.lookup.encoder.shims[0]), "encode", refuse)

    return forbid


def memo_of(normalizer):
    return normalizer.lookup.retriever.revised_memo


@pytest.mark.parametrize(
    "fast", [{}, {"memo_size": 0}, {"cache_size": 0}, {"memo_size": 5}], ids=str
)
def test_fast_paths_answer_as_the_plain_one(make, config, fast):
    plain, quick = make(**config, **PLAIN), make(**config, **fast)
    expected = plain.candidates(ASKED)
    assert quick.candidates(ASKED) == expected
    assert quick.candidates(ASKED) == expected
    assert [quick.candidates([text])[0] for text in ASKED] == expected


@settings(max_examples=8, suppress_health_check=list(HealthCheck))
@pytest.mark.filterwarnings("ignore:.*CNW001")
@given(rounds=st.lists(CHANGES, max_size=3))
def test_changed_synonyms_change_answers_alike(make, config, rounds):
    plain, quick = make(**config, **PLAIN), make(**config)
    for changes in rounds:
        for kind, text, concept in changes:
            for normalizer in (plain, quick):
                getattr(normalizer, f"{kind}_synonyms")([(text, concept)])
        assert quick.candidates(ASKED) == plain.candidates(ASKED)


WORDS = ["heart", "skin", "liver", "acute", "chronic", "failure", "cancer", "pain"]
MANY = [
    Concept(f"M{a}{b}", f"{one} {other}")
    for a, one in enumerate(WORDS)
    for b, other in enumerate(WORDS)
]
NAMES = [concept.canonical_name for concept in MANY]
FEW_CHANGES = st.lists(
    st.tuples(
        st.sampled_from(["add", "remove"]),
        st.sampled_from([*NAMES, "hearts and livers", "painful skin", "cancerous"]),
        st.sampled_from([concept.concept_id for concept in MANY]),
    ),
    min_size=1,
    max_size=3,
)


@settings(max_examples=8, suppress_health_check=list(HealthCheck))
@pytest.mark.filterwarnings("ignore:.*CNW001")
@given(changes=FEW_CHANGES, data=st.lists(st.sampled_from(NAMES), max_size=15))
@pytest.mark.parametrize("searches", [["O-T"], ["OD-T"], ["D-T", "OD-T"], ["D-T", "O-T"]], ids=str)
def test_only_answers_that_could_change_are_given_up(make_normalizer, searches, changes, data):
    sieve = {**ONE, "searches": searches, "thresholds": [0.8] * (len(searches) - 1)}
    plain, quick = (make_normalizer(sieve=sieve, top_k=1, **sizes) for sizes in (PLAIN, {}))
    for normalizer in (plain, quick):
        synonyms = [(text, f"M{place}{place}") for place, text in enumerate(data[:8])]
        normalizer.initialize(lambda: [], ontology=Ontology(MANY), synonyms=synonyms)
        for kind, text, concept in changes:
            getattr(normalizer, f"{kind}_synonyms")([(text, concept)])
    assert quick.candidates([*NAMES, *data]) == plain.candidates([*NAMES, *data])
    forms = quick.lookup.normalized_encoder.forms(NAMES)
    assert (memo_of(quick).find(forms) >= 0).any()


def test_a_known_text_needs_neither_encoder_nor_search(make, config, refuse_work):
    normalizer = make(**config)
    expected = make(**config, **PLAIN).candidates(TEXTS)
    refuse_work(normalizer)
    assert normalizer.candidates(TEXTS) == expected
    with pytest.raises(RuntimeError, match="it works"):
        normalizer.candidates(["heart attacks"])


def test_a_text_that_was_answered_lately_needs_neither(make, refuse_work):
    normalizer = make()
    expected = normalizer.candidates(["heart attacks"])
    refuse_work(normalizer)
    assert normalizer.candidates(["heart attacks"]) == expected
    (again,) = normalizer.candidates(["Heart  Attacks"])
    assert [each._replace(searched="heart attacks") for each in again] == expected[0]
    assert {each.searched for each in again} == {"Heart Attacks"}
    with pytest.raises(RuntimeError, match="it works"):
        normalizer.candidates(["heart attacks"], types=["Disease"])


def test_a_list_that_is_changed_by_its_reader_changes_no_later_answer(make):
    normalizer = make()
    for text in ("cold", "heart attacks"):
        (first,) = normalizer.candidates([text])
        kept = list(first)
        first.clear()
        assert normalizer.candidates([text]) == [kept]


def test_texts_of_annotated_data_come_first(make):
    memo = memo_of(make(memo_size=4))
    normalizer = make()
    assert len(memo) == 4
    forms = normalizer.lookup.normalized_encoder.forms([text for text, _ in SYNONYMS])
    assert (memo.find(forms) >= 0).all()
    assert (memo.find(normalizer.lookup.normalized_encoder.forms(["vertigo", "aspirin"])) < 0).all()


def test_all_texts_are_known_if_there_is_room(make):
    normalizer = make()
    assert len(memo_of(normalizer)) == len(normalizer.lookup.index.vectors)


def test_far_texts_stay_known_when_a_synonym_is_added(make, refuse_work):
    normalizer = make(top_k=1, sieve=ONE)
    others = [Concept(f"N{number}", word) for number, word in enumerate(["cold"] * 12)]
    ontology = Ontology([*others, Concept("F", "fever"), Concept("G", "fever blister")])
    normalizer.initialize(lambda: [], ontology=ontology)
    normalizer.add_synonyms([("fevers", "F")])
    normalizer.candidates([])
    forms = normalizer.lookup.normalized_encoder.forms(["cold", "fever"])
    normalizer.lookup.candidates(["cold"], top_k=10)
    assert (memo_of(normalizer).find(forms) >= 0).tolist() == [True, False]


@pytest.mark.parametrize("limits", [{"top_k": 12}, {"types": ["Disease"]}, {"branches": ["C1"]}])
def test_what_was_not_worked_out_is_searched(make, config, limits):
    plain, quick = make(**config, **PLAIN), make(**config)
    assert quick.candidates(ASKED, **limits) == plain.candidates(ASKED, **limits)


def test_few_candidates_are_the_first_of_many(make, config):
    (few,) = make(**config, top_k=1).candidates(["cold"])
    (many,) = make(**config).candidates(["cold"])
    assert few == many[:1]


@pytest.mark.parametrize("top_k", [6, 7, 10**12])
def test_more_candidates_than_concepts_take_no_room(make, config, top_k, tmp_path):
    plain, quick = make(**config, **PLAIN, top_k=top_k), make(**config, top_k=top_k)
    assert memo_of(quick).arrays.concepts.shape[1] == 6
    assert memo_of(quick).question.top_k >= top_k
    quick.to_disk(tmp_path / "saved")
    quick.from_disk(tmp_path / "saved")
    if quick.lookup.retriever.has_cosines:  # inner products of these hashes are millions
        verify_memo(memo_of(quick), quick.lookup.index, quick.lookup.normalized_encoder)
    for change in ([], [("dizzy", "C5")], [("heart attacks", "C2"), ("vertigos", "C1")]):
        for normalizer in (plain, quick):
            normalizer.add_synonyms(change)
        assert quick.candidates(ASKED) == plain.candidates(ASKED)


def test_it_is_saved_with_the_pipeline(make, config, tmp_path, refuse_work, blank_normalizer):
    made = make(**config)
    expected = made.candidates(ASKED)
    made.to_disk(tmp_path / "saved")
    loaded = blank_normalizer(**config).from_disk(tmp_path / "saved")
    assert loaded.candidates(ASKED) == expected
    refuse_work(loaded)
    assert loaded.candidates(TEXTS) == made.candidates(TEXTS)


@pytest.mark.parametrize("restore", ["bytes", "pickle"])
def test_it_goes_through_bytes(make, blank_normalizer, restore, refuse_work):
    made = make()
    made.add_synonyms([("heart attacks", "C1")])
    expected = made.candidates(TEXTS)
    if restore == "bytes":
        copied = blank_normalizer().from_bytes(made.to_bytes())
    else:
        copied = pickle.loads(pickle.dumps(made))
    assert copied.candidates(TEXTS) == expected
    assert len(memo_of(copied)) == len(memo_of(made))


@pytest.mark.parametrize(
    "change",
    [
        {"sieve": ONE},
        {"sieve": {**ONE, "searches": ["D-T", "OD-T"], "thresholds": [0.3]}},
        {"index": {"@misc": "spacy-connorm.ExactIndex.v1", "dtype": "float16"}},
    ],
    ids=str,
)
def test_other_settings_than_those_it_was_built_with_answer_for_themselves(
    make, blank_normalizer, tmp_path, change
):
    make().to_disk(tmp_path / "saved")
    changed = blank_normalizer(**change).from_disk(tmp_path / "saved", exclude=["cfg"])
    assert changed.candidates(ASKED) == make(**change, **PLAIN).candidates(ASKED)


def test_another_lexical_weight_answers_for_itself(make, hybrid, blank_normalizer, tmp_path):
    make(**hybrid).to_disk(tmp_path / "saved")
    other = {**hybrid, "encoder": {**hybrid["encoder"], "lexical_weight": 3.0}}
    changed = blank_normalizer(**other).from_disk(tmp_path / "saved")
    assert changed.candidates(ASKED) == make(**other, **PLAIN).candidates(ASKED)
    assert memo_of(changed) is None


def test_another_index_takes_its_memo_with_it(make):
    normalizer = make()
    normalizer.candidates(ASKED)
    normalizer.initialize(lambda: [], ontology=Ontology([Concept("X", "cold", ("ague",))]))
    assert [each.concept_id for each in normalizer.candidates(["cold"])[0]] == ["X"]
    assert len(memo_of(normalizer)) == 2


def test_without_room_there_is_no_memo(make, tmp_path):
    normalizer = make(memo_size=0)
    assert memo_of(normalizer) is None
    normalizer.to_disk(tmp_path / "saved")
    assert not (tmp_path / "saved" / "memo").exists()


def test_its_folder_goes_with_it(make):
    normalizer = make()
    folder = memo_of(normalizer).folder
    assert folder.is_dir()
    normalizer.initialize(lambda: [], ontology=Ontology([Concept("X", "cold")]))
    assert not folder.exists()


def test_a_text_without_a_direction_has_no_candidates(make):
    normalizer = make()
    normalizer.initialize(lambda: [], ontology=Ontology([Concept("X", "cold"), Concept("Y", " a")]))
    plain = make(**PLAIN)
    plain.initialize(lambda: [], ontology=Ontology([Concept("X", "cold"), Concept("Y", " a")]))
    assert normalizer.candidates(["a", "cold"]) == plain.candidates(["a", "cold"])


def test_memo_is_found_where_it_was_written(make, tmp_path):
    made = make()
    made.to_disk(tmp_path / "saved")
    memo = Memo(tmp_path / "saved" / "memo")
    assert memo.question == memo_of(made).question
    assert memo.find(["no form of anything"]).tolist() == [-1]
    assert memo.find([]).tolist() == []


@pytest.mark.parametrize("setting", ["memo_size", "cache_size"])
def test_sizes_are_not_negative(blank_pipeline, setting):
    with pytest.raises(ConnormError, match=f"CN006.*{setting}"):
        blank_pipeline(**{setting: -1})


@pytest.fixture
def gate(monkeypatch):
    """A function that lets a function wait half-way: gives what says that it has come there, and
    what lets it go on.
    """

    def wait_in(owner, name):
        arrived, may_go = threading.Event(), threading.Event()
        original = getattr(owner, name)

        def slow(*args, **kwargs):
            found = original(*args, **kwargs)
            arrived.set()
            assert may_go.wait(timeout=60)
            return found

        monkeypatch.setattr(owner, name, slow)
        return arrived, may_go

    return wait_in


def first_ids(normalizer, text):
    return [each.concept_id for each in normalizer.candidates([text])[0]][:1]


def test_no_thread_reads_answers_that_another_one_is_still_revising(make, gate, in_thread):
    normalizer = make()
    normalizer.add_synonyms([("vertigo", "C1")], count=5)
    arrived, may_go = gate(Memo, "_is_near")
    in_thread(lambda: normalizer.candidates(["aspirin"]))
    assert arrived.wait(timeout=60)
    found = []
    other = in_thread(lambda: found.append(first_ids(normalizer, "vertigo")))
    other.join(timeout=0.2)
    may_go.set()
    other.join(timeout=60)
    assert found == [["C1"]]
    assert first_ids(normalizer, "vertigo") == ["C1"]


def test_a_search_that_began_before_a_change_is_not_remembered(make, gate, in_thread):
    import spacy_connorm.linker.retriever

    normalizer = make(memo_size=0)
    arrived, may_go = gate(spacy_connorm.linker.retriever, "run_sieve")
    searching = in_thread(lambda: normalizer.candidates(["vertigos"]))
    assert arrived.wait(timeout=60)
    normalizer.add_synonyms([("vertigos", "C1")])
    may_go.set()
    searching.join(timeout=60)
    assert first_ids(normalizer, "vertigos") == ["C1"]


def test_others_may_read_what_is_saved(make, tmp_path):
    make().to_disk(tmp_path / "saved")
    folders = [path for path in (tmp_path / "saved").rglob("*") if path.is_dir()]
    assert len({stat.S_IMODE(folder.stat().st_mode) for folder in folders}) == 1


def test_a_full_disk_is_named(make, monkeypatch):
    def save(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("spacy_connorm.linker.memo_writer.np.save", save)
    with pytest.raises(ConnormError, match="CN108.*the disk is full"):
        make()


@pytest.mark.parametrize("limits", [{"types": ["Disease"]}, {"branches": ["C1", "C3"]}])
def test_texts_are_known_under_the_limits_of_the_settings(make, config, limits, refuse_work):
    plain, quick = make(**config, **limits, **PLAIN), make(**config, **limits)
    assert quick.candidates(ASKED) == plain.candidates(ASKED)
    expected = plain.candidates(TEXTS)
    refuse_work(quick)
    assert quick.candidates(TEXTS) == expected
    with pytest.raises(RuntimeError, match="it works"):
        quick.candidates(TEXTS[:1], types=["Symptom"], branches=[])


def test_few_texts_are_chosen_without_listing_all(make):
    from spacy_connorm.linker.memo_writer import _choose_rows

    index = make().lookup.index
    everything = _choose_rows(index, 1000)
    assert everything.tolist() == list(range(len(index.vectors)))
    assert set(_choose_rows(index, 3)) <= set(everything)


def test_many_new_texts_are_compared_in_pieces(make, monkeypatch):
    monkeypatch.setattr("spacy_connorm.linker.memo._BLOCK", 2)
    plain, quick = make(**PLAIN), make()
    for normalizer in (plain, quick):
        normalizer.add_synonyms([(f"cold {word}", "C4") for word in WORDS])
    assert quick.candidates(ASKED) == plain.candidates(ASKED)


def test_strings_are_read_once():
    from spacy_connorm.linker.memo import Strings

    asked = []

    def read(numbers):
        asked.append(list(numbers))
        return {number: f"text {number}" for number in numbers}

    strings = Strings(np.array([10, 20, 30]))
    assert strings.get(np.array([2, 0, 2, -1]), read) == ["text 30", "text 10", "text 30", ""]
    assert strings.get(np.array([0, 1]), read) == ["text 10", "text 20"]
    assert strings.get(np.array([], dtype="int64"), read) == []
    assert asked == [[10, 30], [20]]
