"""The way of a mention to its candidates.

`link` follows the paper: a mention is cleaned and interpreted (as the long form that its document
defines for it, as it is written, and as the mentions that it coordinates); texts without an answer
in the cache are encoded, searched by the sieve and rescored; and the interpretation that links best
answers.
"""

from collections.abc import Mapping, Sequence
from itertools import chain

from ..concepts import Candidate
from .calibration import Calibration, with_probabilities
from .decision import best_first
from .query import Query
from .retriever import Retriever
from .sieve import run_sieve
from .texts import (
    Interpretation,
    MentionTexts,
    Way,
    clean_mentions,
    interpret,
    read_initials,
    split,
)

# The minimum number of candidates to find, even if fewer are wanted: a text denotes all concepts
# with the same score, and the probability of a candidate depends on its rival.
_DEPTH = 10
# The number of texts searched at once: their cosines with a block of the index are in memory
# together.
_BATCH = 128
# What the scores of a name that the finder matched with other words than its own are multiplied by.
# The mention as written answers if it scores higher: on the dev parts of NCBI, BC5CDR, CRAFT and
# HPO, mentions were right from 0.94 on ("skin lesion") and wrong up to 0.92 ("ST depression" as
# depression).
REWORDED = 0.93


def link(
    retriever: Retriever,
    mentions: Sequence[str],
    query: Query,
    *,
    long_forms: Sequence[str] | None = None,
    matched_names: Sequence[str] | None = None,
) -> list[list[Interpretation]]:
    """Find the concepts that mentions denote.

    retriever (Retriever): A snapshot of index and synonyms, which answers.
    mentions (Sequence[str]): b mentions, as written; an empty one has no candidates.
    query (Query): How to search.
    long_forms (Optional[Sequence[str]]): b long forms; empty where a document defines none.
    matched_names (Optional[Sequence[str]]): b names that a finder matched, as the index has them;
        empty for other mentions. They are searched instead of the mention, unless D has the
        mention.
    RETURNS (List[List[Interpretation]]): b lists, each with the interpretation that answers first.
    RAISES (ConnormError): CN006 for anything but lists of texts of the same length, CN421 for a
        query that the metric of the index does not allow, and the errors of `retrieve`.
    """
    if not retriever.has_cosines:
        query.refuse_comparisons(retriever.index.metric)
    cleaned = clean_mentions(mentions, long_forms, matched_names)
    words = retriever.index.words
    ways = interpret(dict.fromkeys(cleaned), retriever)
    if query.read_initials:
        for texts, some in ways.items():
            if not texts.mention.islower():  # as most mentions are, which have no short form
                some += read_initials(texts, retriever)
    interpreted = retrieve(retriever, ways, query)
    if query.split_composites:
        for texts, wholes in interpreted.items():
            ways[texts] = split(texts, wholes, words.language.code)
        for texts, parts in retrieve(retriever, ways, query).items():
            interpreted[texts] += parts
    for texts, interpretations in interpreted.items():
        interpreted[texts] = best_first(interpretations, words.classes, query.nil_threshold)
    if query.top_k < _DEPTH:
        interpreted = {texts: _first(query.top_k, ways) for texts, ways in interpreted.items()}
    return [list(interpreted[texts]) for texts in cleaned]


def candidates_of(
    retriever: Retriever, mentions: Sequence[str], query: Query, **others: Sequence[str] | None
) -> list[list[Candidate]]:
    """Find the candidates of mentions. Takes the arguments and raises the errors of `link`.

    RETURNS (List[List[Candidate]]): For each mention, the candidates of the interpretation that
        answers.
    """
    return [ways[0].candidates for ways in link(retriever, mentions, query, **others)]


def retrieve(
    retriever: Retriever, ways: Mapping[MentionTexts, Sequence[Way]], query: Query
) -> dict[MentionTexts, list[Interpretation]]:
    """Find the candidates of all texts of the ways to interpret mentions, in the cache or by
    searching.

    retriever (Retriever): Answers.
    ways (Mapping[MentionTexts, Sequence[Way]]): The ways of each mention, with cleaned texts; an
        empty text has no candidates.
    query (Query): How to search.
    RETURNS (Dict[MentionTexts, List[Interpretation]]): The ways with the candidates of each text,
        best first: 10, or `top_k` if that is more.
    RAISES (ConnormError): CN402 if the index turns out to be damaged, CN406 for types and
        branches that it lacks, CN408 for a search that it was built without.
    """
    allowed = retriever.allowed(query.filter) if any(query.filter) else None
    depth, cache = max(query.top_k, _DEPTH), retriever.answers
    if cache.size != query.cache_size:
        cache.resize(query.cache_size)
    # Everything that the answers depend on.
    calibration = query.calibration
    settings = query.sieve, query.filter, query.rescorers, calibration, depth
    candidates: dict[str, list[Candidate]] = {"": []}
    new = []
    for way in chain.from_iterable(ways.values()):
        for text in way.texts:
            if text not in candidates:
                known = cache.get((settings, text))
                candidates[text] = known or []
                if known is None:
                    new.append(text)
    for start in range(0, len(new), _BATCH):
        batch = retriever.encode(new[start : start + _BATCH], allowed)
        answers = run_sieve(batch, query.sieve, query.rescorers, top_k=depth)
        for text in new[start : start + _BATCH]:
            candidates[text] = answers.get(text, [])
            if calibration is not None:
                candidates[text] = with_probabilities(candidates[text], calibration)
            cache.put((settings, text), candidates[text])
    if query.codes is not None:
        candidates = query.codes.with_codes(candidates, retriever.index)
    interpretations: dict[MentionTexts, list[Interpretation]] = {}
    for mention, some in ways.items():
        interpretations[mention] = []
        for kind, texts, certainty in some:
            parts = [candidates[text] for text in texts]
            if kind == "reworded name":
                parts = [_lowered(part, calibration) for part in parts]
            elif certainty < 1:
                parts = [_doubted(part, certainty) for part in parts]
            interpretations[mention].append(Interpretation(kind, texts, tuple(parts), certainty))
    return interpretations


def _lowered(candidates: Sequence[Candidate], calibration: Calibration | None) -> list[Candidate]:
    lower = [candidate._replace(score=candidate.score * REWORDED) for candidate in candidates]
    # Probabilities are those of the scores that are shown.
    return lower if calibration is None else with_probabilities(lower, calibration)


def _doubted(candidates: Sequence[Candidate], certainty: float) -> list[Candidate]:
    return [
        candidate._replace(
            score=candidate.score * certainty,
            probability=None
            if candidate.probability is None
            else candidate.probability * certainty,
        )
        for candidate in candidates
    ]


def _first(top_k: int, ways: Sequence[Interpretation]) -> list[Interpretation]:
    return [way._replace(parts=tuple([part[:top_k] for part in way.parts])) for way in ways]
