"""Tests of windows that are not mentions where they stand."""

import pytest
from finding import marked

from .name_pipeline import build

NAMES = [
    "S11",
    "S12",
    "ureteric bud",
    "metanephric ureteric bud",
    "Be cell",
    "abnormal cell",
    "cell",
    "stage 3 kidney disease",
    "kidney disease",
    "tooth disorder",
    "hereditary disease",
    "molecular disease",
    "fall",
    "synovitis",
    "more",
    "retinal",
    "fever",
    "depression",
    "hypertension",
    "pallor",
    "MODY 3",
    "MODY",
    "aggression",
    "face",
    "scale",
    "valerian",
    "asthma",
    "sepsis",
    "psychotic disorder",
    "maze test",
    "ATPase",
    "methyladenosine",
    "cadherin",
    "P-selectin",
    "selectin",
    "glucose",
    "low vision",
    "increased heart output",
    "shock",
    "lead",
]


@pytest.fixture(scope="module")
def nlp():
    """A pipeline with these names. Tests do not change it."""
    return build(NAMES)


@pytest.mark.parametrize(
    "text",
    [
        "Klebsiella pneumoniae, MYCOBACTERIUM TUBERCULOSIS and Plasmodium malariae",
        "S. pneumoniae grew, N. gonorrhoeae did not",
        "[pneumonia], [TUBERCULOSIS] and two [pneumoniae]",
        "[Plasma glucose], Sodium [glucose]",
        "seen by Dr. A. [Pneumonia] was found, vitamin C. [pneumonia] again",
    ],
)
def test_the_second_word_of_the_name_of_an_organism_is_not_a_finding(text):
    names = ["pneumonia", "tuberculosis", "malaria", "gonorrhea", "glucose"]
    assert marked(build(names), text) == text


@pytest.mark.parametrize(
    "text",
    [
        "Reflexes at [S11] and [S12] are weak.",
        "The [ureteric bud] to the metanephric mesenchyme",
        "The [ureteric bud of the metanephric].",
        "This may be the [cell].",
        "Morphology of the [cells] is abnormal.",
        "The [cells are abnormal].",
        "3. [Kidney disease stage 3]",
        "fall precautions, fall risk, [fall] clinic",
        "fall 2 detector, [fall] 2 days, a fall collar",
        "fever-reducing, a fall-assist device, [fall]-related, [glucose]-lowering",
        "fall educational leaflet, lead-fall-shock vaccine, [fall] high",
        "a low vision diet, [low vision], a [glucose] diet",
        "The [fever] screen is negative, a [fever] test was positive",
        "A fever test. Nothing was positive",
        "fall protocol, fall alert, fall action plan, fall warning signs",
        "the [S11] and the [fall] group",
        "yellow fever and [fever]",
        "In the face of this, swelling of the [face].",
        "fever medicine, fever screen, fever chart, hereditary disease screening",
        "stage 3 kidney disease guideline; [stage-3 kidney disease]",
        "ST depression, portal hypertension or [depression]",
        "heat shock, electric shock, shock waves and [shock]",
        "12-lead ECG, lead II, lead candidate, [lead] in blood",
        "[Tooth disorder] is a [molecular disease].",
        "retinal vessels and [retinal]",
        "11-cis retinal binding",
        "[Retinal] is bound; [MORE] and more.",
        "A [tooth abnormality].",
        "A molecular defect.",
        "A [molecular disorder].",
        "[Synovitis] R wrist.",
        "[MODY 3] in months",
        "decreased visual acuity, [increased cardiac output]",
        "[vision decreased], [decreased vision]",
        "D-[glucose], A- [glucose]",
        "E-cadherin, N\u2010cadherin, [P-selectin], [cadherin]",
        "T-[maze test], Na-K-[ATPase], N-[methyladenosine]",
        "Scale bar, scale bars: 5 mm. A [scale].",
        "an [asthmatic], [septic], [psychotic] boy",
    ],
)
def test_where_it_stands_tells_whether_a_window_is_a_mention(nlp, text):
    assert marked(nlp, text) == text


@pytest.mark.parametrize(
    "text",
    [
        "[Infarction of the myocardium] was found.",
        "[Infarction in the myocardium] is old.",
        "Retinal neurons are small.",
    ],
)
def test_a_noun_after_of_is_not_the_subject_of_a_statement(text):
    assert marked(build(("myocardial infarction", "neural retina")), text) == text


@pytest.mark.parametrize(
    "text",
    [
        "A small [kidney stone] and a [small kidney].",
        "A small kidney cyst in a [small kidney] patient",
        "symptoms of [kidney stones]",
        "[heart failure] clinic, heart failure pills",
        "a [small kidney] persists, small [kidney stones]",
        "[enlarged hearts], [enlarged heart] pressing on the lung",
        "an [enlarged heart] of the child",
        "a large head of the nucleus, [large head] of the child",
        "a [large head] today",
    ],
)
def test_the_word_after_it_may_be_the_head(text):
    names = ("small kidney", "kidney stone", "heart failure", "enlarged heart", "kidney symptom")
    names = (*names, "large head")
    assert marked(build(names), text) == text


def test_a_tagger_tells_what_is_a_noun():
    nlp = build(["small kidney", "kidney stone"])
    doc = nlp.make_doc("a small kidney hurt it")
    finder = nlp.get_pipe("mention_finder")
    assert not finder.predict([doc])[0]
    for token, pos in zip(doc, ("DET", "ADJ", "NOUN", "VERB", "PRON"), strict=True):
        token.pos_ = pos
    assert [mention.name for mention in finder.predict([doc])[0]] == ["small kidney"]


@pytest.mark.parametrize(
    "text",
    [
        "tumor necrosis factor was raised",
        "the [tumor]: necrosis factor",
        "[tumor] factor VIII",
        "tumor 1 gene, the [tumor] gene",
        "a tumor-to-host transfer, [tumor] to bone",
        "[tumor] with [necrosis]",
        "a tumor-specific protein",
        "[tumor] growth in patients with [necrosis]",
    ],
)
def test_a_disorder_before_a_molecule_is_part_of_its_name(text):
    assert marked(build(["tumor", "necrosis"]), text) == text


@pytest.mark.parametrize(
    "text",
    [
        "He saw Mr. Shock and Dr Fall.",
        "Dear Prof. Fever, thank you for coming.",
        "Seen by Dr P. [Fever] persists.",
        "Miss Fever is a nurse.",
        "Miss Jones [Fever] 2010",
        "The Surgery, 4 Fall Lane, Leeds",
        "Diagnosis: [Shock] Street drugs denied",
        "Dr. Jones: [Fever] since May",
        "He saw Dr. Jones. [Fever] persists.",
        "DR. JONES [FEVER]",
        "a [fall] in Park Lane",
    ],
)
def test_people_and_places_are_not_findings(nlp, text):
    assert marked(nlp, text) == text
