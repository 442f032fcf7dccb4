"""What words stand for beside others, and alone."""

import pytest

from .name_pipeline import build

NAMES = (
    *("Raynaud phenomenon", "Fisher syndrome", "Cushing disease", "Fracture of clavicle"),
    *(
        "Second degree burn",
        "Pre-eclampsia",
        "Kidney disease",
        "Respiratory system",
        "Digit",
        "Synapse",
    ),
    *("Digit necrosis", "eye", "Met", "Tics", "ALL", "Brisk reflexes", "Left ventricle mass"),
    *("Lead", "Second degree atrioventricular block", "Abdominal pain", "Prolonged QT interval"),
    *("Increased serum creatinine", "Decreased platelet count", "Increased spleen size"),
    *(
        "Gastro-esophageal reflux",
        "Low-set ears",
        "Confusion",
        "Jaundice",
        "Type 2 diabetes mellitus",
    ),
    *("Carpal tunnel syndrome, right upper limb", "Nausea, vomiting"),
    *("HER2 positive carcinoma", "CD16-negative leukocyte", "Pelvic kidney", "Unsteady gait"),
    *(
        "Wilms tumor",
        "Kidney tumor",
        "Knee pain",
        "Dilated ventricle",
        "Canavan disease",
        "Inherited disease",
        "Renal cyst",
        "Difficulty swallowing",
        "Inability to walk",
        "Pressure ulcer of heel, stage 2",
        "Low blood calcium levels",
        "Ear pain",
        "ST segment depression",
        "Exertional dyspnea",
        "Drug-induced dyskinesia",
        "Drug-induced disorder",
        "Retention of urine",
        "Absent ankle reflexes",
        "Placenta previa",
        "Abnormal weight loss",
        "Hepatitis C infection",
        "Tongue edema",
        "Kidney neoplasm",
        "Respect",
        "Hereditary disorder",
        "Mouth dryness",
        "Intestinal obstruction",
        "Forgetfulness",
        "Joint pain",
        "Vocal cord paralysis",
        "Pulmonary embolism",
        "Drug overdose",
        "Substance-induced psychoses",
    ),
    *("Mucositis oral", "Lipase increased", "Vision blurred", "Rash maculo-papular"),
    *("Edema of lower extremity", "Upper limb pain"),
    *("Calcium decreased", "Collar bone", "Hypo-albuminemia"),
)


HIGH = ("increased", "elevated", "raised", "high")


@pytest.fixture(scope="module")
def nlp():
    return build(NAMES)


@pytest.mark.parametrize(
    ("text", "mention", "concept"),
    [
        ("She has secondary Raynaud's.", "Raynaud's", "Raynaud phenomenon"),
        ("Raynaud’s with ulcers", "Raynaud’s", "Raynaud phenomenon"),
        (
            "Fracture of the left clavicle",
            "Fracture of the left clavicle",
            "Fracture of clavicle",
        ),
        ("fracture of right clavicle", "fracture of right clavicle", "Fracture of clavicle"),
        ("fracture of clavicle R", "fracture of clavicle", "Fracture of clavicle"),
        ("Unsteady gait L (knee)", "Unsteady gait", "Unsteady gait"),
        ("a fracture R clavicle", "fracture R clavicle", "Fracture of clavicle"),
        ("lead may lead to it, this leads to that", "lead", "Lead"),
        ("with respect to Respect", "Respect", "Respect"),
        ("a 2nd degree burn", "2nd degree burn", "Second degree burn"),
        ("preeclampsia", "preeclampsia", "Pre-eclampsia"),
        ("diabetic nephropathy", "nephropathy", "Kidney disease"),
        ("respiratory arrest", "respiratory", "Respiratory system"),
        ("synaptic gaps", "synaptic", "Synapse"),
        ("digital necrosis", "digital necrosis", "Digit necrosis"),
        ("Eye", "Eye", "eye"),
        ("both eyes", "eyes", "eye"),
        ("motor tics", "tics", "Tics"),
        ("Reflexes brisk.", "Reflexes brisk", "Brisk reflexes"),
        ("reflexes are brisk", "reflexes are brisk", "Brisk reflexes"),
        ("2nd degree AV block", "2nd degree AV block", "Second degree atrioventricular block"),
        ("some abd pain", "abd pain", "Abdominal pain"),
        ("a prolonged QT", "prolonged QT", "Prolonged QT interval"),
        ("DM type 2", "DM type 2", "Type 2 diabetes mellitus"),
        ("high creatinine today", "high creatinine", "Increased serum creatinine"),
        ("low platelets", "low platelets", "Decreased platelet count"),
        ("The spleen is enlarged.", "spleen is enlarged", "Increased spleen size"),
        ("gastroesophageal reflux", "gastroesophageal reflux", "Gastro-esophageal reflux"),
        ("Ears are low-set.", "Ears are low-set", "Low-set ears"),
        ("She is confused.", "confused", "Confusion"),
        ("confused  &  well", "confused", "Confusion"),
        ("jaundiced infant", "jaundiced", "Jaundice"),
        ("her gait was unsteady", "gait was unsteady", "Unsteady gait"),
        ("Wilms tumor of the left kidney", "Wilms tumor", "Wilms tumor"),
        ("a tumor of the left kidney", "tumor of the left kidney", "Kidney tumor"),
        ("Canavan disease is inherited.", "Canavan disease", "Canavan disease"),
        ("pain in knees", "pain in knees", "Knee pain"),
        (
            "pressure ulcer of the heel, stage 2, today",
            "pressure ulcer of the heel, stage 2",
            "Pressure ulcer of heel, stage 2",
        ),
        ("low serum calcium", "low serum calcium", "Low blood calcium levels"),
        ("some ear ache", "ear ache", "Ear pain"),
        ("dyspnea on exertion", "dyspnea on exertion", "Exertional dyspnea"),
        ("ST depression in V4", "ST depression", "ST segment depression"),
        ("cyst in kidney", "cyst in kidney", "Renal cyst"),
        *(
            (f"some {text}", text, "Drug-induced dyskinesia")
            for text in ("levodopa-induced dyskinesia", "Ropinirole induced dyskinesias")
        ),
        ("cocaine-induced psychosis", "cocaine-induced psychosis", "Substance-induced psychoses"),
        ("nephrotoxicity", "nephrotoxicity", "Kidney disease"),
        ("bowel obstruction", "bowel obstruction", "Intestinal obstruction"),
        ("she is forgetful", "forgetful", "Forgetfulness"),
        ("an earache", "earache", "Ear pain"),
        ("painful joints", "painful joints", "Joint pain"),
        ("vocal cord palsy", "vocal cord palsy", "Vocal cord paralysis"),
        ("a pulmonary embolus", "pulmonary embolus", "Pulmonary embolism"),
        ("an autosomal recessive disorder", "recessive disorder", "Hereditary disorder"),
        ("dry mouth and dry toast", "dry mouth", "Mouth dryness"),
        ("severe kidney toxicity", "kidney toxicity", "Kidney disease"),
        ("an overdose", "overdose", "Drug overdose"),
        ("urinary retention", "urinary retention", "Retention of urine"),
        ("absent ankle jerk", "absent ankle jerk", "Absent ankle reflexes"),
        ("placenta praevia", "placenta praevia", "Placenta previa"),
        ("some weight loss", "weight loss", "Abnormal weight loss"),
        ("hepatitis C", "hepatitis C", "Hepatitis C infection"),
        ("swelling of the tongue", "swelling of the tongue", "Tongue edema"),
        ("renal neoplasia", "renal neoplasia", "Kidney neoplasm"),
        ("He has trouble swallowing.", "trouble swallowing", "Difficulty swallowing"),
        ("was unable to walk", "unable to walk", "Inability to walk"),
        ("a Cushing's flare", "Cushing's", "Cushing disease"),
        ("RAYNAUD'S PATIENTS", "RAYNAUD'S", "Raynaud phenomenon"),
        ("HER2+ carcinoma", "HER2+ carcinoma", "HER2 positive carcinoma"),
        ("CD16\u2212 leukocytes", "CD16\u2212 leukocytes", "CD16-negative leukocyte"),
        ("oral mucositis", "oral mucositis", "Mucositis oral"),
        ("blurred vision", "blurred vision", "Vision blurred"),
        *((f"{high} lipase", f"{high} lipase", "Lipase increased") for high in HIGH),
        ("bilateral LE edema", "LE edema", "Edema of lower extremity"),
        ("RUE pain", "RUE pain", "Upper limb pain"),
        ("low calcium", "low calcium", "Calcium decreased"),
        ("maculopapular rash", "maculopapular rash", "Rash maculo-papular"),
        ("hypoalbuminemia", "hypoalbuminemia", "Hypo-albuminemia"),
        (
            "no carpal tunnel syndrome, right upper limb is",
            "carpal tunnel syndrome, right upper limb",
            "Carpal tunnel syndrome, right upper limb",
        ),
    ],
)
def test_a_word_stands_for_those_of_a_name(nlp, text, mention, concept):
    assert [(each.text, each.kb_id_) for each in nlp(text).ents] == [(mention, concept)]


@pytest.mark.parametrize(
    "text",
    [
        "Fisher's exact test",
        "Raynaud described it",
        "trouble with Cushing's criteria",
        "a digital image",
        "met the criteria",
        "all of them",
        "left of the clavicle is a fracture",
        "mass in the left clavicle",
        "eye precautions",
        "a bone collar",
        "LE cells, UE",
        "the EYE score",
        "for 2 degrees",
        "AV and QT, DM and abd",
        "high and low",
        "some nausea, vomiting today",
        "it was confused with gout",
        "stress-induced or clinically induced dyskinesia, scopolamine-induced impairment",
        "The renal pelvis and the pelvis of the kidney are normal.",
        "A dilated left ventricle.",
        "pain in gout, pain and knees, pain by knee",
        "HER2- carcinoma, CD16+ leukocytes, HER2-low carcinoma",
    ],
)
def test_others_are_no_mentions(nlp, text):
    assert not nlp(text).ents


def test_words_are_read_as_they_are_without_derivations(nlp):
    finder = nlp.get_pipe("mention_finder")
    finder.cfg["derivations"] = False
    try:
        assert not nlp("secondary Raynaud's, nephropathy").ents
    finally:
        finder.cfg["derivations"] = True
