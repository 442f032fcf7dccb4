"""The steps from a mention to its candidates.

`link` follows the paper: a mention is cleaned and interpreted (as the long form that its document
defines for it, as it is written, and as the mentions that it coordinates); texts without an answer
in the cache are encoded, searched by the sieve and rescored; and the interpretation that links best
answers. `explain_mention` keeps the steps.
"""

from collections.abc import Sequence
from math import inf
from typing import Literal, NamedTuple

import numpy as np

from ..concepts import Candidate
from ..concepts.curies import PrefixMap, split_curie
from ..errors import ConnormError, Errors, refuse_text
from ..index.concept_index import ConceptIndex
from ..index.filter import Filter
from ..index.hits import Hit, run_search
from ..index.search import Search
from ..text.cleaning import clean
from ..text.composites import PART_SEPARATOR, split_composite
from .interpretations import Calibration, Interpretation, best_first, is_settled, with_probabilities
from .lookup import Retriever
from .rescorers import RESCORERS, Rescorer, SearchBatch
from .sieve import Sieve


class CodeSystems(NamedTuple):
    """The vocabularies in which candidates get codes.

    names (Tuple[str, ...]): Their prefixes, in the spelling of the prefix map.
    prefixes (PrefixMap): The prefix map.
    """

    names: tuple[str, ...]
    prefixes: PrefixMap

    @classmethod
    def of(cls, systems: Sequence[str], prefixes: PrefixMap, index: ConceptIndex) -> "CodeSystems":
        """Look up vocabularies in the prefix map.

        systems (Sequence[str]): Their prefixes, in any spelling.
        prefixes (PrefixMap): The prefix map.
        index (ConceptIndex): The index with the codes.
        RETURNS (CodeSystems): The vocabularies.
        RAISES (ConnormError): CN413 for a vocabulary in which no concept has a code.
        """
        known = index.store.vocabularies
        names = tuple(dict.fromkeys(map(prefixes.prefix, systems)))
        for system in sorted(set(names) - set(map(prefixes.prefix, known))):
            shown = ", ".join(known) or "none"
            raise ConnormError(Errors.CN413.format(path=index.folder, system=system, known=shown))
        return cls(names, prefixes)

    def with_codes(
        self, found: dict[str, list[Candidate]], index: ConceptIndex
    ) -> dict[str, list[Candidate]]:
        """Add codes to candidates.

        found (Dict[str, List[Candidate]]): Candidates by text.
        index (ConceptIndex): The index that they were found in.
        RETURNS (Dict[str, List[Candidate]]): The same candidates with their `codes`.
        """
        ids = {candidate.concept_id for candidates in found.values() for candidate in candidates}
        xrefs = index.store.xrefs(ids)
        codes = {each: self._codes(each, xrefs.get(each, ())) for each in ids}
        return {
            text: [each._replace(codes=codes[each.concept_id]) for each in candidates]
            for text, candidates in found.items()
        }

    def _codes(self, concept_id: str, xrefs: Sequence[str]) -> dict[str, list[str]]:
        codes: dict[str, list[str]] = {system: [] for system in self.names}
        own = self.prefixes.own_curie(concept_id, xrefs)
        for curie in self.prefixes.curies((own, *xrefs)):
            prefix, local_id = split_curie(curie)
            if prefix in codes:
                codes[prefix].append(local_id)
        return codes


# The minimum number of candidates to find, even if fewer are wanted: a text denotes all concepts
# with the same score, and the probability of a candidate depends on its rival.
_DEPTH = 10
# The number of texts searched at once: their cosines with a block of the index are in memory
# together.
_BATCH = 128
WholeKind = Literal["found name", "reworded name", "long form", "as written"]
# The score of a name that the finder matched with other words than its own. The mention as written
# answers if it scores higher: on the dev parts of NCBI, BC5CDR, CRAFT and HPO, mentions were right
# from 0.94 on ("skin lesion") and wrong up to 0.92 ("ST depression" as depression).
_REWORDED = 0.93
_NAMES = frozenset(["found name", "reworded name"])
# A mention, its long form, and the name that the finder matched.
_MentionTexts = tuple[str, str, str]


class Query(NamedTuple):
    """How to search for mentions.

    sieve (Sieve): The searches.
    top_k (int): The maximum number of candidates for each text.
    filter (Filter): Which concepts may be found.
    split_composites (bool): Whether to interpret coordinated mentions as their parts, too; never
        with inner products.
    calibration (Optional[Calibration]): If given, candidates get probabilities.
    codes (Optional[CodeSystems]): If given, candidates get codes in these vocabularies.
    """

    sieve: Sieve
    top_k: int
    filter: Filter = Filter()
    split_composites: bool = True
    calibration: Calibration | None = None
    codes: CodeSystems | None = None

    def alone(self, search: str) -> "Query":
        """Use a single search instead of the sieve.

        RETURNS (Query): The changed query.
        """
        return self._replace(sieve=Sieve((search,), ()))


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
    RAISES (ConnormError): CN006 for anything but lists of texts of the same length, and the errors
        of `retrieve`.
    """
    words = retriever.index.words
    asked = _clean_mentions(mentions, long_forms, matched_names)
    ways = _interpret_whole(list(dict.fromkeys(asked)), retriever)
    found = retrieve(retriever, [text for each in ways.values() for _, text in each], query)
    read = {
        each: [
            Interpretation(kind, (text,), (found[text],))
            if kind != "reworded name"
            else _as_reworded(text, found[text])
            for kind, text in whole
        ]
        for each, whole in ways.items()
    }
    if query.split_composites and retriever.has_cosines:
        split = {
            each: parts
            for each, whole in read.items()
            if (parts := _split(each, whole, words.language.code))
        }
        texts = [text for ways in split.values() for parts in ways for text in parts]
        found = retrieve(retriever, texts, query) if texts else {}
        for each, ways_apart in split.items():
            read[each] += [
                Interpretation("parts", parts, tuple(found[text] for text in parts))
                for parts in ways_apart
            ]
    chosen = {each: best_first(whole, words.classes) for each, whole in read.items()}
    if query.top_k < _DEPTH:
        chosen = {each: [way.first(query.top_k) for way in ways] for each, ways in chosen.items()}
    return [list(chosen[each]) for each in asked]


def candidates_of(
    retriever: Retriever, mentions: Sequence[str], query: Query, **others: Sequence[str] | None
) -> list[list[Candidate]]:
    """Find the candidates of mentions. Takes the arguments and raises the errors of `link`.

    RETURNS (List[List[Candidate]]): For each mention, the candidates of the interpretation that
        answers.
    """
    return [read[0].candidates for read in link(retriever, mentions, query, **others)]


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
    depth = max(query.top_k, _DEPTH)
    asked = query.sieve, query.filter, depth
    cached = {text: retriever.cache.get((asked, text)) if text else [] for text in texts}
    new = [text for text, known in cached.items() if known is None]
    found = {text: known for text, known in cached.items() if known is not None}
    for start in range(0, len(new), _BATCH):
        some = new[start : start + _BATCH]
        answers = run_sieve(retriever, retriever.encode(some, depth, allowed), query.sieve)
        for text in some:
            found[text] = answers.get(text, [])
            retriever.cache.put((asked, text), found[text])
    if query.calibration is not None:
        found = {text: with_probabilities(each, query.calibration) for text, each in found.items()}
    return found if query.codes is None else query.codes.with_codes(found, retriever.index)


def run_sieve(retriever: Retriever, batch: SearchBatch, sieve: Sieve) -> dict[str, list[Candidate]]:
    """Run the searches of a sieve in order, each only for the texts without an answer so far, and
    rescore what each finds.

    retriever (Retriever): Answers.
    batch (SearchBatch): The encoded texts.
    sieve (Sieve): The searches.
    RETURNS (Dict[str, List[Candidate]]): At most top_k candidates by text, best first.
    RAISES (ConnormError): CN408 for a search that the index was built without.
    """
    index, top_k = retriever.index, batch.top_k
    rescorers: list[Rescorer] = []
    for name, weight in retriever.weights.items():
        rescorers.append(RESCORERS[name](batch, weight))
    answers: dict[int, tuple[Search, list[Hit]]] = {}
    waiting = list(range(len(batch.texts)))
    for step, threshold in sieve.steps:
        if not waiting:
            break
        is_first = len(waiting) == len(batch.texts)
        hits = run_search(
            step,
            index,
            batch.overlay,
            batch.vectors if is_first else batch.vectors[waiting],
            top_k=batch.depth,
            allowed=batch.allowed,
            thresholds=np.where(batch.may_rise[waiting], -inf, threshold),
        )
        for rescore in rescorers:
            hits = rescore(step, waiting, hits)
        for place, own in zip(waiting, hits, strict=True):
            if (own[0].score if own else -inf) >= threshold:
                answers[place] = step, own[:top_k]
        waiting = [place for place in waiting if place not in answers]
    # The ids, names and texts of all hits are read from the index at once.
    all_hits = [hit for _, own in answers.values() for hit in own]
    labels = index.store.labels([hit.concept for hit in all_hits])
    names = index.store.texts([hit.member for hit in all_hits if hit.member >= 0 and not hit.text])
    return {
        batch.texts[place]: [
            Candidate(
                *labels[hit.concept],
                score=hit.score,
                text=hit.text or names.get(hit.member) or labels[hit.concept][1],
                search=str(step),
                searched=batch.texts[place],
                dense=hit.parts and hit.parts[0],
                lexical=hit.parts and hit.parts[1],
            )
            for hit in own
        ]
        for place, (step, own) in answers.items()
    }


class Step(NamedTuple):
    """What one search of the sieve found for a mention.

    search (str): The search.
    threshold (Optional[float]): The cosine that it needs to answer; None for the last search.
    answers (bool): Whether this is the search that answers.
    candidates (List[Candidate]): What it found.
    """

    search: str
    threshold: float | None
    answers: bool
    candidates: list[Candidate]


class ExplainedPart(NamedTuple):
    """A text that was searched, and what was found for it.

    searched (str): The encoded text: the mention, its long form, or a part of either.
    steps (List[Step]): What each search of the sieve found for it, in order.
    """

    searched: str
    steps: list[Step]


class Explanation(NamedTuple):
    """Why a mention gets its answer.

    mention (str): As given.
    parts (Sequence[ExplainedPart]): How the texts of the interpretation that answers were searched:
        one text, or one for each part of a composite.
    interpretations (Sequence[Interpretation]): All interpretations of the mention; the first one
        answers.
    """

    mention: str
    parts: Sequence[ExplainedPart]
    interpretations: Sequence[Interpretation] = ()

    @property
    def searched(self) -> str:
        """The text that was encoded.

        RETURNS (str): For a composite, the text of its first part.
        """
        return self.parts[0].searched

    @property
    def steps(self) -> list[Step]:
        """What the searches found.

        RETURNS (List[Step]): The searches; for a composite, those for the first part.
        """
        return self.parts[0].steps


def explain_mention(
    retriever: Retriever,
    mention: str,
    query: Query,
    *,
    long_form: str = "",
    matched_name: str = "",
) -> Explanation:
    """Explain how a mention is interpreted, and what each search finds for the texts of the
    interpretation that answers.

    retriever, query: As for `link`.
    mention (str): The mention, as written.
    long_form (str): Its long form; empty if unknown.
    matched_name (str): The name that the finder matched; empty if there is none.
    RETURNS (Explanation): The interpretations and the searches.
    RAISES (ConnormError): As `link`.
    """
    (read,) = link(
        retriever, [mention], query, long_forms=[long_form], matched_names=[matched_name]
    )
    parts = []
    for text in read[0].texts:
        steps: list[Step] = []
        for step, threshold in query.sieve.steps:
            asked = query._replace(sieve=Sieve((step,), ()), calibration=None)
            candidates = retrieve(retriever, [text], asked)[text][: query.top_k]
            enough = (candidates[0].score if candidates else -inf) >= threshold
            answers = enough and not any(each.answers for each in steps)
            needed = None if threshold == -inf else threshold
            steps.append(Step(str(step), needed, answers, candidates))
        parts.append(ExplainedPart(text, steps))
    return Explanation(mention, parts, read)


def _interpret_whole(
    asked: Sequence[_MentionTexts], retriever: Retriever
) -> dict[_MentionTexts, list[tuple[WholeKind, str]]]:
    """List the ways to interpret whole mentions: as the name that the finder matched, unless D has
    the mention, or the name is only in another index; also as written if the name has other words;
    as the long form that the document defines; and as written if it defines none, or if the written
    form is reliable.
    """
    named = {mention: name for mention, _, name in asked if name}
    # Empty for most mentions, which then take no time here.
    in_data = named and retriever.find_known_texts(named, "D")
    names = named and retriever.find_known_texts(named.values(), "OD")
    defined = {mention for mention, long_form, _ in asked if long_form}
    # Inner products of two texts can't be compared.
    certain = _find_certain(defined, retriever) if defined and retriever.has_cosines else set()
    bag = retriever.index.words.known_bag
    ways: dict[_MentionTexts, list[tuple[WholeKind, str]]] = {}
    for each in asked:
        mention, long_form, name = each
        if name in names and mention not in in_data:
            is_other = bag(name) != bag(long_form or mention)
            is_reworded = retriever.has_cosines and is_other
            ways[each] = [("reworded name" if is_reworded else "found name", name)]
            if is_reworded:
                ways[each].append(("as written", mention))
            continue
        ways[each] = [("long form", long_form)] if long_form else []
        if not long_form or mention in certain:
            ways[each].append(("as written", mention))
    return ways


def _as_reworded(name: str, found: list[Candidate]) -> Interpretation:
    lowered = [each._replace(score=each.score * _REWORDED) for each in found]
    return Interpretation("reworded name", (name,), (lowered,))


def _find_certain(mentions: set[str], retriever: Retriever) -> set[str]:
    """Find the mentions that are searched as written although their document defines a long form. A
    definition can be wrong ("AAPC" does not stand for all of the text before its bracket), so
    annotated data and users count too, and so does the ontology if the mention is more than a short
    form ("MS/MS", "CA-125"), since a short form may stand for anything there.
    """
    in_data = retriever.find_known_texts(mentions, "D")
    longer = {mention for mention in mentions if not mention.isalnum()}
    return in_data | retriever.find_known_texts(longer - in_data, "OD")


def _split(
    asked: _MentionTexts, whole: Sequence[Interpretation], code: str
) -> list[tuple[str, ...]]:
    """List the ways to split a mention into parts: as the names that the finder matched, or else by
    its words; none if it is a name.
    """
    *_, matched = asked
    if PART_SEPARATOR in matched:
        ways = [tuple(matched.split(PART_SEPARATOR))]
    else:
        written = [each.texts[0] for each in whole if each.kind not in _NAMES]
        ways = [parts for text in written for parts in split_composite(text, code)]
    return [] if ways and any(map(is_settled, whole)) else ways


def _clean_mentions(
    mentions: Sequence[str], long_forms: Sequence[str] | None, matched_names: Sequence[str] | None
) -> list[_MentionTexts]:
    columns = []
    for name, texts in (
        ("mentions", mentions),
        ("long_forms", long_forms),
        ("matched_names", matched_names),
    ):
        given = [""] * len(mentions) if texts is None else texts
        if isinstance(given, str):
            refuse_text(name, given, "a list of texts")
        for place, text in enumerate(given):
            if not isinstance(text, str):
                refuse_text(f"{name}[{place}]", text, "a text")
        if len(given) != len(mentions):
            refuse_text(name, given, f"one for each of {len(mentions)} mentions")
        columns.append(map(clean, given))
    return list(zip(*columns, strict=True))
