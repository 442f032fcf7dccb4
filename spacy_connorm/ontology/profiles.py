"""Which part of a known ontology names mentions. Ontologies hold qualifiers, too: HPO has "severe"
and "autosomal dominant", SO has "single" and "predicted"."""

from collections.abc import Callable
from typing import NamedTuple

from ..errors import require_choice

AUTO = "auto"
NONE = "none"
# The least share of all concepts at or below the root of a profile.
_MOST = 0.9


class Profile(NamedTuple):
    """What text mentions of an ontology's concepts.

    name (str): Its name in settings.
    roots (Tuple[str, ...]): Concepts that most others are at or below: this tells the ontology.
    branches (Tuple[str, ...]): Mentions name concepts at or below these.
    inexact_names (bool): Whether synonyms that it calls narrow, broad or related are mentions.
    reason (str): What is left out, and why.
    min_certainty (Optional[float]): The finder's; None as it is set.
    """

    name: str
    roots: tuple[str, ...]
    branches: tuple[str, ...]
    inexact_names: bool
    reason: str
    min_certainty: float | None = None


# Ids of documents, F1, ontology alone with n-grams, dev parts (docs/benchmarks): HPO abstracts 60.4
# -> 70.5 and notes 64.0 -> 71.5, CRAFT SO 44.7 -> 49.4. MONDO has the same structure; no release of
# it was measured.
PROFILES = {
    each.name: each
    for each in (
        Profile(
            name="hpo",
            roots=("HP:0000001",),
            branches=("HP:0000118",),
            inexact_names=True,
            reason="only phenotypic abnormalities are mentions; modifiers, frequencies and modes "
            "of inheritance are not",
        ),
        Profile(
            name="mondo",
            roots=("MONDO:0000001",),
            branches=("MONDO:0000001",),
            inexact_names=False,
            reason="only diseases are mentions; their characteristics are not",
        ),
        Profile(
            name="so",
            roots=("SO:0000110", "SO:0000400", "SO:0001060", "SO:0001260"),
            branches=("SO:0000110", "SO:0001060", "SO:0001260"),
            inexact_names=False,
            reason="only sequences, their collections and variants are mentions; attributes are "
            "not",
        ),
        # Thirty articles of CRAFT's train part: 72.9 -> 73.4.
        Profile(
            name="uberon",
            roots=("UBERON:0001062",),
            branches=("UBERON:0001062",),
            inexact_names=False,
            reason="anatomical structures are found in their own words; other words for places, "
            "such as lateral and outer, name other structures",
            min_certainty=1.0,
        ),
    )
}


def choose_profile(name: str, share_below: Callable[[tuple[str, ...]], float]) -> Profile | None:
    """Choose the profile of an ontology.

    name (str): A profile; "auto" for the one whose roots most concepts are below; "none".
    share_below (Callable[[Tuple[str, ...]], float]): The share of the ontology's concepts at or
        below some of them.
    RETURNS (Optional[Profile]): The profile; None if there is none.
    RAISES (ConnormError): CN118 for an unknown name.
    """
    require_choice("profile", name, (AUTO, NONE, *PROFILES))
    if name == AUTO:
        found = (each for each in PROFILES.values() if share_below(each.roots) >= _MOST)
        return next(found, None)
    return PROFILES.get(name)
