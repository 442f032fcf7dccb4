"""Synonyms added and removed, on disk: their concepts by id, and their vectors."""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NoReturn

from ..encoders.vectors import Raw
from ..files.folders import damaged
from .concept_index import ConceptIndex
from .overlay import Added, SynonymOverlay
from .vectors.base import HybridVectors, Vectors, open_vectors
from .vectors.sparse import SparseVectors

SYNONYMS_FILE = "synonyms.jsonl"
_VECTORS = "synonyms"
_MAX_COUNT = 2**31


def write_overlay(overlay: SynonymOverlay, index: ConceptIndex, folder: Path) -> None:
    """Write an overlay.

    overlay (SynonymOverlay): The overlay.
    index (ConceptIndex): The index that it belongs to.
    folder (Path): An existing folder.
    """
    added, removed = overlay.synonyms, sorted(overlay.removed)
    numbers = {each.concept for each in added} | {concept for _, concept in removed}
    ids = {number: concept_id for number, (concept_id, _) in index.store.labels(numbers).items()}
    lines: list[dict[str, Any]] = [
        {
            "key": each.key.hex(),
            "text": each.text,
            "concept_id": ids[each.concept],
            "count": overlay.count(each),
        }
        for each in added
    ]
    lines += [{"row": row, "concept_id": ids[concept]} for row, concept in removed]
    text = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)
    (folder / SYNONYMS_FILE).write_text(text, encoding="utf8")
    if overlay.searcher is not None:
        overlay.searcher.vectors.write(folder, _VECTORS)


def read_overlay(folder: Path, index: ConceptIndex) -> SynonymOverlay:
    """Read what `write_overlay` wrote.

    folder (Path): The folder.
    index (ConceptIndex): The index that the overlay belongs to.
    RETURNS (SynonymOverlay): The overlay.
    RAISES (ConnormError): CN402 if a line or a vector does not fit the index.
    """
    reader = _Reader(folder / SYNONYMS_FILE, index)
    by_key: dict[bytes, dict[int, Added]] = {}
    removed = []
    for line in reader.lines():
        if "row" in line:
            removed.append(reader.removed(line))
        else:
            key, concept, added = reader.added(line)
            by_key.setdefault(key, {})[concept] = added
    raw = dict(zip(by_key, _read_raw(folder, index, len(by_key)), strict=True)) if by_key else {}
    return SynonymOverlay(index, by_key=by_key, raw=raw, removed=removed)


class _Reader:
    """Reads the lines of one file, and refuses what is not in the index."""

    def __init__(self, path: Path, index: ConceptIndex) -> None:
        self._path = path
        self._index = index
        self._number = 0
        self._concepts: dict[str, int | None] = {}
        self._nothing_added = SynonymOverlay(index)

    def lines(self) -> Iterator[Mapping[str, Any]]:
        if not self._path.is_file():
            raise damaged(self._path, "it is missing")
        content = self._path.read_bytes()
        for self._number, line in enumerate(content.splitlines(), start=1):
            try:
                found = json.loads(line)
            except (ValueError, RecursionError):
                self._refuse("is no JSON")
            if not isinstance(found, dict):
                self._refuse("is no JSON object")
            yield found

    def added(self, line: Mapping[str, Any]) -> tuple[bytes, int, Added]:
        key, text, count = self._key(line), line.get("text"), line.get("count")
        if not isinstance(text, str) or not text:
            self._refuse("has no text")
        if not _is_number(count, _MAX_COUNT) or not count:
            self._refuse("has no count")
        concept = self._concept(line)
        return key, concept, Added(text, count, self._nothing_added.is_preferred(key, concept))

    def removed(self, line: Mapping[str, Any]) -> tuple[int, int]:
        row, concept = line["row"], self._concept(line)
        members = self._index.members
        if not _is_number(row, len(members.start) - 1) or not members.of(row, concept).size:
            self._refuse("removes what the index does not have")
        return row, concept

    def _key(self, line: Mapping[str, Any]) -> bytes:
        try:
            return bytes.fromhex(line["key"])
        except (KeyError, TypeError, ValueError):
            self._refuse("has no key")

    def _concept(self, line: Mapping[str, Any]) -> int:
        concept_id = line.get("concept_id")
        if isinstance(concept_id, str) and concept_id not in self._concepts:
            self._concepts[concept_id] = self._index.store.number(concept_id)
        number = self._concepts.get(concept_id) if isinstance(concept_id, str) else None
        if number is None:
            self._refuse("names a concept that the index does not have")
        return number

    def _refuse(self, fault: str) -> NoReturn:
        raise damaged(self._path, f"line {self._number} {fault}")


def _is_number(value: Any, stop: int) -> bool:
    return type(value) is int and 0 <= value < stop


def _read_raw(folder: Path, index: ConceptIndex, count: int) -> list[Raw]:
    from scipy.sparse import identity

    vectors = open_vectors(folder, _VECTORS)
    found = (len(vectors), vectors.width, _kind(vectors))
    expected = (count, index.vectors.width, _kind(index.vectors))
    if found != expected:
        reason = f"{found[0]} {found[2]} vectors of width {found[1]} instead of "
        reason += f"{expected[0]} {expected[2]} ones of width {expected[1]}"
        raise damaged(folder / f"{_VECTORS}.norms.npy", reason)
    raw = vectors.sums(identity(count, format="csr", dtype="float32"))
    return [raw[place : place + 1] for place in range(count)]


def _kind(vectors: Vectors) -> str:
    if isinstance(vectors, HybridVectors):
        return "hybrid"
    return "sparse" if isinstance(vectors, SparseVectors) else "dense"
