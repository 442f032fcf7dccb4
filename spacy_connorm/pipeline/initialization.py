"""What a concept normalizer is made from: an ontology (O) and annotated data (D)."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

from spacy.training import Example

from ..concepts import AnyOntology
from ..documents.mentions import annotated_synonyms, expanded_synonyms, split_ids
from ..errors import ConnormError, Errors, refuse, refuse_text
from ..text.substitutions import Substitution
from .settings import own_id

if TYPE_CHECKING:
    from ..linker.lookup import ConceptLookup

Read = TypeVar("Read")
# A value, or a function that reads it.
Given: TypeAlias = Read | Callable[[], Read]


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
    synonyms = read(gold, settings["labels"], spans_key=settings["spans_key"])
    return ((text, own_id(each, settings)) for text, each in synonyms)


def read_given(ontology: Given[AnyOntology]) -> AnyOntology:
    """RETURNS (Union[Ontology, ConceptStream]): An ontology that may have to be read.

    ontology (Union[Ontology, ConceptStream, Callable]): It, or a function that reads it.
    RAISES (ConnormError): CN006 for anything but an ontology.
    """
    read = ontology() if callable(ontology) else ontology
    if not isinstance(read, AnyOntology):
        refuse_value = refuse if isinstance(read, (str, Path)) else refuse_text
        refuse_value("ontology", read, "an Ontology, e.g. `read_ontology(path)`")
    return read


def build_lookup(
    lookup: "ConceptLookup",
    ontology: Given[AnyOntology] | None,
    annotated: Iterable[tuple[str, str]],
    substitutions: Given[Iterable[Substitution]] | None,
    settings: Mapping[str, Any],
    name: str,
) -> None:
    """Build the index and the memo.

    lookup (ConceptLookup): Takes them.
    ontology (Optional[Union[Ontology, ConceptStream, Callable]]): O, or a function that reads it.
    annotated (Iterable[Tuple[str, str]]): D: texts and concept ids; those without a concept, such
        as `NIL` and `CUI-less`, are left out.
    substitutions (Optional[Union[Iterable[Substitution], Callable]]): Words that mentions may have
        in place of those of names, or a function that reads them.
    settings (Mapping[str, Any]): The settings of the component.
    name (str): The component's name.
    RAISES (ConnormError): CN004 if there is nothing to index, CN006 for anything but an ontology,
        and those of `ConceptLookup.build` and `ConceptLookup.memoize`.
    """
    from ..linker.interpretations import search_depth

    ontology = None if ontology is None else read_given(ontology)
    annotated = [pair for pair in annotated if split_ids(pair[1])]
    if ontology is None and not annotated:
        raise ConnormError(Errors.CN004.format(name=name))
    lookup.build(
        ontology or (),
        annotated,
        source=ontology.source if ontology else None,
        substitutions=substitutions() if callable(substitutions) else substitutions or (),
    )
    lookup.memoize(
        size=settings["memo_size"],
        top_k=search_depth(settings["top_k"]),
        types=settings["types"],
        branches=[own_id(each, settings) for each in settings["branches"]],
    )
