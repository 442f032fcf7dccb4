"""Mentions that were annotated for this project, each set with an ontology in the style of a
terminology, in which three of ten are not. Their authors knew neither the code nor its tables.
"""

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from spacy.language import Language

from spacy_connorm.concepts import Ontology
from spacy_connorm.ontology import read_ontology
from spacy_connorm.pipeline.loading import load_pipeline
from spacy_connorm.workflows.indexing import build_index

_FOLDER = Path(__file__).parents[1] / "_mentions"
SETS = ("rare", "events", "pheno", "diagnoses", "chemicals", "organs", "meds", "labs")


class WrittenMention(NamedTuple):
    """A mention.

    text (str): The mention.
    concept_id (Optional[str]): Its concept; None if the ontology does not have it.
    """

    text: str
    concept_id: str | None


def read_mentions(name: str) -> Iterator[WrittenMention]:
    """YIELDS (WrittenMention): The mentions of one of `SETS`."""
    for line in (_FOLDER / f"{name}.jsonl").read_text(encoding="utf8").splitlines():
        for mention in json.loads(line)["mentions"]:
            yield WrittenMention(mention["text"], mention["id"])


def read_pipeline(name: str, folder: Path, encoder: str, *, names_only: bool = False) -> Language:
    """Build a pipeline as `connorm index --language en` does, once, and read it.

    name (str): One of `SETS`.
    folder (Path): Keeps it.
    encoder (str): "ngrams" or "accurate".
    names_only (bool): Leave out the synonyms.
    RETURNS (Language): The pipeline.
    """
    if not folder.exists():
        folder.parent.mkdir(parents=True, exist_ok=True)
        ontology = read_ontology(_FOLDER / f"{name}.csv")
        if names_only:
            ontology = Ontology(replace(concept, aliases=()) for concept in ontology)
        build_index(ontology, folder, encoder=encoder, language=["en"])
    return load_pipeline(folder)
