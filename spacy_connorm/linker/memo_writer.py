"""Work out the answers of a memo."""

import json
from itertools import chain, islice
from pathlib import Path

import numpy as np
from tqdm import tqdm

from ..encoders.normalized import NormalizedEncoder
from ..files.arrays import find_sorted
from ..files.atomic import TemporaryFolder, atomic_folder
from ..index.concept_index import ConceptIndex
from ..index.filters import allowed_concepts
from ..index.members import D
from ..index.overlay import SynonymOverlay
from ..index.query import Query
from ..index.ranking import SCALE
from ..index.vectors.base import HybridVectors, Vectors
from .memo import FACTS, NONE, Memo, find_premises, hash_forms
from .memo_arrays import Arrays
from .sieve import Answer, Question, run_sieve

_BATCH = 512


def make_memo(
    index: ConceptIndex, encoder: NormalizedEncoder, question: Question, *, size: int
) -> Memo | None:
    """Work out answers, into a temporary folder.

    size (int): At most how many texts; 0 for no memo. The others as in `write_memo`.
    RETURNS (Optional[Memo]): The answers.
    RAISES (ConnormError): CN108 if the disk is full, CN406 and CN407 for types and branches that
        the index lacks.
    """
    if not size:
        return None
    owner = TemporaryFolder()
    path = owner.path / "memo"
    with atomic_folder(path) as folder:
        write_memo(folder, index, encoder, question, size=size)
    return Memo(path, owner=owner)


def write_memo(
    folder: Path, index: ConceptIndex, encoder: NormalizedEncoder, question: Question, *, size: int
) -> None:
    """Work out answers and write them.

    folder (Path): An empty folder.
    index (ConceptIndex): The index. Synonyms that were added or removed later are ignored.
    encoder (NormalizedEncoder): Built it.
    question (Question): What each text is asked.
    size (int): At most how many texts, those of D first.
    RAISES (ConnormError): CN406 and CN407 for types and branches that the index lacks.
    """
    rows = _choose_rows(index, size)
    arrays = _work_out(rows, index, encoder.lexical_weight, question)
    members = index.members.of_rows(rows)
    texts = index.store.texts(members.tolist())
    forms = hash_forms(encoder.forms([texts[member] for member in members.tolist()]))
    sizes = index.members.start[rows + 1] - index.members.start[rows]
    hashes, first = np.unique(forms, return_index=True)
    places = np.repeat(np.arange(len(rows)), sizes)[first].astype("int32")
    for name, array in arrays._replace(hashes=hashes, places=places)._asdict().items():
        np.save(folder / f"{name}.npy", array)
    facts = {
        "premises": find_premises(index, encoder),
        "searches": question.sieve.searches,
        "thresholds": question.sieve.thresholds,
        "top_k": question.top_k,
        **question.filter._asdict(),
    }
    (folder / FACTS).write_text(json.dumps(facts), encoding="utf8")


def _choose_rows(index: ConceptIndex, size: int) -> np.ndarray:
    first, last = index.members.rows_of(D)
    rows = chain(range(first, last), range(first), range(last, len(index.vectors)))
    return np.sort(np.fromiter(islice(rows, size), dtype="int64"))


def _work_out(
    rows: np.ndarray, index: ConceptIndex, lexical_weight: float, question: Question
) -> Arrays:
    width = min(question.top_k, index.concept_count)
    arrays = _make_arrays(rows, width, index.compared)
    nothing_added = SynonymOverlay(index)
    allowed = allowed_concepts(question.filter, index)
    # A text with a zero vector has no answer.
    asked = np.flatnonzero(index.vectors.norms[rows])
    with tqdm(total=len(asked), desc="Memo", unit="text", delay=2, disable=None) as bar:
        for start in range(0, len(asked), _BATCH):
            batch = asked[start : start + _BATCH]
            vectors = index.compared.queries(rows[batch], weight=lexical_weight)
            query = Query(vectors, question.top_k, allowed)
            answers = run_sieve(question.sieve, index, nothing_added, query)
            for place, answer in zip(batch.tolist(), answers, strict=True):
                _fill(arrays, place, answer, question)
            bar.update(len(batch))
    labels, concepts = _factored(arrays.concepts)
    texts, members = _factored(arrays.members)
    return arrays._replace(labels=labels, concepts=concepts, texts=texts, members=members)


def _make_arrays(rows: np.ndarray, width: int, vectors: Vectors) -> Arrays:
    """Empty arrays. Concepts and members are numbers before `_factored`, places after it."""
    shape = (len(rows), width)
    # Inner products have no upper limit.
    kind = "int64" if vectors.is_scaled else "int32"
    return Arrays(
        hashes=np.empty(0, dtype="uint64"),
        places=np.empty(0, dtype="int32"),
        rows=rows,
        searches=np.zeros(len(rows), dtype="uint8"),
        labels=np.empty(0, dtype="int32"),
        texts=np.empty(0, dtype="int32"),
        concepts=np.full(shape, NONE, dtype="int32"),
        scores=np.zeros(shape, dtype=kind),
        members=np.full(shape, NONE, dtype="int32"),
        parts=np.zeros((*shape, 2 if isinstance(vectors, HybridVectors) else 0), dtype=kind),
    )


def _factored(numbers: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The distinct numbers, and the place of each number among them; -1 stays -1."""
    distinct = np.unique(numbers)
    distinct = distinct[distinct != NONE]
    return distinct, find_sorted(distinct, numbers).astype("int32")


def _fill(arrays: Arrays, place: int, answer: Answer, question: Question) -> None:
    arrays.searches[place] = question.sieve.searches.index(answer.search)
    for number, hit in enumerate(answer.hits):
        arrays.concepts[place, number] = hit.concept
        arrays.scores[place, number] = round(hit.score * SCALE)
        arrays.members[place, number] = hit.member
        if hit.parts is not None:
            arrays.parts[place, number] = np.rint(np.asarray(hit.parts) * SCALE)
