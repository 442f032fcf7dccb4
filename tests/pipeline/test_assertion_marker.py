import sys

import pytest
import spacy

from spacy_connorm.documents.spans import get_assertions
from spacy_connorm.errors import ConnormError
from spacy_connorm.pipeline.assertion_terms import KINDS

from .asserted_pipeline import make_pipeline, read

NO, PAST = ("negated",), ("history",)
HAS = {"fever": (), "fits": ()}


@pytest.fixture(scope="module")
def nlp():
    return make_pipeline()


@pytest.mark.parametrize(
    "text, expected",
    [
        ("Denies fever, but has a cough.", {"fever": ("negated",), "cough": ()}),
        ("No fever; cough.", {"fever": ("negated",), "cough": ()}),
        ("No fever\nCough at night, cough", {"fever": ("negated",), "cough": ()}),
        ("R/o stroke.", {"stroke": ("possible",)}),
        ("FHx: dad asthma. Fever, fever", {"asthma": ("family",), "fever": ()}),
        ("Mother had asthma and he has a cough", {"asthma": ("family",), "cough": ()}),
        ("His mother reports fever.", {"fever": ()}),
        ("s/p stroke. Now fits.", {"stroke": ("history",), "fits": ()}),
        ("History of present illness: cough", {"cough": ()}),
        ("A 3-month history of cough, history of stroke", {"cough": (), "stroke": ("history",)}),
        ("Has previous stroke, cough and fits", {"stroke": ("history",), "cough": (), "fits": ()}),
        ("Prior stroke and fits", {"stroke": ("history",), "fits": ("history",)}),
        ("PMH: prior stroke, asthma", {"stroke": ("history",), "asthma": ("history",)}),
        ("Prior stroke\nWheezes, asthma", {"stroke": ("history",), "asthma": ()}),
        ("Family hx of asthma, fhx of fits", {"asthma": ("family",), "fits": ("family",)}),
        ("Family h/o asthma", {"asthma": ("family",)}),
        ("No family history of asthma", {"asthma": ("negated", "family")}),
        ("Mother: asthma. A fever", {"asthma": ("family",), "fever": ()}),
        ("PMH stroke presents w/ fever, cough", {"stroke": ("history",), "fever": (), "cough": ()}),
        ("Has fever, asthma in brother", {"fever": (), "asthma": ("family",)}),
        ("Has fever, asthma in childhood", {"fever": (), "asthma": ("history",)}),
        ("Past: stroke. A cough", {"stroke": ("history",), "cough": ()}),
        ("Has cough, stroke excluded", {"cough": (), "stroke": ("negated",)}),
        (
            "Has fever; cough and stroke ruled out",
            {"fever": (), "cough": ("negated",), "stroke": ("negated",)},
        ),
        ("A stroke not ruled out, asthma, test negative", {"stroke": ("possible",), "asthma": ()}),
        ("Denies fever, cough is absent", {"fever": ("negated",), "cough": ("negated",)}),
        ("Denies fever, reports cough", {"fever": ("negated",), "cough": ()}),
        ("No fits and has a cough", {"fits": ("negated",), "cough": ()}),
        ("No fever, +cough", {"fever": ("negated",), "cough": ()}),
        ("+ cough x 2d, - fever, asthma", {"cough": (), "fever": ("negated",), "asthma": ()}),
        ("+ cough: - fever\n- asthma", {"cough": (), "fever": ("negated",), "asthma": ()}),
        ("No fever, hx cough", {"fever": ("negated",), "cough": ("history",)}),
        ("Neither fever nor cough", {"fever": ("negated",), "cough": ("negated",)}),
        (
            "[ ] fever [x] cough [ ] fits",
            {"fever": ("negated",), "cough": (), "fits": ("negated",)},
        ),
        ("( ) fever (x) cough", {"fever": ("negated",), "cough": ()}),
        ("☐ fever ☑ cough", {"fever": ("negated",), "cough": ()}),
        ("[ ] CT for stroke", {"stroke": ()}),
        ("fever: N, cough: Y", {"fever": ("negated",), "cough": ()}),
        ("fever (-), cough (+)", {"fever": ("negated",), "cough": ()}),
        ("(+) cough (-) fever, fits", {"cough": (), "fever": ("negated",), "fits": ()}),
        ("fever n cough", {"fever": (), "cough": ()}),
        ("No fever on d/c. Cough", {"fever": ("negated",), "cough": ()}),
        ("Call for fever, cough", {"fever": ("possible",), "cough": ("possible",)}),
        ("Cannot exclude stroke", {"stroke": ("possible",)}),
        ("A stroke was excluded; cough", {"stroke": ("negated",), "cough": ()}),
        ("Without fever. Echo to exclude stroke", {"fever": ("negated",), "stroke": ("possible",)}),
        ("No sport, echo to exclude stroke", {"stroke": ("possible",)}),
        ("No further fits", {"fits": ("negated",)}),
        ("s/p stroke, asthma", {"stroke": ("history",), "asthma": ()}),
        ("H/o asthma, admitted with fever", {"asthma": ("history",), "fever": ()}),
        ("History significant for asthma", {"asthma": ("history",)}),
        ("Fits as an infant, cough", {"fits": ("history",), "cough": ()}),
        ("Two cousins have asthma", {"asthma": ("family",)}),
        ("Brother was diagnosed with asthma", {"asthma": ("family",)}),
        ("His sister's son had fits", {"fits": ("family",)}),
        ("Father - stroke", {"stroke": ("family",)}),
        ("FHx: asthma (mother). Cough", {"asthma": ("family",), "cough": ()}),
        ("Has fever, asthma (brother)", {"fever": (), "asthma": ("family",)}),
        ("Mother with possible asthma", {"asthma": ("possible", "family")}),
        ("No risk of stroke", {"stroke": ("negated", "possible")}),
        ("No relief of cough, not tolerating food with fever", {"cough": (), "fever": ()}),
        ("Did not take his pills for asthma", {"asthma": ()}),
        ("Can't walk because of fits", {"fits": ()}),
        ("Stroke likely. Fever likely viral", {"stroke": ("possible",), "fever": ()}),
        ("Cough has not resolved. Fits resolved", {"cough": (), "fits": ("history",)}),
        ("3/12 history of cough, 8-mo hx of fits", {"cough": (), "fits": ()}),
        ("3 day hx cough, short history of fits", {"cough": (), "fits": ()}),
        ("Cough with or without fever", {"cough": (), "fever": ()}),
        (
            "Do not take it if you have asthma, unless it is a cough",
            {"asthma": ("possible",), "cough": ("possible",)},
        ),
        ("Wife has cough. Mother's side: asthma", {"cough": ("family",), "asthma": ("family",)}),
        ("Father takes medication for fits", {"fits": ("family",)}),
        ("PMH:\nStroke s/p stent, asthma\n", {"stroke": ("history",), "asthma": ("history",)}),
        ("CT failed to show stroke, fails to reveal fits", {"stroke": NO, "fits": NO}),
        ("Failed to attend for asthma", {"asthma": ()}),
        ("No cough, just fever; no asthma, only fits", {"cough": NO, "asthma": NO} | HAS),
        ("Fits have never occurred, fever", {"fits": NO, "fever": ()}),
        ("Asthma has not been a problem. Fever not reported", {"asthma": NO, "fever": NO}),
        (
            "Fever: 0/10, cough - nil known, fits: NKDA",
            dict.fromkeys(("fever", "cough", "fits"), NO),
        ),
        ("Fever: 5/10. A cough 0/10 at rest", {"fever": (), "cough": ()}),
        ("I don\u2019t have fever. Hasn\u2019t had asthma", {"fever": NO, "asthma": NO}),
        ("She hasn't had fever, cough or fits", dict.fromkeys(("fever", "cough", "fits"), NO)),
        ("Can\u2019t exclude stroke", {"stroke": ("possible",)}),
        ("Asthma, fits-free", {"asthma": (), "fits": NO}),
        ("Asthma, free fluid", {"asthma": ()}),
        ("Antecedents: stroke, asthma. Cough", {"stroke": PAST, "asthma": PAST, "cough": ()}),
        ("Significant past:\nStroke\nFH: asthma", {"stroke": PAST, "asthma": ("family",)}),
        ("Family antecedents: asthma", {"asthma": ("family",)}),
        ("Background: asthma", {"asthma": ()}),
    ],
)
def test_words_around_a_mention_say_what_it_is(nlp, text, expected):
    assert read(nlp(text)) == expected


@pytest.mark.parametrize(
    "text, possible",
    [
        ("Imp: ?stroke, fever", ["stroke"]),
        ("Imp: ? stroke", ["stroke"]),
        ("Admitted (?stroke). Fever", ["stroke"]),
        ("Any fits? Fever", ["fits"]),
        ("Fever, cough, stroke?", ["stroke"]),
        ("Probable stroke with fever, cough", ["stroke"]),
        ("Likely asthma; fever", ["asthma"]),
        ("Stroke vs fits, a cough", ["stroke", "fits"]),
        ("Asthma less likely, cough", ["asthma"]),
        ("Stroke felt unlikely, asthma was thought to be unlikely", ["stroke", "asthma"]),
        ("Asthma was suspected; cough", ["asthma"]),
        ("Stroke cannot be excluded, cough", ["stroke"]),
        ("Fits due to fever, stroke to be ruled out", ["stroke"]),
        ("A cough, concern for asthma", ["asthma"]),
        ("Suspicious for stroke. Fever", ["stroke"]),
        ("This could represent a stroke", ["stroke"]),
        ("He may have fits, but a cough", ["fits"]),
        ("Ddx: stroke, fits and asthma", ["stroke", "fits", "asthma"]),
        ("Side effects such as fever and cough", ["fever", "cough"]),
        ("Asthma. Return if fever, cough or fits", ["fever", "cough", "fits"]),
        ("Should he have fits, call. A fever", ["fits"]),
        ("Fever, at risk for stroke", ["stroke"]),
        ("Aspirin to prevent stroke", ["stroke"]),
        ("Risk factors for stroke are known; cough", ["stroke"]),
        ("Aspirin can cause asthma", ["asthma"]),
        ("Asthma seems likely", ["asthma"]),
        ("DIFFERENTIAL DIAGNOSIS:\nStroke\nAsthma\n\nPlan: treat fever", ["stroke", "asthma"]),
        ("Stroke and fits in the differential; fever", ["stroke", "fits"]),
        ("Asthma is on the differential, has fever", ["asthma"]),
        ("Also in the differential: stroke, asthma", ["stroke", "asthma"]),
        ("Differentials include asthma and fits", ["asthma", "fits"]),
        ("Possibilities include asthma", ["asthma"]),
        ("Stroke remains possible, a cough", ["stroke"]),
        ("Asthma is a possibility. A cough", ["asthma"]),
        ("Asthma was suspected and cough", ["asthma"]),
        ("Fever could not be excluded", ["fever"]),
        ("Fever. Consider stroke", ["stroke"]),
        ("1. Consider acute stroke, asthma or fits. Fever", ["stroke", "asthma", "fits"]),
        ("- consider asthma", ["asthma"]),
        ("Exclude asthma or stroke. A fever", ["asthma", "stroke"]),
        ("A fever - consider asthma", ["asthma"]),
        ("A fever; exclude asthma", ["asthma"]),
        ("Please exclude asthma", ["asthma"]),
        ("Plan: 1) exclude asthma 2) return for fits", ["asthma", "fits"]),
        ("Return for cough, 3 lbs of gain, or fever. Has asthma.", ["cough", "fever"]),
        ("Concerned re: fever. A cough", ["fever"]),
        ("A cough, concern regarding asthma", ["asthma"]),
        ("Return for worsening fever, cough or fits", ["fever", "cough", "fits"]),
        ("Red flags: fever, fits. Has asthma", ["fever", "fits"]),
        ("?acute left stroke, fever", ["stroke"]),
        ("Imp: ? early asthma or fits", ["asthma", "fits"]),
        ("Paracetamol PRN fever or fits, asthma", ["fever", "fits"]),
        ("Tablets as needed for severe fits/cough; fever", ["fits", "cough"]),
        ("Return to the ED for worsening fever, cough > 3 d or fits", ["fever", "cough", "fits"]),
        ("Plan: return to clinic with fever. Cough", ["fever"]),
        ("Please come back to hospital for fits, fever", ["fits", "fever"]),
        ("Seek urgent medical attention for fits", ["fits"]),
        ("Advise patients to report fever, cough", ["fever", "cough"]),
        ("Report any fever to your doctor", ["fever"]),
        ("Fever? left stroke scan tomorrow", ["fever"]),
        ("Risks, including fits, stroke, were discussed. Fever", ["fits", "stroke"]),
        ("Risks and benefits of surgery, including stroke", ["stroke"]),
        ("Risks of fits or stroke. Discussed signs of asthma", ["fits", "stroke", "asthma"]),
        ("Complications such as stroke; complications of asthma", ["stroke"]),
        ("Taught mum the symptoms of asthma. Safety-netted re fits", ["asthma", "fits"]),
        ("Signs of asthma were explained. Has signs of fits", ["asthma"]),
        ("Seek care for worsening fever. Seek him for fits", ["fever"]),
        ("Code stroke called. Full code, fever", ["stroke"]),
        ("Reviewed with signs of asthma. Symptoms of fits discussed", []),
        ("Risk factors including asthma. Risks discussed, history taken: fits", []),
        ("?cause of fever", []),
        ("Inhaler PRN, asthma. Drops PRN\nCough", []),
        ("Returned to ED with fever. Had to return to hospital with fits", []),
        ("Return to clinic for yearly asthma review", []),
        ("Fever for 3 days, present with cough", []),
        ("The report says fever", []),
        ("Safety net: fever", ["fever"]),
        ("?acute stroke, fever", ["stroke"]),
        ("Aspirin PRN fever. Has a cough", ["fever"]),
        ("Asthma. Return to the ED for fever or cough", ["fever", "cough"]),
        ("Come back to clinic with worsening fits", ["fits"]),
        ("Seek medical attention for fever. Report any fits", ["fever", "fits"]),
        ("Patient advised to report cough", ["cough"]),
        ("Returned to the ED with fever", []),
        ("Fever? mild cough", ["fever"]),
        ("No red flags, has fever", []),
        ("Return for review of asthma", []),
        ("They exclude asthma patients with fever", []),
        ("Consider aspirin for stroke", []),
        ("Consider CT; fever, cough", []),
        ("We consider stroke the cause", []),
        ("Has to\nconsider fever", []),
        ("The fever remains", []),
        ("Fits likely due to fever", []),
        ("Come as soon as possible: fever", []),
        ("Aspirin if needed: fever", []),
        ("Findings consistent with asthma", []),
    ],
)
def test_what_is_suspected_asked_for_or_feared_is_possible(nlp, text, possible):
    said = read(nlp(text))
    assert [mention for mention, told in said.items() if told == ("possible",)] == possible
    assert all(told in ((), ("possible",)) for told in said.values())


def test_negation_is_read_as_negspacys_own_attribute(nlp):
    (fever,) = nlp("denies fever").ents
    assert fever._.negex is True
    assert (fever._.possible, fever._.family, fever._.history) == (False, False, False)


def test_a_text_without_mentions_is_left_as_it_is(nlp):
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


def test_mentions_inside_others_are_negated_with_them(nlp):
    doc = nlp.make_doc("no high fever. A cough")
    doc.ents = [doc.char_span(3, 13, label="FINDING"), doc.char_span(17, 22, label="FINDING")]
    doc.spans["mentions_all"] = [doc.char_span(8, 13), doc.char_span(17, 22)]
    nlp.get_pipe("assertion_marker")(doc)
    assert list(map(get_assertions, doc.spans["mentions_all"])) == [("negated",), ()]
