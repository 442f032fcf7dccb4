"""The way of a mention to its candidates.

`link` follows the paper: a mention is cleaned and interpreted (as the long form that its document
defines for it, as it is written, and as the mentions that it coordinates); texts without an answer
in the cache are encoded, searched by the sieve and rescored; and the interpretation that links best
answers.
"""

from collections.abc import Mapping, Sequence

from ..concepts import Candidate
from .calibration import with_probabilities
from .decision import best_first
from .query import Query
from .retriever import Retriever
from .sieve import run_sieve
from .texts import Interpretation, Kind, MentionTexts, Way, clean_mentions, interpret, split

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
    query.require_comparable(retriever.index.metric)
    words = retriever.index.words
    cleaned = clean_mentions(mentions, long_forms, matched_names)
    found = _follow(interpret(dict.fromkeys(cleaned), retriever), retriever, query)
    if query.split_composites:
        ways = {texts: split(texts, wholes, words.language.code) for texts, wholes in found.items()}
        for texts, parts in _follow(ways, retriever, query).items():
            found[texts] += parts
    chosen = {}
    for texts, interpretations in found.items():
        chosen[texts] = [
            way._replace(parts=tuple([part[: query.top_k] for part in way.parts]))
            for way in best_first(interpretations, words.classes)
        ]
    return [list(chosen[texts]) for texts in cleaned]


def candidates_of(
    retriever: Retriever, mentions: Sequence[str], query: Query, **others: Sequence[str] | None
) -> list[list[Candidate]]:
    """Find the candidates of mentions. Takes the arguments and raises the errors of `link`.

    RETURNS (List[List[Candidate]]): For each mention, the candidates of the interpretation that
        answers.
    """
    return [ways[0].candidates for ways in link(retriever, mentions, query, **others)]


def _follow(
    ways: Mapping[MentionTexts, Sequence[Way]], retriever: Retriever, query: Query
) -> dict[MentionTexts, list[Interpretation]]:
    """Find the candidates of all texts that the ways to interpret mentions name, at once."""
    texts = [text for some in ways.values() for _, parts in some for text in parts]
    found = retrieve(retriever, texts, query)
    return {
        mention: [
            Interpretation(kind, parts, tuple([weigh(found[text], kind, query) for text in parts]))
            for kind, parts in some
        ]
        for mention, some in ways.items()
    }


def weigh(candidates: list[Candidate], kind: Kind, query: Query) -> list[Candidate]:
    """Lower the scores of candidates of a name with other words than the mention, and compute
    probabilities from the scores that are shown.

    candidates (List[Candidate]): The candidates of a text, best first.
    kind (str): How the mention is interpreted.
    query (Query): How to search.
    RETURNS (List[Candidate]): The candidates in the same order.
    """
    if kind == "reworded name":
        candidates = [
            candidate._replace(score=candidate.score * REWORDED) for candidate in candidates
        ]
    return with_probabilities(candidates, query.calibration) if query.calibration else candidates


def retrieve(
    retriever: Retriever, texts: Sequence[str], query: Query
) -> dict[str, list[Candidate]]:
    """Find the candidates of texts in the cache, or by searching.

    retriever (Retriever): Answers.
    texts (Sequence[str]): Cleaned texts; an empty one has no candidates.
    query (Query): How to search.
    RETURNS (Dict[str, List[Candidate]]): Candidates by text, best first: 10, or `top_k` if that is
        more.
    RAISES (ConnormError): CN402 if the index turns out to be damaged, CN406 for types and
        branches that it lacks, CN408 for a search that it was built without.
    """
    allowed = retriever.allowed(query.filter) if any(query.filter) else None
    depth, cache = max(query.top_k, _DEPTH), retriever.answers
    cache.size = query.cache_size
    # Everything that the answers depend on.
    asked = query.sieve, query.filter, query.rescorers, depth
    found: dict[str, list[Candidate]] = {}
    new = []
    for text in dict.fromkeys(texts):
        known = cache.get((asked, text)) if text else []
        if known is None:
            new.append(text)
        else:
            found[text] = known
    for start in range(0, len(new), _BATCH):
        batch = retriever.encode(new[start : start + _BATCH], allowed)
        answers = run_sieve(batch, query.sieve, query.rescorers, top_k=depth)
        for text in new[start : start + _BATCH]:
            found[text] = answers.get(text, [])
            cache.put((asked, text), found[text])
    return found if query.codes is None else query.codes.with_codes(found, retriever.index)
