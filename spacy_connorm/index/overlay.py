"""Synonyms added and removed since the index was built: a small exact overlay beside it, and its
files.
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache, cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ..encoders.raw import Raw, stack
from ..files.folders import damaged
from .backends.exact import ExactSearcher
from .concept_index import ConceptIndex
from .rows import hash_keys
from .search import D, O, Search
from .vectors.kinds import Vectors, from_raw, join, mean_vectors, open_vectors, scaled


class Synonym(NamedTuple):
    """A text that denotes a concept.

    key (bytes): The text's encoder input.
    text (str): The text.
    concept (int): The concept's number.
    """

    key: bytes
    text: str
    concept: int


class Added(NamedTuple):
    """A synonym that a user added.

    text (str): As written.
    times (int): How often the text has this concept in D, including the index's own count.
    preferred (bool): Whether the text is the concept's preferred name.
    """

    text: str
    times: int
    preferred: bool


@dataclass(eq=False)
class SynonymOverlay:
    """The synonyms that users have added to D or removed from the index. An overlay never changes:
    `with_synonyms` and `without_synonyms` create a new one. So a reader sees all of a change or
    none of it.

    index (ConceptIndex): The index that the overlay belongs to.
    by_key (Mapping[bytes, Mapping[int, Added]]): The concepts that each added text denotes, by
        encoder input and concept number.
    vectors (Mapping[bytes, Vectors]): The vectors of these texts, one row each, in the same order.
        They are as they are stored, so that scores are the same before and after.
    removed (FrozenSet[Tuple[int, int]]): The synonyms removed from the index: row, concept number.
    """

    index: ConceptIndex
    by_key: Mapping[bytes, Mapping[int, Added]] = field(default_factory=dict)
    vectors: Mapping[bytes, Vectors] = field(default_factory=dict)
    removed: frozenset[tuple[int, int]] = frozenset()

    def __post_init__(self) -> None:
        self._means: dict[Search, tuple[np.ndarray, ExactSearcher | None]] = {}

    def __len__(self) -> int:
        return sum(map(len, self.by_key.values())) + len(self.removed)

    def with_synonyms(
        self, synonyms: Iterable[Synonym], vectors: Raw, *, count: int
    ) -> "SynonymOverlay":
        """Add synonyms.

        synonyms (Iterable[Synonym]): n synonyms.
        vectors (Raw): (n, width): the raw vectors of their texts.
        count (int): How often they are added to D.
        RETURNS (SynonymOverlay): A new overlay.
        """
        by_key, rows, new = dict(self.by_key), dict(self.vectors), from_raw(vectors)
        for place, (key, text, concept) in enumerate(synonyms):
            denoted = by_key.get(key, {})
            known = denoted.get(concept)
            before = known.times if known else self._count_in_index(key, concept)
            added = Added(text, before + count, self.is_preferred(key, concept))
            by_key[key] = {**denoted, concept: added}
            rows[key] = new.take(np.array([place]))
        return SynonymOverlay(self.index, by_key, rows, self.removed)

    def without_synonyms(self, synonyms: Iterable[Synonym]) -> "SynonymOverlay":
        """Remove synonyms, whether they are in this overlay, D or O.

        synonyms (Iterable[Synonym]): The synonyms; unknown ones are ignored.
        RETURNS (SynonymOverlay): A new overlay.
        """
        by_key, rows, removed = dict(self.by_key), dict(self.vectors), set(self.removed)
        for key, _, concept in synonyms:
            left = {**by_key.get(key, {})}
            left.pop(concept, None)
            if left:
                by_key[key] = left
            elif key in by_key:
                del by_key[key], rows[key]
            row = self.index.keys.row(key)
            if row is not None and self.index.members.of(row, concept).size:
                removed.add((row, concept))
        return SynonymOverlay(self.index, by_key, rows, frozenset(removed))

    def has_synonym(self, synonym: Synonym) -> bool:
        """Check whether a text denotes a concept, here or in the index.

        RETURNS (bool): True if it does.
        """
        key, _, concept = synonym
        return concept in self.by_key.get(key, {}) or bool(self._in_index(key, concept).size)

    def has_text(self, key: bytes, target: int) -> bool:
        """Check whether a text denotes any concept, after all changes.

        key (bytes): The text's encoder input.
        target (int): Where to look: O, D or both.
        RETURNS (bool): True if it does.
        """
        if target & D and key in self.by_key:
            return True
        row = self.index.keys.row(key)
        return row is not None and self._has_concept(row, target)

    @cached_property
    def rows_without_concepts(self) -> np.ndarray:
        """The rows whose texts no longer denote a concept.

        RETURNS (Ints1d): int64 row numbers.
        """
        changed = {row for row, _ in self.removed}
        silent = [row for row in changed if not self._has_concept(row, O | D)]
        named_again = self.index.keys.rows_of(hash_keys(self.by_key))
        return np.setdiff1d(silent, named_again).astype("int64")

    def _has_concept(self, row: int, target: int) -> bool:
        """Check whether a row of the index still denotes a concept."""
        members = self.index.members
        mine = slice(members.start[row], members.start[row + 1])
        denoted = members.concept[mine][members.target[mine] & target > 0].tolist()
        return any((row, concept) not in self.removed for concept in denoted)

    @cached_property
    def synonyms(self) -> list[Synonym]:
        """The added synonyms.

        RETURNS (List[Synonym]): In the order of `added`.
        """
        return [
            Synonym(key, added.text, concept)
            for key, denoted in self.by_key.items()
            for concept, added in denoted.items()
        ]

    def count(self, synonym: Synonym) -> int:
        """Count how often an added synonym is in D, including the index's own count.

        RETURNS (int): The count.
        """
        return self.by_key[synonym.key][synonym.concept].times

    def own_count(self, synonym: Synonym) -> int:
        """Count how often a synonym was added, without the index's own count.

        RETURNS (int): The count.
        """
        return self.count(synonym) - self._count_in_index(synonym.key, synonym.concept)

    @cached_property
    def added(self) -> list[Mapping[int, Added]]:
        """The concepts that each added text denotes.

        RETURNS (List[Mapping[int, Added]]): By concept number.
        """
        return list(self.by_key.values())

    @cached_property
    def searcher(self) -> ExactSearcher | None:
        """The searcher over the added texts.

        RETURNS (Optional[ExactSearcher]): Its items are in the order of `added`; None if there are
            none.
        """
        if not self.vectors:
            return None
        return ExactSearcher(scaled(join(list(self.vectors.values())), self.index.metric))

    def means(self, search: Search) -> tuple[np.ndarray, ExactSearcher | None]:
        """Average the texts of concepts whose synonyms have changed.

        search (Search): A search over concepts: "O-C", "D-C" or "OD-C".
        RETURNS (Tuple[Ints1d, Optional[ExactSearcher]]): These concepts, whose means in the index
            are outdated, and a searcher whose item i is the new mean of the i-th of them (a zero
            vector if it has no text left). None if there are no such concepts.
        """
        if search not in self._means:
            changed = {concept for _, concept in self.removed}
            if search.target & D:
                changed.update(*self.added)
            concepts, searcher = sorted(changed), None
            if concepts:
                means = stack(self._mean(concept, search.target) for concept in concepts)
                searcher = ExactSearcher(from_raw(means, metric=self.index.metric))
            self._means[search] = (np.asarray(concepts, dtype="int64"), searcher)
        return self._means[search]

    def _mean(self, concept: int, target: int) -> Raw:
        members = self.index.members
        mine = np.flatnonzero((members.concept == concept) & (members.target & target > 0))
        rows = np.unique(members.row_numbers[mine]).tolist()
        kept = [row for row in rows if (row, concept) not in self.removed]
        parts = [self.index.vectors.take(np.array(kept, dtype="int64"))]
        if target & D:
            parts += (
                self.vectors[key]
                for key, denoted in self.by_key.items()
                if concept in denoted and self.index.keys.row(key) not in kept
            )
        texts = join(parts)
        return mean_vectors(texts, np.array([0, len(texts)]))

    def _count_in_index(self, key: bytes, concept: int) -> int:
        return int(self.index.members.count[self._in_index(key, concept)].sum())

    def _in_index(self, key: bytes, concept: int) -> np.ndarray:
        """Find a synonym among the members of the index; nothing if it was removed."""
        row = self.index.keys.row(key)
        if row is None or (row, concept) in self.removed:
            return np.empty(0, dtype="int64")
        return self.index.members.of(row, concept)

    def is_preferred(self, key: bytes, concept: int) -> bool:
        """Check whether a text is the preferred name of a concept in the index.

        RETURNS (bool): True if it is.
        """
        row, members = self.index.keys.row(key), self.index.members
        return row is not None and bool(members.preferred[members.of(row, concept)].any())


SYNONYMS_FILE = "synonyms.jsonl"
_VECTORS = "synonyms"
_MAX_COUNT = 2**31


def write_overlay(overlay: SynonymOverlay, folder: Path) -> None:
    """Write an overlay.

    overlay (SynonymOverlay): The overlay.
    folder (Path): An existing folder.
    """
    added, removed = overlay.synonyms, sorted(overlay.removed)
    numbers = {synonym.concept for synonym in added} | {concept for _, concept in removed}
    labels = overlay.index.store.labels(numbers)
    lines: list[dict[str, Any]] = [
        {
            "key": synonym.key.hex(),
            "text": synonym.text,
            "concept_id": labels[synonym.concept][0],
            "count": overlay.count(synonym),
        }
        for synonym in added
    ]
    lines += [{"row": row, "concept_id": labels[concept][0]} for row, concept in removed]
    text = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)
    (folder / SYNONYMS_FILE).write_text(text, encoding="utf8")
    if overlay.vectors:
        join(list(overlay.vectors.values())).write(folder, _VECTORS)


def read_overlay(folder: Path, index: ConceptIndex) -> SynonymOverlay:
    """Read the files written by `write_overlay`.

    folder (Path): The folder.
    index (ConceptIndex): The index that the overlay belongs to.
    RETURNS (SynonymOverlay): The overlay.
    RAISES (ConnormError): CN402 if a line or a vector does not fit the index.
    """
    path = folder / SYNONYMS_FILE
    if not path.is_file():
        raise damaged(path, "it is missing")
    by_key: dict[bytes, dict[int, Added]] = {}
    removed = []
    numbers = cache(index.store.number)
    for place, line in enumerate(path.read_bytes().splitlines(), start=1):
        try:
            read = json.loads(line)
            concept = numbers(read["concept_id"])
            if concept is None:
                raise KeyError("concept_id")
            if "row" in read:
                removed.append((_row(read, concept, index), concept))
            else:
                key, added = _added(read, concept, index)
                by_key.setdefault(key, {})[concept] = added
        except (AttributeError, KeyError, TypeError, ValueError, RecursionError) as error:
            reason = f"line {place} is not for this index ({type(error).__name__}: {error})"
            raise damaged(path, reason) from error
    rows = _read_vectors(folder, index, len(by_key)) if by_key else []
    return SynonymOverlay(index, by_key, dict(zip(by_key, rows, strict=True)), frozenset(removed))


def _row(line: Mapping[str, Any], concept: int, index: ConceptIndex) -> int:
    row, rows = line["row"], len(index.members.start) - 1
    if type(row) is not int or not 0 <= row < rows or not index.members.of(row, concept).size:
        raise ValueError("the index does not have the synonym that it removes")
    return row


def _added(line: Mapping[str, Any], concept: int, index: ConceptIndex) -> tuple[bytes, Added]:
    key, text, count = bytes.fromhex(line["key"]), line["text"], line["count"]
    if type(text) is not str or not text or type(count) is not int or not 0 < count < _MAX_COUNT:
        raise ValueError("it has no text or no count")
    return key, Added(text, count, SynonymOverlay(index).is_preferred(key, concept))


def _read_vectors(folder: Path, index: ConceptIndex, count: int) -> list[Vectors]:
    vectors = open_vectors(folder, _VECTORS)
    found, expected = (len(vectors), vectors.widths), (count, index.vectors.widths)
    if found != expected:
        reason = f"there are {found[0]} vectors of {found[1]} components"
        reason += f" instead of {expected[0]} of {expected[1]}"
        raise damaged(folder / f"{_VECTORS}.norms.npy", reason)
    return [vectors.take(np.array([place])) for place in range(count)]
