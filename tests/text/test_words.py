"""Bags of words, and the nouns behind adjectives."""

import gc
from weakref import ref

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spacy_connorm.text.bag_hashes import hash_bag, hash_word
from spacy_connorm.text.word_forms import DERIVED, EndingPair
from spacy_connorm.text.words import MOST_READERS, words_of

WORDS = words_of("en")
FUNCTION_WORDS = WORDS.classes.function_words
word_bag, normalized_words = WORDS.bag, WORDS.normalized
forms_of, base_forms, adjectives_of = (
    WORDS.forms.of,
    WORDS.forms.base_forms,
    WORDS.forms.adjectives_of,
)
compounds, paraphrases = WORDS.forms.compounds, WORDS.forms.paraphrases


def rows_of(word):
    """RETURNS (List[Tuple[int, int, float, bool]]): The fields of each form."""
    return list(zip(*(column.tolist() for column in forms_of(word)), strict=True))


@pytest.mark.parametrize(
    "pair",
    [
        "Breast Cancer = cancers of the breast",
        "Crohn's disease = Crohn’s Diseases",
        "haemorrhagic tumour = Hemorrhagic tumors",
        "β-thalassemia = beta thalassemia",
        "Sjögren syndrome = sjogren syndrome",
        "MPS II = MPS 2",
        "diabetes, type ii = Type 2 diabetes",
        "CVAs = CVA",
        "SEIZURES = seizure",
        "CD4 deficiency = cd-4 deficiency",
        "Asthma (disorder) = asthma",
        "pain in the chest due to X = x chest pain",
        "Weißfleckenkrankheit = Weissfleckenkrankheit",
        "cancer of a breast = breast cancer",
        "Hepatitis-A = hepatitis A",
        "CKD stage 3a = CKD stage 3 A",
        "CKD stage IIIb, Ia = stage 3b CKD, 1a",
        "stage IIIB = Stage 3B",
        "α1a receptor = alpha 1A receptor",
        "Œdema and anæmia = oedemas and anemia",
        "Løfgren, Strauß, Łomża, STRAUẞ = lofgren strauss lomza STRAUSS",
    ],
)
def test_spelling_inflection_and_order_do_not_matter(pair):
    first, second = map(word_bag, pair.split(" = "))
    assert first == second != ()


@pytest.mark.parametrize(
    "pair",
    [
        "AIDS != aid",
        "type 1 diabetes != type 2 diabetes",
        "hepatitis B != hepatitis",
        "hepatitis A != hepatitis",
        "stage 3a != stage 3",
        "IB, VIA != 1B, 6A",
        "Vitamin A deficiency != vitamin deficiency",
        "hypertension != hypotension",
        "no pain != pain",
        "virus virus != virus",
    ],
)
def test_what_has_another_meaning_has_another_bag(pair):
    first, second = map(word_bag, pair.split(" != "))
    assert first != second


def test_words_are_sorted_and_stop_words_are_left_out():
    assert word_bag("zoster of the ear") == ("ear", "zoster")
    assert normalized_words("zoster of the ear") == ["zoster", "of", "the", "ear"]
    assert word_bag("Or an a") == ("a", "an", "or")
    assert word_bag("...") == word_bag("") == ()


@given(text=st.text(max_size=40))
def test_whatever_the_text_its_bag_is_that_of_its_words(text):
    words = word_bag(text)
    assert list(words) == sorted(words)
    assert set(words) <= set(normalized_words(text))
    assert len(words) == len(normalized_words(text)) or not FUNCTION_WORDS & set(words)


@pytest.mark.parametrize(
    "pair",
    [
        "retinal > retina",
        "epithelial > epithelium",
        "skeletal > skeleton",
        "embryonic > embryo",
        "testicular > testis",
        "pharyngeal > pharynx",
        "cervical > cervix",
        "uterine > uterus",
        "ischemic > ischemia",
        "epileptic > epilepsy",
        "thrombotic > thrombosis",
        "diabetic > diabetes",
        "hypertensive > hypertension",
        "dyskinetic > dyskinesia",
        "parkinsonian > parkinsonism",
        "allergic > allergy",
        "deficient > deficiency",
        "anxious > anxiety",
        "obese > obesity",
        "photosensitive > photosensitivity",
        "drowsy > drowsiness",
        "wheeze > wheezing",
        "cortical > cortex",
        "diaphragmatic > diaphragm",
        # From another root.
        "cardiac > heart",
        "thoracic > thorax",
        "tachypneic > tachypnea",
        "restless > restlessness",
        "febrile > fever",
        "microcephalic > microcephaly",
    ],
)
def test_the_noun_is_among_the_forms(pair):
    word, noun = pair.split(" > ")
    assert noun in base_forms(word)


@pytest.mark.parametrize(
    "word", ["retina", "dependent", "resistant", "oral", "anal", "of", "", "a"]
)
def test_other_words_have_no_forms_that_are_words(word):
    assert not {"dependence", "resistance", "ora", "os", "anus", "ana"} & {*base_forms(word)}
    assert word not in base_forms(word)


def test_function_words_have_no_forms():
    assert not base_forms("several")


def test_words_that_only_look_derived():
    assert not base_forms("limbic")
    assert not {"limbic", "dental"} & {*adjectives_of("limb"), *adjectives_of("dent")}
    assert "dental" in adjectives_of("tooth")


def test_each_form_comes_once_and_has_its_hash():
    forms = base_forms("testicular")
    assert len({*forms}) == len(forms)
    known = [value for value, _, _, is_adjective in rows_of("testicular") if not is_adjective]
    assert known == [*map(hash_word, forms)]


@pytest.mark.parametrize(
    ("word", "words"),
    [
        ("nephropathy", ("kidney", "disease")),
        ("nephropathy", ("renal", "disorder")),
        ("diabetes", ("diabetes", "mellitus")),
        ("toxicity", ("drug", "toxicity")),
        ("hepatotoxicity", ("drug", "induced", "liver", "injury")),
        ("immunologic", ("immune", "system")),
        ("apoptosis", ("apoptotic", "process")),
        ("inflammation", ("inflammatory", "response")),
    ],
)
def test_a_word_may_stand_for_two(word, words):
    assert words in paraphrases(word)
    assert hash_bag(words) in forms_of(word).hashes


@pytest.mark.parametrize(
    ("word", "words", "least"),
    [
        ("preeclampsia", ("pre", "eclampsia"), 1),
        ("cardiorespiratory", ("cardio", "respiratory"), 1),
        ("av", ("atrioventricular",), 2),
        ("qt", ("qt", "interval"), 2),
        ("elevated", ("increased", "serum"), 2),
        ("signaling", ("signaling", "pathway"), 2),
        ("weakness", ("muscle", "weakness"), 2),
        ("mellitus", (), 2),
    ],
)
def test_short_forms_and_compounds_are_the_same_words(word, words, least):
    assert (hash_bag(words), least, 1.0, False) in rows_of(word)


@pytest.mark.parametrize("word", ["pre", "prey", "precut", "cardiac"])
def test_other_words_are_not_compounds(word):
    assert not compounds(word)


@pytest.mark.parametrize("word", ["kidney", "pre", "prey", "pathy", ""])
def test_most_words_stand_for_no_others(word):
    assert not paraphrases(word)


def test_adjectives_with_an_own_meaning_need_another_word():
    assert {least for _, least, _, _ in rows_of("digital")} == {2}
    assert (hash_word("retina"), 1, DERIVED, False) in rows_of("retinal")


@pytest.mark.parametrize(
    ("word", "adjective"),
    [("retina", "retinal"), ("cerebellum", "cerebellar"), ("liver", "hepatic"), ("vein", "venous")],
)
def test_a_noun_has_adjectives(word, adjective):
    assert adjective in adjectives_of(word)
    assert (hash_word(adjective), 2, DERIVED, True) in rows_of(word)
    assert not adjectives_of("the")


def test_the_words_of_many_ontologies_are_not_kept():
    endings = [(EndingPair("a", "b" * size),) for size in range(MOST_READERS + 1)]
    readers = [ref(words_of("xx", pairs)) for pairs in endings]
    gc.collect()
    assert readers[0]() is None
    assert words_of("xx", endings[-1]) is readers[-1]()
