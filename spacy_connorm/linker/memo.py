"""Answers to texts of the index, worked out when it is built.

A text in the memo needs neither the encoder nor a search. It is found by a hash of its form (see
`encoders.encoder_forms`); its answer is what the sieve finds for its vector. Answers that synonyms
added or removed later could change are stale: their texts are searched again.
"""

import json
import shutil
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from hashlib import blake2b
from itertools import chain, islice, repeat
from multiprocessing.context import get_spawning_popen
from pathlib import Path
from typing import Any

import numpy as np

from ..concepts import Candidate
from ..encoders.normalized import NormalizedEncoder
from ..encoders.vectors import stack
from ..files.arrays import find_sorted
from ..files.atomic import TemporaryFolder
from ..files.folders import damaged, pack, require_same_build, unpack
from ..index.concept_index import ConceptIndex
from ..index.filters import Filter
from ..index.metrics import COSINE, metric_of
from ..index.overlay import SynonymOverlay
from ..index.ranking import SCALE
from ..index.store import ConceptStore
from ..index.vectors.base import Vectors, from_raw
from .memo_arrays import open_arrays
from .sieve import Question, Sieve
from .strings import Strings

FACTS = "memo.json"
# How many answers and new texts are compared at once.
_BLOCK = 512
# A text that scores lower than the last candidate by more than this, or by more than this part of
# a larger score, cannot change an answer.
_NOISE = 2 / SCALE
NONE = -1
# Like `Candidate._make`, which alone takes longer than the rest of an answer.
_new_candidate: Callable[[tuple], Candidate] = partial(tuple.__new__, Candidate)


def find_premises(index: ConceptIndex, encoder: NormalizedEncoder) -> dict[str, Any]:
    """RETURNS (Dict[str, Any]): What answers depend on besides the question, as JSON."""
    backend = index.backend
    return {
        "index": index.checksum,
        "backend": {"name": type(backend).__name__, "metric": metric_of(backend), **vars(backend)},
        "lexical_weight": encoder.lexical_weight,
    }


class Memo:
    """The answers to some texts of an index. A memo never changes: `revised` makes another one."""

    def __init__(self, folder: Path, *, owner: TemporaryFolder | None = None) -> None:
        """Open what `write_memo` wrote.

        folder (Path): The folder.
        owner (Optional[TemporaryFolder]): The folder's owner, if any; kept as long as the memo.
        RAISES (ConnormError): CN402 if it holds anything else.
        """
        self.folder = folder
        try:
            facts = json.loads((folder / FACTS).read_text(encoding="utf8"))
            # Memos of older versions do not name the metric.
            backend = {"metric": COSINE, **facts["premises"]["backend"]}
            number = int(facts["premises"]["index"])
            self.premises = {**facts["premises"], "backend": backend, "index": number}
            self.question = Question(
                Sieve(facts["searches"], facts["thresholds"]),
                int(facts["top_k"]),
                Filter(tuple(facts["types"]), tuple(facts["branches"])),
            )
        # JSON can be anything.
        except Exception as error:
            raise damaged(folder / FACTS, repr(error)) from error
        self._names = list(map(str, self.question.sieve.searches))
        self.arrays = open_arrays(folder, steps=len(self._names))
        self._owner = owner
        self._stale = np.zeros(len(self), dtype="bool")
        self._seen: frozenset[bytes | tuple[int, int]] = frozenset()
        self._labels = Strings(self.arrays.labels)
        self._texts = Strings(self.arrays.texts)

    def __len__(self) -> int:
        return len(self.arrays.rows)

    def __reduce__(self) -> tuple:
        # As `ConceptIndex`: a spawned worker maps the same files.
        if get_spawning_popen() is not None:
            return Memo, (self.folder,)
        return _from_files, (pack(self.folder),)

    def require(self, index: ConceptIndex) -> None:
        """Check that the memo was made with an index.

        index (ConceptIndex): The index.
        RAISES (ConnormError): CN430 if it was made with another one, CN402 if it has answers to
            rows that the index lacks.
        """
        require_same_build(index.folder, index.checksum, self.premises["index"])
        if self.arrays.rows.max(initial=NONE) >= len(index.vectors):
            raise damaged(self.folder / "rows.npy", "it has rows that the index lacks")

    def fits(self, index: ConceptIndex, encoder: NormalizedEncoder) -> bool:
        """RETURNS (bool): Whether it was made with this index, encoder and their settings."""
        return self.premises == find_premises(index, encoder)

    def write(self, folder: Path) -> None:
        """Copy the files.

        folder (Path): The folder to make.
        """
        shutil.copytree(self.folder, folder)

    def find(self, forms: Sequence[str]) -> np.ndarray:
        """Find the answers to texts.

        forms (Sequence[str]): b forms of texts.
        RETURNS (Ints1d): int64 (b,): the numbers of their answers; -1 for texts without one, or
            with a stale one.
        """
        hashes = hash_forms(forms)
        if not len(self):
            return np.full(len(hashes), NONE, dtype="int64")
        found = find_sorted(self.arrays.hashes, hashes)
        places = self.arrays.places[found].astype("int64")
        places[(found < 0) | self._stale[places]] = NONE
        return places

    def find_rows(self, rows: np.ndarray) -> np.ndarray:
        """Find the answers to rows of the index.

        rows (Ints1d): int64 (b,): their numbers; -1 for texts that the index lacks.
        RETURNS (Ints1d): int64 (b,): as `find`.
        """
        if not len(self):
            return np.full(len(rows), NONE, dtype="int64")
        places = find_sorted(self.arrays.rows, rows)
        known = (rows >= 0) & (places >= 0)
        known[known] = ~self._stale[places[known]]
        return np.where(known, places, NONE)

    def candidates(
        self, places: np.ndarray, searched: Sequence[str], store: ConceptStore
    ) -> list[list[Candidate]]:
        """Read answers.

        places (Ints1d): int64 (b,), from `find`, without -1.
        searched (Sequence[str]): The b texts.
        store (ConceptStore): The index's.
        RETURNS (List[List[Candidate]]): b lists, best first, as the sieve found them.
        """
        concepts = self.arrays.concepts[places]
        filled = concepts >= 0
        # Usually all are filled, and then a mask would cost more than everything else.
        chosen = slice(None) if filled.all() else np.flatnonzero(filled)
        sizes = np.count_nonzero(filled, axis=1).tolist()
        labels = self._labels.get(concepts.ravel()[chosen], store.labels)
        members = self.arrays.members[places].ravel()[chosen]
        texts = self._texts.get(members, store.texts)
        ids, preferred = zip(*labels, strict=True) if labels else ("", "")
        names = map(self._names.__getitem__, self.arrays.searches[places].tolist())
        columns = (
            ids,
            preferred,
            (self.arrays.scores[places].ravel()[chosen] / SCALE).tolist(),
            # The mean of a concept has no text: its preferred name is used.
            texts
            if all(texts)
            else [text or name for text, name in zip(texts, preferred, strict=True)],
            chain.from_iterable(map(repeat, names, sizes)),
            chain.from_iterable(map(repeat, searched, sizes)),
            repeat(0),
            *self._parts(places, chosen),
            repeat(None),
            repeat(None),
        )
        found = map(_new_candidate, zip(*columns, strict=False))
        return [list(islice(found, size)) for size in sizes]

    def _parts(
        self, places: np.ndarray, chosen: np.ndarray | slice
    ) -> Iterable[Iterable[float | None]]:
        parts = self.arrays.parts
        if not parts.shape[2]:
            return repeat(None), repeat(None)
        return (parts[places].reshape(-1, parts.shape[2])[chosen] / SCALE).T.tolist()

    def revised(self, index: ConceptIndex, overlay: SynonymOverlay) -> "Memo":
        """Mark answers that changed synonyms could change as stale.

        index (ConceptIndex): The index.
        overlay (SynonymOverlay): What was added to it and removed from it.
        RETURNS (Memo): A new memo that shares the answers, or this one if there is nothing new.
        """
        added = {key: raw for key, raw in overlay.raw.items() if key not in self._seen}
        removed = overlay.removed - self._seen
        if not added and not removed:
            return self
        stale = self._stale.copy()
        if any(search.representation == "C" for search, _ in self.question.sieve.steps):
            stale[:] = True
        if added:
            vectors = index.as_compared(from_raw(stack(added.values())))
            stale |= self._is_near(vectors, index)
        if removed:
            gone = np.concatenate([index.members.of(*pair) for pair in removed])
            places = np.flatnonzero(np.isin(self.arrays.texts, gone))
            stale |= np.isin(self.arrays.members, places).any(axis=1)
        memo = object.__new__(Memo)
        vars(memo).update(vars(self), _stale=stale, _seen=self._seen.union(added, removed))
        return memo

    def _is_near(self, added: Vectors, index: ConceptIndex) -> np.ndarray:
        """RETURNS (np.ndarray): bool (n,): the answers that new texts could enter, or for which
        they could let another search answer.
        """
        thresholds = self.question.sieve.thresholds
        least = np.minimum(self._last_scores(), min(thresholds, default=np.inf))
        least -= _NOISE * np.maximum(np.abs(least), 1)
        near = np.zeros(len(self), dtype="bool")
        weight = self.premises["lexical_weight"]
        for start in range(0, len(self), _BLOCK):
            block = slice(start, start + _BLOCK)
            own = index.compared.queries(self.arrays.rows[block], weight=weight)
            dots, error = added.compare(own)
            for first in range(0, len(added), _BLOCK):
                scores = dots(first, min(first + _BLOCK, len(added)))
                near[block] |= scores.max(axis=0) + error >= least[block]
        return near

    def _last_scores(self) -> np.ndarray:
        is_full = self.arrays.concepts[:, -1] >= 0
        return np.where(is_full, self.arrays.scores[:, -1] / SCALE, -np.inf)


def hash_forms(forms: Iterable[str]) -> np.ndarray:
    """RETURNS (np.ndarray): uint64 (n,): the hash of each of n forms."""
    # With 100,000 known texts, an unknown one shares a hash with one of them once in 10^14 times.
    digests = [blake2b(form.encode(), digest_size=8).digest() for form in forms]
    return np.frombuffer(b"".join(digests), dtype="<u8")


def _from_files(files: dict[str, bytes]) -> Memo:
    owner = TemporaryFolder()
    unpack(files, owner.path)
    return Memo(owner.path, owner=owner)
