"""A setting that is changed takes effect with the next document, or is refused with the mend."""

import pytest
import spacy
from finding import NGRAMS
from spacy.language import Language

from spacy_connorm import Concept, Ontology
from spacy_connorm.documents.spans import ASSERTIONS, get_candidates
from spacy_connorm.errors import ConnormError
from spacy_connorm.pipeline.settings import (
    TERMS,
    AssertionSettings,
    FinderSettings,
    NormalizerSettings,
    ResolverSettings,
)
from spacy_connorm.text.substitutions import Substitution

CONCEPTS = [
    Concept("C1", "breast cancer", parents=("C2",), types=("Disease",), xrefs=("ICD10CM:C50",)),
    Concept("C2", "cancer", types=("Disease",), aliases=("sarcoma",), narrow=("sarcoma",)),
    Concept("C3", "cyst of the retina", types=("Disease",)),
    Concept("C4", "lung", types=("Organ",)),
    Concept("C5", "pair of lungs", ("lungs",), types=("Organ",)),
    Concept("C6", "ovarian cancer", types=("Disease",)),
    Concept("C7", "kidney pain", types=("Disease",)),
    Concept("C8", "chronic pain", types=("Disease",)),
    Concept("C9", "Wiskott-Aldrich syndrome", ("WAS",)),
    Concept("C10", "flu"),
    Concept("C13", "XYZ"),
    Concept("C11", "glutathione", ("GSH",)),
    Concept("C12", "Cancer pagurus"),
    Concept("MESH:D1", "gout"),
    # Paraphrases need other names.
    *(Concept(f"T{number}", f"trait {number}") for number in range(200)),
]
SUBSTITUTIONS = [
    Substitution(("pain",), ("twinge",), 20, 0),
    Substitution(("colic",), ("pain",), 20, 0),
]
SECOND = [Concept("S1", "stone")]
MARKED = [
    "breast and ovarian cancers",
    "retinal cyst",
    "chronic colic",
    "lungs",
    "CP",
    "OC",
    "breast tumour",
    "kidney",
]


@Language.component("groups_the_first_word")
def groups_the_first_word(doc):
    doc.spans["first"] = [doc[:1]]
    return doc


def terms(word):
    return {kind: [] for kind in TERMS} | {"preceding_negations": [word]}


# By component and setting: another value, and a text whose annotation depends on it.
CHANGES = {
    "concept_normalizer": {
        "spans_key": ("first", "Gout and lungs."),
        "labels": (["Other"], "The lungs."),
        "top_k": (1, "The lungs."),
        "nil_threshold": (0.99, "The lungs."),
        "calibration": ({"intercept": 0.0, "score": 1.0, "margin": 1.0}, "The lungs."),
        "split_composites": (False, "No breast and ovarian cancers."),
        "compare_words": (False, "A chronic colic."),
        "read_initials": (False, "Has OC."),
        "types": (["Disease"], "The lungs."),
        "branches": (["C4"], "The lungs."),
        "excluded_branches": (["C4"], "The lungs."),
        "code_systems": (["ICD10CM"], "A breast tumour."),
        "prefixes": ({"FOO": "MESH"}, ""),
        "kb_url_template": ("https://example.org/{}", ""),
        "cache_size": (0, "The lungs."),
    },
    "mention_finder": {
        "spans_key": ("others", "Gout."),
        "normalizer": ("second", "A stone, gout."),
        "derivations": (False, "A retinal cyst."),
        "min_certainty": (1.0, "Kidney twinge."),
        "min_paraphrase": (0.0, "Gout. An ovarian illness."),
        "inexact_names": (True, "A sarcoma."),
        "coordinations": (False, "Breast and ovarian cancer."),
        "target": ("D", "Gout."),
        "nested_mentions": (True, "A breast cancer."),
        "label": ("NAME", "Gout."),
        "labels": ({"Disease": "DISEASE"}, "A breast cancer."),
        "short_letters": (0, "The xyz."),
        "undefined_short_forms": (True, "GSH was low." + " It was not measured again." * 100),
        "stop_texts": (["gout"], "Gout."),
        "match_capitals": (True, "A cancer pagurus."),
    },
    "abbreviation_resolver": {
        "short_forms": ({"SOB": "shortness of breath"}, "SOB."),
        "findings": ([], "HTN, PE."),
        "meanings": ({"VT": ["ventricular tachycardia"]}, "No VT."),
        "own_names": (["CBD"], "Has CBD. CBD oil."),
    },
    "assertion_marker": {
        "spans_key": ("first", "No gout, no lungs."),
        "terms": ({name: terms("kein") for name in ASSERTIONS}, "kein lungs."),
    },
}
DECLARED = {
    "concept_normalizer": NormalizerSettings,
    "mention_finder": FinderSettings,
    "abbreviation_resolver": ResolverSettings,
    "assertion_marker": AssertionSettings,
}
# What cannot change once the pipeline is built.
REFUSED = {"concept_normalizer": {"attribute_prefix": "other_"}}
CASES = [
    (component, setting, value, text)
    for component, settings in CHANGES.items()
    for setting, (value, text) in settings.items()
]
OTHERS = {
    "mention_finder": {
        "spans_key": "found",
        "stop_texts": ["chronic colic"],
        "min_paraphrase": 1.0,
    },
    "abbreviation_resolver": {
        "short_forms": {"CBD": "common bile duct", "HTN": "hypertension"},
        "meanings": {"PE": ["pulmonary embolism"]},
    },
}


@pytest.fixture(scope="module")
def make():
    """A function that makes a pipeline with all components, one of them with settings."""
    first, second = (spacy.blank("en").add_pipe("concept_normalizer", config=NGRAMS) for _ in "12")
    first.initialize(lambda: [], ontology=Ontology(CONCEPTS), substitutions=SUBSTITUTIONS)
    second.initialize(lambda: [], ontology=Ontology(SECOND))

    def make_with(component="", **settings):
        def config(name):
            return OTHERS.get(name, {}) | (settings if name == component else {})

        nlp = spacy.blank("en")
        patterns = [{"label": "MENTION", "pattern": text} for text in MARKED]
        nlp.add_pipe("entity_ruler").add_patterns(patterns)
        nlp.add_pipe("abbreviation_resolver", config=config("abbreviation_resolver"))
        nlp.add_pipe("mention_finder", config=config("mention_finder"))
        nlp.add_pipe("groups_the_first_word")
        shared = NGRAMS | {"calibration": {"intercept": 0.0, "score": 1.0, "margin": 0.0}}
        linked = nlp.add_pipe("concept_normalizer", config=shared | config("concept_normalizer"))
        linked.lookup.use(first.lookup.encoder, first.lookup.index)
        other = NGRAMS | {"attribute_prefix": "second_"}
        linked = nlp.add_pipe("concept_normalizer", "second", config=other)
        linked.lookup.use(second.lookup.encoder, second.lookup.index)
        nlp.add_pipe("assertion_marker", config=config("assertion_marker"))
        return nlp

    return make_with


def annotated(nlp, text):
    """Everything that the components write, and what else their settings say."""
    doc, normalizer = nlp(text), nlp.get_pipe("concept_normalizer")

    def read(spans):
        return [
            (
                span.text,
                span.label_,
                span.kb_id_,
                get_candidates(span, ""),
                *(span._.get(name) for name in ASSERTIONS.values()),
            )
            for span in spans
        ]

    return (
        read(doc.ents),
        {key: read(spans) for key, spans in doc.spans.items()},
        [(span.text, str(span._.long_form)) for span in doc._.abbreviations],
        normalizer.lookup.retriever.answers.size,
        (normalizer.canonical_id("FOO:D1"), normalizer.displacy_options),
    )


@pytest.fixture(scope="module")
def changed(make):
    """A pipeline whose settings tests change, and change back."""
    return make()


@pytest.mark.parametrize(("component", "setting", "value", "text"), CASES)
def test_a_change_takes_effect_with_the_next_document(
    make, changed, component, setting, value, text
):
    before = annotated(changed, text)
    cfg = changed.get_pipe(component).cfg
    old = cfg[setting]
    cfg[setting] = value
    after = annotated(changed, text)
    cfg[setting] = old
    assert after != before
    assert after == annotated(make(component, **{setting: value}), text)
    assert annotated(changed, text) == before


@pytest.mark.parametrize(
    ("component", "setting", "value"),
    [(name, *change) for name, changes in REFUSED.items() for change in changes.items()],
)
def test_what_cannot_change_is_refused_with_the_mend(make, component, setting, value):
    cfg = make().get_pipe(component).cfg
    for change in (lambda: cfg.update({setting: value}), lambda: cfg.__setitem__(setting, value)):
        with pytest.raises(ConnormError, match=f"CN011.*`{setting}`.*when the pipeline is built"):
            change()
    cfg[setting] = cfg[setting]  # no change
    assert cfg == make().get_pipe(component).cfg


@pytest.mark.parametrize("component", CHANGES)
def test_each_setting_is_known_to_take_effect_or_to_be_refused(component):
    known = {**CHANGES[component], **REFUSED.get(component, {})}
    assert known.keys() == DECLARED[component].model_fields.keys()


def test_a_list_that_is_changed_in_place_takes_effect(make):
    nlp = make()
    before = annotated(nlp, "Gout.")
    nlp.get_pipe("mention_finder").cfg["stop_texts"].append("gout")
    assert annotated(nlp, "Gout.") != before
