"""Tests of windows that are not mentions where they stand."""

import pytest

from .name_pipeline import build

NAMES = [
    *("S1", "S2", "ureteric bud", "metanephric ureteric bud", "Be cell"),
    *("abnormal cell", "cell", "stage 3 kidney disease", "kidney disease", "tooth disorder"),
    *("hereditary disease", "molecular disease", "fall", "synovitis", "more", "retinal", "fever"),
    *("depression", "hypertension", "pallor", "MODY 3", "MODY", "aggression", "face"),
    *("scale", "valerian", "asthma", "sepsis", "psychotic disorder"),
    *("maze test", "ATPase", "methyladenosine"),
    *("cadherin", "P-selectin", "selectin", "glucose"),
    *("low vision", "increased heart output"),
]


@pytest.fixture(scope="module")
def nlp():
    """A pipeline with these names. Tests do not change it."""
    nlp = build(NAMES)
    nlp.get_pipe("mention_finder").cfg["min_letters"] = 2
    return nlp


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("See Figure S1, S2 and Table S1.", []),
        ("(Figs. S1-S2)", []),
        ("Reflexes at S1 and S2 are weak.", ["S1", "S2"]),
        ("The ureteric bud to the metanephric mesenchyme", ["ureteric bud"]),
        ("The ureteric bud of the metanephric.", ["ureteric bud of the metanephric"]),
        ("This may be the cell.", ["cell"]),
        ("Morphology of the cells is abnormal.", ["cells"]),
        ("The cells are abnormal.", ["cells are abnormal"]),
        ("3. Kidney disease stage 3", ["Kidney disease stage 3"]),
        ("fall precautions, fall risk, fall clinic", []),
        ("S1 panel sent, S1 and the panel, fall panel", ["S1", "fall"]),
        ("yellow fever and fever", ["fever"]),
        ("In the face of this, swelling of the face.", ["face"]),
        ("aggressive treatment of an aggressive boy, hypotensive", ["aggressive"]),
        ("fever screen, fever chart, hereditary disease screening, fever-range", []),
        ("stage 3 kidney disease guideline; stage-3 kidney disease", ["stage-3 kidney disease"]),
        ("pale stools on a pale skin. She is pale.", ["pale"]),
        ("ST depression, portal hypertension or depression", ["depression"]),
        ("Tooth disorder is a molecular disease.", ["Tooth disorder", "molecular disease"]),
        ("retinal vessels and retinal", ["retinal"]),
        ("11-cis retinal binding", []),
        ("Retinal is bound; MORE and more.", ["Retinal", "MORE"]),
        ("The molar tooth sign.", []),
        ("A tooth abnormality.", ["tooth abnormality"]),
        ("A molecular defect.", []),
        ("A molecular disorder.", ["molecular disorder"]),
        ("Synovitis R wrist.", ["Synovitis"]),
        ("decreased visual acuity, increased cardiac output", ["increased cardiac output"]),
        ("vision decreased, decreased vision", ["vision decreased", "decreased vision"]),
        ("E-cadherin, N\u2010cadherin, P-selectin, cadherin", ["P-selectin", "cadherin"]),
        ("D-glucose, A- glucose", ["glucose", "glucose"]),
        ("T-maze test, Na-K-ATPase, N-methyladenosine", ["maze test", "ATPase", "methyladenosine"]),
        ("Scale bar, scale bars: 5 mm. A scale.", ["scale"]),
        ("Dr. Valerian and Mrs Fever gave valerian. PROF fever", ["valerian", "fever"]),
        ("He is very depressed. 33M depressed, depressed patients", ["depressed"] * 3),
        ("Activity was depressed. She has a depressed fracture, depressed by ATP.", []),
        ("an asthmatic, septic, psychotic boy", ["asthmatic", "septic", "psychotic"]),
        ("MODY 3 months ago, MODY 3 in months", ["MODY", "MODY 3"]),
    ],
)
def test_where_it_stands_tells_whether_a_window_is_a_mention(nlp, text, expected):
    assert [ent.text for ent in nlp(text).ents] == expected
