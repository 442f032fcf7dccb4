import pytest

from .asserted_pipeline import make_pipeline, read

NO = ("negated",)


@pytest.fixture(scope="module")
def nlp():
    return make_pipeline()


@pytest.mark.parametrize(
    "text, expected",
    [
        ("No fever, mild cough", {"fever": NO, "cough": ()}),
        ("No fever, cough noted", {"fever": NO, "cough": NO}),
        ("No fever, fits, bilateral cough", {"fever": NO, "fits": NO, "cough": ()}),
        ("without fever, 2+ cough, fits", {"fever": NO, "cough": (), "fits": ()}),
        ("No fever, mild cough or fits", {"fever": NO, "cough": NO, "fits": NO}),
        ("No fever, severe cough, fits", {"fever": NO, "cough": NO, "fits": NO}),
        ("Denies fever, mild cough, fits", {"fever": NO, "cough": NO, "fits": NO}),
        ("No fever, normal chest, cough", {"fever": NO, "cough": ()}),
        ("No fever, no fits, some cough", {"fever": NO, "fits": NO, "cough": ()}),
    ],
)
def test_an_amount_behind_a_comma_begins_a_finding_of_its_own(nlp, text, expected):
    assert read(nlp(text)) == expected


@pytest.mark.parametrize(
    "text, expected",
    [
        ("No fever, anxious", {"fever": NO, "anxious": ()}),
        ("Denies fever, cough, dizzy on standing", {"fever": NO, "cough": NO, "dizzy": ()}),
        ("w/o fever, confused and dizzy", {"fever": NO, "confused": (), "dizzy": ()}),
        ("Denies fever, dizzy or confused", {"fever": NO, "dizzy": NO, "confused": NO}),
        ("No fever, dizzy spells, cough", {"fever": NO, "dizzy": NO, "cough": NO}),
        ("Not anxious, confused", {"anxious": NO, "confused": NO}),
        ("Denies feeling low, anxious", {"anxious": NO}),
        ("No longer confused, dizzy", {"confused": NO, "dizzy": NO}),
        ("No fever, anxious, dizzy", {"fever": NO, "anxious": (), "dizzy": ()}),
        ("Denies fever, anxious ++, cough", {"fever": NO, "anxious": (), "cough": ()}),
        ("No fever, cough +, fits", {"fever": NO, "cough": (), "fits": ()}),
        ("No fever + cough", {"fever": NO, "cough": NO}),
        ("FHx: asthma ++, fits", {"asthma": ("family",), "fits": ("family",)}),
    ],
)
def test_what_is_no_noun_or_has_a_plus_is_there(nlp, text, expected):
    assert read(nlp(text)) == expected


@pytest.mark.parametrize(
    "text, expected",
    [
        ("PMH: nil, MH: asthma", {"asthma": ()}),
        ("Meds: none, asthma on inhalers", {"asthma": ()}),
        ("Patient denies\nfever", {"fever": NO}),
        ("No fever, social history: asthma", {"fever": NO, "asthma": ()}),
        ("FHx: asthma, O/E: cough", {"asthma": ("family",), "cough": ()}),
        ("No fever, cough: mild", {"fever": NO, "cough": NO}),
        ("No fever, : cough", {"fever": NO, "cough": NO}),
    ],
)
def test_a_field_has_its_own_answer(nlp, text, expected):
    assert read(nlp(text)) == expected


@pytest.mark.parametrize(
    "text, expected",
    [
        ("Baby not feeding, fever and fits", {"fever": (), "fits": ()}),
        ("Has not passed stool, fever, cough", {"fever": (), "cough": ()}),
        ("Can't remember names, fits", {"fits": ()}),
        ("Fits are not controlled, cough daily", {"fits": (), "cough": ()}),
        ("Never smoked, asthma", {"asthma": ()}),
        ("Declined induction, fever", {"fever": ()}),
        ("Denies asthma, not eating, cough", {"asthma": NO, "cough": ()}),
        ("Not drinking, fits, no fever or cough", {"fits": (), "fever": NO, "cough": NO}),
        ("Not eating, fits or fever", {"fits": NO, "fever": NO}),
        ("Does not have fever, cough or fits", {"fever": NO, "cough": NO, "fits": NO}),
        ("Doesn't complain of pain, fever, cough", {"fever": NO, "cough": NO}),
        ("Has not had sweats, fever", {"fever": NO}),
        ("Not a known diabetic, asthma", {"asthma": NO}),
        ("Not fever, cough", {"fever": NO, "cough": NO}),
        ("Did not, at any time, have fever", {"fever": NO}),
        ("Unable to walk, fits. Not yet walking, cough", {"fits": (), "cough": ()}),
    ],
)
def test_not_and_a_verb_deny_nothing_behind_a_comma(nlp, text, expected):
    assert read(nlp(text)) == expected


@pytest.mark.parametrize(
    "text, expected",
    [
        ("Fever: no, cough: yes", {"fever": NO, "cough": ()}),
        ("Fever - none\nCough", {"fever": NO, "cough": ()}),
        ("Fever: negative. Cough", {"fever": NO, "cough": ()}),
        ("Cough, fever not evident, fits", {"cough": (), "fever": NO, "fits": ()}),
        ("Stroke was not demonstrated. Asthma never confirmed", {"stroke": NO, "asthma": NO}),
        ("Stroke not visualised, fits not suspected", {"stroke": NO, "fits": NO}),
        (
            "Fits observed, stroke visualised, asthma confirmed",
            {"fits": (), "stroke": (), "asthma": ()},
        ),
        ("Fits denied, has cough", {"fits": NO, "cough": ()}),
        ("Fever and fits denied.", {"fever": NO, "fits": NO}),
        ("Has fever no cough", {"fever": (), "cough": NO}),
        ("Cough: no fever", {"cough": (), "fever": NO}),
        ("c/o fever denies cough", {"fever": (), "cough": NO}),
        ("Fever: nil. Has cough, fits nil", {"fever": NO, "cough": (), "fits": NO}),
        ("Fever: none seen, cough none of note\nFits", {"fever": NO, "cough": NO, "fits": ()}),
        ("Has fever none of it new", {"fever": ()}),
        (
            "Fever? No. Cough? Yes. Any asthma or fits? no",
            {"fever": NO, "cough": (), "asthma": NO, "fits": NO},
        ),
        ("Fever? No cough", {"fever": ("possible",), "cough": NO}),
        ("Asthma: NKDA. Cough 0/10, fits: none known", {"asthma": NO, "cough": NO, "fits": NO}),
    ],
)
def test_the_answer_behind_a_mention_denies_it_if_nothing_follows(nlp, text, expected):
    assert read(nlp(text)) == expected


@pytest.mark.parametrize(
    "text, expected",
    [
        ("(+) cough (-) fever, fits", {"cough": (), "fever": NO, "fits": ()}),
        ("(-) fever/cough", {"fever": NO, "cough": NO}),
        ("+ fits. Well", {"fits": ()}),
        ("Has - fever - cough", {"fever": (), "cough": ()}),
        ("non - fever +cough", {"fever": (), "cough": ()}),
        ("Fever -, cough +, fits -", {"fever": NO, "cough": (), "fits": NO}),
        ("Asthma -, cough", {"asthma": (), "cough": ()}),
        ("Asthma -\nHas +cough", {"asthma": (), "cough": ()}),
        ("Asthma - fever, cough +", {"asthma": (), "fever": (), "cough": ()}),
    ],
)
def test_a_minus_denies_the_mention_behind_it(nlp, text, expected):
    assert read(nlp(text)) == expected


def test_dashes_are_minuses_beside_a_plus(nlp):
    words = ["+", "cough", "-", "fever", "\n\n", "-", "fits"]
    doc = nlp.make_doc("x")
    doc = type(doc)(nlp.vocab, words, [False, True, False, False, False, False, False])
    for _, component in nlp.pipeline:
        doc = component(doc)
    assert read(doc) == {"cough": (), "fever": NO, "fits": ()}


@pytest.mark.parametrize(
    "text, expected",
    [
        ("PMH:\n- asthma\n- stroke\n\nfever", {"asthma": 1, "stroke": 1, "fever": 0}),
        (
            "PAST MEDICAL HISTORY\nAsthma\nStroke\nEXAM: fever",
            {"asthma": 1, "stroke": 1, "fever": 0},
        ),
        ("PMH:\n\nasthma\nMeds: none\nfits", {"asthma": 1, "fits": 0}),
        ("PMH: asthma\nFever", {"asthma": 1, "fever": 0}),
        ("No PMH of note\nAsthma", {"asthma": 0}),
    ],
)
def test_a_heading_reaches_through_its_section(nlp, text, expected):
    found = {mention: "history" in told for mention, told in read(nlp(text)).items()}
    assert found == {mention: bool(each) for mention, each in expected.items()}


def test_relatives_in_a_section_of_their_own(nlp):
    text = "FAMILY HISTORY:\nMother: asthma\nStroke on the father's side\n\nCough"
    assert read(nlp(text)) == {"asthma": ("family",), "stroke": ("family",), "cough": ()}


PAST = ("history",)


@pytest.mark.parametrize(
    "text, expected",
    [
        ("h/o stroke 2018, residual fits", {"stroke": PAST, "fits": ()}),
        ("h/o stroke with residual left fits and cough", {"stroke": PAST, "fits": (), "cough": ()}),
        ("PMH: stroke, residual fits, asthma", {"stroke": PAST, "fits": (), "asthma": PAST}),
        ("PMH:\nstroke, residual fits\nAsthma", {"stroke": PAST, "fits": (), "asthma": PAST}),
        ("h/o fits, residual cough from prior stroke", {"fits": PAST, "cough": (), "stroke": PAST}),
        ("No residual fits", {"fits": NO}),
        ("FHx: stroke, residual fits", {"stroke": ("family",), "fits": ("family",)}),
    ],
)
def test_what_is_residual_is_not_in_the_past(nlp, text, expected):
    assert read(nlp(text)) == expected


@pytest.mark.parametrize(
    "text, expected",
    [
        ("Fits (resolved), asthma", {"fits": PAST, "asthma": ()}),
        ("Asthma, fits (resolved)", {"asthma": (), "fits": PAST}),
        ("Asthma, stroke (10 years ago), fever", {"asthma": (), "stroke": PAST, "fever": ()}),
        ("Fever and fits (resolved in 2010)", {"fever": PAST, "fits": PAST}),
        ("Asthma, fits resolved", {"asthma": PAST, "fits": PAST}),
        ("Asthma at birth (resolved)", {"asthma": PAST}),
        ("Fever, stroke (unlikely)", {"fever": (), "stroke": NO}),
        ("Asthma. (Fits resolved)", {"asthma": (), "fits": PAST}),
    ],
)
def test_words_in_brackets_behind_a_mention_apply_to_it_alone(nlp, text, expected):
    assert read(nlp(text)) == expected


def test_headings_of_an_examination_end_a_scope(nlp):
    assert read(nlp("Lungs: no cough Neuro: fits")) == {"cough": NO, "fits": ()}
