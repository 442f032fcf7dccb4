"""Synonyms added and removed since the index was built: a small exact overlay beside it."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from scipy import sparse

from ..encoders.vectors import Raw, stack
from .backends.exact import ExactSearcher
from .concept_index import ConceptIndex
from .members import D
from .search import Search
from .vectors.base import from_raw, open_vectors

_TEXTS = "synonyms.jsonl"
_VECTORS = "synonyms"


class Added(NamedTuple):
    """A synonym that a user added.

    text (str): As written.
    times (int): How often D gives the text this concept, the index's own count included.
    preferred (bool): Whether the text is the concept's preferred name.
    """

    text: str
    times: int
    preferred: bool


class SynonymOverlay:
    """What users have added to D, and which denotations of the index they have withdrawn."""

    def __init__(self, index: ConceptIndex) -> None:
        """Start with nothing.

        index (ConceptIndex): The index that the overlay stands beside; never changed.
        """
        self._index = index
        self._added: dict[bytes, dict[int, Added]] = {}
        self._raw: dict[bytes, Raw] = {}
        self._removed: set[tuple[int, int]] = set()
        self._means: dict[Search, tuple[np.ndarray, ExactSearcher | None]] = {}
        self._searcher: ExactSearcher | None = None

    def __len__(self) -> int:
        return sum(len(concepts) for concepts in self._added.values()) + len(self._removed)

    def add(self, key: bytes, text: str, raw: Raw, concept: int, count: int) -> None:
        """Let a text denote a concept.

        key (bytes): The text's encoder input.
        text (str): The text.
        raw (Raw): Its raw vector, (1, width).
        concept (int): The concept's number.
        count (int): How often D says so.
        """
        known = self._added.setdefault(key, {}).get(concept)
        counted = known.times if known else self._count_in_index(key, concept)
        self._added[key][concept] = Added(text, counted + count, self._is_preferred(key, concept))
        self._raw[key] = raw
        self._forget_searchers()

    def remove(self, key: bytes, concept: int) -> bool:
        """Withdraw a denotation, wherever it comes from: this overlay, D or O.

        key (bytes): The text's encoder input.
        concept (int): The concept's number.
        RETURNS (bool): False if there was nothing to withdraw.
        """
        added = self._added.get(key, {}).pop(concept, None)
        if key in self._added and not self._added[key]:
            del self._added[key], self._raw[key]
        row = self._index.keys.row(key)
        held = row is not None and concept in self._denoted(row)
        if held and row is not None:
            self._removed.add((row, concept))
        self._forget_searchers()
        return added is not None or held

    def holds(self, key: bytes, target: int) -> bool:
        """Tell whether a text is there, with all that was added and removed.

        key (bytes): The text's encoder input.
        target (int): O, D or both: where to look.
        RETURNS (bool): Whether it denotes a concept there.
        """
        if target & D and key in self._added:
            return True
        row = self._index.keys.row(key)
        if row is None:
            return False
        members = self._index.members
        mine = slice(members.start[row], members.start[row + 1])
        denoted = members.concept[mine][members.target[mine] & target > 0].tolist()
        return any((row, concept) not in self._removed for concept in denoted)

    @property
    def removed(self) -> set[tuple[int, int]]:
        """RETURNS (Set[Tuple[int, int]]): Withdrawn denotations of the index: row, concept."""
        return self._removed

    @property
    def added(self) -> list[dict[int, Added]]:
        """RETURNS (List[Dict[int, Added]]): What each added text denotes, by concept number."""
        return list(self._added.values())

    @property
    def raw(self) -> dict[bytes, Raw]:
        """RETURNS (Dict[bytes, Raw]): Raw vectors, (1, width), of added texts by encoder input."""
        return self._raw

    def texts(self) -> ExactSearcher | None:
        """RETURNS (Optional[ExactSearcher]): Over the added texts, in the order of `added`;
        None if there are none.
        """
        if self._searcher is None and self._added:
            vectors = from_raw(stack(self._raw[key] for key in self._added))
            self._searcher = ExactSearcher(vectors)
        return self._searcher

    def means(self, search: Search) -> tuple[np.ndarray, ExactSearcher | None]:
        """Average anew the concepts that additions and removals concern.

        search (Search): A search over concepts: "O-C", "D-C" or "OD-C".
        RETURNS (Tuple[Ints1d, Optional[ExactSearcher]]): All concerned concepts, whose means
            in the index no longer hold; and a searcher whose item i is the new mean of the
            i-th of them, a zero vector where no text is left. None if none is concerned.
        """
        if search not in self._means:
            concepts = self._concerned(search.target)
            means = [self._mean(concept, search.target) for concept in concepts]
            searcher = ExactSearcher(from_raw(stack(means))) if means else None
            self._means[search] = (np.asarray(concepts, dtype="int64"), searcher)
        return self._means[search]

    def _concerned(self, target: int) -> list[int]:
        removed = {concept for _, concept in self._removed}
        added = {concept for concepts in self._added.values() for concept in concepts}
        return sorted(removed | added if target & D else removed)

    def _mean(self, concept: int, target: int) -> Raw:
        members = self._index.members
        mine = np.flatnonzero((members.concept == concept) & (members.target & target > 0))
        rows = np.unique(np.searchsorted(members.start, mine, side="right") - 1)
        kept = [row for row in rows if (int(row), concept) not in self._removed]
        added = self._added_rows(concept, set(kept)) if target & D else []
        incidence = sparse.csr_matrix(
            (np.ones(len(kept), dtype="float32"), ([0] * len(kept), kept)),
            shape=(1, len(self._index.vectors)),
        )
        total = self._index.vectors.sums(incidence)
        for raw in added:
            total = total + raw
        return total / max(len(kept) + len(added), 1)

    def _added_rows(self, concept: int, kept: set[int]) -> list[Raw]:
        return [
            self._raw[key]
            for key, concepts in self._added.items()
            if concept in concepts and self._index.keys.row(key) not in kept
        ]

    def _count_in_index(self, key: bytes, concept: int) -> int:
        row = self._index.keys.row(key)
        if row is None or (row, concept) in self._removed:
            return 0
        return int(self._index.members.count[self._index.members.of(row, concept)].sum())

    def _is_preferred(self, key: bytes, concept: int) -> bool:
        row = self._index.keys.row(key)
        return row is not None and bool(
            self._index.members.preferred[self._index.members.of(row, concept)].any()
        )

    def _denoted(self, row: int) -> set[int]:
        members = self._index.members
        concepts = members.concept[members.start[row] : members.start[row + 1]].tolist()
        return {concept for concept in concepts if (row, concept) not in self._removed}

    def _forget_searchers(self) -> None:
        self._means.clear()
        self._searcher = None

    def write(self, folder: Path) -> None:
        """Write the overlay into a folder; concepts stand there by number.

        folder (Path): An existing folder.
        """
        lines = [
            {"key": key.hex(), "text": text, "concept": concept, "count": count}
            for key, concepts in self._added.items()
            for concept, (text, count, _) in concepts.items()
        ]
        lines += [{"row": row, "concept": concept} for row, concept in sorted(self._removed)]
        text = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)
        (folder / _TEXTS).write_text(text, encoding="utf8")
        if self._raw:
            from_raw(stack(self._raw[key] for key in self._added)).write(folder, _VECTORS)

    @classmethod
    def read(cls, folder: Path, index: ConceptIndex) -> "SynonymOverlay":
        """Read what `write` wrote.

        folder (Path): The folder.
        index (ConceptIndex): The index that the overlay was written beside.
        RETURNS (SynonymOverlay): The overlay.
        """
        overlay = cls(index)
        text = (folder / _TEXTS).read_text(encoding="utf8")
        for line in map(json.loads, text.splitlines()):
            if "row" in line:
                overlay._removed.add((line["row"], line["concept"]))
            else:
                key, concept = bytes.fromhex(line["key"]), line["concept"]
                added = Added(line["text"], line["count"], overlay._is_preferred(key, concept))
                overlay._added.setdefault(key, {})[concept] = added
        if overlay._added:
            overlay._raw = _raw_rows(folder, overlay._added)
        return overlay


def _raw_rows(folder: Path, keys: Sequence[bytes] | dict) -> dict[bytes, Raw]:
    vectors = open_vectors(folder, _VECTORS)
    picks = sparse.identity(len(vectors), format="csr", dtype="float32")
    return {key: vectors.sums(picks[place]) for place, key in enumerate(keys)}
