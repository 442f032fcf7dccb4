"""Which part of a known ontology names mentions. Ontologies hold qualifiers, too: HPO has "severe"
and "autosomal dominant", SO has "single" and "predicted"."""

import re
from collections.abc import Collection, Sequence
from typing import NamedTuple, Protocol

from ..errors import require_choice

AUTO = "auto"
NONE = "none"
# The least share of all concepts at or below the root of a profile, or with ids like its own.
_MOST = 0.9
# How many ids are looked at.
_SOME = 1000


class Profile(NamedTuple):
    """What text mentions of an ontology's concepts.

    name (str): Its name in settings.
    reason (str): What is left out, and why.
    roots (Tuple[str, ...]): Concepts that most others are at or below: this tells the ontology.
    branches (Tuple[str, ...]): Mentions name concepts at or below these.
    inexact_names (bool): Whether synonyms that it calls narrow, broad or related are mentions.
    min_certainty (Optional[float]): The finder's; None as it is set.
    ids (str): What ids look like, a regular expression; it tells an ontology without roots.
    other_types (str): Semantic types whose concepts no mention names, a regular expression.
    """

    name: str
    reason: str
    roots: tuple[str, ...] = ()
    branches: tuple[str, ...] = ()
    inexact_names: bool = False
    min_certainty: float | None = None
    ids: str = ""
    other_types: str = ""

    def kept_types(self, types: Collection[str]) -> list[str]:
        """RETURNS (List[str]): Those semantic types whose concepts are mentions; empty for all."""
        kept = [each for each in types if not re.fullmatch(self.other_types, each)]
        return kept if len(kept) < len(types) else []


class Described(Protocol):
    """What tells an ontology."""

    def share_below(self, roots: Sequence[str]) -> float:
        """RETURNS (float): The share of its concepts at or below some of them."""

    def some_ids(self, most: int) -> Sequence[str]:
        """RETURNS (Sequence[str]): Ids from all of it, so many at most."""

    def types(self) -> Collection[str]:
        """RETURNS (Collection[str]): The semantic types; empty if some concept has none."""


# Ids of documents, F1, ontology alone with n-grams, dev parts (docs/benchmarks): HPO abstracts 60.4
# -> 70.5 and notes 64.0 -> 71.5, CRAFT SO 44.7 -> 49.4. MONDO has the same structure; no release of
# it was measured. What has no row needs none, or nobody has measured one: in DO and MEDIC all but
# the root names diseases; CL's and GO's roots are left out as those of any ontology, see
# `workflows.indexing`.
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
            reason="only diseases are mentions; their characteristics are not",
        ),
        Profile(
            name="so",
            roots=("SO:0000110", "SO:0000400", "SO:0001060", "SO:0001260"),
            branches=("SO:0000110", "SO:0001060", "SO:0001260"),
            reason="only sequences, their collections and variants are mentions; attributes are "
            "not",
        ),
        # Thirty articles of CRAFT's train part: 72.9 -> 73.4.
        Profile(
            name="uberon",
            roots=("UBERON:0001062",),
            branches=("UBERON:0001062",),
            reason="anatomical structures are found in their own words; other words for places, "
            "such as lateral and outer, name other structures",
            min_certainty=1.0,
        ),
        # Of 11,000 names that NCBI's, BC5CDR's and the notes' dev texts have, 180 are of these
        # types: "review", "case report".
        Profile(
            name="mesh",
            ids=r"[CD]\d{6,9}",
            other_types=r"[VZ]\d*",
            reason="what an article is, and where it comes from, is no mention: publication "
            "characteristics and places are left out",
        ),
        Profile(
            name="icd10cm",
            ids=r"[A-Z]\d\w(\.\w{1,4})?",
            other_types=r"External causes of morbidity.*",
            reason="diseases, injuries and findings are mentions; external causes are not: they "
            "are everyday words (storm, tractor) for what happened",
        ),
        # The semantic types of concepts, ideas and places; MedMentions ST21pv, too, leaves out all
        # but one of these. There is no release here to measure it.
        Profile(
            name="umls",
            ids=r"C\d{7}",
            other_types=r"T(07[789]|08[0123]|089|102|169|170|171|185)",
            reason="concepts of quality, quantity, time, function, ideas, texts and places are no "
            "mentions",
        ),
    )
}


def choose_profile(name: str, ontology: Described) -> Profile | None:
    """Choose the profile of an ontology.

    name (str): A profile; "auto" for the one whose roots most concepts are below, or whose ids most
        have; "none".
    ontology (Described): The ontology.
    RETURNS (Optional[Profile]): The profile; None if there is none.
    RAISES (ConnormError): CN118 for an unknown name.
    """
    require_choice("profile", name, (AUTO, NONE, *PROFILES))
    if name == AUTO:
        return next((each for each in PROFILES.values() if _is_of(each, ontology)), None)
    return PROFILES.get(name)


def _is_of(profile: Profile, ontology: Described) -> bool:
    if profile.roots:
        return ontology.share_below(profile.roots) >= _MOST
    ids = ontology.some_ids(_SOME)
    same = sum(re.fullmatch(profile.ids, each) is not None for each in ids)
    # Concepts without a type would be left out.
    return same >= _MOST * len(ids) > 0 and bool(profile.kept_types(ontology.types()))
