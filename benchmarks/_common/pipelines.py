"""Pipelines whose index is built from cached vectors."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import spacy
from spacy.language import Language

from _common.builders import SIEVE, build_lookup
from _common.datasets import Data
from _common.vector_cache import remove_cache
from spacy_connorm.encoders.pretrained import MINILM, find_folder
from spacy_connorm.ontology import read_ontology
from spacy_connorm.pipeline.concept_normalizer import ConceptNormalizer
from spacy_connorm.pipeline.loading import find_normalizer


def add_normalizer(
    nlp: Language,
    config: dict[str, Any],
    data: Data,
    *,
    work: Path,
    synonyms: Sequence[tuple[str, str]] | None = None,
) -> ConceptNormalizer:
    """Add a concept normalizer with the default sieve to a pipeline, and index a data set. Vectors
    of names are cached; the pipeline itself encodes every text.

    nlp (Language): The pipeline.
    config (Dict[str, Any]): Of the component.
    data (Data): The data set.
    work (Path): Keeps the vectors.
    synonyms (Optional[Sequence[Tuple[str, str]]]): Another D than the data set's.
    RETURNS (ConceptNormalizer): The component.
    """
    nlp.add_pipe("concept_normalizer", config=config)
    normalizer = find_normalizer(nlp)
    built = build_lookup(
        config["encoder"],
        data,
        searches=[SIEVE],
        work=work,
        backend=normalizer.lookup.backend,
        synonyms=synonyms,
    )
    normalizer.lookup.use(remove_cache(built.encoder), built.index)
    return normalizer


def write_pipeline(folder: Path, encoder: dict[str, Any], data: Data, *, work: Path) -> None:
    """Save a pipeline of the concept normalizer alone.

    folder (Path): Where to.
    encoder (Dict[str, Any]): The encoder's block.
    data (Data): What is indexed.
    work (Path): Keeps the vectors.
    """
    nlp = spacy.blank("en")
    add_normalizer(nlp, {"encoder": encoder}, data, work=work)
    nlp.to_disk(folder)


def write_transformer_pipeline(folder: Path, encoder: dict[str, Any], *, ontology: Path) -> None:
    """Save a pipeline of MiniLM, as a component of spacy-transformers, and a concept normalizer.

    folder (Path): Where to.
    encoder (Dict[str, Any]): The encoder's block.
    ontology (Path): What is indexed.
    """
    nlp = spacy.blank("en")
    name = str(find_folder(MINILM) or MINILM)
    model = {"@architectures": "spacy-transformers.TransformerModel.v3", "name": name}
    transformer: Any = nlp.add_pipe("transformer", config={"model": model})
    transformer.model.initialize()
    nlp.add_pipe("concept_normalizer", config={"encoder": encoder})
    find_normalizer(nlp).initialize(list, nlp=nlp, ontology=read_ontology(ontology))
    nlp.to_disk(folder)
