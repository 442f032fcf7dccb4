import pytest

from .asserted_pipeline import make_pipeline, read

KIN = ("family",)


@pytest.fixture(scope="module")
def nlp():
    return make_pipeline()


@pytest.mark.parametrize(
    "text, expected",
    [
        ("Her brother, aged 12, has asthma", {"asthma": KIN}),
        ("His mother (45 y) has asthma and he has a cough", {"asthma": KIN, "cough": ()}),
        ("Sister, a nurse, was also treated for fits", {"fits": KIN}),
        ("Mother, who smokes, has asthma", {"asthma": KIN}),
        ("Mother, who has asthma, reports fever", {"asthma": KIN, "fever": ()}),
        ("Mother is known to have asthma", {"asthma": KIN}),
        ("Her sister recently developed asthma", {"asthma": KIN}),
        ("Mother does not have asthma", {"asthma": ("negated", "family")}),
        ("Father died at the age of 50 of a stroke", {"stroke": KIN}),
        ("Brother (12 y): asthma. Sister (5) - fits", {"asthma": KIN, "fits": KIN}),
        ("Brother, aged 12, with asthma", {"asthma": KIN}),
        ("Asthma in a cousin, cough", {"asthma": KIN, "cough": ()}),
        (
            "Asthma and fits in two maternal cousins, cough",
            {"asthma": KIN, "fits": KIN, "cough": ()},
        ),
        ("Asthma in her mother's older sister", {"asthma": KIN}),
    ],
)
def test_words_may_stand_between_a_relative_and_a_finding(nlp, text, expected):
    assert read(nlp(text)) == expected


@pytest.mark.parametrize(
    "text",
    [
        "Mother, who is worried he has fever",
        "Mother is worried that he has fever",
        "Mother was told he has asthma",
        "Mother says he also has a cough",
        "Mother, aged 45, has noticed fever",
        "Mother, who says he vomits, has given him syrup for fever",
        "Mother is with him, fever since Monday",
        "Seen with his mother, aged 40, has a cough",
        "Lives with mother, has fever, has cough",
        "Mother, aged 45\nHas fever",
        "Father died at the age of 50, fever",
        "Brother, who is well, and he have asthma",
        "Fits in a child, fever in the clinic",
    ],
)
def test_another_subject_has_its_own_findings(nlp, text):
    assert not any(read(nlp(text)).values())


def test_own_terms_take_the_place_of_these_too():
    own = {
        "pseudo_negations": [],
        "preceding_negations": ["oma"],
        "following_negations": [],
        "termination": [],
    }
    doc = make_pipeline(family=own)("Her brother, aged 12, has asthma. Fits in a cousin. Oma cough")
    assert read(doc) == {"asthma": (), "fits": (), "cough": KIN}
