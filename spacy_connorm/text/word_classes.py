"""Guess the role of a word in a name from its form."""

import re

OWNERS = frozenset(["her", "his", "its", "my", "our", "their", "your"])
DETERMINERS = OWNERS | {"a", "an", "both", "either", "neither", "the"}
PREPOSITIONS = frozenset(
    ["after", "by", "during", "following", "for", "from", "in", "into", "of", "on", "to", "with"]
)
COPULAS = frozenset(["are", "is", "was", "were"])
# What follows a comma and its noun as no item of a list: "intellectual disability, severe".
GRADES = frozenset(["acute", "bilateral", "chronic", "mild", "moderate", "profound", "severe"])
# Words that start a qualifier after a comma: "gangliosidosis, type 1".
_QUALIFYING = """
class due especially grade including nos not stage susceptibility type types unspecified without
"""
QUALIFIERS = PREPOSITIONS | frozenset(_QUALIFYING.split())
POSSESSIVES = frozenset(["'s", "’s", "'S", "’S"])
# Right or left, as written in notes.
SIDES = frozenset(["l", "left", "r", "right"])
# Words before a number, as in "type 1" and "grades 2 and 3"; for regular expressions.
NUMBERED = (
    "class|complex|degree|factor|form|grade|group|level|nerve|phase|stage|subtype|type|variant"
)
_MODIFIER_ENDINGS = (
    "al",
    "ar",
    "ary",
    "based",
    "dependent",
    "ed",
    "ian",
    "ic",
    "ive",
    "oid",
    "onset",
    "ous",
)
_MODIFYING = "acute benign early infantile juvenile late left lower malignant right severe upper"
_MODIFIERS = frozenset(_MODIFYING.split())
_NOUNS_LIKE_MODIFIERS = frozenset(
    ["canal", "capillary", "catarrh", "colic", "ovary", "panic", "scar", "thrive", "withdrawal"]
)
_HEAD_ENDINGS = (
    "ache",
    "aemia",
    "algia",
    "asia",
    "asis",
    "cele",
    "emia",
    "ism",
    "itis",
    "mania",
    "megaly",
    "ness",
    "oma",
    "osis",
    "paresis",
    "pathy",
    "penia",
    "phobia",
    "plasia",
    "plegia",
    "pnea",
    "pnoea",
    "rrhage",
    "rrhea",
    "rrhoea",
    "stasis",
    "tension",
    "trophy",
    "uria",
)
_HEAD_WORDS = """
abnormality anomaly arrest attack bleeding cancer chill constipation cough damage death defect
deficiency deficit diabetes disease disorder dysfunction edema failure fatigue fever fracture
headache infarction infection injury insomnia lesion nausea oedema pain palsy rash seizure stroke
syndrome tremor tumor tumour ulcer vomiting
"""
_HEADS = frozenset(_HEAD_WORDS.split())
_NUMERAL = r"(?:\d+[A-Za-z]?|[IVX]+[A-Da-d]?)"
_NUMBER = re.compile(rf"{_NUMERAL}(?:-{_NUMERAL})?|[A-Z]")
_CODE = re.compile(r"(?=.*[A-Z0-9]).*(?:\d|[A-Z].*[A-Z]).*")

# Adjectives whose nouns have a different root, since English took the adjective from Latin or
# Greek; and that of "on exertion", which like "in chest" needs no article.
OTHER_ROOTS = {
    "abdominal": ("abdomen",),
    "articular": ("joint",),
    "auditory": ("hearing", "ear"),
    "aural": ("ear",),
    "cachectic": ("cachexia",),
    "cardiac": ("heart",),
    "cerebral": ("brain",),
    "costal": ("rib",),
    "cranial": ("skull",),
    "cutaneous": ("skin",),
    "dental": ("tooth",),
    "dermal": ("skin",),
    "dermatologic": ("skin",),
    "dermatological": ("skin",),
    "exertional": ("exertion", "effort"),
    "facial": ("face",),
    "febrile": ("fever",),
    "gastric": ("stomach",),
    "gingival": ("gum",),
    "hematologic": ("blood",),
    "hematological": ("blood",),
    "hepatic": ("liver",),
    "labial": ("lip",),
    "lingual": ("tongue",),
    "nasal": ("nose",),
    "neurologic": ("nervous",),
    "neurological": ("nervous",),
    "ocular": ("eye",),
    "olfactory": ("smell",),
    "ophthalmic": ("eye",),
    "ophthalmologic": ("eye",),
    "oral": ("mouth",),
    "pelvic": ("pelvis",),
    "osseous": ("bone",),
    "otic": ("ear",),
    "otologic": ("ear",),
    "pulmonary": ("lung",),
    "renal": ("kidney",),
    "splenic": ("spleen",),
    "thoracic": ("chest", "thorax"),
    "ungual": ("nail",),
    "uterine": ("uterus",),
    "vascular": ("vessel",),
    "venous": ("vein",),
    "visual": ("vision", "eye"),
}
# Words for a disease of an organ, and what names call the organ: "nephropathy" is a kidney disease.
DISEASES_OF = {
    "angiopathy": ("vascular", "vessel"),
    "arteriopathy": ("arterial", "artery"),
    "arthropathy": ("joint",),
    "cardiopathy": ("cardiac", "heart"),
    "chondropathy": ("cartilage",),
    "coagulopathy": ("coagulation",),
    "dermatopathy": ("skin",),
    "encephalopathy": ("brain", "cerebral"),
    "enteropathy": ("intestinal", "intestine"),
    "gastropathy": ("gastric", "stomach"),
    "hepatopathy": ("hepatic", "liver"),
    "maculopathy": ("macula", "macular"),
    "myopathy": ("muscle", "muscular"),
    "nephropathy": ("kidney", "renal"),
    "nephrotoxicity": ("kidney", "renal"),
    "neuropathy": ("nerve",),
    "osteopathy": ("bone",),
    "pneumopathy": ("lung", "pulmonary"),
    "retinopathy": ("retina", "retinal"),
    "spondylopathy": ("spinal", "spine"),
    "tendinopathy": ("tendon",),
    "thyropathy": ("thyroid",),
    "vasculopathy": ("vascular", "vessel"),
}
# Adjectives of organ systems, which have no other noun.
_SYSTEMS = """
cardiovascular digestive endocrine exocrine gastrointestinal genitourinary immune lymphatic
musculoskeletal reproductive respiratory urogenital
"""
# What names call the system of an adjective.
SYSTEMS = {
    **{adjective: adjective for adjective in _SYSTEMS.split()},
    "immunologic": "immune",
    "immunological": "immune",
    "neurologic": "nervous",
    "neurological": "nervous",
}
# What is said for another name: "diabetes" is the mellitus, a "murmur" one of the heart.
SAID_FOR = {
    "agitation": ("psychomotor agitation",),
    "angina": ("angina pectoris",),
    "anxiety": ("anxiety disorder",),
    "brady": ("bradycardia",),
    "coarctation": ("aortic coarctation", "aorta coarctation"),
    "depression": ("mental depression", "depressive disorder"),
    "bipolar": ("bipolar disorder",),
    "celiac": ("celiac disease",),
    "coeliac": ("celiac disease",),
    "diabetes": ("diabetes mellitus",),
    "dysrhythmia": ("cardiac dysrhythmia",),
    "fracture": ("bone fracture",),
    "hepatotoxicity": ("drug induced liver injury", "toxic liver disease"),
    "hyperactivity": ("motor hyperactivity",),
    "hypertension": ("hypertensive disorder",),
    "lupus": ("systemic lupus erythematosus",),
    "malignancy": ("malignant neoplasm", "cancer"),
    "murmur": ("heart murmur", "cardiac murmur"),
    "neurotoxicity": ("neurotoxicity syndrome",),
    "overdose": ("drug overdose",),
    "pale": ("pallor",),
    "palp": ("palpitation",),
    "psychotic": ("psychotic disorder",),
    "rigidity": ("muscle rigidity",),
    "steatosis": ("hepatic steatosis", "liver steatosis"),
    "tachy": ("tachycardia",),
    "toxicity": ("drug toxicity",),
    "vomited": ("vomiting",),
    "wt": ("weight",),
}
# What a text says of a patient in place of the name of a finding: "is confused", "nauseated".
_STATES = """
agitated:agitation asthmatic:asthma bleed:bleeding,hemorrhage bloated:bloating blurry:blurred
clubbed:clubbing confused:confusion congested:congestion constipated:constipation cyanosed:cyanosis
dehydrated:dehydration depressed:depression diaphoretic:hyperhidrosis disoriented:disorientation
distended:distention,distension drool:drooling fatigued:fatigue fractured:fracture
hypoxic:hypoxemia,hypoxia icteric:jaundice,icterus incontinent:incontinence infertile:infertility
itchy:pruritus jaundiced:jaundice lethargic:lethargy malnourished:malnutrition nauseated:nausea
nauseous:nausea obtunded:obtundation paralysed:paralysis paralyzed:paralysis ruptured:rupture
septic:sepsis,septicemia somnolent:somnolence stutter:stuttering swollen:swelling,edema
vomit:vomiting wheezy:wheezing
"""
STATES = {
    state: tuple(findings.split(","))
    for state, findings in (each.split(":") for each in _STATES.split())
}
# What changes, as a noun, and what names say: "QT prolongation" is a prolonged QT interval.
_CHANGES = """
decrease:decreased,reduced dilatation:dilated dilation:dilated elevation:elevated,increased
elongation:elongated,long enlargement:enlarged,large increase:increased,elevated
prolongation:prolonged,long reduction:reduced,decreased shortening:short,shortened
thickening:thick,thickened widening:wide
"""
CHANGES = {
    change: tuple(changed.split(","))
    for change, changed in (each.split(":") for each in _CHANGES.split())
}
# What texts leave out of the names of laboratory findings: "elevated creatinine" is "increased
# serum creatinine", "low platelets" a "decreased platelet count". MedDRA leaves it out, too.
_MEASURES = (
    *("serum", "plasma", "level", "blood level", "circulating level", "serum level", "count"),
    "activity",
)
HIGH, LOW = ("elevated", "high", "increased"), ("decreased", "low", "reduced")
# What longer names say for a word: "abdominal pain" for "abd pain", "increased spleen size" for
# "enlarged spleen". By themselves, most of these words have other meanings.
SAID_WITHIN = {
    "abd": ("abdominal", "abdomen"),
    "abdo": ("abdominal", "abdomen"),
    "ache": ("pain",),
    "av": ("atrioventricular", "arteriovenous"),
    "bilat": ("bilateral",),
    "bleeding": ("hemorrhage",),
    "bowel": ("intestine", "intestinal"),
    "bp": ("blood pressure",),
    "ca": ("cancer", "carcinoma"),
    "ck": ("creatine kinase", "creatine phosphokinase"),
    "cns": ("central nervous system",),
    "crp": ("c reactive protein",),
    "csf": ("cerebrospinal fluid",),
    "def": ("deficiency",),
    "dev": ("developmental",),
    "diff": ("difficulty",),
    "dm": ("diabetes mellitus",),
    **dict.fromkeys(("dominant", "genetic", "recessive"), ("hereditary", "inborn genetic")),
    "dz": ("disease",),
    "embolus": ("embolism",),
    "enlarged": ("increased size",),
    "fx": ("fracture",),
    # Of lupus.
    "erythematosus": ("systemic erythematosus",),
    "gain": ("abnormal gain",),
    # The spelling step takes the "oe" of "gastroesophageal" for a British one.
    "gastresophageal": ("gastro esophageal",),
    "general": ("generalized",),
    "gi": ("gastrointestinal",),
    "gu": ("genitourinary",),
    "hb": ("hemoglobin",),
    "hemorrhage": ("bleeding",),
    "hep": ("hepatitis",),
    "hepatitis": ("hepatitis infection",),
    "hgb": ("hemoglobin",),
    "hiv": ("human immunodeficiency virus",),
    "htn": ("hypertension",),
    "infarct": ("infarction",),
    "infection": ("infectious disease",),
    "insuff": ("insufficiency",),
    "jerk": ("reflex",),
    "la": ("left atrial", "left atrium"),
    "ldh": ("lactate dehydrogenase",),
    **dict.fromkeys(("le", "lle", "rle", "ble"), ("lower extremity", "lower limb", "leg")),
    "linked": ("linked genetic",),
    "loss": ("abnormal loss",),
    "lv": ("left ventricular", "left ventricle"),
    # Names may leave it out: "diabetes NOS".
    "mellitus": ("",),
    "malignancy": ("neoplasm", "cancer"),
    "painful": ("pain",),
    "palsy": ("paralysis",),
    "paralysis": ("palsy",),
    "periph": ("peripheral",),
    "pulm": ("pulmonary",),
    "qt": ("qt interval", "qt syndrome"),
    "qtc": ("qtc interval", "qt interval"),
    "rbc": ("red blood cell", "erythrocyte"),
    "resp": ("respiratory",),
    "restriction": ("retardation",),
    "rv": ("right ventricular", "right ventricle"),
    "signaling": ("signaling pathway",),
    "serum": ("blood level", "circulating level"),
    "stool": ("feces",),
    "st": ("st segment",),
    "synd": ("syndrome",),
    "sz": ("seizure",),
    "tb": ("tuberculosis",),
    "thought": ("ideation",),
    "trouble": ("difficulty",),
    **dict.fromkeys(("belly", "tummy"), ("abdominal", "abdomen", "stomach")),
    **dict.fromkeys(("ue", "lue", "rue", "bue"), ("upper extremity", "upper limb", "arm")),
    "unable": ("inability",),
    **dict.fromkeys(("hurt", "hurting"), ("pain",)),
    "vit": ("vitamin",),
    "wbc": ("white blood cell", "leukocyte"),
    **{
        word: (
            *(each for each in words if each != word),
            *(f"{each} {measure}" for each in words for measure in _MEASURES),
        )
        for said, words in (((*HIGH, "raised"), HIGH), (LOW, LOW))
        for word in said
    },
    "weakness": ("muscle weakness",),
}
# Adjectives that mean the noun only beside other words of its name: "digital necrosis" is one of
# digits, "digital images" are not.
_OWN_MEANINGS = """
allergic angular basal capital central circular clubbed congested critical deficient digital
extensive focal formal fractured general helical integral intensive juvenile lateral lunar magnetic
manual medial mental metastatic organic original partial plastic pleuritic primordial radial
regional regular ruptured sagittal segmental serial special spiral static swollen terminal topical
transitional vertical virtual
"""
OWN_MEANINGS = frozenset(_OWN_MEANINGS.split())
ORDINALS = {"1st": "first", "2nd": "second", "3rd": "third", "4th": "fourth"}
# Adjectives without a typical ending that can follow their noun: "reflexes brisk".
_PLAIN_ADJECTIVES = """
absent blue brisk brittle broad coarse cold dark deep dense downslanting dry dull faint fine flat
heavy high hoarse large light long loose loud low narrow pale poor rapid raw red rigid round set
sharp short shrill slow small soft sparse stiff swollen tall tense thick thin tight upslanting warm
weak wet white wide yellow
"""
PLAIN_ADJECTIVES = frozenset(_PLAIN_ADJECTIVES.split())


def is_modifier(word: str) -> bool:
    """Check whether a word looks like it needs a noun after it: "ovarian".

    RETURNS (bool): True if it does.
    """
    lowered = word.lower()
    if lowered in _MODIFIERS or len(word) < 5:
        return lowered in _MODIFIERS
    return lowered.endswith(_MODIFIER_ENDINGS) and lowered not in _NOUNS_LIKE_MODIFIERS


def lacks_noun(word: str) -> bool:
    """Check whether a word needs a noun after it, including adjectives with another root: "renal".

    RETURNS (bool): True if it does.
    """
    return word in OTHER_ROOTS or is_modifier(word)


def is_adjective(word: str) -> bool:
    """Check whether a word is an adjective: one that looks like it needs a noun, or a plain one.

    RETURNS (bool): True if it is.
    """
    return is_modifier(word) or word.lower() in PLAIN_ADJECTIVES


def is_head(word: str) -> bool:
    """Check whether a word looks like it names a disorder by itself: "hepatitis".

    RETURNS (bool): True if it does.
    """
    lowered = word.lower()
    singulars = (lowered, lowered.removesuffix("s"), lowered.removesuffix("ies") + "y")
    return any(one in _HEADS or one.endswith(_HEAD_ENDINGS) for one in singulars)


def shape(word: str) -> str:
    """Classify a word by its characters.

    RETURNS (str): "number" (1, IIa, C, II-III), "code" (C6, BRCA1, HIV) or "word".
    """
    if _NUMBER.fullmatch(word):
        return "number"
    return "code" if _CODE.fullmatch(word) else "word"
