"""What a concept normalizer is made from: an ontology (O) and annotated data (D)."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from spacy.training import Example

from ..annotations.synonyms import annotated_synonyms, expanded_synonyms
from ..concepts import AnyOntology
from ..errors import ConnormError, Errors, refuse, refuse_text
from .settings import choose_limits

if TYPE_CHECKING:
    from ..linker.lookup import ConceptLookup


def read_annotated(
    examples: Iterable[Example], settings: Mapping[str, Any]
) -> Iterator[tuple[str, str]]:
    """Read the mentions of annotated documents.

    examples (Iterable[Example]): Their references have gold ids.
    settings (Mapping[str, Any]): The settings of the component.
    YIELDS (Tuple[str, str]): Texts and concept ids.
    """
    read = expanded_synonyms if settings["expand_abbreviations"] else annotated_synonyms
    gold = (example.reference for example in examples)
    return read(gold, settings["labels"], spans_key=settings["spans_key"])


def build_lookup(
    lookup: "ConceptLookup",
    ontology: AnyOntology | None,
    annotated: Sequence[tuple[str, str]],
    *,
    name: str,
    settings: Mapping[str, Any],
) -> None:
    """Build the index and the memo.

    lookup (ConceptLookup): Takes them.
    ontology (Optional[Union[Ontology, ConceptStream]]): O.
    annotated (Sequence[Tuple[str, str]]): D: texts and concept ids.
    name (str): The component's name.
    settings (Mapping[str, Any]): The settings of the component.
    RAISES (ConnormError): CN004 if there is nothing to index, CN006 for anything but an ontology,
        and those of `ConceptLookup.build` and `ConceptLookup.memoize`.
    """
    from ..linker.interpretations import search_depth

    if ontology is None and not annotated:
        raise ConnormError(Errors.CN004.format(name=name))
    if not isinstance(ontology, AnyOntology | None):
        refuse_value = refuse if isinstance(ontology, (str, Path)) else refuse_text
        refuse_value("ontology", ontology, "an Ontology, e.g. `read_ontology(path)`")
    source = ontology.source if ontology else None
    lookup.build(ontology or (), annotated, source=source)
    limits = choose_limits(settings, {"top_k": search_depth(settings["top_k"])})
    lookup.memoize(size=settings["memo_size"], **limits)
