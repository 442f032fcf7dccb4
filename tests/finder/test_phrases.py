"""What states a finding in a sentence or a field of a note."""

import gc
from weakref import ref

import pytest
from finding import make_finder, marked, plain

from spacy_connorm import Concept
from spacy_connorm.finder.coordinations import coordination_joiner
from spacy_connorm.finder.phrases import phrases_of
from spacy_connorm.index.word_bags import language_table
from spacy_connorm.lang import load_language
from spacy_connorm.text.words import MOST_READERS, Words

from .name_pipeline import build

NAMES = (
    "Enlarged liver",
    "Ataxic gait",
    "Left atrial enlargement",
    "Low-set ears",
    "Retinal atrophy",
    "Abdominal pain",
    "Heart murmur",
    "Broad nose",
    "Broad nasal bridge",
    "Chest pain",
    "Pain in the foot",
    "Renal cyst",
    "Canavan disease",
    "Cough",
    "Absent reflexes",
    "Short nose",
    "Inner ear tumor",
)


@pytest.fixture(scope="module")
def nlp():
    return build(NAMES)


@pytest.mark.parametrize(
    ("text", "concept"),
    [
        ("The [liver was not enlarged].", "Enlarged liver"),
        ("The [liver isn't enlarged].", "Enlarged liver"),
        ("The [liver was found to be enlarged].", "Enlarged liver"),
        ("The [liver was not clearly felt to be enlarged].", "Enlarged liver"),
        ("Her [liver does not appear enlarged].", "Enlarged liver"),
        ("A [liver that may have been enlarged].", "Enlarged liver"),
        ("We found the [liver to be enlarged].", "Enlarged liver"),
        ("The [gait was described as mildly ataxic].", "Ataxic gait"),
        ("The [left atrium is enlarged].", "Left atrial enlargement"),
        ("[Ears: low-set], gait normal.", "Low-set ears"),
        ("[Nose: broad] today.", "Broad nose"),
        ("The [retina shows atrophy].", "Retinal atrophy"),
        ("[Abdomen: pain].", "Abdominal pain"),
        ("[Inner ear: tumor].", "Inner ear tumor"),
        ("The [heart had a murmur].", "Heart murmur"),
        ("His [foot is painful].", "Pain in the foot"),
        ("All [reflexes were absent].", "Absent reflexes"),
    ],
)
def test_a_statement_is_a_finding(nlp, text, concept):
    assert marked(nlp, text) == text
    (ent,) = nlp(plain(text)).ents
    assert ent.kb_id_ == concept


@pytest.mark.parametrize(
    "text",
    [
        "Nose: [broad nasal bridge].",
        "Abdomen: [pain in the foot].",
        "Ears: [low-set ears].",
        "[Canavan disease]: renal.",
        "The liver was not a enlarged.",
        "Liver:\nenlarged",
        "The liver was found and enlarged.",
        "Pain: the abdomen.",
        "The cyst has a kidney.",
        "Gag reflexes absent, left [reflexes absent]",
        "\u2610 broad \u2612 nose",
        "The liver was not as enlarged as before.",
        "Abdomen: pain clinic, nose: short-term, nose: broad to normal",
        "The abdomen had pain rates.",
        "Gait: [ataxic gait]",
    ],
)
def test_other_verbs_and_colons_state_nothing(nlp, text):
    assert marked(nlp, text) == text


@pytest.mark.parametrize(
    ("code", "name", "text"),
    [
        ("de", "Vergrößerte Leber", "Die [Leber ist nicht vergrößert]."),
        ("de", "Vergrößerte Leber", "[Leber: vergrößert]."),
        ("es", "Hígado aumentado", "El [hígado no está aumentado]."),
        ("es", "Quiste renal", "El [riñón presenta un quiste]."),
        ("fr", "Foie augmenté", "Le [foie n'est pas augmenté]."),
        ("fr", "Douleur du genou", "[Genou : douleur]."),
        ("it", "Fegato ingrandito", "Il [fegato non è ingrandito]."),
        ("nl", "Open fontanel", "De [fontanel is niet open]."),
        ("pt", "Fígado aumentado", "O [fígado não está aumentado]."),
    ],
)
def test_other_languages_state_findings(code, name, text):
    assert marked(make_finder([Concept("C1", name)], code=code), text) == text


@pytest.mark.parametrize("made_of", [coordination_joiner, language_table, phrases_of])
def test_what_is_made_of_the_words_of_many_ontologies_is_not_kept(made_of):
    readers = [Words(load_language("xx")) for _ in range(MOST_READERS + 1)]
    first, made = ref(readers[0]), [*map(made_of, readers)]
    assert made_of(readers[-1]) is made[-1]
    del readers, made
    gc.collect()
    assert first() is None
