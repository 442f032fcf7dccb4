"""Concept texts in two dimensions: how well an encoder separates concepts."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy import sparse

from ..encoders.normalized import NormalizedEncoder
from ..encoders.vectors import HybridArray, Raw
from ..errors import ConnormError, Errors
from ..index.concept_index import ConceptIndex
from ..index.vectors.base import Vectors, from_raw
from .retrieval import average_precision, relevant_ranks

DEFAULT_CONCEPTS = 12
MAX_TEXTS = 40
MIN_TEXTS = 3
SEED = 0
# Fewer points have no neighbourhoods for t-SNE to preserve, so PCA alone is used.
_MIN_FOR_TSNE = 30
_PCA_WIDTH = 50
_POOL = 1000


class ConceptTexts(NamedTuple):
    """The texts of a concept that are drawn.

    concept_id (str): Its id.
    name (str): Its preferred name.
    texts (Tuple[str, ...]): Distinct texts of O and D.
    """

    concept_id: str
    name: str
    texts: tuple[str, ...]


class Panel(NamedTuple):
    """Concept texts as one encoder places them.

    label (str): The encoder.
    points (np.ndarray): float64 (n, 2), one per text, concept by concept.
    precision (float): Mean average precision, from 0 to 1: each text is a query, the others are
        ranked by cosine in the encoder's own space, and those of its concept are right. So it does
        not depend on the projection. Texts without another of their concept do not count, and ties
        earn nothing; see `relevant_ranks`.
    """

    label: str
    points: np.ndarray
    precision: float


def choose_concepts(index: ConceptIndex, *, count: int = DEFAULT_CONCEPTS) -> list[str]:
    """Choose concepts to draw: the one with the most texts, then the one with the nearest mean
    vector by cosine, then the next such pair, so that half of them are hard to tell from another.
    Only texts that denote a single concept count, and only the thousand concepts with the most of
    them are considered. Of equals the first id comes first.

    index (ConceptIndex): The index.
    count (int): How many.
    RETURNS (List[str]): Concept ids; fewer if not enough concepts have three texts.
    """
    alone = np.flatnonzero(np.diff(index.members.start) == 1)
    owners = index.members.concept[index.members.start[alone]]
    sizes = np.bincount(owners, minlength=index.concept_count)
    order = np.lexsort((np.arange(len(sizes)), -sizes))
    pool = order[sizes[order] >= MIN_TEXTS][:_POOL]
    if not len(pool):
        return []
    incidence = sparse.csr_matrix(
        (np.ones(len(alone), dtype="float32"), (owners, alone)),
        shape=(len(sizes), len(index.vectors)),
    )
    # A sum has the direction of the mean.
    chosen = _pair_up(from_raw(index.vectors.sums(incidence[pool])), count)
    labels = index.store.labels(pool[chosen])
    return [labels[number][0] for number in pool[chosen].tolist()]


def _pair_up(means: Vectors, count: int) -> list[int]:
    everything, chosen = np.arange(len(means)), list[int]()
    for place in range(len(means)):
        if place not in chosen:
            cosines = np.asarray(means.rescore(means.unit, place, everything), dtype="float64")
            cosines[[*chosen, place]] = -np.inf
            near = int(cosines.argmax())
            chosen += [place, near] if np.isfinite(cosines[near]) else [place]
        if len(chosen) >= count:
            break
    return chosen[:count]


def read_texts(index: ConceptIndex, concept_ids: Sequence[str]) -> list[ConceptTexts]:
    """Read the texts of concepts, at most 40 of each, in the order of the index. A text of several
    of these concepts belongs to the first.

    index (ConceptIndex): The index; synonyms added later are not drawn.
    concept_ids (Sequence[str]): Concept ids or alternate ids.
    RETURNS (List[ConceptTexts]): The texts, concept by concept.
    RAISES (ConnormError): CN411 for an id that the index lacks, CN603 if there are fewer than three
        texts in total.
    """
    drawn: set[int] = set()
    concepts = []
    for number in dict.fromkeys(index.number(each) for each in concept_ids):
        members = np.flatnonzero(index.members.concept == number)
        mine = [m for m in members.tolist() if int(index.row_numbers[m]) not in drawn]
        mine = mine[:MAX_TEXTS]
        drawn.update(int(index.row_numbers[member]) for member in mine)
        texts = index.store.texts(mine)
        label = index.store.labels([number])[number]
        concepts.append(ConceptTexts(*label, tuple(texts[member] for member in mine)))
    if len(drawn) < MIN_TEXTS:
        raise ConnormError(Errors.CN603.format(count=len(drawn), fewest=MIN_TEXTS))
    return concepts


def project(encoder: NormalizedEncoder, concepts: Sequence[ConceptTexts], *, label: str) -> Panel:
    """Encode concept texts and project them: unit vectors, PCA to at most 50 dimensions, then t-SNE
    with a fixed seed; PCA alone for fewer than 30 texts. Equal texts give equal pictures.

    encoder (NormalizedEncoder): The encoder.
    concepts (Sequence[ConceptTexts]): At least three texts in total.
    label (str): The panel's title.
    RETURNS (Panel): The points.
    """
    texts = [text for concept in concepts for text in concept.texts]
    owners = np.repeat(np.arange(len(concepts)), [len(each.texts) for each in concepts])
    matrix = _dense(from_raw(encoder.encode(texts)).unit)
    return Panel(label, _lay_out(matrix), mean_average_precision(matrix, owners))


def _dense(unit: Raw) -> np.ndarray:
    """Dense unit vectors, float64; those of a hybrid are joined so that dot products are scores."""
    if isinstance(unit, HybridArray):
        lexical = np.sqrt(unit.weight) * _dense(unit.lexical)
        return np.hstack([_dense(unit.dense), lexical]) / np.sqrt(1 + unit.weight)
    if sparse.issparse(unit):
        columns = unit.tocsc()
        # Only the features of these few texts: thousands, not all.
        unit = columns[:, np.flatnonzero(np.diff(columns.indptr))].toarray()
    return np.asarray(unit, dtype="float64")


def _lay_out(matrix: np.ndarray) -> np.ndarray:
    from sklearn.decomposition import PCA
    from sklearn.manifold import TSNE

    if not matrix.shape[1]:  # the encoder has no n-gram of the texts
        return np.zeros((len(matrix), 2))
    few = len(matrix) < _MIN_FOR_TSNE
    width = min(2 if few else _PCA_WIDTH, *matrix.shape)
    reduced = PCA(n_components=width, svd_solver="full").fit_transform(matrix)
    reduced = np.pad(reduced, ((0, 0), (0, max(0, 2 - width))))
    if few:
        return reduced
    perplexity = min(30.0, (len(matrix) - 1) / 3)
    layout = TSNE(perplexity=perplexity, init="pca", random_state=SEED, method="exact")
    return layout.fit_transform(reduced).astype("float64")


def mean_average_precision(vectors: np.ndarray, owners: np.ndarray) -> float:
    """Score synonym retrieval: each vector is a query, the others of its concept are right.

    vectors (Floats2d): (n, width), whose dot products are scores.
    owners (Ints1d): (n,) the concept of each vector.
    RETURNS (float): From 0 to 1; 0 if no concept has two vectors.
    """
    scores = vectors @ vectors.T
    np.fill_diagonal(scores, -np.inf)
    same = owners[:, None] == owners
    np.fill_diagonal(same, False)
    averages = [
        average_precision(relevant_ranks(row, np.flatnonzero(right)))
        for row, right in zip(scores, same, strict=True)
        if right.any()
    ]
    return float(np.mean(averages)) if averages else 0.0
