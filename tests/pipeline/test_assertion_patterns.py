import pytest

from .asserted_pipeline import make_pipeline, read

KIN, NO, PAST = ("family",), ("negated",), ("history",)


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
        ("Born to a mother with asthma", {"asthma": KIN}),
        ("Contact with a brother with cough, has fever", {"cough": KIN, "fever": KIN}),
        ("Here with her sister, who has asthma", {"asthma": KIN}),
        ("His mother's asthma and cough", {"asthma": KIN, "cough": ()}),
        ("Her father\u2019s severe late-onset asthma; fever", {"asthma": KIN, "fever": ()}),
        (
            "My sister's asthma or fits, his father's stroke at 50",
            dict.fromkeys(("asthma", "fits", "stroke"), KIN),
        ),
        ("His mother's family has fits", {"fits": KIN}),
        ("Family members with fits. Runs in the family: asthma", {"fits": KIN, "asthma": KIN}),
        ("Has anyone in your family had a stroke", {"stroke": KIN}),
        ("Any fits, or does anyone in your family have asthma", {"fits": (), "asthma": KIN}),
        ("Asthma in the family, or if you have fits", {"asthma": KIN, "fits": ("possible",)}),
        ("Asthma runs in her family", {"asthma": KIN}),
        ("Two brothers, also affected, died of asthma", {"asthma": KIN}),
        ("Father is well but has asthma. Fever", {"asthma": KIN, "fever": ()}),
        ("Mother 45 y, asthma. Father 50 years old, fits", {"asthma": KIN, "fits": KIN}),
        ("Mother dead by stroke. Brother is alive with asthma", {"stroke": KIN, "asthma": KIN}),
        ("Her mother, who has asthma, had a stroke", {"asthma": KIN, "stroke": KIN}),
        (
            "Worried about stroke as my mum died of asthma",
            {"stroke": ("possible",), "asthma": KIN},
        ),
    ],
)
def test_words_may_stand_between_a_relative_and_a_finding(nlp, text, expected):
    assert read(nlp(text)) == expected


@pytest.mark.parametrize(
    "text, expected",
    [
        ("Mother stroke at 50.", {"stroke": KIN}),
        ("Cough. Mum severe asthma", {"cough": (), "asthma": KIN}),
        ("Father asthma, stroke at 60, fits. Fever", {"asthma": KIN, "stroke": KIN, "fits": KIN}),
        ("Sister asthma; brother fits", {"asthma": KIN, "fits": KIN}),
        ("Family: father asthma, mother stroke", {"asthma": KIN, "stroke": KIN}),
        ("Family: asthma, fits\nFever", {"asthma": KIN, "fits": KIN, "fever": ()}),
        ("FAMILY:\nasthma\n\nFever", {"asthma": KIN, "fever": ()}),
        ("Fever, his older brother fits + asthma", {"fits": KIN, "asthma": KIN}),
        ("Dad ?stroke, pt has fever", {"stroke": ("possible", "family"), "fever": ()}),
        ("Mother anxious about fever", {"fever": ()}),
        ("Mother reports fever. Mom worried re: fits", {"fever": (), "fits": ()}),
        ("Here with mother fever since May", {"fever": ()}),
        ("Seen with mother, fever", {"fever": ()}),
        ("Mother stroke, has cough", {"stroke": KIN, "cough": ()}),
        ("Mother\nFever", {"fever": ()}),
    ],
)
def test_a_relative_right_before_a_finding_has_it(nlp, text, expected):
    assert read(nlp(text)).items() >= expected.items()


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
        "Brought in by mother with fever and cough",
        "Here with dad with cough",
        "BIB mom: fever. From mother: cough",
        "Accompanied by her two older sisters with fever",
        "Child of consanguineous parents with fits",
        "Born to healthy, unrelated parents with fits",
        "According to his mother has a cough",
        "Mother has noticed fever",
        "Mother is well but has noticed fever",
        "Mother is well but he has fever",
        "Here with mother, well but has a cough",
        "Mother's advice about fever",
        "Mother's house, fever",
        "Discussed with family: fever",
    ],
)
def test_another_subject_has_its_own_findings(nlp, text):
    assert not any(read(nlp(text)).values())


@pytest.mark.parametrize(
    "text, expected",
    [
        ("No treatment for asthma, no cough", {"asthma": (), "cough": NO}),
        ("Not on any medication for asthma", {"asthma": ()}),
        (
            "No antibiotics given for fever, no signs of improvement in cough",
            {"fever": (), "cough": ()},
        ),
        ("Without an inhaler for asthma", {"asthma": ()}),
        ("Declined treatment for asthma, fits", {"asthma": (), "fits": ()}),
        ("Asthma, refused therapy", {"asthma": ()}),
        ("Denies fever, never had tablets for asthma", {"fever": NO, "asthma": ()}),
        ("No hospital admissions for asthma", {"asthma": ()}),
        ("Doesn't take pills for asthma", {"asthma": ()}),
        ("Hasn\u2019t had any treatment for asthma", {"asthma": ()}),
        ("Hasn't improved: cough", {"cough": ()}),
        ("The cough was not due to asthma", {"cough": (), "asthma": NO}),
        ("Fever was not treated", {"fever": ()}),
        ("Fever was not present", {"fever": NO}),
        ("No cough after surgery for asthma", {"cough": NO, "asthma": NO}),
        ("No fever in response to it", {"fever": NO}),
        ("No evidence of treatment for asthma", {"asthma": NO}),
        ("No treatment, asthma", {"asthma": NO}),
    ],
)
def test_what_is_not_treated_is_there(nlp, text, expected):
    assert read(nlp(text)) == expected


@pytest.mark.parametrize(
    "text, expected",
    [
        ("Lack of fever, cough", {"fever": NO, "cough": ()}),
        ("Lack of sleep due to cough", {"cough": ()}),
        ("Inconsistent with acute stroke, fits", {"stroke": NO, "fits": ()}),
        ("A story inconsistent with the stroke", {"stroke": ()}),
        ("Asthma rather than fits or stroke, cough", {"asthma": (), "fits": NO, "stroke": NO}),
        ("Fits have never occurred, cough", {"fits": NO, "cough": ()}),
        ("Looks like a viral fever, cough", {"fever": ("possible",), "cough": ()}),
        ("Sounds like asthma or a cold", {"asthma": ("possible",)}),
        ("Looks like her mother, cough", {"cough": ()}),
    ],
)
def test_some_words_apply_only_to_the_mention_right_behind_them(nlp, text, expected):
    assert read(nlp(text)).items() >= expected.items()


@pytest.mark.parametrize(
    "text, expected",
    [
        ("A previously healthy girl developed fits", {"fits": ()}),
        ("Fever in a previously fit and well boy", {"fever": ()}),
        ("Previously unremarkable; fever", {"fever": ()}),
        ("Previously had fits", {"fits": PAST}),
        ("Prev stroke 2019, asthma; prev well", {"stroke": PAST, "asthma": ()}),
        ("Ex-smoker, asthma", {"smoker": PAST, "asthma": ()}),
        ("Ex smoker", {"smoker": PAST}),
        ("Former heavy smoker with a cough", {"smoker": PAST, "cough": ()}),
        ("Ex-lap fever, former 28-weeker with fits", {"fever": (), "fits": ()}),
        ("Ex cough", {"cough": ()}),
        ("Fits in last pregnancy", {"fits": PAST}),
        ("Hx: 3 days of fever", {"fever": ()}),
        ("H/o asthma, history of a few weeks of cough", {"asthma": PAST, "cough": ()}),
        ("Hx sudden onset fits", {"fits": ()}),
        ("History of sudden fits", {"fits": PAST}),
        ("History of progressive cough", {"cough": ()}),
        ("History of one stroke, fits", {"stroke": PAST, "fits": PAST}),
        ("History of 3 years ago stroke", {"stroke": PAST}),
        ("Has cough, fits in her late twenties", {"cough": (), "fits": PAST}),
        ("In her twenties, has fits", {"fits": ()}),
        ("Asthma when he was a child, cough", {"asthma": PAST, "cough": ()}),
        ("Fits when he was seen", {"fits": ()}),
        ("Asthma, in remission since 2019, cough", {"asthma": PAST, "cough": ()}),
        ("Previous fits, asthma in the last pregnancy, cough", {"fits": PAST, "asthma": PAST}),
        ("Asthma in pregnancy", {"asthma": ()}),
        ("Asthma, fits have since stopped", {"asthma": (), "fits": PAST}),
        (
            "Fits on HD 3, now resolved; cough overnight, since settled",
            {"fits": PAST, "cough": PAST},
        ),
        ("Asthma, fever on admission now settled", {"asthma": (), "fever": PAST}),
        ("Fits overnight, now fever", {"fits": (), "fever": ()}),
        ("Fits stopped at 5. Fever until age 7", {"fits": PAST, "fever": PAST}),
        ("Has fits, now resolved; the cough settled", {"fits": PAST, "cough": PAST}),
        ("Fever subsided rapidly, asthma which cleared", {"fever": PAST, "asthma": PAST}),
        ("Asthma, stopped tablets. Fits - stopped tablets", {"asthma": (), "fits": ()}),
        ("Cough stopped him. Fits have not stopped", {"cough": (), "fits": ()}),
        ("Fever, tablets stopped", {"fever": ()}),
    ],
)
def test_what_began_lately_is_present_and_other_times_are_past(nlp, text, expected):
    assert read(nlp(text)).items() >= expected.items()


def test_own_terms_take_the_place_of_these_too():
    own = {
        "pseudo_negations": [],
        "preceding_negations": ["oma"],
        "following_negations": [],
        "termination": [],
    }
    text = "Her brother, aged 12, has asthma. Fits in a cousin. His mother's fever. Oma cough"
    doc = make_pipeline(family=own)(text)
    assert read(doc) == {"asthma": (), "fits": (), "fever": (), "cough": KIN}
