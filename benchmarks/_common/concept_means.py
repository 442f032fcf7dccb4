"""What a -C search depends on: means of concepts, made and compared in several ways."""

from collections.abc import Iterator
from itertools import islice

import numpy as np
from thinc.api import Model

from _common.datasets import Data
from _common.prepared import SearchedMentions
from spacy_connorm.encoders.raw import unit_rows
from spacy_connorm.evaluation.report import Row

# Queries that are compared at once.
_BLOCK = 256
_TOLERANCE = 1e-5


def means_row(encoder: Model, data: Data, mentions: SearchedMentions) -> Row:
    """Search O by its texts, and by the means of concepts: of raw vectors or of vectors of length
    one, by cosine or by the Euclidean distance that triplets are trained with.

    encoder (Model[List[str], Floats2d]): Encodes names and mentions.
    data (Data): Has O.
    mentions (SearchedMentions): What is searched.
    RETURNS (Dict[str, Any]): Lenient Acc@1 of each, in percent, and "coherence", the median cosine
        of a name to the mean of its concept, of concepts with several names, times 100.
    """
    numbers = {concept.concept_id: number for number, concept in enumerate(data.ontology)}
    pairs = [
        (name, numbers[concept.concept_id]) for concept in data.ontology for name in concept.names
    ]
    vectors = np.asarray(encoder.predict([name for name, _ in pairs]))
    # As in the index, what the encoder can't tell apart counts once.
    kept = {
        (own.tobytes(), pair[1]): place
        for place, (own, pair) in enumerate(zip(vectors, pairs, strict=True))
    }
    raw = vectors[[*kept.values()]]
    owners = np.array([pairs[place][1] for place in kept.values()])
    asked = np.asarray(encoder.predict(mentions.texts))
    gold = [
        {numbers[concept_id] for concept_id in own.concept_ids if concept_id in numbers}
        for own in mentions.gold
    ]
    means, unit_means = (_means(vectors, owners) for vectors in (raw, unit_rows(raw)))
    directions, concepts = unit_rows(asked), np.arange(len(means))
    ways = {
        "texts, cosine": (directions, unit_rows(raw), owners),
        "texts, Euclidean": (asked, raw, owners),
        "means, cosine": (directions, unit_rows(means), concepts),
        "means, Euclidean": (asked, means, concepts),
        "means of unit vectors, cosine": (directions, unit_rows(unit_means), concepts),
    }
    shares = {way: _accuracy(_nearest(*own), gold, mentions.counts) for way, own in ways.items()}
    several = np.bincount(owners)[owners] > 1
    cosines = (unit_rows(raw) * unit_rows(means)[owners]).sum(axis=1)
    return {**shares, "coherence": round(100 * float(np.median(cosines[several])), 1)}


def _means(vectors: np.ndarray, owners: np.ndarray) -> np.ndarray:
    counts = np.bincount(owners)
    sums = np.zeros((len(counts), vectors.shape[1]), dtype="float32")
    np.add.at(sums, owners, vectors)
    return sums / np.maximum(counts, 1)[:, None]


def _accuracy(nearest: Iterator[set[int]], gold: list[set[int]], counts: list[int]) -> float:
    """RETURNS (float): The percentage of mentions of which every part has a gold concept among its
    nearest.
    """
    parts = [[*islice(nearest, count)] for count in counts]
    right = [all(own & each for each in found) for own, found in zip(gold, parts, strict=True)]
    return round(100 * sum(right) / len(right), 2)


def _nearest(queries: np.ndarray, points: np.ndarray, owners: np.ndarray) -> Iterator[set[int]]:
    """YIELDS (Set[int]): The owners of the points that are nearest to each query; of unit vectors
    these have the highest cosine.
    """
    # |q - p|^2 = |q|^2 - 2 (q p - |p|^2 / 2)
    halves = (points**2).sum(axis=1) / 2
    for start in range(0, len(queries), _BLOCK):
        scores = queries[start : start + _BLOCK] @ points.T - halves
        for row in scores:
            yield set(owners[row >= row.max() - _TOLERANCE].tolist())
