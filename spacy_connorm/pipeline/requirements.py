"""The pip requirements of a pipeline's package."""

import re
from typing import TYPE_CHECKING

from spacy.language import Language
from spacy.util import get_minor_version_range

from ..about import __version__
from ..encoders import required_extra
from .assertion_marker import AssertionMarker

if TYPE_CHECKING:
    from ..linker.lookup import ConceptLookup

# What `require_extras` wrote before, perhaps for another version.
_OURS = re.compile(r"spacy-connorm\[[a-z,-]+\]>=")


def require_extras(nlp: Language) -> None:
    """Set which extras of spacy-connorm the pipeline's package requires: those of its encoders,
    indexes and components. `spacy package` finds the plugin by itself, but not its extras.

    nlp (Language): The pipeline.
    """
    from ..linker.lookup import ConceptLookup

    lookups = [getattr(component, "lookup", None) for _, component in nlp.components]
    extras = {
        extra
        for lookup in lookups
        if isinstance(lookup, ConceptLookup)
        for extra in _lookup_extras(lookup)
    }
    extras |= {each.extra for _, each in nlp.components if isinstance(each, AssertionMarker)}
    others = [each for each in nlp.meta.get("requirements", []) if not _OURS.match(each)]
    versions = get_minor_version_range(__version__)
    ours = [f"spacy-connorm[{','.join(sorted(extras))}]{versions}"] if extras else []
    nlp.meta["requirements"] = [*others, *ours]


def _lookup_extras(lookup: "ConceptLookup") -> set[str]:
    # Several are separated by commas. A backend of another package may state none.
    stated = f"{required_extra(lookup.encoder)},{getattr(lookup.backend, 'extra', '')}"
    return set(stated.split(",")) - {""}
