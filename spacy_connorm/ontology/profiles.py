"""Profiles of known ontologies: the part that names mentions. Ontologies also contain qualifiers:
HPO has "severe" and "autosomal dominant", SO has "single" and "predicted".
"""

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from itertools import chain
from types import MappingProxyType
from typing import Any, NamedTuple

from ..errors import require_choice
from ..files.package_data import read_toml

AUTO = "auto"
NONE = "none"
# The minimum share of all concepts at or below the roots of a profile, or with ids of its form.
_MOST = 0.9
# Of joined ontologies, at or below the roots of all their profiles: a small one without a profile
# beside them must not be left out.
_MOST_JOINED = 0.97


class Profile(NamedTuple):
    """The concepts of an ontology that texts mention.

    name (str): Its name in settings.
    reason (str): What is left out, and why.
    roots (Tuple[str, ...]): Concepts at or above most others, which identify the ontology.
    branches (Tuple[str, ...]): Mentions name only concepts at or below these, as far as a part of
        the ontology has them.
    excluded (Tuple[str, ...]): Neither these concepts nor those that are only below them.
    finder (Mapping[str, Any]): Settings of the finder that it changes, unless somebody else has.
    ids (str): The form of its ids, a regular expression, which identifies an ontology without
        roots, and a table without a hierarchy.
    other_types (Tuple[str, ...]): Semantic types whose concepts are never mentions, regular
        expressions.
    """

    name: str
    reason: str
    roots: tuple[str, ...] = ()
    branches: tuple[str, ...] = ()
    excluded: tuple[str, ...] = ()
    finder: Mapping[str, Any] = MappingProxyType({})
    ids: str = ""
    other_types: tuple[str, ...] = ()

    def kept_types(self, types: Collection[str]) -> list[str]:
        """List the semantic types whose concepts are mentions.

        RETURNS (List[str]): These types; empty for all.
        """
        others = re.compile("|".join(self.other_types))
        kept = [name for name in types if not others.fullmatch(name)]
        return kept if len(kept) < len(types) else []

    def without_branches(self) -> "Profile":
        """Adapt the profile to an ontology without a hierarchy, where a branch is a single concept.

        RETURNS (Profile): The same settings, without branches.
        """
        if not (self.branches or self.excluded):
            return self
        reason = (
            "only its other settings, since no concept has a parent: nothing is left out by its "
            "place. The ontology's own file (OBO, OWL) has parents"
        )
        return self._replace(branches=(), excluded=(), reason=reason)


class Described(NamedTuple):
    """What identifies an ontology.

    has_hierarchy (bool): Whether any concept has a parent among the others.
    share_below (Callable[[Sequence[str]], float]): Tells the share of its concepts at or below some
        of them, of those that have a place in its hierarchy.
    ids (Sequence[str]): A sample of its ids, from all of it.
    types (Collection[str]): Its semantic types; empty if some concept has none.
    """

    has_hierarchy: bool
    share_below: Callable[[Sequence[str]], float]
    ids: Sequence[str]
    types: Collection[str]


_TABLE = read_toml(__package__, "profiles.toml")
PROFILES = {name: Profile(name, **settings) for name, settings in _TABLE.items()}


def choose_profile(name: str, ontology: Described) -> Profile | None:
    """Choose the profile of an ontology.

    name (str): A profile; "auto" for the one whose roots are above most concepts, or whose form
        most ids have, or for all whose roots are, together; "none".
    ontology (Described): The ontology.
    RETURNS (Optional[Profile]): The profile; None if there is none.
    RAISES (ConnormError): CN118 for an unknown name.
    """
    require_choice("profile", name, (AUTO, NONE, *PROFILES))
    if name == AUTO:
        profile = next((known for known in PROFILES.values() if _is_of(known, ontology)), None)
        profile = profile or _joint_profile(ontology)
    else:
        profile = PROFILES.get(name)
    if profile is None or ontology.has_hierarchy or not _has_ids(profile, ontology):
        return profile
    return profile.without_branches()


def _has_ids(profile: Profile, ontology: Described, least: float = _MOST) -> bool:
    """Check whether a share of ids has the form of a profile's."""
    same = sum(re.fullmatch(profile.ids, concept_id) is not None for concept_id in ontology.ids)
    return same >= least * len(ontology.ids) > 0


def _is_of(profile: Profile, ontology: Described) -> bool:
    # A disease of another ontology may have been joined to a concept below the root.
    if profile.ids and not _has_ids(profile, ontology):
        return False
    if profile.roots and ontology.has_hierarchy:
        share = ontology.share_below(profile.roots)
        # A part of an ontology may lack its roots.
        return share >= _MOST or (bool(profile.ids) and not share)
    if not profile.ids:
        return False
    # Otherwise, concepts without a type would be left out.
    return not profile.other_types or bool(profile.kept_types(ontology.types))


def _joint_profile(ontology: Described) -> Profile | None:
    """Join the profiles of ontologies that were joined into one. A setting of the finder that they
    do not share keeps its default.
    """
    parts = [
        profile
        for profile in PROFILES.values()
        if profile.roots and ontology.share_below(profile.roots)
    ]
    shared = {
        setting: value
        for setting, value in (parts[0].finder.items() if parts else ())
        if all(part.finder.get(setting) == value for part in parts)
    }
    joint = Profile(
        name=" and ".join(part.name for part in parts),
        reason="of each joined ontology, only what its own profile finds is a mention",
        roots=tuple(chain.from_iterable(part.roots for part in parts)),
        branches=tuple(chain.from_iterable(part.branches or part.roots for part in parts)),
        excluded=tuple(chain.from_iterable(part.excluded for part in parts)),
        ids="|".join(part.ids or ".*" for part in parts),
        finder=shared,
    )
    has_place = ontology.share_below(joint.roots) >= _MOST_JOINED
    return joint if has_place and _has_ids(joint, ontology, _MOST_JOINED) else None
