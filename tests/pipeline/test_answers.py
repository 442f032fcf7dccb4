import pytest
from asserted_pipeline import marked


@pytest.mark.parametrize(
    "text",
    [
        *("Fever{no}? no Cough? yes", "Fever{no}? no Chest tightness? yes Cough{no}? no"),
        *("Fever{no} no cough yes fits{no} no", "Has fever no cough{no}", "Fever n cough"),
        *("Fever{no} (no), cough (yes)", "Fever{no} and cough{no}: no, fits: yes"),
        *("Fever: no appetite", "Fever - no cough{no}", "Cough: yes, no fever{no}, fits{no}"),
    ],
)
def test_an_answer_is_followed_by_nothing_but_the_next_item(text):
    assert marked(text) == text


@pytest.mark.parametrize(
    "text",
    [
        *("Fever{no} (yes/no): no", "Fever (Y/N): Y\nCough{no} (Y/N): N", "Fever{no} y / n: n"),
        *("Any fever{no}? A: none.", "Q: Fever{no}? A: No. Q: Cough? A: Yes, at night."),
        *("Fever{no}?\nPatient: no", "Fever{no}  (-)\nCough  (+)", "Cough  -\nFever"),
        *("Fever{?}? A: rash", "Fever{no} - no; hepatitis A: no cough{no}"),
    ],
)
def test_spaces_choices_and_who_answers_may_stand_before_an_answer(text):
    assert marked(text) == text


@pytest.mark.parametrize(
    "text",
    [
        *(
            "Cough: + Fever{no}: - Fits: +",
            "Cough: +\nFever{no}: -\nFits: +",
            "Fever{no} (-), cough (+)",
        ),
        *("Fever{no} - Cough + Fits{no} -", "Fever -\nCough", "Fever - cough - fits"),
    ],
)
def test_a_sign_answers_if_it_stands_alone(text):
    assert marked(text) == text


@pytest.mark.parametrize(
    "text",
    [
        *("Fever{no} ☐ Cough ☑", "☒ cough ☐ fever{no}", "[x] fever [ ] cough{no}"),
        *("Symptoms: ☐ fever{no} ☑ cough", "Symptoms ☐ fever{no} ☑ cough"),
        *("Fever{no} ☐ Cough ☑ (tick all)", "Cough ☑\nFits{no} and fever{no} ☐"),
        *("Fever{no}: ☐\nCough: ☑", "☐ Severe cough{no} ☑ Fits", "☐ fever{no}/fits{no} ☑ cough"),
        # Two lists, and a line that does not say.
        "Fever{no} ☐\nCough ☑\n\nPlan\n☐ Asthma{no}\n☑ Fits",
        "Fever{no} ☐ Cough ☑\nTiredness ☑ Fits{no} ☐ Malaise",
    ],
)
def test_a_list_has_its_boxes_on_one_side(text):
    assert marked(text) == text


@pytest.mark.parametrize(
    "text",
    [
        *("Fever{no}: [ ] yes [x] no", "Fever: ☒ yes ☐ no", "Fever{no} yes ☐ no ☑"),
        *("Fever{no}: [ ] yes [x] no\nCough: [x] yes [ ] no", "Fever: [ ] yes [ ] no, cough"),
        *("Fever{no} | no | cough | yes", "Fever{no}\tno\nCough\tyes", "Fever{no} ... no"),
    ],
)
def test_of_answers_with_boxes_the_ticked_one_is_meant(text):
    assert marked(text) == text
