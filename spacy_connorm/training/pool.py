"""The texts to learn from, each with all of its concepts, from O and D as one pool.

What O says and what D says is gathered as pairs of a text and a concept. Pairs are kept as arrays:
ten million names are no Python objects but their texts, their keys and the pool itself.
"""

import hashlib
from array import array
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, fields
from itertools import chain, pairwise
from math import isfinite

import numpy as np

from ..annotations.mentions import Mention
from ..concepts import Concept
from ..errors import ConnormError, Errors, Warnings, refuse, warn
from .pool_report import PoolReport
from .text_concept_pairs import TextConceptPairs

_CHUNK = 65_536


def _no_rows() -> np.ndarray:
    return np.empty(0, dtype="int32")


@dataclass(frozen=True, slots=True)
class SynonymPool:
    """Texts and concepts, numbered.

    texts (List[str]): One text a row; no two of them are the same for the encoder.
    concepts (List[Tuple[int, ...]]): Of each row: the numbers of all concepts that O or D give the
        text, ascending. Rows with a common number are never each other's negatives.
    members (List[Ints1d]): Of each concept: int32, ascending, the rows to draw from it in an
        epoch, each as often as it is to be drawn; empty for a concept that O gives to a text of
        the pool but that is not learned.
    concept_ids (List[str]): Of each concept.
    names (Ints1d): int32, ascending: rows of texts that O gives a concept.
    mentions (Ints1d): int32, ascending: rows of texts that D gives a concept.
    parents (List[Tuple[int, ...]]): Of each concept: the numbers of the concepts right above it.
    """

    texts: list[str]
    concepts: list[tuple[int, ...]]
    members: list[np.ndarray]
    concept_ids: list[str]
    names: np.ndarray = field(default_factory=_no_rows)
    mentions: np.ndarray = field(default_factory=_no_rows)
    parents: list[tuple[int, ...]] = field(default_factory=list)

    def digest(self) -> str:
        """RETURNS (str): A checksum of what there is to draw, 32 hexadecimal digits."""
        content = hashlib.blake2b(digest_size=16)
        for names in (self.texts, self.concept_ids):
            for start in range(0, len(names), _CHUNK):
                chunk = "\0".join(names[start : start + _CHUNK])
                content.update(f"{len(chunk)}\0{chunk}".encode(errors="surrogatepass"))
        parents = (np.asarray(numbers, dtype="int32") for numbers in self.parents)
        for rows in chain(self.members, (self.names, self.mentions), parents):
            content.update(np.int64(len(rows)).tobytes() + rows.tobytes())
        return content.hexdigest()


def build_pool(
    concepts: Iterable[Concept],
    mentions: Iterable[Mention] = (),
    *,
    inputs: Callable[[list[str]], list[bytes]],
    use_ontology: bool,
    data_share: float | None,
) -> tuple[SynonymPool, PoolReport]:
    """Gather O and D (Xu and Bethard 2021, sections 3 and 4.2).

    D is a set of pairs of a text and a concept, however often they were annotated. A mention of
    several concepts is left out, as it is a synonym of none of them, and so is one of no concept.
    An id that O lacks makes a concept of its own.

    Without the ontology (Liu et al. 2021, section 3.1, fine-tuning on task data), the concepts of D
    alone are learned, from their texts in D and their names in O. The rest of O still tells which
    texts are no negatives.

    concepts (Iterable[Concept]): O. Records of one id are one concept.
    mentions (Iterable[Mention]): The annotated mentions that make D.
    inputs (Callable): Texts to encoder inputs: texts with equal inputs are one text, and those
        with the inputs of an empty text are left out.
    use_ontology (bool): Whether all concepts of O are learned, or only those of D.
    data_share (Optional[float]): |D| / |O| as drawn in an epoch: D is repeated so far, and what
        no whole number of repetitions gives is spread evenly over it. D is never drawn less than
        once, and just once if None.
    RETURNS (Tuple[SynonymPool, PoolReport]): The pool, and what became of O and D.
    RAISES (ConnormError): CN006 for a share that is no positive number, CN810 if no concept has
        two texts, CN811 if there is neither O nor D to learn from.
    """
    if data_share is not None and not (data_share > 0 and isfinite(data_share)):
        refuse("data_share", data_share, "a number above 0, or null")
    report = PoolReport()
    stated = TextConceptPairs()
    for concept in concepts:
        stated.add_concept(concept)
    for mention in mentions:
        stated.add_mention(mention, report)
    if report.unknown_ids:
        first = stated.concept_ids[stated.known]
        warn(Warnings.CNW810.format(count=report.unknown_ids, first=first))
    if not use_ontology and not stated.data:
        raise ConnormError(Errors.CN811.format(count=report.mentions))
    rows, texts = _rows(list(stated.texts), inputs)
    pairs = _CountedPairs.join(
        *(_numbered(said, rows, report) for said in (stated.ontology, stated.data)),
        use_ontology=use_ontology,
        data_share=data_share,
        report=report,
    )
    pool = _pool(pairs.used(), texts, stated, report)
    if report.concepts == report.single_text_concepts:
        counts = {"texts": report.texts, "concepts": report.concepts}
        raise ConnormError(Errors.CN810.format(**counts))
    return pool, report


def _rows(
    texts: list[str], inputs: Callable[[list[str]], list[bytes]]
) -> tuple[np.ndarray, list[str]]:
    """The row of each text, -1 for one that is empty, and the first text of each row."""
    (nothing,) = inputs([""])
    rows = {nothing: -1}
    firsts: list[str] = []
    row_of = array("i")
    for start in range(0, len(texts), _CHUNK):
        chunk = texts[start : start + _CHUNK]
        for text, key in zip(chunk, inputs(chunk), strict=True):
            row = rows.setdefault(key, len(firsts))
            if row == len(firsts):
                firsts.append(text)
            row_of.append(row)
    return np.asarray(row_of, dtype="int64"), firsts


def _numbered(said: array, rows: np.ndarray, report: PoolReport) -> np.ndarray:
    """Distinct pairs of row and concept, ascending, int64 (n,): the row in the upper half."""
    text, concept = np.asarray(said, dtype="int64").reshape(-1, 2).T
    row = rows[text]
    report.empty_texts += int(np.count_nonzero(row < 0))
    return distinct((row[row >= 0] << 32) | concept[row >= 0])


@dataclass(frozen=True, slots=True)
class _CountedPairs:
    """Pairs of row and concept, ordered by both; int64 (n,) each, and whether O says so and whether
    D does, bool (n,)."""

    row: np.ndarray
    concept: np.ndarray
    times: np.ndarray
    named: np.ndarray
    annotated: np.ndarray

    @classmethod
    def join(
        cls,
        ontology: np.ndarray,
        data: np.ndarray,
        *,
        use_ontology: bool,
        data_share: float | None,
        report: PoolReport,
    ) -> "_CountedPairs":
        concept = _low(ontology)
        learned = np.ones(len(ontology), bool) if use_ontology else np.isin(concept, _low(data))
        report.from_ontology = int(np.count_nonzero(learned))
        report.data_texts = len(data)
        if len(data):
            report.from_data = max(len(data), round((data_share or 0) * report.from_ontology))
        keys = distinct(np.concatenate([ontology, data]))
        times = np.zeros(len(keys), dtype="int64")
        named, annotated = np.zeros((2, len(keys)), dtype=bool)
        by_ontology, by_data = np.searchsorted(keys, ontology), np.searchsorted(keys, data)
        times[by_ontology] += learned
        times[by_data] += _shares(report.from_data, len(data))
        named[by_ontology] = annotated[by_data] = True
        return cls(keys >> 32, _low(keys), times, named, annotated)

    def used(self) -> "_CountedPairs":
        """Those of rows that are drawn at all."""
        chosen = np.isin(self.row, self.row[self.times > 0])
        return _CountedPairs(*(getattr(self, each.name)[chosen] for each in fields(self)))


def _low(keys: np.ndarray) -> np.ndarray:
    return keys & 0xFFFFFFFF


def _shares(total: int, count: int) -> np.ndarray:
    """Whole numbers that add up to the total and differ by one at most, the larger ones spread."""
    return np.diff(np.arange(count + 1, dtype="int64") * total // max(count, 1))


def _pool(
    pairs: _CountedPairs, texts: list[str], stated: TextConceptPairs, report: PoolReport
) -> SynonymPool:
    chosen_rows, row = np.unique(pairs.row, return_inverse=True)
    chosen_concepts, concept = np.unique(pairs.concept, return_inverse=True)
    concept_ids = stated.concept_ids
    pool = SynonymPool(
        texts=[texts[each] for each in chosen_rows.tolist()],
        concepts=_by_row(row, concept, len(chosen_concepts)),
        members=_by_concept(row, concept, pairs.times, len(chosen_concepts)),
        concept_ids=[concept_ids[each] for each in chosen_concepts.tolist()],
        names=distinct(row[pairs.named]).astype("int32"),
        mentions=distinct(row[pairs.annotated]).astype("int32"),
        parents=_parents(chosen_concepts.tolist(), stated),
    )
    texts_of = np.bincount(concept[pairs.times > 0], minlength=len(chosen_concepts))
    report.concepts = int(np.count_nonzero(texts_of))
    report.single_text_concepts = int(np.count_nonzero(texts_of == 1))
    report.texts = len(pool.texts)
    report.ambiguous_texts = sum(len(each) > 1 for each in pool.concepts)
    return pool


def _by_row(row: np.ndarray, concept: np.ndarray, count: int) -> list[tuple[int, ...]]:
    # Most texts have one concept: they share its tuple.
    alone = [(number,) for number in range(count)]
    numbers = concept.tolist()
    ends = np.flatnonzero(np.diff(row, append=-1)) + 1
    return [
        alone[numbers[start]] if end - start == 1 else tuple(numbers[start:end])
        for start, end in pairwise(chain([0], ends.tolist()))
    ]


def _by_concept(
    row: np.ndarray, concept: np.ndarray, times: np.ndarray, count: int
) -> list[np.ndarray]:
    order = np.argsort(concept, kind="stable")
    flat = np.repeat(row[order], times[order]).astype("int32")
    sizes = np.bincount(concept, weights=times, minlength=count).astype("int64")
    return [flat[start:end] for start, end in pairwise(chain([0], np.cumsum(sizes).tolist()))]


def _parents(chosen: list[int], stated: TextConceptPairs) -> list[tuple[int, ...]]:
    numbers = {each: number for number, each in enumerate(chosen)}
    return [
        tuple(numbers[parent] for parent in stated.parents(each) if parent in numbers)
        for each in chosen
    ]


def distinct(values: np.ndarray) -> np.ndarray:
    """RETURNS (Ints1d): Each of these numbers from 0 up once, ascending. On millions of them this
    is several times as fast as `np.unique`, which hashes."""
    ordered = np.sort(values)
    return ordered[np.diff(ordered, prepend=-1) > 0]
