import pytest
from hypothesis import given
from hypothesis import strategies as st

from spacy_connorm.errors import ConnormError
from spacy_connorm.text.cleaning import clean
from spacy_connorm.text.normalization import STEPS, compose

PIECES = (
    "type types stage factor I II IV V X XX IIa iv i , , - / ' 's s' ( ) (disorder) [D] NOS , NOS "
    "[Ambiguous] <1> unspecified obsolete and Cancer Breast diabetes tumours haemorrhage oedema "
    "lipomatas children neuropathies abscesses aaem oedema foetal localised CVAs . 1.5 2 + % α γδ "
    "β- μg ﬁ ŉ ´ ’ – − \u00ad \u200b é ² ½ \u0301 Σ ß İ"
)
PIECE = st.sampled_from(PIECES.split())
TEXTS = st.one_of(
    st.text(), st.lists(PIECE, max_size=8).map(" ".join), st.lists(PIECE, max_size=6).map("".join)
).map(clean)

CHANGED = {
    "unicode": [
        ("ﬁbrosis", "fibrosis"),
        ("Crohn’s", "Crohn's"),
        ("Crohn´s", "Crohn's"),
        ("Crohn`s", "Crohn's"),
        ("“itch”", '"itch"'),
        ("Ｃａ²⁺", "Ca2+"),
        ("e\u200b\u0301", "é"),
    ],
    "dashes": [("X–linked − a—b", "X-linked - a-b"), ("neph\u00adritis", "nephritis")],
    "greek": [
        ("β-thalassemia", "beta-thalassemia"),
        ("TNFα", "TNFalpha"),
        ("γδ T-cell lymphoma", "gamma-delta T-cell lymphoma"),
        ("Δ antigen", "Delta antigen"),
        ("5 µg", "5 ug"),
        ("µ receptor", "mu receptor"),
    ],
    "tags": [
        ("Asthma (disorder)", "Asthma"),
        ("Asthma (Disorder) ", "Asthma"),
        ("Asthma, NOS", "Asthma"),
        ("Asthma NOS (finding)", "Asthma"),
        ("Asthma (nos)", "Asthma"),
        ("Asthma, unspecified", "Asthma"),
        ("Unspecified asthma", "asthma"),
        ("[X]Asthma", "Asthma"),
        ("[D] Asthma, NEC", "Asthma"),
        ("Cold <1>", "Cold"),
        ("Cold [Ambiguous]", "Cold"),
        ("obsolete asthma", "asthma"),
        ("MODY 9, FORMERLY", "MODY 9"),
        ("Ödem İ (disorder)", "Ödem İ"),
    ],
    "inversions": [
        ("Cancer, Breast", "Breast Cancer"),
        ("Diabetes Mellitus, Type 2", "Type 2 Diabetes Mellitus"),
        ("Leukemia, Myeloid, Acute", "Acute Myeloid Leukemia"),
        ("Tooth Agenesis, Selective, 6", "Selective Tooth Agenesis 6"),
        ("Cataract, 3", "Cataract 3"),
    ],
    "possessives": [
        ("Crohn's disease", "Crohn disease"),
        ("ALZHEIMER'S DISEASE", "ALZHEIMER DISEASE"),
        ("Graves' disease", "Graves disease"),
    ],
    "plurals": [
        ("breast tumours", "breast tumour"),
        ("neuropathies", "neuropathy"),
        ("Abscesses", "Abscess"),
        ("stenoses", "stenosis"),
        ("metastases", "metastasis"),
        ("diagnoses", "diagnosis"),
        ("sarcoidoses", "sarcoidosis"),
        ("dermatitides", "dermatitis"),
        ("carcinomata", "carcinoma"),
        ("headaches", "headache"),
        ("reflexes", "reflex"),
        ("viruses", "virus"),
        ("CVAs", "CVA"),
        ("children", "child"),
        ("lipomatas", "lipoma"),
        ("diseases, kidney", "disease, kidney"),
    ],
    "spelling": [
        ("Haemorrhage", "Hemorrhage"),
        ("oedema", "edema"),
        ("OEDEMA", "EDEMA"),
        ("brain tumours", "brain tumors"),
        ("leukaemia", "leukemia"),
        ("diarrhoea", "diarrhea"),
        ("seborrhoeic", "seborrheic"),
        ("dyspnoeic", "dyspneic"),
        ("hydrocoele", "hydrocele"),
        ("melaena", "melena"),
        ("coeliac", "celiac"),
        ("foetal", "fetal"),
        ("anaesthesia", "anesthesia"),
        ("fibre", "fiber"),
        ("leucocytosis", "leukocytosis"),
        ("SULPHATE", "SULFATE"),
        ("generalised", "generalized"),
        ("localisation", "localization"),
    ],
    "punctuation": [
        ("alpha-1, (liver)", "alpha 1 liver"),
        ("pH 1.5.", "pH 1.5"),
        ("HER2+ in 5%", "HER2+ in 5%"),
        ("a…b", "a b"),
        ("naïve – cafe\u0301", "naïve cafe\u0301"),
    ],
    "case": [("Breast CANCER", "breast cancer")],
}
KEPT = {
    "unicode": ["naïve", "β", "نوبة", "plain"],
    "dashes": ["a-b", "β"],
    "greek": ["νόσος", "alpha"],
    "tags": [
        "NEC",
        "Asthma (childhood)",
        "Type Unspecified",
        "(disorder)",
        "vitamin [D]",
        "p <5%>",
    ],
    "inversions": [
        "49,XXXXY",
        "Fever, Chills and Pain",
        "Anemia, due to blood loss",
        "Glaucoma, susceptibility to",
        "a, b, c, d",
        "a,, b",
        "a, b,",
    ],
    "possessives": ["2',3'-dideoxy", "o'nyong", "'s"],
    "plurals": [
        "diabetes",
        "herpes",
        "stenosis",
        "ptosis",
        "rabies",
        "syphilis",
        "AIDS",
        "DISEASES",
        "Stevens",
        "candida albicans",
        "caries",
        "pancreas",
        "abdomen",
        "loss",
        "vertebrae",
        "hypospadias",
    ],
    "spelling": ["Moebius", "Acanthamoeba", "praecox", "four hours", "leucine", "raised", "genre"],
    "punctuation": ["...", "ab", "1.5"],
    "case": ["ab"],
}


def _cases(table):
    return [pytest.param(name, case, id=f"{name}-{case}") for name in table for case in table[name]]


@pytest.mark.parametrize(("name", "case"), _cases(CHANGED))
def test_steps_change(name, case):
    before, after = case
    assert STEPS[name](before) == after


@pytest.mark.parametrize(("name", "text"), _cases(KEPT))
def test_steps_keep(name, text):
    assert STEPS[name](text) == text


def test_every_step_is_tested():
    assert set(CHANGED) == set(KEPT) == set(STEPS)


@pytest.mark.parametrize("name", STEPS)
@given(text=TEXTS)
def test_steps_are_idempotent_and_leave_clean_text(name, text):
    once = STEPS[name](text)
    assert STEPS[name](once) == once
    assert bool(once) == bool(text)
    assert once == " ".join(once.split())


@given(text=TEXTS)
def test_all_steps_together_never_empty_a_text(text):
    assert bool(compose([*STEPS])(text)) == bool(text)


def test_very_long_texts_are_taken():
    normalize = compose([*STEPS])
    for piece in ("tumours, ", "(", ",", "'s", "a (disorder) ", "aaaa"):
        assert normalize(clean(piece * 2_000))


def test_steps_run_in_the_order_they_are_named():
    assert compose(["tags", "inversions", "case"])("Cancer, Breast, NOS") == "breast cancer"
    assert compose(["case", "plurals"])("TUMOURS") == "tumour"
    assert compose(["plurals", "case"])("TUMOURS") == "tumours"


def test_no_steps_change_nothing():
    assert compose([])("Cancer, Breast") == "Cancer, Breast"


@pytest.mark.parametrize("steps", [["case", "lemmas"], ["case", "case"], "case", [None], [[]]])
def test_unknown_and_repeated_steps_are_refused(steps):
    with pytest.raises(ConnormError, match=r"CN118.*unicode, .*case|CN006.*each step once"):
        compose(steps)
