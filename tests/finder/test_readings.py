"""What words stand for beside others, and alone."""

import pytest
from finding import marked, plain

from .name_pipeline import build

NAMES = (
    *("Raynaud phenomenon", "Fisher syndrome", "Cushing disease", "Fracture of clavicle"),
    *("Second degree burn", "Pre-eclampsia", "Kidney disease", "Respiratory system", "Digit"),
    *("Synapse", "Digit necrosis", "eye", "Met", "Tics", "ALL", "Brisk reflexes"),
    *("Left ventricle mass", "Lead", "Second degree atrioventricular block", "Abdominal pain"),
    *("Prolonged QT interval", "Increased serum creatinine", "Decreased platelet count"),
    *("Increased spleen size", "Gastro-esophageal reflux", "Low-set ears", "Confusion", "Jaundice"),
    *("Type 2 diabetes mellitus", "Carpal tunnel syndrome, right upper limb", "Nausea, vomiting"),
    "Nasal bridge, thin",
    *("HER2 positive carcinoma", "CD16-negative leukocyte", "Pelvic kidney", "Unsteady gait"),
    *("Wilms tumor", "Kidney tumor", "Knee pain", "Dilated ventricle", "Canavan disease"),
    *("Inherited disease", "Renal cyst", "Difficulty swallowing", "Inability to walk"),
    *("Pressure ulcer of heel, stage 2", "Low blood calcium levels", "Ear pain"),
    *("ST segment depression", "Exertional dyspnea", "Drug-induced dyskinesia"),
    *("Drug-induced disorder", "Retention of urine", "Absent ankle reflexes", "Placenta previa"),
    *("Abnormal weight loss", "Hepatitis C infection", "Tongue edema", "Kidney neoplasm"),
    *("Respect", "Hereditary disorder", "Mouth dryness", "Intestinal obstruction", "Forgetfulness"),
    *("Joint pain", "Vocal cord paralysis", "Pulmonary embolism", "Drug overdose"),
    *("Substance-induced psychoses", "Mucositis oral", "Lipase increased", "Vision blurred"),
    *("Rash maculo-papular", "Edema of lower extremity", "Upper limb pain", "Calcium decreased"),
    *("Collar bone", "Hypo-albuminemia", "Systemic lupus erythematosus", "Pancreatic cancer"),
    *("Nasal hemorrhage", "Growth retardation", "Suicidal ideation", "Generalized weakness"),
    *("Long QT syndrome", "Metastatic melanoma", "Metastasis"),
)
HIGH = ("increased", "elevated", "raised", "high")


@pytest.fixture(scope="module")
def nlp():
    return build(NAMES)


@pytest.mark.parametrize(
    ("text", "concept"),
    [
        ("She has secondary [Raynaud's].", "Raynaud phenomenon"),
        ("[Raynaud’s] with ulcers", "Raynaud phenomenon"),
        ("[fracture of clavicle] R", "Fracture of clavicle"),
        ("[Unsteady gait] L (knee)", "Unsteady gait"),
        ("[Fracture of the left clavicle]", "Fracture of clavicle"),
        ("[fracture of right clavicle]", "Fracture of clavicle"),
        ("a [fracture R clavicle]", "Fracture of clavicle"),
        ("[lead] may lead to it, this leads to that", "Lead"),
        ("with respect to [Respect]", "Respect"),
        ("a [2nd degree burn]", "Second degree burn"),
        ("[preeclampsia]", "Pre-eclampsia"),
        ("diabetic [nephropathy]", "Kidney disease"),
        ("[respiratory] arrest", "Respiratory system"),
        ("[synaptic] gaps", "Synapse"),
        ("[digital necrosis]", "Digit necrosis"),
        ("[Eye]", "eye"),
        ("both [eyes]", "eye"),
        ("motor [tics]", "Tics"),
        ("[Reflexes brisk].", "Brisk reflexes"),
        ("[reflexes are brisk]", "Brisk reflexes"),
        ("[2nd degree AV block]", "Second degree atrioventricular block"),
        ("some [abd pain]", "Abdominal pain"),
        ("a [belly ache]", "Abdominal pain"),
        ("my [tummy hurts], belly fat, it hurts", "Abdominal pain"),
        ("his [lupus], lupus anticoagulant", "Systemic lupus erythematosus"),
        ("discoid lupus, [lupus]", "Systemic lupus erythematosus"),
        ("[lupus erythematosus]", "Systemic lupus erythematosus"),
        ("[pancreatic malignancies]", "Pancreatic cancer"),
        ("[nasal bleeding], bleeding", "Nasal hemorrhage"),
        ("[growth restriction], dietary restriction", "Growth retardation"),
        ("[suicidal thoughts], thoughts", "Suicidal ideation"),
        ("[general weakness]", "Generalized weakness"),
        ("[QT prolongation], prolongation of life", "Prolonged QT interval"),
        ("a [long QT] in lead II, 12-lead ECG", "Long QT syndrome"),
        ("metastatic cells, [metastases]", "Metastasis"),
        ("a [prolonged QT]", "Prolonged QT interval"),
        ("[DM type 2]", "Type 2 diabetes mellitus"),
        ("[high creatinine] today", "Increased serum creatinine"),
        ("[low platelets]", "Decreased platelet count"),
        ("The [spleen is enlarged].", "Increased spleen size"),
        ("[gastroesophageal reflux]", "Gastro-esophageal reflux"),
        ("[Ears are low-set].", "Low-set ears"),
        ("She is [confused].", "Confusion"),
        ("[confused]  &  well", "Confusion"),
        ("[jaundiced] infant", "Jaundice"),
        ("her [gait was unsteady]", "Unsteady gait"),
        ("[Wilms tumor] of the left kidney", "Wilms tumor"),
        ("a [tumor of the left kidney]", "Kidney tumor"),
        ("[Canavan disease] is inherited.", "Canavan disease"),
        ("[pain in knees]", "Knee pain"),
        ("[pressure ulcer of the heel, stage 2], today", "Pressure ulcer of heel, stage 2"),
        ("[low serum calcium]", "Low blood calcium levels"),
        ("some [ear ache]", "Ear pain"),
        ("[dyspnea on exertion]", "Exertional dyspnea"),
        ("[ST depression] in V4", "ST segment depression"),
        ("[cyst in kidney]", "Renal cyst"),
        ("some [levodopa-induced dyskinesia]", "Drug-induced dyskinesia"),
        ("some [Ropinirole induced dyskinesias]", "Drug-induced dyskinesia"),
        ("[cocaine-induced psychosis]", "Substance-induced psychoses"),
        ("[nephrotoxicity]", "Kidney disease"),
        ("[bowel obstruction]", "Intestinal obstruction"),
        ("she is [forgetful]", "Forgetfulness"),
        ("an [earache]", "Ear pain"),
        ("[painful joints]", "Joint pain"),
        ("[vocal cord palsy]", "Vocal cord paralysis"),
        ("a [pulmonary embolus]", "Pulmonary embolism"),
        ("an autosomal [recessive disorder]", "Hereditary disorder"),
        ("[dry mouth] and dry toast", "Mouth dryness"),
        ("severe [kidney toxicity]", "Kidney disease"),
        ("an [overdose]", "Drug overdose"),
        ("[urinary retention]", "Retention of urine"),
        ("[absent ankle jerk]", "Absent ankle reflexes"),
        ("[placenta praevia]", "Placenta previa"),
        ("some [weight loss]", "Abnormal weight loss"),
        ("[hepatitis C]", "Hepatitis C infection"),
        ("[swelling of the tongue]", "Tongue edema"),
        ("[renal neoplasia]", "Kidney neoplasm"),
        ("He has [trouble swallowing].", "Difficulty swallowing"),
        ("was [unable to walk]", "Inability to walk"),
        ("a [Cushing's] flare", "Cushing disease"),
        ("[RAYNAUD'S] PATIENTS", "Raynaud phenomenon"),
        ("[oral mucositis]", "Mucositis oral"),
        ("[blurred vision]", "Vision blurred"),
        *((f"[{high} lipase]", "Lipase increased") for high in HIGH),
        ("bilateral [LE edema]", "Edema of lower extremity"),
        ("[RUE pain]", "Upper limb pain"),
        ("[low calcium]", "Calcium decreased"),
        ("[maculopapular rash]", "Rash maculo-papular"),
        ("[hypoalbuminemia]", "Hypo-albuminemia"),
        ("[HER2+ carcinoma]", "HER2 positive carcinoma"),
        ("[Nasal bridge, thin]", "Nasal bridge, thin"),
        ("[CD16\u2212 leukocytes]", "CD16-negative leukocyte"),
        (
            "no [carpal tunnel syndrome, right upper limb] is",
            "Carpal tunnel syndrome, right upper limb",
        ),
    ],
)
def test_a_word_stands_for_those_of_a_name(nlp, text, concept):
    assert marked(nlp, text) == text
    (ent,) = nlp(plain(text)).ents
    assert ent.kb_id_ == concept


@pytest.mark.parametrize(
    "text",
    [
        *("flat nasal bridge, a thin lip", "a bone collar", "LE cells, UE"),
        *("Fisher's exact test", "Raynaud described it", "trouble with Cushing's criteria"),
        *("a digital image", "met the criteria", "all of them"),
        *("left of the clavicle is a fracture", "mass in the left clavicle", "eye precautions"),
        *("the EYE score", "for 2 degrees", "AV and QT, DM and abd", "high and low"),
        *("some nausea, vomiting today", "it was confused with gout"),
        "stress-induced or clinically induced dyskinesia, scopolamine-induced impairment",
        *("The renal pelvis and the pelvis of the kidney are normal.", "A dilated left ventricle."),
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
