"""Batches of differently worded texts of concepts that are relatives in the hierarchy."""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from ..errors import refuse, require_positive
from ..text.word_bags import word_bag
from .batchers import Groups, Vectors, check_groups, pack_groups
from .neighbour_batcher import SPARE, cluster_groups
from .pool import SynonymPool


@dataclass(frozen=True)
class FamilyBatcher:
    """`spacy-connorm.FamilyBatcher.v1`: groups of differently worded texts of a concept, batched
    together with groups of its parents, siblings and children.

    Of 330,000 names of eight joined ontologies, a third differ from another one of their concept in
    the order, number or hyphens of their words alone. An encoder learns little from such pairs, so
    each epoch draws one text of each bag of words. And mentions are most often linked to a concept
    that is too broad or too narrow, so relatives are the negatives to learn from.

    size (int): At most how many texts a batch has; at least three groups.
    per_concept (int): Texts in a group.
    relatives (int): How many groups of related concepts are batched together, the first included;
        1 for random batches.
    max_texts (int): At most how many texts of a concept an epoch draws, at least 2.
    RAISES (ConnormError): CN006 for an invalid setting.
    """

    size: int = 512
    per_concept: int = 2
    relatives: int = 8
    max_texts: int = 50

    # However often D repeats a text, an epoch draws it once.
    each_once = True

    def __post_init__(self) -> None:
        check_groups(self.size, self.per_concept)
        require_positive("relatives", self.relatives)
        if self.max_texts < 2:
            refuse("max_texts", self.max_texts, "at least 2, a text and its positive")

    def batches(
        self, pool: SynonymPool, *, seed: int, epoch: int, vectors: Vectors | None = None
    ) -> list[np.ndarray]:
        """RETURNS (List[Ints1d]): As `Batcher.batches`."""
        rng = np.random.default_rng((seed, epoch))
        groups = self._draw(pool, rng)
        if not len(groups.widths):
            return []
        if self.relatives == 1:
            order = rng.permutation(len(groups.widths))
        else:
            related = _Relatives(pool, self.relatives * SPARE, rng)
            order = cluster_groups(groups.concept, related, self.relatives, rng)
        return pack_groups(groups, order, self.size)

    def _draw(self, pool: SynonymPool, rng: np.random.Generator) -> Groups:
        bags = _number_bags(pool.texts)
        rows: list[int] = []
        widths: list[int] = []
        concepts: list[int] = []
        for concept, members in enumerate(pool.members):
            shuffled = rng.permutation(np.unique(members))
            drawn = _distinct(shuffled, bags)[: self.max_texts]
            for texts in _cut(drawn, self.per_concept):
                rows += texts
                widths.append(len(texts))
                concepts.append(concept)
        counts = np.asarray(widths, dtype="int64")
        group = np.repeat(np.arange(len(counts)), counts)
        return Groups(np.asarray(rows, "int64"), group, counts, np.asarray(concepts, "int64"))


class _Relatives:
    """The parents of each concept, then its siblings and children in random order."""

    def __init__(self, pool: SynonymPool, limit: int, rng: np.random.Generator) -> None:
        self._parents = pool.parents
        self._limit = limit
        self._rng = rng
        self._children: dict[int, list[int]] = defaultdict(list)
        for concept, parents in enumerate(pool.parents):
            for parent in parents:
                self._children[parent].append(concept)

    def __getitem__(self, concept: int) -> list[int]:
        parents = self._parents[concept] if self._parents else ()
        near = [each for parent in parents for each in self._children[parent] if each != concept]
        near += self._children.get(concept, ())
        chosen = self._rng.permutation(len(near))[: self._limit]
        return [*parents, *(near[place] for place in chosen.tolist())]


def _number_bags(texts: list[str]) -> np.ndarray:
    """A number for each text that texts with the same bag of words share."""
    numbers: dict[tuple[str, ...], int] = {}
    return np.asarray([numbers.setdefault(word_bag(text), len(numbers)) for text in texts])


def _distinct(rows: np.ndarray, bags: np.ndarray) -> list[int]:
    """The first row of each bag; all rows if there is only one bag."""
    first = np.unique(bags[rows], return_index=True)[1]
    return (rows[np.sort(first)] if len(first) > 1 else rows).tolist()


def _cut(rows: list[int], size: int) -> Iterator[list[int]]:
    """Cut the rows of a concept into groups of at least two; nothing of a single row."""
    if len(rows) < 2:
        return
    for start in range(0, len(rows), size):
        group = rows[start : start + size]
        yield group if len(group) > 1 else [rows[0], *group]
