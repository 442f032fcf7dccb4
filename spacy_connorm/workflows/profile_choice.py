"""Which part of an indexed ontology a pipeline finds: by the ontology's profile, and without the
names of concepts that only group others, such as "cell" and "region".
"""

from collections import Counter
from collections.abc import Sequence

import numpy as np

from ..index.concept_index import ConceptIndex
from ..index.store import ConceptStore
from ..ontology.profiles import AUTO, Described, Profile, choose_profile
from ..pipeline.presets import FINDER
from ..pipeline.settings import FinderSettings
from .pipeline_plan import PipelinePlan

# The number of ids that tell an ontology.
_SOME = 1000


def _describe(store: ConceptStore) -> Described:
    placed, types = len(store.placed()), store.types()

    def share_below(roots: Sequence[str]) -> float:
        # The rest are supplementary concepts, or of another ontology.
        known = _known(roots, store)
        return len(store.of_branches(known)) / placed if known and placed else 0.0

    labels = store.labels(range(0, len(store), len(store) // _SOME + 1)).values()
    have_all = types and len(store.of_types(types)) == len(store)
    ids = [label[0] for label in labels]
    return Described(placed > 0, share_below, ids, types if have_all else [])


def choose_for(plan: PipelinePlan, name: str, store: ConceptStore) -> Profile | None:
    """Choose the profile of an ontology, unless the settings name branches themselves.

    plan (PipelinePlan): The pipeline.
    name (str): See `choose_profile`.
    store (ConceptStore): The concepts of the index.
    RETURNS (Optional[Profile]): The profile; None if there is none.
    RAISES (ConnormError): CN118 for an unknown name.
    """
    settings = plan.components[plan.normalizer]
    if settings.get("branches") or settings.get("excluded_branches"):
        return None
    profile = choose_profile(name, _describe(store))
    if profile is None or name != AUTO:
        return profile
    # A part of the ontology may lack some of them.
    return profile._replace(branches=tuple(_known(profile.branches, store)))


def with_profile(plan: PipelinePlan, profile: Profile, store: ConceptStore) -> PipelinePlan:
    """Make a pipeline find and link what a profile says.

    plan (PipelinePlan): The pipeline, with a mention finder.
    profile (Profile): The profile.
    store (ConceptStore): The concepts of the index.
    RETURNS (PipelinePlan): The changed pipeline.
    """
    settings, finder = plan.components[plan.normalizer], plan.components[FINDER]
    limits = {
        "branches": [*profile.branches],
        "excluded_branches": _known(profile.excluded, store),
        "types": settings.get("types") or [],
    }
    if profile.other_types and not limits["types"]:
        limits["types"] = profile.kept_types(store.types())
    usual = FinderSettings.defaults()
    names = {name: value for name, value in profile.finder.items() if finder[name] == usual[name]}
    return plan.changed(plan.normalizer, limits).changed(FINDER, names)


def _known(concepts: Sequence[str], store: ConceptStore) -> list[str]:
    return [concept for concept in concepts if store.number(concept) is not None]


# The number of concepts whose ancestors are checked; in smaller ontologies, a root may be a
# mention.
_FEW_CONCEPTS = 200
# If these shares of them are below a concept, its names of one word, or all, are not mentions.
_HALF, _NEARLY_ALL = 0.5, 0.9


def grouping_names(index: ConceptIndex) -> tuple[str, ...]:
    """List the one-word names of concepts above half of a larger ontology, such as "cell" and
    "region", and all names of those above nearly all: they group concepts, and texts use them as
    everyday words.

    index (ConceptIndex): The index of the ontology.
    RETURNS (Tuple[str, ...]): The names, sorted.
    """
    store, members = index.store, index.members
    if len(store) < _FEW_CONCEPTS:
        return ()
    above = Counter[int]()
    numbers = range(0, len(store), len(store) // _FEW_CONCEPTS)
    for number in numbers:
        above.update(store.ancestors(number))
    groupings = [concept for concept, count in above.items() if count >= _HALF * len(numbers)]
    roots = {concept for concept in groupings if above[concept] >= _NEARLY_ALL * len(numbers)}
    places = np.flatnonzero(np.isin(members.concept, groupings)).tolist()
    names = {
        text
        for place, text in store.texts(places).items()
        if members.concept[place] in roots or len(index.words.normalized(text)) == 1
    }
    return tuple(sorted(names))
