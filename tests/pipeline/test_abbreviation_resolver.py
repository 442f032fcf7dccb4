import pytest
import spacy
from finding import blank, marked

from spacy_connorm.documents.abbreviations import find_long_forms, get_abbreviations
from spacy_connorm.errors import ConnormError
from spacy_connorm.pipeline.abbreviation_resolver import AbbreviationResolver

TEXTS = ["Deep vein thrombosis (DVT) again. No PE.", "", "PE (pulmonary embolism). DVT?"]


def make_pipeline():
    nlp = blank()
    nlp.add_pipe("abbreviation_resolver")
    return nlp


def read(doc):
    return [(abbreviation.short, abbreviation.long) for abbreviation in get_abbreviations(doc)]


EXPECTED = [[("DVT", "Deep vein thrombosis")], [], [("PE", "pulmonary embolism")]]


def test_every_document_has_its_own_definitions():
    nlp = make_pipeline()
    assert isinstance(nlp.get_pipe("abbreviation_resolver"), AbbreviationResolver)
    docs = list(nlp.pipe(TEXTS))
    assert [read(doc) for doc in docs] == EXPECTED
    assert find_long_forms(docs[0], [docs[0][-2:-1], docs[0][4:5]]) == ["", "Deep vein thrombosis"]


def test_workers_hand_definitions_back():
    docs = make_pipeline().pipe(TEXTS, n_process=2, batch_size=1)
    assert [read(doc) for doc in docs] == EXPECTED


def test_a_pipeline_is_loaded_as_it_was_saved(tmp_path):
    make_pipeline().to_disk(tmp_path)
    nlp = spacy.load(tmp_path)
    assert nlp.pipe_names == ["abbreviation_resolver"]
    assert [read(doc) for doc in nlp.pipe(TEXTS)] == EXPECTED


def test_it_tells_what_it_assigns():
    nlp = make_pipeline()
    analysis = nlp.analyze_pipes(keys=["assigns"])
    assigned = analysis["summary"]["abbreviation_resolver"]["assigns"]
    assert assigned == ["doc._.abbreviations", "span._.long_form"]


def test_a_table_tells_short_forms_that_a_document_does_not_define(tmp_path):
    table = tmp_path / "short.tsv"
    table.write_text("SOB\tshortness of breath\nPE\tphysical examination\n")
    nlp = make_pipeline()
    nlp.get_pipe("abbreviation_resolver").initialize(lambda: [], short_forms=table)
    nlp.to_disk(tmp_path / "saved")
    doc = spacy.load(tmp_path / "saved")("SOB since Monday. Pulmonary embolism (PE)? SOB, sob.")
    assert [
        (abbreviation.text, abbreviation._.long_form) for abbreviation in doc._.abbreviations
    ] == [
        ("SOB", "shortness of breath"),
        ("PE", "Pulmonary embolism"),
        ("SOB", "shortness of breath"),
    ]


def test_clinical_short_forms_are_those_of_the_language():
    resolver = blank("es").add_pipe("abbreviation_resolver")
    resolver.initialize(short_forms="clinical")
    assert resolver.cfg["short_forms"]["HTA"] == "hipertensión arterial"
    assert "SOB" not in resolver.cfg["short_forms"]


@pytest.mark.parametrize(
    "text",
    [
        *("ED NOTE. Sat 98% RA. PE: no rash", "No [PE] on CT", "Echo: mild\n[TR]"),
        *(
            "Echo: [TR] mild. +[PE]",
            "PMH: [TR] s/p repair. 71M [PE]",
            "Imp [PE]",
            "r/o [PE]",
            "Dx: ?[PE]",
            "hx of [PE]",
            "PMH: [HTN], [PE], [TR]",
        ),
        *("[TR] and [HTN]", "Gen: well. [PE] less likely.", "1. [TR] - resolved"),
        "[PE] very unlikely",
        *("PE likewise normal", "TR, PE", "[HTN]. PE", "Pulmonary embolism ([PE]). [PE]: no"),
        *("nil [PE]", "ECG: [PE]", "Ddx: [PE]", "Bg [RA]", "Background of [RA]", "risk of [PE]"),
        *("Background RA", "ECG PE", "10 PE", "PE risk"),
        *("Possibly no-PE", "no PE tenderness, ED visit", "new [PE] today", "1. [PE]\n2. TR: mild"),
        *("1. PE: normal", "[PE] on apixaban, 97% RA on arrival", "has [RA], presents with [PE]"),
        *("[CBC], PE", "orthopnea, [PE]", "[TR], chronic hypertension, [CBC]"),
        *("PMH: back pain / [PE]", "PE, pain consult", "walks, PE", "on apixaban ([PE])"),
        *("On warfarin for [PE].", "on exam (PE)", "No evidence of [PE]. Symptoms of [TR]"),
        *("the sequence of PE", "9. [HTN]\n10. [RA] knees\n11. x", "- [RA] L hip and both hands"),
        *("10. RA clinic", "10. RA knees exam", "RA knees", "seen for PE chest\nRA knees"),
        *("Ortho: [RA] both knees", "L hip [RA]", "CT chest PE protocol"),
        *("She walks with [RA] of the knees.", "[RA] of her left hip", "RA of hips exam"),
        *("Severe [RA] R hand; gout", "RA R hand clinic"),
        *("1. PE panel sent", "No PE test, hx of PE screening. r/o PE Culture, known PE gene"),
        *("HTN series", "[HTN] series for [HTN]", "[CBC] test", "[MI] 2010. RD consulted"),
        *("[HTN], [RD]", "[TR] grade 2, developed [PE]", "1. PE, 55M, pain\n2. [HTN], 55F"),
        *("1. RD, 55M", "1. [PE], 55 mg"),
        "PE: no rash.\nr/o [PE]. PE: clear\n2. [PE]: heparin\n[HTN]: on",
        "[PE] 2010, no [PE] on CT.\n PE: clear",
        *("No [PE]. ASA 81. PE: clear", "No [PE].\n11. [PE]: heparin"),
        "Disorder of gland NEC\nHysterectomy NEC 2004 | Other NEC",
        "Preterm with [NEC]\n[NEC] totalis. Suspected [NEC]",
    ],
)
def test_short_forms_with_other_meanings_count_where_findings_stand(text):
    nlp = make_pipeline()
    nlp.get_pipe("abbreviation_resolver").cfg.update(
        {
            "short_forms": {
                **{"HTN": "hypertension", "CBC": "complete blood count"},
                **{"MI": "myocardial infarction", "RD": "retinal detachment"},
                "NEC": "necrotizing enterocolitis",
            },
            "findings": ["HTN", "MI", "RD", "NEC"],
            "meanings": {
                **{"PE": ["pulmonary embolism"], "RA": ["rheumatoid arthritis"]},
                **{"ED": ["erectile dysfunction"], "TR": ["tricuspid regurgitation"]},
            },
        }
    )
    assert marked(nlp, text, lambda doc: doc._.abbreviations) == text


@pytest.mark.parametrize(
    "text",
    [
        *("[CKD 4], [CKD III].", "[CKD 4] (stable). [CKD 4] on dialysis"),
        *("[CKD 4] followed by nephrology\n[CKD III]", "[CKD] 4 months"),
        *("[CKD] 4.5, [CKD] 4:1, [CKD] 4/52", "[CKD] III fluids", "1. [CKD] 4. HTN"),
        *("3. [CKD 4]. 4. HTN", "3. [CKD 4].\n4. HTN", "([CKD 4]) today", "[AF 4] months"),
    ],
)
def test_a_number_behind_a_short_form_may_count_something_else(text):
    nlp = make_pipeline()
    nlp.get_pipe("abbreviation_resolver").cfg["short_forms"] = {
        "AF 4": "atrial fibrillation type 4",
        **{"CKD": "chronic kidney disease", "CKD 4": "chronic kidney disease stage 4"},
        "CKD III": "chronic kidney disease stage 3",
    }
    assert marked(nlp, text, lambda doc: doc._.abbreviations) == text


@pytest.mark.parametrize(
    ("text", "long_form"),
    [
        ("c/o CP. Pain worse on exertion", "chest pain"),
        ("h/o CP with palsies", "cerebral palsy"),
        ("Likely CP - palsies", "cerebral palsy"),
        ("no CP", None),
        ("no CP, but pain and palsy", None),
        ("CP: pain", None),
    ],
)
def test_a_meaning_is_chosen_by_the_words_of_the_text(text, long_form):
    nlp = make_pipeline()
    meanings = {"CP": ["chest pain", "cerebral palsy"]}
    nlp.get_pipe("abbreviation_resolver").cfg["meanings"] = meanings
    found = nlp(text)._.abbreviations
    assert [each._.long_form for each in found] == ([long_form] if long_form else [])


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Has FAD. FAD, MCT", []),
        ("FAD level low, MCT oil", ["FAD", "MCT"]),
        ("PMH: hypertension, FAD, MCT", []),
        ("MCT oil for FAD. No FAD", ["MCT"]),
        ("Fit and dry (FAD). FAD level", ["FAD"]),
        ("FAD: given", ["FAD"]),
    ],
)
def test_names_of_the_ontology_are_kept_where_findings_stand(text, found):
    nlp = make_pipeline()
    nlp.get_pipe("abbreviation_resolver").cfg.update(
        {
            "short_forms": {"FAD": "flavin adenine dinucleotide", "MCT": "mid-chain triglyceride"},
            "findings": [],
            "own_names": ["FAD", "MCT"],
        }
    )
    assert sorted({abbreviation.text for abbreviation in nlp(text)._.abbreviations}) == found


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Sepsis, stage IV disease", []),
        ("on IV fluids, stage IV", ["IV"]),
        ("Stage\nIV", []),
        ("backstage IV line", ["IV"]),
    ],
)
def test_a_roman_number_is_not_a_short_form(text, found):
    nlp = make_pipeline()
    settings = {"short_forms": {"IV": "intravenous"}, "findings": []}
    nlp.get_pipe("abbreviation_resolver").cfg.update(settings)
    means = [span.text for span in nlp(text)._.abbreviations if span._.long_form == "intravenous"]
    assert means == found


@pytest.mark.parametrize(
    "text",
    [
        *("[L] knee pain, hernia ([R]).", "Pain in [R] shoulder", "2 L fluid, Na 135 mmol/L given"),
        *("L-dopa for [L] hand tremor", "Seen by Dr R.", "Lungs: [R] clear, R/O PE, R > L"),
        *("Tennis elbow [R]; frozen shoulder [L], gout", "Seen by David R.", "Lead R"),
    ],
)
def test_the_letter_of_a_side_stands_beside_a_word_or_in_brackets(text):
    nlp = make_pipeline()
    settings = {"short_forms": {"L": "left", "R": "right"}, "findings": ["L"]}
    nlp.get_pipe("abbreviation_resolver").cfg.update(settings)

    def read_sides(doc):
        return [span for span in doc._.abbreviations if span._.long_form in ("left", "right")]

    assert marked(nlp, text, read_sides) == text


def test_an_empty_long_form_is_refused():
    with pytest.raises(ConnormError, match="CN006.*short_forms"):
        AbbreviationResolver(short_forms={"SOB": ""})
