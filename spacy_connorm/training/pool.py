"""The pool of texts to train on, each with all of its concepts, from O and D.

Pairs of text and concept are arrays: for ten million names, only the texts, their keys and the pool
are Python objects.
"""

import hashlib
from array import array
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from itertools import chain, pairwise
from typing import TYPE_CHECKING

import numpy as np

from ..concepts import Ontology
from ..documents.mentions import Mention, split_ids
from ..errors import Errors, Warnings, quote_id, require_range
from ..text.cleaning import clean

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

_CHUNK = 65_536


def _no_rows() -> np.ndarray:
    return np.empty(0, dtype="int32")


@dataclass(frozen=True, slots=True)
class SynonymPool:
    """Texts and concepts, numbered.

    texts (List[str]): The text of each row; no two are the same to the encoder.
    concepts (List[Tuple[int, ...]]): For each row, the numbers of its concepts in O and D,
        ascending. Rows with a common concept are never each other's negatives.
    members (List[Ints1d]): For each concept, int32, ascending, the rows to draw in an epoch, each
        as often as it is drawn; empty for a concept that is not trained on but shares a text with
        one that is.
    concept_ids (List[str]): The id of each concept.
    names (Ints1d): int32, ascending: the rows of texts that are in O.
    mentions (Ints1d): int32, ascending: the rows of texts that are in D.
    parents (List[Tuple[int, ...]]): For each concept, the numbers of its parents.
    """

    texts: list[str]
    concepts: list[tuple[int, ...]]
    members: list[np.ndarray]
    concept_ids: list[str]
    names: np.ndarray = field(default_factory=_no_rows)
    mentions: np.ndarray = field(default_factory=_no_rows)
    parents: list[tuple[int, ...]] = field(default_factory=list)

    def places_by_concept(self, rows: np.ndarray) -> dict[int, list[int]]:
        """Group rows by concept.

        rows (Ints1d): Rows.
        RETURNS (Dict[int, List[int]]): By concept number, positions in `rows`, ascending; concepts
            without any are missing.
        """
        places: dict[int, list[int]] = {}
        for place, row in enumerate(rows.tolist()):
            for concept in self.concepts[row]:
                places.setdefault(concept, []).append(place)
        return places

    def digest(self) -> str:
        """Identify the pool.

        RETURNS (str): A digest of everything that can be drawn, 32 hexadecimal digits.
        """
        content = hashlib.blake2b(digest_size=16)
        for names in (self.texts, self.concept_ids):
            for start in range(0, len(names), _CHUNK):
                chunk = "\0".join(names[start : start + _CHUNK])
                content.update(f"{len(chunk)}\0{chunk}".encode(errors="surrogatepass"))
        parents = (np.asarray(numbers, dtype="int32") for numbers in self.parents)
        for rows in chain(self.members, (self.names, self.mentions), parents):
            content.update(np.int64(len(rows)).tobytes() + rows.tobytes())
        return content.hexdigest()


@dataclass(slots=True)
class PoolReport:
    """Counts, filled while a pool is built.

    concepts (int): Concepts with a text to train on.
    single_text_concepts (int): Concepts with only one text, which has no positive.
    texts (int): Texts that the encoder can tell apart.
    ambiguous_texts (int): Texts of several concepts.
    from_ontology (int): |O|: pairs of text and concept of the ontology; an epoch draws each once.
    data_texts (int): Distinct pairs of text and concept in D.
    from_data (int): |D|: pairs of D that an epoch draws, including repetitions.
    mentions (int): Annotated mentions read.
    nil_mentions (int): Mentions left out because they have no gold id.
    composite_mentions (int): Mentions left out because they have several concepts, or a part
        without an id.
    empty_texts (int): Names and mentions left out because they are empty to the encoder.
    unknown_ids (int): Concepts of D that are not in the ontology.
    unknown_mentions (int): Mentions of these concepts, which are kept.
    """

    concepts: int = 0
    single_text_concepts: int = 0
    texts: int = 0
    ambiguous_texts: int = 0
    from_ontology: int = 0
    data_texts: int = 0
    from_data: int = 0
    mentions: int = 0
    nil_mentions: int = 0
    composite_mentions: int = 0
    empty_texts: int = 0
    unknown_ids: int = 0
    unknown_mentions: int = 0

    @property
    def repeats(self) -> float:
        """How often an epoch draws a text of D, on average.

        RETURNS (float): 0 without D.
        """
        return self.from_data / self.data_texts if self.data_texts else 0.0

    def lines(self) -> list[tuple[str, int | float]]:
        """List the counts for printing.

        RETURNS (List[Tuple[str, Union[int, float]]]): Labels and counts.
        """
        counts: list[tuple[str, int | float]] = [
            ("Concepts", self.concepts),
            ("Concepts with one text only", self.single_text_concepts),
            ("Texts", self.texts),
            ("Texts of several concepts", self.ambiguous_texts),
            ("Drawn from the ontology in an epoch", self.from_ontology),
        ]
        if self.mentions:
            counts += [
                ("Drawn from the annotated mentions in an epoch", self.from_data),
                ("Different annotated texts", self.data_texts),
                ("Times each of them is drawn", round(self.repeats, 2)),
                ("Annotated mentions", self.mentions),
                ("Mentions left out: no concept", self.nil_mentions),
                ("Mentions left out: several concepts", self.composite_mentions),
                ("Mentions of concepts not in the ontology", self.unknown_mentions),
                ("Concepts not in the ontology", self.unknown_ids),
            ]
        counts.append(("Names and mentions left out: empty", self.empty_texts))
        return counts


def build_pool(
    ontology: Ontology,
    mentions: Iterable[Mention] = (),
    *,
    inputs: Callable[[list[str]], list[bytes]],
    use_ontology: bool,
    data_share: float | None,
) -> tuple[SynonymPool, PoolReport]:
    """Read all concepts, then all annotated texts, into one pool (Xu and Bethard 2021, sections 3
    and 4.2).

    D is a set of pairs of text and concept, however often they were annotated. Mentions of several
    concepts are left out, since they are not synonyms of any of them, and so are mentions without a
    concept. An id that is not in O becomes a separate concept.

    Without the ontology (Liu et al. 2021, section 3.1, fine-tuning on task data), only the concepts
    of D are trained on, with their texts in D and their names in O. The rest of O still shows which
    texts are not negatives.

    ontology (Ontology): The ontology, O.
    mentions (Iterable[Mention]): The annotated mentions, D.
    inputs (Callable): Converts texts to encoder inputs: texts with equal inputs are one text, and
        texts that are empty to the encoder are left out.
    use_ontology (bool): Whether to train on all concepts of O, or only on those of D.
    data_share (Optional[float]): |D| / |O| as drawn in an epoch: D is repeated up to that share,
        and a fraction of a repetition is spread evenly over D. D is drawn at least once, and
        exactly once if None.
    RETURNS (Tuple[SynonymPool, PoolReport]): The pool, and counts of its contents and of what was
        left out.
    RAISES (ConnormError): CN006 if the share is not above 0, CN810 if no concept has two texts,
        CN810 if there is neither O nor D to train on.
    """
    require_range(above=0, data_share=data_share)
    report = PoolReport()
    stated = _TextConceptPairs(ontology)
    for mention in mentions:
        stated.add_mention(mention, report)
    if report.unknown_ids:
        first = quote_id(list(stated.concepts)[len(ontology)])
        Warnings.CNW810.warn(count=report.unknown_ids, first=first)
    if not use_ontology and not stated.mentions:
        reason = f"none of the {report.mentions} annotated mentions names exactly one concept"
        mend = "a corpus with gold ids, or set `use_ontology = true`"
        raise Errors.CN810(reason=reason, mend=mend)
    rows, texts = _rows(list(stated.texts), inputs)
    shape = len(texts), len(stated.concepts)
    names = _matrix(stated.names, rows, shape, report)
    annotated = _matrix(stated.mentions, rows, shape, report)
    learned = np.isin(names.indices, annotated.indices) | use_ontology
    report.from_ontology = int(np.count_nonzero(learned))
    report.data_texts = annotated.nnz
    if annotated.nnz:
        report.from_data = max(annotated.nnz, round((data_share or 0) * report.from_ontology))
    shares = _shares(report.from_data, annotated.nnz)
    # A sum has no zeros: pairs that are not learned are left out.
    times = _with_values(names, learned) + _with_values(annotated, shares)
    pool = _pool(times, names, annotated, texts, stated, report)
    if report.concepts == report.single_text_concepts:
        counts = f"{report.concepts} concepts, {report.texts} different texts for the encoder"
        reason = f"no concept has two texts ({counts})"
        raise Errors.CN810(reason=reason, mend="an ontology with synonyms, or a corpus")
    return pool, report


class _TextConceptPairs:
    """Numbers texts and concepts, and collects the pairs of O (`names`) and of D (`mentions`): text
    number, concept number, text number and so on. These are arrays, since ten million pairs would
    be too many Python objects.
    """

    def __init__(self, ontology: Ontology) -> None:
        """Number the concepts and names of O.

        ontology (Ontology): O.
        """
        self.ontology = ontology
        self.texts: dict[str, int] = {}
        self.names = array("i")
        self.mentions = array("i")
        self.concepts: dict[str, int] = {}
        for number, concept in enumerate(ontology):
            self.concepts[concept.concept_id] = number
            for name in concept.names:
                self.names.extend((self._text(name), number))

    def add_mention(self, mention: Mention, report: PoolReport) -> None:
        """Add an annotated mention.

        mention (Mention): An annotation of D.
        report (PoolReport): Counts mentions that are left out.
        """
        report.mentions += 1
        if not mention.concept_ids:
            report.nil_mentions += 1
            return
        denoted = set(map(self.ontology.primary_id, mention.concept_ids))
        parts = mention.kb_id.replace("+", "|").split("|")
        # If a part has no id, the ids of the others name only a part of the mention.
        if len(denoted) > 1 or not all(split_ids(part) for part in parts):
            report.composite_mentions += 1
            return
        (concept_id,) = denoted
        report.unknown_ids += concept_id not in self.concepts
        number = self.concepts.setdefault(concept_id, len(self.concepts))
        report.unknown_mentions += number >= len(self.ontology)
        self.mentions.extend((self._text(mention.text), number))

    def _text(self, text: str) -> int:
        return self.texts.setdefault(clean(text), len(self.texts))


def _rows(
    texts: list[str], inputs: Callable[[list[str]], list[bytes]]
) -> tuple[np.ndarray, list[str]]:
    """Number the rows. Returns the row of each text, -1 if it is empty, and the first text of each
    row.
    """
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


def _matrix(
    stated: array, rows: np.ndarray, shape: tuple[int, int], report: PoolReport
) -> "csr_matrix":
    """Make a matrix, int64 (rows, concepts), that is 1 where a row has a concept."""
    from scipy.sparse import csr_matrix

    text, concept = np.asarray(stated, dtype="int64").reshape(-1, 2).T
    row = rows[text]
    is_read = row >= 0
    report.empty_texts += int(np.count_nonzero(~is_read))
    row, concept = row[is_read], concept[is_read]
    matrix = csr_matrix((np.ones(len(row), dtype="int64"), (row, concept)), shape)
    # A pair that is stated several times has been summed up.
    matrix.data[:] = 1
    return matrix


def _with_values(pairs: "csr_matrix", values: np.ndarray) -> "csr_matrix":
    changed = pairs.copy()
    changed.data = values
    return changed


def _shares(total: int, count: int) -> np.ndarray:
    """Compute integers that add up to the total and differ by at most 1, the larger ones spread
    evenly.
    """
    return np.diff(np.arange(count + 1, dtype="int64") * total // max(count, 1))


def _pool(
    times: "csr_matrix",
    names: "csr_matrix",
    annotated: "csr_matrix",
    texts: list[str],
    stated: _TextConceptPairs,
    report: PoolReport,
) -> SynonymPool:
    """Select the rows that are drawn at least once, with all of their concepts.

    times (csr_matrix): int64 (rows, concepts), how often an epoch draws each pair.
    names (csr_matrix): int64 (rows, concepts), 1 for the pairs of O.
    annotated (csr_matrix): int64 (rows, concepts), 1 for the pairs of D.
    RETURNS (SynonymPool): The pool.
    """
    drawn = np.flatnonzero(times.getnnz(axis=1))
    pairs = (names + annotated)[drawn]
    chosen = np.unique(pairs.indices)
    pairs, times = pairs[:, chosen], times[drawn][:, chosen]
    all_ids = list(stated.concepts)
    concept_ids = [all_ids[number] for number in chosen.tolist()]
    pool = SynonymPool(
        texts=[texts[row] for row in drawn.tolist()],
        concepts=_by_row(pairs),
        members=_by_concept(times),
        concept_ids=concept_ids,
        names=np.flatnonzero(names[drawn].getnnz(axis=1)).astype("int32"),
        mentions=np.flatnonzero(annotated[drawn].getnnz(axis=1)).astype("int32"),
        parents=_parents(concept_ids, stated.ontology),
    )
    texts_of = times.getnnz(axis=0)
    report.concepts = int(np.count_nonzero(texts_of))
    report.single_text_concepts = int(np.count_nonzero(texts_of == 1))
    report.texts = len(pool.texts)
    report.ambiguous_texts = int(np.count_nonzero(pairs.getnnz(axis=1) > 1))
    return pool


def _by_row(pairs: "csr_matrix") -> list[tuple[int, ...]]:
    # Most texts have only one concept, and share its tuple to save memory.
    alone = [(number,) for number in range(pairs.shape[1])]
    numbers = pairs.indices.tolist()
    return [
        alone[numbers[start]] if end - start == 1 else tuple(numbers[start:end])
        for start, end in pairwise(pairs.indptr.tolist())
    ]


def _by_concept(times: "csr_matrix") -> list[np.ndarray]:
    by_concept = times.tocsc()
    flat = np.repeat(by_concept.indices, by_concept.data).astype("int32")
    ends = np.append(0, np.cumsum(by_concept.data))[by_concept.indptr]
    return [flat[start:end] for start, end in pairwise(ends.tolist())]


def _parents(chosen: list[str], ontology: Ontology) -> list[tuple[int, ...]]:
    numbers = {concept_id: number for number, concept_id in enumerate(chosen)}
    parents = (
        ontology[concept_id].parents if concept_id in ontology else () for concept_id in chosen
    )
    primary = (dict.fromkeys(map(ontology.primary_id, ids)) for ids in parents)
    return [
        tuple(numbers[concept_id] for concept_id in ids if concept_id in numbers) for ids in primary
    ]


def sorted_unique(values: np.ndarray) -> np.ndarray:
    """Sort numbers and remove duplicates. For millions of numbers, this is several times faster
    than `np.unique`, which uses hashing.

    values (Ints1d): Numbers from 0.
    RETURNS (Ints1d): Each of them once, ascending.
    """
    ordered = np.sort(values)
    return ordered[np.diff(ordered, prepend=-1) > 0]
