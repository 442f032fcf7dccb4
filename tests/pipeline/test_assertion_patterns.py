import pytest

from .asserted_pipeline import make_pipeline, marked, read


@pytest.mark.parametrize(
    "text",
    [
        "Her brother, aged 12, has asthma{kin}",
        "His mother (45 y) has asthma{kin} and he has a cough",
        *("Sister, a nurse, was also treated for fits{kin}", "Mother, who smokes, has asthma{kin}"),
        *("Mother, who has asthma{kin}, reports fever", "Mother is known to have asthma{kin}"),
        *("Her sister recently developed asthma{kin}", "Mother does not have asthma{no kin}"),
        "Father died at the age of 50 of a stroke{kin}",
        "Brother (12 y): asthma{kin}. Sister (5) - fits{kin}",
        *("Brother, aged 12, with asthma{kin}", "Asthma{kin} in a cousin, cough"),
        "Asthma{kin} and fits{kin} in two maternal cousins, cough",
        *("Asthma{kin} in her mother's older sister", "Born to a mother with asthma{kin}"),
        "Contact with a brother with cough{kin}, has fever{kin}",
        *("Here with her sister, who has asthma{kin}", "His mother's asthma{kin} and cough"),
        "Her father’s severe late-onset asthma{kin}; fever",
        "My sister's asthma{kin} or fits{kin}, his father's stroke{kin} at 50",
        "His mother's family has fits{kin}",
        "Family members with fits{kin}. Runs in the family: asthma{kin}",
        "Has anyone in your family had a stroke{kin}",
        "Any fits, or does anyone in your family have asthma{kin}",
        *("Asthma{kin} in the family, or if you have fits{?}", "Asthma{kin} runs in her family"),
        "Two brothers, also affected, died of asthma{kin}",
        "Father is well but has asthma{kin}. Fever",
        "Mother 45 y, asthma{kin}. Father 50 years old, fits{kin}",
        "Mother dead by stroke{kin}. Brother is alive with asthma{kin}",
        "Her mother, who has asthma{kin}, had a stroke{kin}",
        "Worried about stroke{?} as my mum died of asthma{kin}",
    ],
)
def test_words_may_stand_between_a_relative_and_a_finding(text):
    assert marked(text) == text


@pytest.mark.parametrize(
    "text",
    [
        *("Mother stroke{kin} at 50.", "Cough. Mum severe asthma{kin}"),
        "Father asthma{kin}, stroke{kin} at 60, fits{kin}. Fever",
        "Sister asthma{kin}; brother fits{kin}",
        "Family: father asthma{kin}, mother stroke{kin}",
        *("Family: asthma{kin}, fits{kin}\nFever", "FAMILY:\nasthma{kin}\n\nFever"),
        *("Fever, his older brother fits{kin} + asthma{kin}", "Dad ?stroke{? kin}, pt has fever"),
        *("Mother anxious{kin} about fever", "Mother reports fever. Mom worried re: fits"),
        *("Here with mother fever since May", "Seen with mother, fever"),
        *("Mother stroke{kin}, has cough", "Mother\nFever"),
        "Her grandma has asthma{kin} and I have fits. Nan had fits{kin}",
    ],
)
def test_a_relative_right_before_a_finding_has_it(text):
    assert marked(text) == text


@pytest.mark.parametrize(
    "text",
    [
        *("Mother, who is worried he has fever", "Mother is worried that he has fever"),
        *("Mother was told he has asthma", "Mother says he also has a cough"),
        "Mother, aged 45, has noticed fever",
        "Mother, who says he vomits, has given him syrup for fever",
        *("Mother is with him, fever since Monday", "Seen with his mother, aged 40, has a cough"),
        *("Lives with mother, has fever, has cough", "Mother, aged 45\nHas fever"),
        *("Father died at the age of 50, fever", "Brother, who is well, and he have asthma"),
        *("Fits in a child, fever in the clinic", "Brought in by mother with fever and cough"),
        *("Here with dad with cough", "BIB mom: fever. From mother: cough"),
        "Accompanied by her two older sisters with fever",
        "Child of consanguineous parents with fits",
        *("Born to healthy, unrelated parents with fits", "According to his mother has a cough"),
        *("Mother has noticed fever", "Mother is well but has noticed fever"),
        *("Mother is well but he has fever", "Here with mother, well but has a cough"),
        *("Mother's advice about fever", "Mother's house, fever"),
        "Discussed with family: fever",
    ],
)
def test_another_subject_has_its_own_findings(text):
    assert marked(text) == text


@pytest.mark.parametrize(
    "text",
    [
        *("No treatment for asthma, no cough{no}", "Not on any medication for asthma"),
        "No antibiotics given for fever, no signs of improvement in cough",
        *("Without an inhaler for asthma", "Declined treatment for asthma, fits"),
        *("Asthma, refused therapy", "Denies fever{no}, never had tablets for asthma"),
        *("No hospital admissions for asthma", "Doesn't take pills for asthma"),
        *("Hasn’t had any treatment for asthma", "Hasn't improved: cough"),
        *("The cough was not due to asthma{no}", "Fever was not treated"),
        *("Fever{no} was not present", "No cough{no} after surgery for asthma{no}"),
        *("No fever{no} in response to it", "No evidence of treatment for asthma{no}"),
        "No treatment, asthma{no}",
    ],
)
def test_what_is_not_treated_is_there(text):
    assert marked(text) == text


@pytest.mark.parametrize(
    "text",
    [
        *("Lack of fever{no}, cough", "Lack of sleep due to cough"),
        "Asthma rather than fits{no} or stroke{no}, cough",
        *("Fits{no} have never occurred, cough", "Looks like a viral fever{?}, cough"),
        *("Sounds like asthma{?} or a cold", "Looks like her mother, cough"),
        *("Inconsistent with acute stroke{no}, fits", "A story inconsistent with the stroke"),
    ],
)
def test_some_words_apply_only_to_the_mention_right_behind_them(text):
    assert marked(text) == text


@pytest.mark.parametrize(
    "text",
    [
        *("A previously healthy girl developed fits", "Fever in a previously fit and well boy"),
        *("Previously unremarkable; fever", "Previously had fits{past}", "Hx: 3 days of fever"),
        *("H/o asthma{past}, history of a few weeks of cough", "Hx sudden onset fits"),
        *("History of sudden fits{past}", "History of progressive cough"),
        *("History of one stroke{past}, fits{past}", "History of 3 years ago stroke{past}"),
        *("Has cough, fits{past} in her late twenties", "In her twenties, has fits"),
        *("In childhood he had fits{past}. Has cough", "As a child, she had asthma{past}"),
        *("In the neonatal period he had fits{past}", "As a child he had been told of fits"),
        *("As a child he developed asthma", "In infancy she was seen for fits"),
        *("Asthma, stroke{past} repaired in 2004", "Asthma, removed at 12. Fits repaired"),
        *("Hx asthma{past} - a cough tonight", "H/o asthma{past}, fever this morning"),
        *("H/o asthma{past}, fits{past}. Fever today", "H/o asthma{past}, seen today"),
        *("Asthma{past} when he was a child, cough", "Fits when he was seen"),
        "Asthma{past}, in remission since 2019, cough",
        *("Previous fits{past}, asthma{past} in the last pregnancy, cough", "Asthma in pregnancy"),
        "Asthma, fits{past} have since stopped",
        "Fits{past} stopped at 5. Fever{past} until age 7",
        "Has fits{past}, now resolved; the cough{past} settled",
        "Fever{past} subsided rapidly, asthma{past} which cleared",
        "Asthma, stopped tablets. Fits - stopped tablets",
        *("Cough stopped him. Fits have not stopped", "Fever, tablets stopped"),
        *("Prev stroke{past} 2019, asthma; prev well", "Ex-smoker{past}, asthma"),
        *("Ex smoker{past}", "Former heavy smoker{past} with a cough"),
        *("Ex-lap fever, former 28-weeker with fits", "Ex cough", "Fits{past} in last pregnancy"),
        "Fits{past} on HD 3, now resolved; cough{past} overnight, since settled",
        *("Asthma, fever{past} on admission now settled", "Fits overnight, now fever"),
    ],
)
def test_what_began_lately_is_present_and_other_times_are_past(text):
    assert marked(text) == text


def test_own_terms_take_the_place_of_these_too():
    own = {
        "pseudo_negations": [],
        "preceding_negations": ["oma"],
        "following_negations": [],
        "termination": [],
    }
    text = "Her brother, aged 12, has asthma. Fits in a cousin. His mother's fever. Oma cough"
    doc = make_pipeline(family=own)(text)
    assert read(doc) == {"asthma": (), "fits": (), "fever": (), "cough": ("family",)}
