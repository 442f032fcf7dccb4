import pytest
from hypothesis import given
from hypothesis import strategies as st

from spacy_connorm.text.cleaning import clean
from spacy_connorm.text.composites import split_composite

WORDS = (
    "and or and/or & , ; / - ( ) the of in breast ovarian cancer cancers C6 C7 type 1 2 IV hyper- "
    "hypothyroidism T- B-cell failure renal hepatic head neck as well HSV-1 α"
)
TEXTS = st.one_of(
    st.text(),
    st.lists(st.sampled_from(WORDS.split()), max_size=14).map(" ".join),
    st.lists(st.sampled_from(WORDS.split())).map("".join),
)


@pytest.mark.parametrize(
    ("text", "best"),
    [
        ("breast and ovarian cancer", ("breast cancer", "ovarian cancer")),
        ("breast or ovarian cancer", ("breast cancer", "ovarian cancer")),
        ("breast and/or ovarian cancer", ("breast cancer", "ovarian cancer")),
        ("breast & ovarian cancer", ("breast cancer", "ovarian cancer")),
        ("breast as well as ovarian cancer", ("breast cancer", "ovarian cancer")),
        ("both breast and ovarian cancer", ("breast cancer", "ovarian cancer")),
        ("breast/ovarian cancer", ("breast cancer", "ovarian cancer")),
        ("hepatic / renal failure", ("hepatic failure", "renal failure")),
        ("BREAST AND OVARIAN CANCER", ("BREAST CANCER", "OVARIAN CANCER")),
        ("cancer of the breast and ovary", ("cancer of the breast", "cancer of the ovary")),
        ("cancer of the breast and of the ovary", ("cancer of the breast", "cancer of the ovary")),
        ("cancer of the breast and the ovary", ("cancer of the breast", "cancer of the ovary")),
        (
            "colorectal, endometrial, and ovarian cancers",
            ("colorectal cancers", "endometrial cancers", "ovarian cancers"),
        ),
        ("type 1 and 2 diabetes", ("type 1 diabetes", "type 2 diabetes")),
        (
            "type I and type II diabetes mellitus",
            ("type I diabetes mellitus", "type II diabetes mellitus"),
        ),
        ("fever and chills", ("fever", "chills")),
        ("nausea, vomiting, and diarrhea", ("nausea", "vomiting", "diarrhea")),
        ("nausea, vomiting", ("nausea", "vomiting")),
        ("fever,chills", ("fever", "chills")),
        ("prostate cancer and breast cancer", ("prostate cancer", "breast cancer")),
        ("head and neck cancer", ("head cancer", "neck cancer")),
        (
            "colon, breast and head and neck cancers",
            ("colon cancers", "breast cancers", "head and neck cancers"),
        ),
        ("deficiency of C6 and C7", ("deficiency of C6", "deficiency of C7")),
        ("C6/C7 deficiency", ("C6 deficiency", "C7 deficiency")),
        ("C6/7 deficiency", ("C6 deficiency", "C7 deficiency")),
        ("MMP-2/-9", ("MMP-2", "MMP-9")),
        ("PPARα/γ agonists", ("PPARα agonists", "PPARγ agonists")),
        (
            "hereditary breast and ovarian cancer",
            ("hereditary breast cancer", "hereditary ovarian cancer"),
        ),
        (
            "Duchenne and Becker muscular dystrophies",
            ("Duchenne muscular dystrophies", "Becker muscular dystrophies"),
        ),
        (
            "pits and sinuses of the lower lip",
            ("pits of the lower lip", "sinuses of the lower lip"),
        ),
        (
            "cancer of the breast and tumor of the ovary",
            ("cancer of the breast", "tumor of the ovary"),
        ),
        ("septal (SD) and midline (MD) defects", ("septal defects", "midline defects")),
        ("deficiencies (C2 and C7)", ("deficiencies C2", "deficiencies C7")),
        ("type 1/2 diabetes", ("type 1 diabetes", "type 2 diabetes")),
        ("diabetes, type 1 and 2", ("diabetes, type 1", "diabetes, type 2")),
        ("Diabetes, Types 1 and 2", ("Diabetes, Type 1", "Diabetes, Type 2")),
        ("classes II/III heart failure", ("class II heart failure", "class III heart failure")),
        ("hepatitis B/C", ("hepatitis B", "hepatitis C")),
        ("stage III/IV melanoma", ("stage III melanoma", "stage IV melanoma")),
        ("stages III and IV melanoma", ("stage III melanoma", "stage IV melanoma")),
        ("factors V and VIII deficiency", ("factor V deficiency", "factor VIII deficiency")),
        ("stages IIIA and IIID", ("stage IIIA", "stage IIID")),
        (
            "stage I-II and III breast cancer",
            ("stage I-II breast cancer", "stage III breast cancer"),
        ),
        ("grade II-III or IV glioma", ("grade II-III glioma", "grade IV glioma")),
        ("grade 3-4 and 5 toxicity", ("grade 3-4 toxicity", "grade 5 toxicity")),
    ],
)
def test_the_best_guess_repeats_what_the_conjuncts_share(text, best):
    assert split_composite(text, "en")[0] == best


@pytest.mark.parametrize(
    ("text", "best"),
    [
        ("hyper- and hypothyroidism", ("hyperthyroidism", "hypothyroidism")),
        ("micro- and macrocephaly", ("microcephaly", "macrocephaly")),
        ("phlebo- and zymolysis", ("phlebolysis", "zymolysis")),
        ("fore- and hindlimb", ("forelimb", "hindlimb")),
        ("fore-, mid- and hindbrain", ("forebrain", "midbrain", "hindbrain")),
        ("T- and B-cell lymphoma", ("T-cell lymphoma", "B-cell lymphoma")),
        ("renal- and hepatic failure", ("renal failure", "hepatic failure")),
        (
            "insulin- and non-insulin-dependent diabetes",
            ("insulin-dependent diabetes", "non-insulin-dependent diabetes"),
        ),
        (
            "pre-, peri- and postnatal infection",
            ("prenatal infection", "perinatal infection", "postnatal infection"),
        ),
        ("HSV-1 and 2", ("HSV-1", "HSV-2")),
        ("HSV-1 and -2", ("HSV-1", "HSV-2")),
        ("BRCA1/2 mutation", ("BRCA1 mutation", "BRCA2 mutation")),
        ("hyper-/hypothyroidism", ("hyperthyroidism", "hypothyroidism")),
        ("hypo/hyperthyroidism", ("hypothyroidism", "hyperthyroidism")),
        ("Pre and postoperative pain", ("Preoperative pain", "postoperative pain")),
        ("MPS-I and II", ("MPS-I", "MPS-II")),
        ("B-1 and 2 cells", ("B-1 cells", "B-2 cells")),
        ("HLA-A, -B, and -C", ("HLA-A", "HLA-B", "HLA-C")),
        ("interferon-α and -β", ("interferon-α", "interferon-β")),
        ("IL-1α and β", ("IL-1α", "IL-1β")),
    ],
)
def test_cut_words_are_completed(text, best):
    assert split_composite(text, "en")[0] == best


def test_a_list_with_with_shares_something():
    parts = ("ataxia with apraxia", "albumin deficiency")
    assert parts not in split_composite("ataxia with apraxia and albumin deficiency", "en")


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("hereditary breast and ovarian cancer", ("hereditary breast cancer", "ovarian cancer")),
        (
            "craniofacial and central nervous system defects",
            ("craniofacial defects", "central nervous system defects"),
        ),
        (
            "X-linked and autosomal recessive ichthyosis",
            ("X-linked ichthyosis", "autosomal recessive ichthyosis"),
        ),
        (
            "aplasia or hypoplasia of the thymus and glands",
            ("aplasia of the thymus and glands", "hypoplasia of the thymus and glands"),
        ),
        (
            "breast and ovarian cancer, familial",
            ("breast cancer, familial", "ovarian cancer, familial"),
        ),
        ("low back and right leg pain", ("low back pain", "right leg pain")),
        ("fever and back pain", ("fever", "back pain")),
        ("shortness of breath and chest pain", ("shortness of breath", "chest pain")),
        ("shortness of breath and nausea", ("shortness of breath", "nausea")),
        ("cough, fever and shortness of breath", ("cough", "fever", "shortness of breath")),
        ("osteo- and rheumatoid arthritis", ("osteo arthritis", "rheumatoid arthritis")),
        ("pancreatic cysts and tumors", ("pancreatic cysts", "tumors")),
    ],
)
def test_what_is_unclear_has_several_interpretations(text, parts):
    interpretations = split_composite(text, "en")
    assert parts in interpretations
    assert len(interpretations) > 1


@pytest.mark.parametrize(
    "text",
    [
        "",
        "and",
        "and ovarian cancer",
        "sandhoff disease",
        "breast cancer",
        "Diabetes Mellitus, Insulin-Dependent",
        "diabetes mellitus, type 2",
        "glaucoma, susceptibility to",
        "asthma, unspecified",
        "N,N-dimethyltryptamine",
        "1,25-dihydroxyvitamin D",
        "49,XXXXY",
        "120/80",
        "s/p stroke",
        "5 mg/dl",
        "w/o pain",
        "cancer and cancer",
        "and " * 1_000,
        "a and " * 1_000,
        ", ".join(["fever"] * 1_000),
        "fever and " * 14 + "pain",
        "(" * 100_000,
    ],
)
def test_nothing_to_split(text):
    assert split_composite(clean(text), "en") == []


@pytest.mark.parametrize(
    "text",
    [
        "cancer of the breast and ovary",
        "hepatitis A and B",
        "acute and chronic inflammation of the skin",
        "acute and chronic pain",
    ],
)
def test_what_cannot_stand_alone_is_not_a_part(text):
    assert len(split_composite(text, "en")) == 1


def test_long_lists_are_split():
    organs = ["liver", "colon", "lung", "breast", "skin", "bone", "eye", "ear", "brain"]
    text = f"{', '.join(organs)} and kidney diseases"
    assert split_composite(text, "en")[0] == tuple(
        f"{organ} diseases" for organ in [*organs, "kidney"]
    )


@given(TEXTS)
def test_interpretations_are_few_and_their_parts_are_clean(text):
    text = clean(text)
    interpretations = split_composite(text, "en")
    assert len(interpretations) <= 4
    assert len(set(interpretations)) == len(interpretations)
    for parts in interpretations:
        assert 2 <= len(parts) <= 12
        assert text not in parts
        assert all(part and part == clean(part) for part in parts)
