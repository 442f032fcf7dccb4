from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spacy_connorm.text.expansion import ShortForms, Use, expand

LONG_FORMS = {
    "APC": "adenomatous polyposis coli",
    "AS": "Angelman syndrome",
    "BC": "breast cancer",
    "CRCs": "colorectal cancers",
    "DMS": "diffuse mesangial sclerosis",
    "HNPCC": "hereditary nonpolyposis colorectal cancer",
    "IDMS": "isolated DMS",
    "MPP+": "methylphenylpyridinium",
    "NAD(+)": "nicotinamide adenine dinucleotide",
    "NHL": "non-Hodgkin lymphoma",
    "PWS": "Prader-Willi syndrome",
    "TNF-α": "tumour necrosis factor-α",
    "VHL": "von Hippel-Lindau disease",
}
SHORTS = st.text(st.sampled_from("AB s-("), min_size=1, max_size=4)


@pytest.mark.parametrize(
    "pair",
    [
        "APC > adenomatous polyposis coli",
        "HNPCC syndrome > hereditary nonpolyposis colorectal cancer syndrome",
        "B-NHL cell line > B-non-Hodgkin lymphoma cell line",
        "AS/PWS > Angelman syndrome/Prader-Willi syndrome",
        "raised TNF-α > raised tumour necrosis factor-α",
        "IDMS > isolated diffuse mesangial sclerosis",
        "familial BCs > familial breast cancer",
        "CRC > colorectal cancers",
        "MPP+ > methylphenylpyridinium",
        "MPP+-treated cells, MPP > methylphenylpyridinium-treated cells, MPP",
        "low NAD(+) and NAD > low nicotinamide adenine dinucleotide and NAD",
    ],
)
def test_short_forms_become_long_forms(pair):
    mention, expected = pair.split(" > ")
    assert expand(mention, LONG_FORMS) == expected


@pytest.mark.parametrize("mention", ["", " ", "apc", "APCX", "CAS9", "as", "BCe", "VHLss", "polyp"])
def test_texts_without_short_forms_stay(mention):
    assert expand(mention, LONG_FORMS) == mention


@pytest.mark.parametrize(
    "mention", ["adenomatous polyposis coli APC (type 2)", "APC (2) adenomatous polyposis coli"]
)
def test_what_is_in_brackets_behind_a_short_form_is_not_always_its_long_form(mention):
    assert expand(mention, LONG_FORMS) == mention


def test_long_forms_in_long_forms_end_somewhere():
    chain = {f"A{number}": f"{'x' * number} A{number + 1}" for number in range(1, 20)}
    assert expand("A1", chain).endswith("x A12")
    assert expand("AB", {"AB": "x" * 3000 + " CD", "CD": "cold disease"}) == "x" * 3000 + " CD"


def test_without_definitions_everything_stays():
    assert expand("APC (x)", {}) == "APC (x)"


@pytest.mark.parametrize(
    "pair",
    [
        "adenomatous polyposis coli (APC) > adenomatous polyposis coli",
        "Adenomatous Polyposis Coli [ APC ] gene > Adenomatous Polyposis Coli gene",
        "APC (adenomatous polyposis coli) > adenomatous polyposis coli",
        "von Hippel-Lindau disease/VHL > von Hippel-Lindau disease/VHL",
        "VHL disease > von Hippel-Lindau disease",
        "VHL diseases > von Hippel-Lindau diseases",
        "hereditary HNPCC > hereditary nonpolyposis colorectal cancer",
        "HNPCC-cancer > hereditary nonpolyposis colorectal cancer-cancer",
    ],
)
def test_nothing_is_said_twice(pair):
    mention, expected = pair.split(" > ")
    assert expand(mention, LONG_FORMS) == expected


@pytest.mark.parametrize(
    ("mention", "long_forms", "expected"),
    [
        ("APC", {"APC": "APC gene"}, "APC gene"),
        ("APC gene", {"APC": "APC gene"}, "APC gene"),
        ("XA", {"XA": "old XB", "XB": "new XA"}, "old new XA"),
    ],
)
def test_definitions_in_a_circle_come_to_an_end(mention, long_forms, expected):
    assert expand(mention, long_forms) == expected


def test_definitions_of_definitions_do_not_grow_without_bound():
    names = [f"X{number}" for number in range(200)]
    long_forms = {one: f"{other}a {other} and {other}b {other}" for one, other in pairwise(names)}
    assert len(expand("X0", long_forms)) <= 300
    assert len(expand("X0 " * 1_000, long_forms)) <= 301 * 1_000


def test_the_longest_short_form_counts():
    uses = ShortForms({"MEN", "MEN-1"}).find("MEN1, MEN-1 and (MEN).")
    assert list(uses) == [Use("MEN-1", 6, 11), Use("MEN", 17, 20)]


@given(st.text(), st.dictionaries(st.text(), st.text()))
def test_any_text_and_any_definitions_will_do(text, long_forms):
    expand(text, long_forms)


@given(st.text(st.sampled_from("AB s-()"), max_size=20), st.dictionaries(SHORTS, SHORTS))
def test_expansions_are_bounded(text, long_forms):
    assert len(expand(text, long_forms)) <= len(text) + 300 * (1 + len(text))
