import pytest
from asserted_pipeline import default_pipeline, make_pipeline, marked, read
from spacy.tokens import Span

from spacy_connorm.documents.spans import get_assertions


@pytest.mark.parametrize(
    "text",
    [
        *("No fever{no}, mild cough", "No fever{no}, cough{no} noted"),
        *("No fever{no}, fits{no}, bilateral cough", "without fever{no}, 2+ cough, fits"),
        *("No fever{no}, mild cough{no} or fits{no}", "No fever{no}, severe cough{no}, fits{no}"),
        *("Denies fever{no}, mild cough{no}, fits{no}", "No fever{no}, normal chest, cough"),
        "No fever{no}, no fits{no}, some cough",
    ],
)
def test_an_amount_behind_a_comma_begins_a_finding_of_its_own(text):
    assert marked(text) == text


@pytest.mark.parametrize(
    "text",
    [
        *("PMH: nil, MH: asthma", "Meds: none, asthma on inhalers", "Patient denies\nfever{no}"),
        *("No fever{no}, social history: asthma", "FHx: asthma{kin}, O/E: cough"),
        *("No fever{no}, cough{no}: mild", "No fever{no}, : cough{no}"),
    ],
)
def test_a_field_has_its_own_answer(text):
    assert marked(text) == text


@pytest.mark.parametrize(
    "text",
    [
        *("No fever{no}, anxious", "Denies fever{no}, cough{no}, dizzy on standing"),
        *("w/o fever{no}, confused and dizzy", "Denies fever{no}, dizzy{no} or confused{no}"),
        *("No fever{no}, dizzy{no} spells, cough{no}", "Not anxious{no}, confused{no}"),
        *("Denies feeling low, anxious{no}", "No longer confused{no}, dizzy{no}"),
        *("No fever{no}, anxious, dizzy", "Denies fever{no}, anxious ++, cough"),
        *("No fever{no}, cough +, fits", "No fever{no} + cough{no}"),
        "FHx: asthma{kin} ++, fits{kin}",
    ],
)
def test_what_is_not_a_noun_or_has_a_plus_is_there(text):
    assert marked(text) == text


@pytest.mark.parametrize(
    "text",
    [
        *("Baby not feeding, fever and fits", "Has not passed stool, fever, cough"),
        *("Can't remember names, fits", "Fits are not controlled, cough daily"),
        *("Never smoked, asthma", "Denies asthma{no}, not eating, cough"),
        *("Not drinking, fits, no fever{no} or cough{no}", "Not eating, fits{no} or fever{no}"),
        "Does not have fever{no}, cough{no} or fits{no}",
        *("Doesn't complain of pain, fever{no}, cough{no}", "Has not had sweats, fever{no}"),
        *("Not a known diabetic, asthma{no}", "Not fever{no}, cough{no}"),
        *("Did not, at any time, have fever{no}", "Unable to walk, fits. Not yet walking, cough"),
        "Declined induction, fever",
    ],
)
def test_not_and_a_verb_deny_nothing_behind_a_comma(text):
    assert marked(text) == text


def test_a_phrase_that_begins_a_name_denies_nothing():
    nlp = make_pipeline()
    name = [{"LOWER": word} for word in ("absence", "of", "speech")]
    nlp.get_pipe("entity_ruler").add_patterns([{"label": "FINDING", "pattern": name}])
    told = read(nlp("Absence of speech, fits and cough. There is absence of fever."))
    assert told == {"absence of speech": (), "fits": (), "cough": (), "fever": ("negated",)}


@pytest.mark.parametrize(
    "text",
    [
        *("Fever{no}: no, cough: yes", "Fever{no} - none\nCough", "Fever{no}: negative. Cough"),
        *("Fits{no} denied, has cough", "Fever{no} and fits{no} denied.", "Has fever no cough{no}"),
        *("Cough: no fever{no}", "c/o fever denies cough{no}"),
        "Fever{no}: nil. Has cough, fits{no} nil",
        *("Fever{no}: none seen, cough{no} none of note\nFits", "Has fever none of it new"),
        *("Fever{no}? No. Cough? Yes. Any asthma{no} or fits{no}? no", "Fever{?}? No cough{no}"),
        "Asthma{no}: NKDA. Cough{no} 0/10, fits{no}: none known",
        "Cough, fever{no} not evident, fits",
        "Stroke{no} was not demonstrated. Asthma{no} never confirmed",
        "Stroke{no} not visualised, fits{no} not suspected",
        "Fits observed, stroke visualised, asthma confirmed",
    ],
)
def test_the_answer_behind_a_mention_denies_it_if_nothing_follows(text):
    assert marked(text) == text


@pytest.mark.parametrize(
    "text",
    [
        *("(+) cough (-) fever{no}, fits", "(-) fever{no}/cough{no}", "+ fits. Well"),
        *("Has - fever - cough", "non - fever +cough", "Fever{no} -, cough +, fits{no} -"),
        *("Asthma -, cough", "Asthma -\nHas +cough", "Asthma - fever, cough +"),
    ],
)
def test_a_minus_denies_the_mention_behind_it(text):
    assert marked(text) == text


def test_dashes_are_minuses_beside_a_plus():
    nlp = default_pipeline()
    words = ["+", "cough", "-", "fever", "\n\n", "-", "fits"]
    doc = nlp.make_doc("x")
    doc = type(doc)(nlp.vocab, words, [False, True, False, False, False, False, False])
    for _, component in nlp.pipeline:
        doc = component(doc)
    assert read(doc) == {"cough": (), "fever": ("negated",), "fits": ()}


@pytest.mark.parametrize(
    "text",
    [
        "PMH:\n- asthma{past}\n- stroke{past}\n\nfever",
        "PAST MEDICAL HISTORY\nAsthma{past}\nStroke{past}\nEXAM: fever",
        *("PMH:\n\nasthma{past}\nMeds: none\nfits", "PMH: asthma{past}\nFever"),
        "No PMH of note\nAsthma",
    ],
)
def test_a_heading_reaches_through_its_section(text):
    assert marked(text) == text


def test_relatives_in_a_section_of_their_own():
    text = "FAMILY HISTORY:\nMother: asthma{kin}\nStroke{kin} on the father's side\n\nCough"
    assert marked(text) == text


@pytest.mark.parametrize(
    "text",
    [
        "h/o stroke{past} 2018, residual fits",
        "h/o stroke{past} with residual left fits and cough",
        "PMH: stroke{past}, residual fits, asthma{past}",
        "PMH:\nstroke{past}, residual fits\nAsthma{past}",
        *("h/o fits{past}, residual cough from prior stroke{past}", "No residual fits{no}"),
        "FHx: stroke{kin}, residual fits{kin}",
    ],
)
def test_what_is_residual_is_not_in_the_past(text):
    assert marked(text) == text


@pytest.mark.parametrize(
    "text",
    [
        *("Fits{past} (resolved), asthma", "Asthma, fits{past} (resolved)"),
        "Asthma, stroke{past} (10 years ago), fever",
        *("Fever{past} and fits{past} (resolved in 2010)", "Asthma{past}, fits{past} resolved"),
        *("Asthma{past} at birth (resolved)", "Fever, stroke{?} (unlikely)"),
        "Asthma. (Fits{past} resolved)",
    ],
)
def test_words_in_brackets_behind_a_mention_apply_to_it_alone(text):
    assert marked(text) == text


def test_headings_of_an_examination_end_a_scope():
    text = "Lungs: no cough{no} Neuro: fits"
    assert marked(text) == text


def test_a_heading_of_an_examination_is_not_inside_a_mention():
    nlp = make_pipeline()
    nlp.get_pipe("entity_ruler").add_patterns([{"label": "FINDING", "pattern": "Short neck"}])
    (neck,) = nlp("Short neck: not assessed").ents
    assert neck._.possible


@pytest.mark.parametrize(
    "text",
    [
        *("Stroke{no} (CVA) was ruled out", "Fever{no} (>38.5 on 2 days) absent, cough"),
        *("Asthma{no} (J45.9): negative", "Fits{no} [G40] (R56) denied"),
        *("Stroke{?} (CVA) suspected.", "Fever (with no cough{no}), fits", "Cough{no} (-), fits"),
    ],
)
def test_a_bracket_belongs_to_the_mention_before_it(text):
    assert marked(text) == text


@pytest.mark.parametrize(
    "text",
    [
        *("Fever{no} (cough{no}) was denied", "No fever{no} (cough{no})", "Fever (cough today)"),
        *("Fits{past} (cough{past}) in 2004", "Fever{?} (cough{?}) suspected."),
    ],
)
def test_a_short_form_in_brackets_has_the_marks_of_its_long_form(text):
    assert marked(text) == text


@pytest.mark.parametrize(
    "text",
    [
        *("Fever{no} was denied by him", "Fever{no} and cough{no} have now been excluded"),
        *("Fever{no}, cough{no} and fits{no} were denied", "Has asthma, fever{no} was denied"),
        *("Fever{no} in the last week has been denied", "Fever with negative tests"),
        *("Fever{?} has never been excluded", "A possible stroke{?} is still to be excluded"),
    ],
)
def test_a_predicate_is_about_its_subject(text):
    assert marked(text) == text


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("The liver was not enlarged.", ["negated"]),
        ("The liver isn't enlarged, cough", ["negated"]),
        ("The liver was not found to be enlarged.", ["negated"]),
        ("The liver may be enlarged.", ["possible"]),
        ("The liver might not have been enlarged.", ["possible"]),
        ("The liver was not only enlarged", []),
        ("The liver was absent and enlarged", []),
        ("The liver was found to be enlarged.", []),
        ("A migraine, not enlarged", []),
    ],
)
def test_a_verb_inside_a_mention_says_something_of_it(text, said):
    nlp = default_pipeline()
    doc = nlp.make_doc(text)
    last = next(token.i for token in doc if token.text == "enlarged")
    doc.ents = [Span(doc, 1, last + 1, label="FINDING")]
    (ent,) = nlp.get_pipe("assertion_marker")(doc).ents
    assert get_assertions(ent) == tuple(said)


@pytest.mark.parametrize(
    "text",
    [
        "1) fever 2) no cough{no} 3) asthma",
        "No fever{no} (grade 2) or cough{no}",
        "No fever{no} \u2022 cough{no}",
        "\u2022 No fever{no} \u2022 cough",
        "Denies: 1) fever{no} 2) cough{no}",
        "FH: \u2022 asthma{kin} \u2022 stroke{kin}",
        "The cause of the cough was not found, fever{no} was not found",
        "Signs of fever{no} were not found",
    ],
)
def test_a_denial_does_not_reach_the_next_item_or_another_subject(text):
    assert marked(text) == text
