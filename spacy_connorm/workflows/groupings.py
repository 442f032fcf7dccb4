"""Names of concepts that only group others, such as "cell" and "region"."""

from collections import Counter

import numpy as np

from ..index.concept_index import ConceptIndex

# The number of concepts whose ancestors are checked; in smaller ontologies, a root may be a
# mention.
_FEW_CONCEPTS = 200
# From these shares of them below a concept on, its names of one word, or all, are not mentions.
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
