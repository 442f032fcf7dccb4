"""The words of tokens, which are cached."""

import numpy as np
import pytest
import spacy
from finding import make_finder

from spacy_connorm import Concept
from spacy_connorm.documents.token_texts import JoinedTexts
from spacy_connorm.finder.token_words import TokenWords

from .name_pipeline import build


def token_words(names):
    return TokenWords(names, min_certainty=0.85)


def read(reader, *docs):
    return reader.read(JoinedTexts(docs), derivations=False).hashes.tolist()


def test_documents_of_several_vocabularies_are_read_together():
    names = build(("Edema",)).get_pipe("mention_finder").name_finder().names
    docs = [spacy.blank("en")("an edema"), spacy.blank("en")("some zebrafish")]
    apart = [value for doc in docs for value in read(token_words(names), doc)]
    together = token_words(names)
    assert read(together, *docs) == apart
    assert read(together, *docs[::-1]) == [*apart[3:], *apart[:3]]
    assert np.unique(apart).size == 4


def test_the_words_of_a_long_form_stand_for_others():
    nlp = build(("Kidney cyst", "Gastro-esophageal reflux"))
    nlp.add_pipe("abbreviation_resolver", first=True)
    doc = nlp("Renal cysts (RC), gastroesophageal reflux (GER). RC or GER")
    assert [ent.kb_id_ for ent in doc.ents[-2:]] == ["Kidney cyst", "Gastro-esophageal reflux"]
    assert [ent.text for ent in doc.ents[-2:]] == ["RC", "GER"]
    nlp.get_pipe("mention_finder").cfg["derivations"] = False
    assert not nlp("Gastroesophageal reflux (GER). GER").ents


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("IgA nephropathy", ["IgA nephropathy"]),
        ("raised IgA", ["Increased IgA level"]),  # with another word replaced
        ("an EEG with irregular slow sharp waves", ["EEG with irregular slow sharp waves"]),
        # Alone, and where no name has them, short forms are read as their long forms.
        ("renal IgA", ["Immunoglobulin A"]),
        ("IgA deficiency", ["Immunoglobulin A deficiency"]),
    ],
)
def test_a_short_form_may_be_part_of_a_name(text, expected):
    names = ("IgA nephropathy", "Nephropathy", "EEG with irregular slow sharp waves")
    names = (*names, "Immunoglobulin A deficiency", "Increased IgA level")
    nlp = build((*names, "Immunoglobulin A", "IgA"))
    nlp.add_pipe("abbreviation_resolver", first=True)
    defined = "Immunoglobulin A (IgA), electroencephalogram (EEG). "
    found = [ent for ent in nlp(defined + text).ents if ent.start_char >= len(defined)]
    assert [ent.kb_id_ for ent in found] == expected


PLACES = (
    "Cerebellar atrophy",
    "Abdominal pain",
    "Retinal hemorrhage",
    "Venous thrombosis",
    "Familial cancer",
    "Symptomatic disease",
    "Mesenchymal cell",
    "Prolonged QT interval",
    "Enlarged kidney",
    "Elevated creatinine",
    "Thickened skin",
)


@pytest.fixture(scope="module")
def finding():
    return build(PLACES)


@pytest.mark.parametrize(
    "pair",
    [
        "Atrophy of the cerebellum > Cerebellar atrophy",
        "pain in the abdomen > Abdominal pain",
        "Hemorrhages in the retina > Retinal hemorrhage",
        "thrombosis of a vein > Venous thrombosis",
        # What changes, as a noun.
        "QT prolongation > Prolonged QT interval",
        "enlargement of both kidneys > Enlarged kidney",
        "a creatinine elevation > Elevated creatinine",
        "thickening of his skin > Thickened skin",
        "pain in abdomen > Abdominal pain",
        # What comes first is no adjective, nor is a place without an article that is no organ.
        "symptoms of disease > ",
        "cancer in a family > ",
        "the mesenchyme, and cells > ",
    ],
)
def test_a_noun_may_be_an_adjective_in_the_name(finding, pair):
    text, name = pair.split(" > ")
    found = [ent.kb_id_ for ent in finding(f"There was {text}.").ents]
    assert found == [name] * bool(name)


def test_it_belongs_to_the_derivations(finding):
    finder = finding.get_pipe("mention_finder")
    finder.cfg["derivations"] = False
    assert not finding("Atrophy of the cerebellum.").ents
    finder.cfg["derivations"] = True


@pytest.fixture(scope="module")
def series():
    """Concepts of which some have a short form with their number."""
    names = [(f"Spinocerebellar ataxia {number}", f"SCA{number}") for number in (1, 2, 3)]
    names += [("Spinocerebellar ataxia 28",), ("Spinocerebellar ataxia 2B",), ("Sacral pain 28",)]
    return make_finder([Concept(name, name, tuple(others)) for name, *others in names])


@pytest.mark.parametrize(
    ("text", "ids"),
    [
        ("patients with SCA28 or SCA-2", ["Spinocerebellar ataxia 28", "Spinocerebellar ataxia 2"]),
        ("SCA2B", ["Spinocerebellar ataxia 2B"]),
        ("SCA9", []),  # no name has its number
        ("SCP28", []),  # nor do others show what its letters mean
    ],
)
def test_a_numbered_short_form_stands_for_its_series(series, text, ids):
    assert [ent.kb_id_ for ent in series(text).ents] == ids


def test_without_substitutions_a_numbered_short_form_stands_for_nothing_else(series):
    finder = series.get_pipe("mention_finder")
    finder.cfg["min_certainty"] = 1.0
    found = [ent.text for ent in series("SCA28, SCA1").ents]
    finder.cfg["min_certainty"] = 0.85
    assert found == ["SCA1"]
