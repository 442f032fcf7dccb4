"""Answers that were worked out when an index was built: what its own texts are answered with.

A text that the index knows needs neither the encoder nor a search. It is found by a hash of its
form (see `encoders.encoder_forms`), and its answer is what the sieve said of its vector. Synonyms
that are added or removed later make the answers stale that they could change; those are searched
again.
"""

import json
import zlib
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from hashlib import blake2b
from itertools import chain, islice, repeat
from multiprocessing.context import get_spawning_popen
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from tqdm import tqdm

from .concepts import Candidate
from .index.concept_index import ConceptIndex
from .index.folder import TemporaryFolder, pack, unpack
from .index.layer import SynonymLayer
from .index.members import D
from .index.spaces import SCALE, Query
from .index.store import ConceptStore
from .index.vectors import HybridVectors, Vectors, from_raw, map_array, stack
from .preparation import PreparedEncoder
from .sieve import Answer, Question, run_sieve

_FACTS = "memo.json"
_BATCH = 512
_BLOCK = 8192
# No answer depends on a text that scores this much less than all that it holds.
_NOISE = 2 / SCALE
_NONE = -1
# As `Candidate._make`, which takes longer than all the rest of an answer.
_new_candidate: Callable[[tuple], Candidate] = partial(tuple.__new__, Candidate)


class Arrays(NamedTuple):
    """n answers of at most k concepts each, opened memory-mapped.

    hashes (Ints1d): uint64 (forms,), sorted: of the forms of all texts that are known.
    places (Ints1d): int32 (forms,): which answer is theirs.
    rows (Ints1d): int64 (n,): whose vectors were asked.
    searches (Ints1d): uint8 (n,): which search of the sieve answered.
    concepts (Ints2d): int32 (n, k): concept numbers, best first; -1 where there are no more.
    scores (Ints2d): int32 (n, k): cosines, times `index.spaces.SCALE`.
    members (Ints2d): int32 (n, k): the best texts; -1 for the mean of a concept.
    parts (Ints3d): int32 (n, k, 2): dense and lexical cosines, times `SCALE`; (n, k, 0) for all but
        hybrid vectors.
    """

    hashes: np.ndarray
    places: np.ndarray
    rows: np.ndarray
    searches: np.ndarray
    concepts: np.ndarray
    scores: np.ndarray
    members: np.ndarray
    parts: np.ndarray


def premises(index: ConceptIndex, encoder: PreparedEncoder) -> dict[str, Any]:
    """RETURNS (Dict[str, Any]): JSON: what answers depend on, besides the question."""
    backend = index.backend
    return {
        "index": zlib.crc32(json.dumps(index.manifest, sort_keys=True).encode()),
        "backend": {"name": type(backend).__name__, **vars(backend)},
        "lexical_weight": encoder.lexical_weight,
    }


class Memo:
    """Knows the answers to some texts of an index."""

    def __init__(self, folder: Path, *, owner: TemporaryFolder | None = None) -> None:
        """Open what `write_memo` wrote.

        folder (Path): The folder.
        owner (Optional[TemporaryFolder]): Kept as long as the memo, if the folder is its.
        """
        facts = json.loads((folder / _FACTS).read_text(encoding="utf8"))
        self.folder = folder
        self.premises = facts["premises"]
        self.question = Question(
            tuple(facts["searches"]), tuple(facts["thresholds"]), facts["top_k"]
        )
        self._arrays = Arrays(*(map_array(folder / f"{name}.npy") for name in Arrays._fields))
        self._owner = owner
        self._stale = np.zeros(len(self), dtype="bool")
        self._seen: set[bytes | tuple[int, int]] = set()

    def __len__(self) -> int:
        return len(self._arrays.rows)

    def __reduce__(self) -> tuple:
        # As `ConceptIndex`: a spawned worker maps the same files.
        if get_spawning_popen() is not None:
            return Memo, (self.folder,)
        return _from_files, (pack(self.folder),)

    def find(self, forms: Sequence[str]) -> np.ndarray:
        """Look texts up.

        forms (Sequence[str]): b forms, as the encoder gives them.
        RETURNS (Ints1d): int64 (b,): the place of each one's answer; -1 for those that are not
            known, or whose answers are stale.
        """
        hashes = _hash(forms)
        if not len(self):
            return np.full(len(hashes), _NONE, dtype="int64")
        near = np.searchsorted(self._arrays.hashes, hashes)
        near[near == len(self._arrays.hashes)] = 0
        places = self._arrays.places[near].astype("int64")
        places[(self._arrays.hashes[near] != hashes) | self._stale[places]] = _NONE
        return places

    def find_rows(self, rows: np.ndarray) -> np.ndarray:
        """Look rows of the index up.

        rows (Ints1d): int64 (b,): their numbers; -1 for texts that the index does not have.
        RETURNS (Ints1d): int64 (b,): as `find`.
        """
        places = np.searchsorted(self._arrays.rows, rows)
        places[places == len(self)] = 0
        known = (rows >= 0) & bool(len(self))
        known[known] = (self._arrays.rows[places] == rows)[known] & ~self._stale[places[known]]
        return np.where(known, places, _NONE)

    def candidates(
        self, places: np.ndarray, searched: Sequence[str], store: ConceptStore
    ) -> list[list[Candidate]]:
        """Read answers.

        places (Ints1d): int64 (b,), of `find`.
        searched (Sequence[str]): The b texts that are answered.
        store (ConceptStore): That of the index.
        RETURNS (List[List[Candidate]]): b lists, best first, exactly as the sieve found them.
        """
        concepts = self._arrays.concepts[places]
        filled = concepts >= 0
        sizes = np.count_nonzero(filled, axis=1).tolist()
        numbers = concepts[filled].tolist()
        members = self._arrays.members[places][filled].tolist()
        labels = store.labels(set(numbers))
        texts = store.texts(set(members) - {_NONE})
        names = [
            self.question.searches[search] for search in self._arrays.searches[places].tolist()
        ]
        ids, preferred = (
            zip(*map(labels.__getitem__, numbers), strict=True) if numbers else ("", "")
        )
        columns = (
            ids,
            preferred,
            (self._arrays.scores[places][filled] / SCALE).tolist(),
            # The mean of a concept has no text: its preferred name stands there.
            [texts.get(member) or name for member, name in zip(members, preferred, strict=True)],
            chain.from_iterable(map(repeat, names, sizes)),
            chain.from_iterable(map(repeat, searched, sizes)),
            repeat(0),
            *self._parts(places, filled),
            repeat(None),
        )
        found = map(_new_candidate, zip(*columns, strict=False))
        return [list(islice(found, size)) for size in sizes]

    def _parts(self, places: np.ndarray, filled: np.ndarray) -> Iterable[Iterable[float | None]]:
        parts = self._arrays.parts
        if not parts.shape[2]:
            return repeat(None), repeat(None)
        return (parts[places][filled] / SCALE).T.tolist()

    def revise(self, index: ConceptIndex, layer: SynonymLayer) -> None:
        """Take notice of synonyms: answers that they could change are stale from now on.

        index (ConceptIndex): The index.
        layer (SynonymLayer): What was added to it and removed from it.
        """
        added = {key: raw for key, raw in layer.raw.items() if key not in self._seen}
        removed = layer.removed - self._seen
        self._seen.update(added, removed)
        if (added or removed) and not all(each.endswith("T") for each in self.question.searches):
            self._stale[:] = True
        if added:
            self._stale |= self._is_near(from_raw(stack(added.values())), index)
        if removed:
            gone = np.concatenate([index.members.of(*pair) for pair in removed])
            self._stale |= np.isin(self._arrays.members, gone).any(axis=1)

    def _is_near(self, added: Vectors, index: ConceptIndex) -> np.ndarray:
        """Which answers some new texts could enter, or take from the search that gave them."""
        least = np.min([self._last_scores(), *self._thresholds()], axis=0)
        near = np.zeros(len(self), dtype="bool")
        for start in range(0, len(self), _BLOCK):
            block = slice(start, start + _BLOCK)
            weight = self.premises["lexical_weight"]
            own = index.vectors.queries(self._arrays.rows[block], weight=weight)
            best = added.dots(own, 0, len(added)).max(axis=1)
            near[block] = best >= least[block] - _NOISE
        return near

    def _last_scores(self) -> np.ndarray:
        is_full = self._arrays.concepts[:, -1] >= 0
        return np.where(is_full, self._arrays.scores[:, -1] / SCALE, -np.inf)

    def _thresholds(self) -> list[np.ndarray]:
        return [np.full(len(self), threshold) for threshold in self.question.thresholds]


def write_memo(
    folder: Path, index: ConceptIndex, encoder: PreparedEncoder, question: Question, *, size: int
) -> None:
    """Work answers out and write them.

    folder (Path): An empty folder.
    index (ConceptIndex): The index, without any synonyms that were added or removed since.
    encoder (PreparedEncoder): The one that it was built with.
    question (Question): The sieve and how many concepts it is asked for; nothing is left out.
    size (int): How many texts: first those of D, then the others.
    """
    rows = _choose_rows(index, size)
    arrays = _work_out(rows, index, encoder.lexical_weight, question)
    members = index.members.of_rows(rows)
    texts = index.store.texts(members.tolist())
    forms = _hash(encoder.forms([texts[member] for member in members.tolist()]))
    sizes = index.members.start[rows + 1] - index.members.start[rows]
    hashes, first = np.unique(forms, return_index=True)
    places = np.repeat(np.arange(len(rows)), sizes)[first].astype("int32")
    for name, array in arrays._replace(hashes=hashes, places=places)._asdict().items():
        np.save(folder / f"{name}.npy", array)
    facts = {
        "premises": premises(index, encoder),
        "searches": question.searches,
        "thresholds": question.thresholds,
        "top_k": question.top_k,
    }
    (folder / _FACTS).write_text(json.dumps(facts), encoding="utf8")


def _choose_rows(index: ConceptIndex, size: int) -> np.ndarray:
    first, last = index.members.rows_of(D)
    rows = [*range(first, last), *range(first), *range(last, len(index.vectors))][:size]
    return np.sort(np.asarray(rows, dtype="int64"))


def _work_out(
    rows: np.ndarray, index: ConceptIndex, lexical_weight: float, question: Question
) -> Arrays:
    is_hybrid = isinstance(index.vectors, HybridVectors)
    shape = (len(rows), question.top_k)
    arrays = Arrays(
        hashes=np.empty(0, dtype="uint64"),
        places=np.empty(0, dtype="int32"),
        rows=rows,
        searches=np.zeros(len(rows), dtype="uint8"),
        concepts=np.full(shape, _NONE, dtype="int32"),
        scores=np.zeros(shape, dtype="int32"),
        members=np.full(shape, _NONE, dtype="int32"),
        parts=np.zeros((*shape, 2 if is_hybrid else 0), dtype="int32"),
    )
    nothing_added = SynonymLayer(index)
    # A zero vector has no direction, and its text no answer.
    asked = np.flatnonzero(index.vectors.norms[rows])
    with tqdm(total=len(asked), desc="Memo", unit="text", delay=2, disable=None) as bar:
        for start in range(0, len(asked), _BATCH):
            batch = asked[start : start + _BATCH]
            vectors = index.vectors.queries(rows[batch], weight=lexical_weight)
            query = Query(vectors, question.top_k)
            answers = run_sieve(question.sieve, index, nothing_added, query)
            for place, answer in zip(batch.tolist(), answers, strict=True):
                _fill(arrays, place, answer, question)
            bar.update(len(batch))
    return arrays


def _fill(arrays: Arrays, place: int, answer: Answer, question: Question) -> None:
    arrays.searches[place] = question.searches.index(answer.search)
    for number, hit in enumerate(answer.hits):
        arrays.concepts[place, number] = hit.concept
        arrays.scores[place, number] = round(hit.score * SCALE)
        arrays.members[place, number] = hit.member
        if hit.parts is not None:
            arrays.parts[place, number] = np.rint(np.asarray(hit.parts) * SCALE)


def _hash(forms: Iterable[str]) -> np.ndarray:
    # A text that nobody knows has the hash of a known one once in 10^14 times, for 100,000 of them.
    digests = [blake2b(form.encode(), digest_size=8).digest() for form in forms]
    return np.frombuffer(b"".join(digests), dtype="<u8")


def _from_files(files: dict[str, bytes]) -> Memo:
    owner = TemporaryFolder()
    unpack(files, owner.path)
    return Memo(owner.path, owner=owner)
