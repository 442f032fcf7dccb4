"""Names that are held out of ontologies: one synonym each of two fifths of the concepts."""

from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
from spacy.tokens import Doc

from _common.cli import require_files
from _common.datasets import DATASETS, DISEASE_ONTOLOGY, HPO_2025, MEDIC, blank_english
from _common.ontology_finder import found_spans
from spacy_connorm.concepts import Ontology
from spacy_connorm.evaluation.end_to_end import LinkedSpan
from spacy_connorm.ontology import read_ontology

HELD_OUT = {
    "held-out-hpo": HPO_2025,
    "held-out-doid": DISEASE_ONTOLOGY,
    "held-out-medic": MEDIC,
    "held-out-uberon": DATASETS["craft-uberon"].ontology,
    # Nobody has read what is missed of these two: they show what ideas from the others are worth.
    "held-out-cl": DATASETS["craft-cl"].ontology,
    "held-out-so": DATASETS["craft-so"].ontology,
}
SHARE = 0.4
_SEED = 0

HeldOut = list[tuple[str, str]]


def hold_out(name: str, folder: Path) -> tuple[Ontology, HeldOut]:
    """Take names out of an ontology, the same ones each time.

    name (str): One of `HELD_OUT`.
    folder (Path): The data folder.
    RETURNS (Tuple[Ontology, List[Tuple[str, str]]]): The rest, and the names with their ids: an
        exact synonym, which no other concept has, of two fifths of the concepts with one.
    """
    file = HELD_OUT[name]
    require_files(file.paths(folder))
    ontology = read_ontology(**file.located(folder))
    owners = Counter(name for concept in ontology for name in set(map(str.lower, concept.names)))
    random = np.random.default_rng(_SEED)
    concepts, names = [], []
    for concept in ontology:
        synonyms = [text for text in concept.exact_names[1:] if owners[text.lower()] == 1]
        if synonyms and random.random() < SHARE:
            text = synonyms[random.integers(len(synonyms))]
            names.append((text, concept.concept_id))
            aliases = tuple(alias for alias in concept.aliases if alias.lower() != text.lower())
            concept = replace(concept, aliases=aliases)
        concepts.append(concept)
    return Ontology(concepts, source=ontology.source), names


def gold_of(names: HeldOut) -> dict[Doc, list[LinkedSpan]]:
    """RETURNS (Dict[Doc, List[LinkedSpan]]): A document of each name, which is its mention."""
    return {
        blank_english().make_doc(text): [LinkedSpan(0, len(text), text, frozenset([concept_id]))]
        for text, concept_id in names
    }


def whole_spans(doc: Doc, ontology: Ontology) -> list[LinkedSpan]:
    """RETURNS (List[LinkedSpan]): The mention that is the whole text, if it was found."""
    return [span for span in found_spans(doc, ontology) if span.text == doc.text]
