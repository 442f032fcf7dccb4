"""The finder of an ontology's names, as `connorm index ONTOLOGY --find-mentions` builds it, and the
data sets on which its rules and defaults are chosen.
"""

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from spacy.language import Language
from spacy.tokens import Doc

from spacy_connorm.concepts import Ontology
from spacy_connorm.documents.mentions import ALL_MENTIONS_KEY, annotated_mentions, split_ids
from spacy_connorm.evaluation.end_to_end import LinkedSpan
from spacy_connorm.ontology.profiles import AUTO
from spacy_connorm.pipeline.loading import load_pipeline
from spacy_connorm.workflows.indexing import build_index

# On these the finder's defaults are chosen, all together.
CHOSEN_ON = (
    "ncbi",
    "bc5cdr-d",
    "bc5cdr-c",
    "craft-uberon",
    "craft-cl",
    "craft-so",
    "hpo-abstracts",
    "hpo-notes",
)
# The semantic types of O's concepts, if not all of O: MeSH's chemicals.
TYPES = {"bc5cdr-c": ["D"]}


def build_finder(
    ontology: Ontology, encoder: dict[str, Any], *, language: str = "en", clinical: bool = False
) -> Language:
    """RETURNS (Language): What `connorm index ONTOLOGY --find-mentions` builds.

    ontology (Ontology): Has the names.
    encoder (Dict[str, Any]): The normalizer's.
    language (str): That of the texts.
    clinical (bool): Whether it reads clinical notes.
    """
    with TemporaryDirectory() as folder:
        built = build_index(
            ontology,
            Path(folder) / "index",
            overrides={"components.concept_normalizer.encoder": encoder},
            language=[language],
            find_mentions=True,
            clinical=clinical,
            profile=AUTO,
        )
        return load_pipeline(built.path)


def gold_spans(doc: Doc, ontology: Ontology) -> list[LinkedSpan]:
    """RETURNS (List[LinkedSpan]): The annotated mentions of a document, with the ids of O."""
    return [
        LinkedSpan(
            *mention.extent, mention.text, frozenset(map(ontology.primary_id, mention.concept_ids))
        )
        for mention in annotated_mentions(doc)
    ]


def found_spans(doc: Doc, ontology: Ontology) -> list[LinkedSpan]:
    """RETURNS (List[LinkedSpan]): The mentions that were found, with the ids of O."""
    return [
        LinkedSpan(
            ent.start_char,
            ent.end_char,
            ent.text,
            frozenset(map(ontology.primary_id, split_ids(ent.kb_id_))),
        )
        for ent in doc.spans.get(ALL_MENTIONS_KEY, doc.ents)
    ]
