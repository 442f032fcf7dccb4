import sys

import pytest
import spacy

from spacy_connorm.documents.spans import get_assertions
from spacy_connorm.errors import ConnormError
from spacy_connorm.pipeline.assertion_terms import KINDS

from .asserted_pipeline import default_pipeline, make_pipeline, marked, read


@pytest.mark.parametrize(
    "text",
    [
        *("Denies fever{no}, but has a cough.", "No fever{no}; cough."),
        *("No fever{no}\nCough at night, cough", "R/o stroke{?}."),
        *("FHx: dad asthma{kin}. Fever, fever", "Mother had asthma{kin} and he has a cough"),
        *("His mother reports fever.", "s/p stroke{past}. Now fits."),
        "History of present illness: cough",
        "A 3-month history of cough, history of stroke{past}",
        *("Has previous stroke{past}, cough and fits", "Prior stroke{past} and fits{past}"),
        *("PMH: prior stroke{past}, asthma{past}", "Prior stroke{past}\nWheezes, asthma"),
        *("Family hx of asthma{kin}, fhx of fits{kin}", "Family h/o asthma{kin}"),
        *("No family history of asthma{no kin}", "Mother: asthma{kin}. A fever"),
        *("PMH stroke{past} presents w/ fever, cough", "Has fever, asthma{kin} in brother"),
        *("Has fever, asthma{past} in childhood", "Past: stroke{past}. A cough"),
        *("Has cough, stroke{no} excluded", "Has fever; cough{no} and stroke{no} ruled out"),
        "A stroke{?} not ruled out, asthma, test negative",
        *("Denies fever{no}, cough{no} is absent", "Denies fever{no}, reports cough"),
        *("No fits{no} and has a cough", "No fever{no}, +cough", "Neither fever{no} nor cough{no}"),
        *("+ cough x 2d, - fever{no}, asthma", "+ cough: - fever{no}\n- asthma"),
        "No fever{no}, hx cough{past}",
        *("[ ] fever{no} [x] cough [ ] fits{no}", "( ) fever{no} (x) cough", "☐ fever{no} ☑ cough"),
        *("[ ] CT for stroke", "fever{no}: N, cough: Y", "fever{no} (-), cough (+)"),
        *("(+) cough (-) fever{no}, fits", "fever n cough", "No fever{no} on d/c. Cough"),
        *("Call for fever{?}, cough{?}", "Cannot exclude stroke{?}"),
        *("A stroke{no} was excluded; cough", "Without fever{no}. Echo to exclude stroke{?}"),
        *("No sport, echo to exclude stroke{?}", "No further fits{no}", "s/p stroke{past}, asthma"),
        *("H/o asthma{past}, admitted with fever", "History significant for asthma{past}"),
        *("Fits{past} as an infant, cough", "Two cousins have asthma{kin}"),
        *("Brother was diagnosed with asthma{kin}", "His sister's son had fits{kin}"),
        *("Father - stroke{kin}", "FHx: asthma{kin} (mother). Cough"),
        *("Has fever, asthma{kin} (brother)", "Mother with possible asthma{? kin}"),
        *("No risk of stroke{no ?}", "No relief of cough, not tolerating food with fever"),
        *("Did not take his pills for asthma", "Can't walk because of fits"),
        *("Stroke{?} likely. Fever likely viral", "Cough has not resolved. Fits{past} resolved"),
        *("3/12 history of cough, 8-mo hx of fits", "3 day hx cough, short history of fits"),
        "Cough with or without fever",
        "Do not take it if you have asthma{?}, unless it is a cough{?}",
        "Wife has cough{kin}. Mother's side: asthma{kin}",
        *("Father takes medication for fits{kin}", "PMH:\nStroke{past} s/p stent, asthma{past}\n"),
        *("CT failed to show stroke{no}, fails to reveal fits{no}", "Failed to attend for asthma"),
        "No cough{no}, just fever; no asthma{no}, only fits",
        "Fits{no} have never occurred, fever",
        "Asthma{no} has not been a problem. Fever{no} not reported",
        "Fever{no}: 0/10, cough{no} - nil known, fits{no}: NKDA",
        *("Fever: 5/10. A cough 0/10 at rest", "I don’t have fever{no}. Hasn’t had asthma{no}"),
        *("She hasn't had fever{no}, cough{no} or fits{no}", "Can’t exclude stroke{?}"),
        *("Asthma, fits{no}-free", "Asthma, free fluid"),
        "Antecedents: stroke{past}, asthma{past}. Cough",
        *("Significant past:\nStroke{past}\nFH: asthma{kin}", "Family antecedents: asthma{kin}"),
        "Background: asthma",
    ],
)
def test_words_around_a_mention_say_what_it_is(text):
    assert marked(text) == text


@pytest.mark.parametrize(
    "text",
    [
        *("Imp: ?stroke{?}, fever", "Imp: ? stroke{?}", "Admitted (?stroke{?}). Fever"),
        *("Any fits{?}? Fever", "Fever, cough, stroke{?}?", "Probable stroke{?} with fever, cough"),
        *("Likely asthma{?}; fever", "Stroke{?} vs fits{?}, a cough"),
        *("Asthma{?} less likely, cough", "Asthma{?} was suspected; cough"),
        *("Stroke{?} cannot be excluded, cough", "Fits due to fever, stroke{?} to be ruled out"),
        *("A cough, concern for asthma{?}", "Suspicious for stroke{?}. Fever"),
        *("This could represent a stroke{?}", "He may have fits{?}, but a cough"),
        *("Ddx: stroke{?}, fits{?} and asthma{?}", "Side effects such as fever{?} and cough{?}"),
        "Asthma. Return if fever{?}, cough{?} or fits{?}",
        *("Should he have fits{?}, call. A fever", "Fever, at risk for stroke{?}"),
        *("Aspirin to prevent stroke{?}", "Risk factors for stroke{?} are known; cough"),
        *("Aspirin can cause asthma{?}", "Asthma{?} seems likely"),
        "DIFFERENTIAL DIAGNOSIS:\nStroke{?}\nAsthma{?}\n\nPlan: treat fever",
        "Stroke{?} and fits{?} in the differential; fever",
        "Asthma{?} is on the differential, has fever",
        "Also in the differential: stroke{?}, asthma{?}",
        *("Differentials include asthma{?} and fits{?}", "Possibilities include asthma{?}"),
        *("Stroke{?} remains possible, a cough", "Asthma{?} is a possibility. A cough"),
        *("Asthma{?} was suspected and cough", "Fever{?} could not be excluded"),
        *("Fever. Consider stroke{?}", "1. Consider acute stroke{?}, asthma{?} or fits{?}. Fever"),
        *("- consider asthma{?}", "Exclude asthma{?} or stroke{?}. A fever"),
        *("A fever - consider asthma{?}", "A fever; exclude asthma{?}", "Please exclude asthma{?}"),
        *("Plan: 1) exclude asthma{?} 2) return for fits{?}", "Concerned re: fever{?}. A cough"),
        "A cough, concern regarding asthma{?}",
        "Return for cough{?}, 3 lbs of gain, or fever{?}. Has asthma.",
        "Return for worsening fever{?}, cough{?} or fits{?}",
        *("Red flags: fever{?}, fits{?}. Has asthma", "?acute left stroke{?}, fever"),
        *("Imp: ? early asthma{?} or fits{?}", "Paracetamol PRN fever{?} or fits{?}, asthma"),
        "Tablets as needed for severe fits{?}/cough{?}; fever",
        "Return to the ED for worsening fever{?}, cough{?} > 3 d or fits{?}",
        "Plan: return to clinic with fever{?}. Cough",
        "Please come back to hospital for fits{?}, fever{?}",
        "Seek urgent medical attention for fits{?}",
        *("Advise patients to report fever{?}, cough{?}", "Report any fever{?} to your doctor"),
        *("Fever{?}? left stroke scan tomorrow", "?cause of fever"),
        "Inhaler PRN, asthma. Drops PRN\nCough",
        "Returned to ED with fever. Had to return to hospital with fits",
        *("Return to clinic for yearly asthma review", "Fever for 3 days, present with cough"),
        *("The report says fever", "Safety net: fever{?}", "?acute stroke{?}, fever"),
        *("Aspirin PRN fever{?}. Has a cough", "Asthma. Return to the ED for fever{?} or cough{?}"),
        "Come back to clinic with worsening fits{?}",
        "Seek medical attention for fever{?}. Report any fits{?}",
        *("Patient advised to report cough{?}", "Returned to the ED with fever"),
        *("Fever{?}? mild cough", "No red flags, has fever", "Return for review of asthma"),
        *("They exclude asthma patients with fever", "Consider aspirin for stroke"),
        *("Consider CT; fever, cough", "We consider stroke the cause", "Has to\nconsider fever"),
        *("The fever remains", "Fits likely due to fever", "Come as soon as possible: fever"),
        *("Aspirin if needed: fever", "Findings consistent with asthma"),
        "Stroke{?} felt unlikely, asthma{?} was thought to be unlikely",
        *("Cough, stroke{?} unlikely", "Fever, asthma{?} or stroke{?} unlikely"),
        *("Asthma{?} is highly unlikely. Cough", "Asthma{?} should be considered; fever"),
        *("Warned of fits{?}, fever{?}. Cough", "They warned him and fever came"),
        "Risks, including fits{?}, stroke{?}, were discussed. Fever",
        "Risks and benefits of surgery, including stroke{?}",
        "Risks of fits{?} or stroke{?}. Discussed signs of asthma{?}",
        "Complications such as stroke{?}; complications of asthma",
        "Taught mum the symptoms of asthma{?}. Safety-netted re fits{?}",
        "Signs of asthma{?} were explained. Has signs of fits",
        "Seek care for worsening fever{?}. Seek him for fits",
        "Code stroke{?} called. Full code, fever",
        "Reviewed with signs of asthma. Symptoms of fits discussed",
        "Risk factors including asthma. Risks discussed, history taken: fits",
    ],
)
def test_what_is_suspected_asked_for_or_feared_is_possible(text):
    assert marked(text) == text


def test_negation_is_read_as_negspacys_own_attribute():
    nlp = default_pipeline()
    (fever,) = nlp("denies fever").ents
    assert fever._.negex is True
    assert (fever._.possible, fever._.family, fever._.history) == (False, False, False)


def test_a_text_without_mentions_is_left_as_it_is():
    nlp = default_pipeline()
    doc = nlp("Denies everything.")
    assert not doc.ents and not doc.user_data


def test_spans_of_a_key_are_marked():
    nlp = make_pipeline(spans_key="findings")
    doc = nlp.make_doc("no fever")
    doc.spans["findings"] = [doc.char_span(3, 8, label="FINDING")]
    doc = nlp.get_pipe("assertion_marker")(doc)
    assert get_assertions(doc.spans["findings"][0]) == ("negated",)


def test_own_words_take_the_place_of_the_usual_ones(tmp_path):
    own = {kind: [] for kind in KINDS} | {"preceding_negations": ["kein"]}
    make_pipeline(negated=own).to_disk(tmp_path)
    nlp = spacy.load(tmp_path)
    assert read(nlp("kein fever")) == {"fever": ("negated",)}
    assert read(nlp("no fever")) == {"fever": ()}
    nlp.get_pipe("assertion_marker").cfg["negated"] = None
    assert read(nlp("no fever")) == {"fever": ("negated",)}


def test_settings_pass_through_bytes():
    marker = make_pipeline(spans_key="findings").get_pipe("assertion_marker")
    other = make_pipeline().get_pipe("assertion_marker").from_bytes(marker.to_bytes())
    assert other.cfg == marker.cfg
    with pytest.raises(ConnormError, match="CN402"):
        other.from_bytes(b"\xc1")


def test_words_in_another_form_are_refused():
    with pytest.raises(ConnormError, match="CN006.*negated.*pseudo_negations"):
        make_pipeline(negated={"words": ["no"]})


@pytest.mark.parametrize(
    "word, own", [("denies", None), ("kein", {"preceding_negations": ["kein"]})]
)
def test_a_memory_zone_ends_and_assertions_go_on(word, own):
    nlp = make_pipeline()
    if own:
        nlp.get_pipe("assertion_marker").cfg["negated"] = {kind: [] for kind in KINDS} | own
    for _ in range(3):
        with nlp.memory_zone():
            assert read(nlp(f"{word} fever")) == {"fever": ("negated",)}


def test_workers_hand_assertions_back():
    docs = make_pipeline().pipe(["no fever", "cough"], n_process=2, batch_size=1)
    assert list(map(read, docs)) == [{"fever": ("negated",)}, {"cough": ()}]


def test_a_missing_library_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "negspacy", None)
    nlp = make_pipeline()
    with pytest.raises(ConnormError, match=r"CN126.*spacy-connorm\[clinical\]"):
        nlp("no fever")


def test_an_attribute_of_another_component_may_be_anything():
    doc = spacy.blank("en")("fever")
    doc.ents = [doc.char_span(0, 5, label="FINDING")]
    doc.user_data["._.", "negex", 0, 5] = "perhaps"
    assert read(doc) == {"fever": ()}


def test_mentions_inside_others_are_negated_with_them():
    nlp = default_pipeline()
    doc = nlp.make_doc("no high fever. A cough")
    doc.ents = [doc.char_span(3, 13, label="FINDING"), doc.char_span(17, 22, label="FINDING")]
    doc.spans["mentions_all"] = [doc.char_span(8, 13), doc.char_span(17, 22)]
    nlp.get_pipe("assertion_marker")(doc)
    assert list(map(get_assertions, doc.spans["mentions_all"])) == [("negated",), ()]
