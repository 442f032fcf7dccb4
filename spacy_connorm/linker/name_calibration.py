"""Fit a calibration to an index's own names, without annotated documents. If these are too few,
the usual one is as good: small ontologies hardly differ.

Some names are taken out of the index, and searched as if they were mentions. What is found then is
right if it is their concept, found by its other names. What is found among other concepts, as if
theirs were missing, is wrong, and so is what is found for words of unrelated names. While the names
are there, they are also searched with a word of another name before them, since mentions say more
than names ("severe", "bilateral"), and some with a letter dropped, doubled or swapped.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import chain
from typing import NamedTuple, TypeAlias

import numpy as np

from ..concepts import Candidate
from ..files.package_data import read_toml
from ..index.concept_index import ConceptIndex
from ..index.filter import Filter
from ..index.overlay import SynonymOverlay
from ..lang.language import names_language
from .calibration import SAME_TEXT, Calibration, CandidateFeatures, features_of
from .linking import candidates_of
from .query import Query
from .retriever import Retriever

# With 200 names, calibration errors differ by a point between samples, with 400 by half a
# point, and building takes up to a tenth longer.
_MOST_NAMES = 200
_FEWEST_NAMES = 50
# For so many names there is one phrase, and one misspelled name.
_NAMES_PER_PHRASE, _NAMES_PER_MISSPELLING = 4, 2
# How often a text has the concept that its words say, which names cannot tell. Of mentions that are
# names, 84 to 98 of 100 have it in nine dev sets of five ontologies.
_CEILING = 0.95
_SEED = 0
# The mean of what is fitted to small ontologies, as `benchmarks/mentions.py --weights` prints it.
_USUAL = Calibration(**read_toml(__package__, "calibration.toml")["weights"], ceiling=_CEILING)
# A translation shares few letters with a name and has a lower score than a synonym, right or wrong.
# Its lead over other names means the same.
_HOLDS_ACROSS_LANGUAGES = np.isin(CandidateFeatures._fields, ("margin", "name"))
# A letter between two others, with one more after it.
_INSIDE_WORD = re.compile(r"(?<=[^\W\d_])[^\W\d_](?=[^\W\d_]{2})")


class IndexedName(NamedTuple):
    """A name of a concept.

    text (str): The name.
    concept_id (str): The concept's id.
    row (int): Its row in the index.
    concept (int): The number of the concept.
    """

    text: str
    concept_id: str
    row: int
    concept: int


class NameFit(NamedTuple):
    """What the names of an index tell about it.

    calibration (Calibration): Fitted to them.
    left_out (int): The number of names that were taken out of the index and searched; 0 if these
        are too few, and the calibration is the usual one.
    right (int): For how many of these their concept, found by its other names, was first.
    """

    calibration: Calibration
    left_out: int
    right: int


# The first candidate for a text, and whether it is right.
_Example: TypeAlias = tuple[CandidateFeatures, bool]


def fit_to_names(retriever: Retriever, query: Query, language: str) -> NameFit | None:
    """Fit a calibration to the names of an index. The same index gives the same numbers.

    retriever (Retriever): The index and its encoder.
    query (Query): How mentions are searched.
    language (str): The language of the mentions.
    RETURNS (Optional[NameFit]): The calibration: the usual one if fewer than 100 concepts have
        several names, unless words are not compared; None then, or if scores are not cosines.
    """
    names = _sample(retriever.index)
    if not retriever.has_cosines:
        return None
    if len(names) < _FEWEST_NAMES:
        return NameFit(_USUAL, 0, 0) if query.rescorers else None
    removed = frozenset((name.row, name.concept) for name in names)
    overlay = SynonymOverlay(retriever.index, removed=removed)
    texts = [name.text for name in names]
    query = query._replace(
        filter=Filter(), split_composites=False, read_initials=False, calibration=None, codes=None
    )
    without_names = replace(retriever, overlay=overlay)
    found = candidates_of(without_names, texts, query)
    for_phrases = candidates_of(without_names, _phrases(texts), query)
    misspelled = names[::_NAMES_PER_MISSPELLING]
    for_misspelled = candidates_of(retriever, _misspell(misspelled), query)
    for_longer = candidates_of(retriever, _lengthen(texts), query)
    examples = [
        *map(_as_written, names, found),
        *chain.from_iterable(map(_with_and_without, names, found)),
        *chain.from_iterable(map(_with_and_without, misspelled, for_misspelled)),
        *(
            (features_of(candidates)[0], True)
            for name, candidates in zip(names, for_longer, strict=True)
            if _is_first(name, candidates)
        ),
        *((features_of(candidates)[0], False) for candidates in for_phrases if candidates),
    ]
    features, is_right = map(np.asarray, zip(*examples, strict=True))
    written_in = "" if query.rescorers else names_language(retriever.index.store.all_texts())
    if written_in not in ("", language):
        features = np.where(_HOLDS_ACROSS_LANGUAGES, features, 0.0)
    calibration = Calibration.fit(features, is_right)._replace(ceiling=_CEILING)
    return NameFit(calibration, len(names), sum(map(_is_first, names, found)))


def _sample(index: ConceptIndex) -> list[IndexedName]:
    """Draw names of different concepts that have other names, at most half of these concepts."""
    members, generator = index.members, np.random.default_rng(_SEED)
    counts = np.bincount(members.concept)
    drawn = generator.permutation(np.flatnonzero(counts[members.concept] > 1))
    _, first = np.unique(members.concept[drawn], return_index=True)
    chosen = drawn[np.sort(first)][: min(_MOST_NAMES, len(first) // 2)]
    texts, numbers = index.store.texts(chosen.tolist()), members.concept[chosen].tolist()
    labels = index.store.labels(numbers)
    rows = members.row_numbers[chosen].tolist()
    return [
        IndexedName(texts[member], labels[number][0], row, number)
        for member, row, number in zip(chosen.tolist(), rows, numbers, strict=True)
    ]


def _phrases(names: Sequence[str]) -> list[str]:
    """Make phrases of one word each of two or three names."""
    generator = np.random.default_rng(_SEED)
    words = [str(generator.choice(name.split())) for name in names]
    phrases = []
    for number in range(len(names) // _NAMES_PER_PHRASE):
        start = number * _NAMES_PER_PHRASE
        phrases.append(" ".join(words[start : start + 2 + number % 2]))
    return phrases


def _lengthen(names: Sequence[str]) -> list[str]:
    """Put a word of another name before each name."""
    generator = np.random.default_rng(_SEED)
    others = generator.permutation(len(names)).tolist()
    return [
        f"{generator.choice(names[other].split())} {name}"
        for name, other in zip(names, others, strict=True)
    ]


def _misspell(names: Sequence[IndexedName]) -> list[str]:
    """Drop, double or swap a letter inside a word of each name that has one."""
    generator = np.random.default_rng(_SEED)
    misspelled = []
    for name in names:
        text = name.text
        inside = [match.start() for match in _INSIDE_WORD.finditer(text)]
        if inside:
            place = int(generator.choice(inside))
            letter, following = text[place], text[place + 1]
            pair = generator.choice([following, 2 * letter + following, following + letter])
            text = f"{text[:place]}{pair}{text[place + 2 :]}"
        misspelled.append(text)
    return misspelled


def _as_written(name: IndexedName, candidates: Sequence[Candidate]) -> _Example:
    """Describe the answer for a name that is in the index."""
    itself = Candidate(name.concept_id, name.text, 1.0, name.text, "", searched=name.text)
    others = (candidate for candidate in candidates if candidate.concept_id != name.concept_id)
    rivals = [candidate for candidate in others if candidate.score < SAME_TEXT]
    return features_of([itself, *rivals])[0], True


def _is_first(name: IndexedName, candidates: Sequence[Candidate]) -> bool:
    """Check whether the concept of a name is first among what is found, alone or with others."""
    tied = (one.concept_id for one in candidates if one.score == candidates[0].score)
    return name.concept_id in tied


def _with_and_without(name: IndexedName, candidates: Sequence[Candidate]) -> Iterator[_Example]:
    """Describe the first candidate for the text of a name: with its concept in the index, and
    without it.
    """
    others = [candidate for candidate in candidates if candidate.concept_id != name.concept_id]
    if candidates:
        yield features_of(candidates)[0], _is_first(name, candidates)
    if others:
        yield features_of(others)[0], False
