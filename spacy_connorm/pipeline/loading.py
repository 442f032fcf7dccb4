"""Pipelines that commands are given: a folder or an installed package."""

from collections.abc import Collection
from pathlib import Path

import spacy
from spacy.language import Language

from ..errors import ConnormError, Errors
from .concept_normalizer import ConceptNormalizer


def load_pipeline(name: str) -> Language:
    """Load a pipeline.

    name (str): An installed package, or a folder such as `connorm index` writes.
    RETURNS (Language): The pipeline.
    RAISES (ConnormError): CN700 if there is none of this name, CN701 if it can't be loaded, and
        what the concept normalizers in it raise.
    """
    if not spacy.util.is_package(name) and not Path(name).is_dir():
        raise ConnormError(Errors.CN700.format(name=name))
    try:
        return spacy.load(name)
    except ConnormError:
        raise
    except (OSError, ValueError, ImportError) as error:
        reason = " ".join(str(error).split()).rstrip(".") or type(error).__name__
        raise ConnormError(Errors.CN701.format(name=name, reason=reason)) from error


def find_normalizer(nlp: Language, *, component: str | None = None) -> ConceptNormalizer:
    """Find a pipeline's concept normalizer.

    nlp (Language): The pipeline.
    component (Optional[str]): Its name; needed where there are several.
    RETURNS (ConceptNormalizer): The component.
    RAISES (ConnormError): CN702 if there is no concept normalizer, CN703 if there are several and
        none is named, CN704 if the name is not one of theirs.
    """
    found = {name: pipe for name, pipe in nlp.pipeline if isinstance(pipe, ConceptNormalizer)}
    if not found:
        raise ConnormError(Errors.CN702.format(components=", ".join(nlp.pipe_names) or "none"))
    return found[choose_name(found, component)]


def choose_name(names: Collection[str], wanted: str | None) -> str:
    """Choose one of several concept normalizers.

    names (Collection[str]): Their names, at least one.
    wanted (Optional[str]): The one that is named; needed where there are several.
    RETURNS (str): Its name.
    RAISES (ConnormError): CN703 if there are several and none is named, CN704 if the name is not
        one of theirs.
    """
    known = ", ".join(names)
    if wanted is None and len(names) > 1:
        raise ConnormError(Errors.CN703.format(known=known))
    name = next(iter(names)) if wanted is None else wanted
    if name not in names:
        raise ConnormError(Errors.CN704.format(component=name, known=known))
    return name


def load_normalizer(name: str, *, component: str | None = None) -> ConceptNormalizer:
    """Load the concept normalizer of a pipeline.

    name (str): An installed package, or a folder such as `connorm index` writes.
    component (Optional[str]): The component's name; needed where there are several.
    RETURNS (ConceptNormalizer): The component.
    RAISES (ConnormError): CN700 to CN704, as `load_pipeline` and `find_normalizer`.
    """
    return find_normalizer(load_pipeline(name), component=component)
