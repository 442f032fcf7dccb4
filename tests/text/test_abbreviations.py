import pytest
from hypothesis import given
from hypothesis import strategies as st

from spacy_connorm.text.abbreviations import find_abbreviations

# Notes and the definitions that a reader finds in them, in order.
NOTES = {
    "long form first": (
        "72 y/o male with chronic obstructive pulmonary disease (COPD) and a history of "
        "deep vein thrombosis (DVT). COPD stable on inhalers (two puffs), DVT in 2011.",
        [
            ("COPD", "chronic obstructive pulmonary disease"),
            ("DVT", "deep vein thrombosis"),
        ],
    ),
    "short form first": (
        "Admitted with AKI (acute kidney injury), most likely prerenal. Known CKD [chronic "
        "kidney disease] of stage 3 (see last letter).",
        [("AKI", "acute kidney injury"), ("CKD", "chronic kidney disease")],
    ),
    "small letters": (
        "c/o shortness of breath (sob) and nausea and vomiting (n/v). pmh: hypertension (htn), "
        "no chest pain (none today).",
        [("sob", "shortness of breath"), ("n/v", "nausea and vomiting"), ("htn", "hypertension")],
    ),
    "nested brackets": (
        "The family (two sisters with attenuated familial adenomatous polyposis (AFAP [MIM "
        "175100]), one of them treated) was seen again. [Their aunt had hereditary "
        "nonpolyposis colorectal cancer (HNPCC).]",
        [
            ("AFAP", "attenuated familial adenomatous polyposis"),
            ("HNPCC", "hereditary nonpolyposis colorectal cancer"),
        ],
    ),
    "a bracket inside the long form": (
        "Patients with dilated (congestive) cardiomyopathy (DCM) and multiple endocrine "
        "neoplasia (MEN) type 1 (MEN1) were left out.",
        [
            ("DCM", "dilated cardiomyopathy"),
            ("MEN", "multiple endocrine neoplasia"),
            ("MEN1", "multiple endocrine neoplasia type 1"),
        ],
    ),
    "digits": (
        "Spinocerebellar ataxia type 3 (SCA3) was told from type 1 diabetes (T1D) neuropathy; "
        "G6PD (glucose-6-phosphate dehydrogenase) was normal (n = 5, P < 0.05).",
        [
            ("SCA3", "Spinocerebellar ataxia type 3"),
            ("T1D", "type 1 diabetes"),
            ("G6PD", "glucose-6-phosphate dehydrogenase"),
        ],
    ),
    "hyphens and Greek letters": (
        "B-cell non-Hodgkin lymphoma (B-NHL) with raised tumour necrosis factor-α (TNF-α) and "
        "β-thalassaemia major (BTM); IL-6 (interleukin-6) was not measured.",
        [
            ("B-NHL", "B-cell non-Hodgkin lymphoma"),
            ("TNF-α", "tumour necrosis factor-α"),
            ("BTM", "β-thalassaemia major"),
            ("IL-6", "interleukin-6"),
        ],
    ),
    "plural short forms": (
        "Colorectal cancers (CRCs) and gastrointestinal stromal tumors (GISTs) were compared. "
        "One CRC was mucinous (a), two CRCs were not (b).",
        [("CRCs", "Colorectal cancers"), ("GISTs", "gastrointestinal stromal tumors")],
    ),
    "several in one bracket": (
        "Mutations in adenomatous polyposis coli (APC; MIM 175100) and in its receptor (AR, "
        "androgen receptor) were sought in the antisocial region (androgen receptor = AR).",
        [
            ("APC", "adenomatous polyposis coli"),
            ("AR", "androgen receptor"),
            ("AR", "androgen receptor"),
        ],
    ),
    "another name": (
        "Isolated diffuse mesangial sclerosis (isolated DMS, also called IDMS) and Duchenne or "
        "Becker muscular dystrophy (DMD or BMD) are rare.",
        [
            ("IDMS", "isolated DMS"),
            ("DMD", "Duchenne or Becker muscular dystrophy"),
            ("BMD", "Becker muscular dystrophy"),
        ],
    ),
    "signs at the end": (
        "Methylphenylpyridinium (MPP+), nicotinamide adenine dinucleotide (NAD(+)) and estrogen "
        "receptor-negative (ER-) tumours.",
        [
            ("MPP+", "Methylphenylpyridinium"),
            ("NAD(+)", "nicotinamide adenine dinucleotide"),
            ("ER-", "estrogen receptor-negative"),
        ],
    ),
    "defined twice": (
        "Multiple sclerosis (MS) was ruled out by MRI. Echo: mitral stenosis (MS), moderate. "
        "MS to be followed up (cardiology).",
        [("MS", "Multiple sclerosis"), ("MS", "mitral stenosis")],
    ),
    "letters in order that begin no words": (
        "Attenuated adenomatous polyposis coli (AAPC) is milder. Arylsulfatase A (ARSA) was low "
        "and poly(ADP-ribose) polymerase (PARP) normal.",
        [
            ("AAPC", "Attenuated adenomatous polyposis coli"),
            ("ARSA", "Arylsulfatase A"),
            ("PARP", "poly(ADP-ribose) polymerase"),
        ],
    ),
    "letters in the order of other languages": (
        "Myotonic dystrophy (DM), congenital adrenal hypoplasia (AHC), mild dystrophy (DMX), "
        "DMPK (myotonic dystrophy protein kinase).",
        [
            ("DM", "Myotonic dystrophy"),
            ("AHC", "congenital adrenal hypoplasia"),
            ("DMPK", "myotonic dystrophy protein kinase"),
        ],
    ),
    "line breaks and sentences": (
        "Findings:\n- pulmonary\n  embolism (PE), bilateral\n- pericardial effusion.\n\nPlan: "
        "heparin. (PTT)\nSt. Louis encephalitis (SLE) serology sent.",
        [("PE", "pulmonary\n  embolism"), ("SLE", "St. Louis encephalitis")],
    ),
    "none": (
        "A 54-year-old woman (G2P1) was seen (see text) on day 3 (Fig. 2) with (i) fever, (ii) "
        "rash and (iii) cough (38.5 C; 95% of the time) at the clinic (Carlsbad, CA); HbA1c (7.2) "
        "and the odds (OR = 2.7) were high ( ) [12, 13]; 2(5H)-furanone was given.",
        [],
    ),
}
TRICKY = st.text(st.sampled_from('Aa bB1-()[];,.=\n"αİßé/ orSs'), max_size=80)


@pytest.mark.parametrize("name", NOTES)
def test_the_definitions_of_a_note_are_found_and_no_others(name):
    text, expected = NOTES[name]
    found = find_abbreviations(text, "en")
    pairs = [(short, " ".join(long.split())) for short, long in expected]
    assert [(abbreviation.short, abbreviation.long) for abbreviation in found] == pairs


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_an_empty_line_ends_a_sentence(end):
    found = find_abbreviations(f"Chronic kidney disease{end}(CKD)", "en")
    assert [abbreviation.short for abbreviation in found] == ["CKD"]
    assert not find_abbreviations(f"Chronic kidney disease{end}{end}(CKD)", "en")


def test_offsets_tell_where_a_definition_stands():
    text = "No (a) DM. Diabetes \n mellitus  ( DM ) and RA [rheumatoid arthritis]."
    assert [
        (text[each.start : each.end], text[each.long_start : each.long_end])
        for each in find_abbreviations(text, "en")
    ] == [("DM", "Diabetes \n mellitus"), ("RA", "rheumatoid arthritis")]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "deep vein thrombosis (DVT",
        "deep vein thrombosis DVT)",
        "deep vein thrombosis (DVT]",
        ")(deep vein thrombosis ((DVT",
        "deep vein thrombosis ()",
        "deep vein thrombosis (deep vein thrombosis)",
        "the DVT (DVT)",
    ],
)
def test_no_definition_no_error(text):
    assert find_abbreviations(text, "en") == []


@pytest.mark.parametrize(
    "text",
    [
        "deep vein thrombosis (DVT). ((((",
        "1) deep vein thrombosis (DVT)",
        "a) swelling) [ deep vein thrombosis (DVT)",
    ],
)
def test_a_bracket_without_its_partner_hides_no_other(text):
    assert [abbreviation.short for abbreviation in find_abbreviations(text, "en")] == ["DVT"]


def test_a_sentence_does_not_lend_words_to_the_next():
    assert find_abbreviations("He took digoxin. Vomited. Tested (DVT)", "en") == []


@pytest.mark.parametrize(
    "text",
    [
        "(" * 100_000,
        "(" * 10_000 + ")" * 10_000,
        "()" * 50_000,
        "(A" * 5_000 + ")" * 5_000,
        "a" * 100_000 + " (AAAAAAAAAA)",
        "aaaa aaaa aaaa (AAAAAAAAAA) " * 300,
        "and or " * 15_000 + "(AO)",
        "(" + "or " * 30_000 + ")",
        "(" + "as  " * 30_000 + ")",
    ],
    ids=lambda text: text[:12],
)
def test_hostile_text_comes_to_an_end(text):
    find_abbreviations(text, "en")


def test_a_long_document_has_all_its_definitions():
    text = "Seen for deep vein thrombosis (DVT) again. " * 3_000
    assert len(find_abbreviations(text, "en")) == 3_000


@given(st.one_of(st.text(), TRICKY))
def test_whatever_the_text_offsets_are_right(text):
    for abbreviation in find_abbreviations(text, "en"):
        assert text[abbreviation.start : abbreviation.end] == abbreviation.short
        assert 0 <= abbreviation.long_start < abbreviation.long_end <= len(text)
        assert abbreviation.long and abbreviation.long == " ".join(abbreviation.long.split())
