"""The ways to read a mention, and which of them the index knows best.

A mention is read as the long form that its document defines for it, as it is written, and as the
mentions that it coordinates. All of them are searched; the one that links best answers.
"""

import re
from collections.abc import Iterable, Sequence
from itertools import chain, compress
from typing import Literal

from ..concepts import Candidate
from ..errors import refuse_text, require_positive
from ..text.cleaning import clean
from ..text.composites import split_composite
from .calibration import Calibration, with_probabilities
from .explanation import Explanation, Interpretation, explain_sieve
from .lookup import ConceptLookup
from .sieve import Sieve, make_question

# How much better parts must link than the whole. One more word in a text makes a smaller
# difference. Chosen on the dev parts of NCBI and BC5CDR (0, 0.02, 0.05, 0.1).
_MARGIN = 0.05
# How well each part must link by itself: less certain parts keep the whole. Chosen as above, and on
# coordinated names left out of MEDIC, DO and UBERON (none, 0.6 to 0.95).
_LEAST_SCORE = 0.7
_LEAST_PROBABILITY = 0.5
_WORD = re.compile(r"\w+")
# How many candidates to look at, even if fewer are wanted: a text denotes all concepts that score
# alike, and the probability of a candidate depends on its rival.
_DEPTH = 10

WholeKind = Literal["long form", "as written"]


class MentionInterpreter:
    """Reads mentions, all with one snapshot of a lookup."""

    def __init__(
        self,
        lookup: ConceptLookup,
        *,
        top_k: int,
        types: Sequence[str] = (),
        branches: Sequence[str] = (),
        search: str | None = None,
        split_composites: bool = True,
        calibration: Calibration | None = None,
    ) -> None:
        """Store what answers depend on.

        lookup (ConceptLookup): Finds concepts for texts.
        top_k (int): At most how many candidates of each text.
        types, branches, search: As in `ConceptLookup.candidates`.
        split_composites (bool): Whether coordinated mentions are also read as their parts.
        calibration (Optional[Calibration]): Gives candidates their probabilities.
        RAISES (ConnormError): CN001 as `ConceptLookup.retriever`, CN006 for a `top_k` under 1.
        """
        require_positive("top_k", top_k)
        self._retriever = lookup.retriever
        self._top_k = top_k
        sieve = lookup.sieve if search is None else Sieve((search,), ())
        depth = search_depth(top_k)
        self._question = make_question(sieve, top_k=depth, types=types, branches=branches)
        self._split_composites = split_composites
        self._calibration = calibration

    def candidates(
        self, mentions: Sequence[str], long_forms: Sequence[str]
    ) -> list[list[Candidate]]:
        """RETURNS (List[List[Candidate]]): b lists: the candidates of the interpretation that
        answers. The arguments are those of `read`.
        """
        return [found[0].candidates for found in self.read(mentions, long_forms)]

    def explain(self, mention: str, long_form: str) -> Explanation:
        """Explain how a mention is read, and what each search finds for the first text of the
        interpretation that answers.

        mention (str): As written.
        long_form (str): What it stands for; empty if that is not known.
        RETURNS (Explanation): The interpretations and the searches.
        """
        (interpretations,) = self.read([mention], [long_form])
        text = interpretations[0].texts[0]
        steps = explain_sieve(text, self._retriever, self._question._replace(top_k=self._top_k))
        searched = self._retriever.encoder.normalize(text)
        return Explanation(mention, searched, steps, interpretations)

    def read(
        self, mentions: Sequence[str], long_forms: Sequence[str]
    ) -> list[list[Interpretation]]:
        """Search everything that mentions may stand for.

        mentions (Sequence[str]): b mentions, as written.
        long_forms (Sequence[str]): b long forms; empty where a document defines none.
        RETURNS (List[List[Interpretation]]): b lists, the interpretation that answers first.
        RAISES (ConnormError): CN006 for anything but two lists of texts of the same length, and
            those of `Retriever.ask`.
        """
        for name, texts in (("mentions", mentions), ("long_forms", long_forms)):
            if isinstance(texts, str):
                refuse_text(name, texts, "a list of texts")
            for place, text in enumerate(texts):
                if not isinstance(text, str):
                    refuse_text(f"{name}[{place}]", text, "a text")
        if len(mentions) != len(long_forms):
            refuse_text("long_forms", long_forms, f"one for each of {len(mentions)} mentions")
        asked = list(zip(map(clean, mentions), map(clean, long_forms), strict=True))
        distinct = list(dict.fromkeys(asked))
        read = dict(zip(distinct, self._read(distinct), strict=True))
        return [list(read[pair]) for pair in asked]

    def _read(self, pairs: Sequence[tuple[str, str]]) -> list[list[Interpretation]]:
        interpretations = self._read_whole(pairs)
        if self._split_composites:
            for found, parts in zip(
                interpretations, self._read_parts(interpretations), strict=True
            ):
                found.extend(parts)
        return [
            [each.first(self._top_k) for each in best_first(found)] for found in interpretations
        ]

    def _read_whole(self, pairs: Sequence[tuple[str, str]]) -> list[list[Interpretation]]:
        defined = {mention for mention, long_form in pairs if long_form}
        certain = self._find_certain(defined) if defined else defined
        asked: list[list[tuple[WholeKind, str]]] = []
        for mention, long_form in pairs:
            ways: list[tuple[WholeKind, str]] = [("long form", long_form)] if long_form else []
            if not long_form or mention in certain:
                ways.append(("as written", mention))
            asked.append(ways)
        found = self._search([text for ways in asked for _, text in ways])
        return [
            [Interpretation(kind, (text,), (found[text],)) for kind, text in ways] for ways in asked
        ]

    def _find_certain(self, mentions: set[str]) -> set[str]:
        """Find the mentions that are worth searching although their document defines them. A
        definition can mislead ("AAPC" is not all that its bracket follows), so annotated data and
        users are heard too, and so is the ontology on a mention that is more than a short form,
        which may stand for anything there.
        """
        certain = self._held(mentions, "D")
        longer = {mention for mention in mentions if " " in mention}
        return certain | self._held(longer - certain, "OD")

    def _held(self, texts: Iterable[str], target: str) -> set[str]:
        texts = list(texts)
        return set(compress(texts, self._retriever.holds(texts, target)))

    def _read_parts(
        self, interpretations: Iterable[list[Interpretation]]
    ) -> list[list[Interpretation]]:
        asked = [
            [
                parts
                for interpretation in whole
                for parts in split_composite(interpretation.texts[0])
            ]
            for whole in interpretations
        ]
        asked = [
            [] if ways and any(map(is_settled, whole)) else ways
            for whole, ways in zip(interpretations, asked, strict=True)
        ]
        texts = list(chain.from_iterable(chain.from_iterable(asked)))
        found = self._search(texts) if texts else {}
        return [
            [Interpretation("parts", parts, tuple(found[text] for text in parts)) for parts in ways]
            for ways in asked
        ]

    def _search(self, texts: Sequence[str]) -> dict[str, list[Candidate]]:
        found = self._retriever.ask(texts, self._question)
        if self._calibration is not None:
            found = [with_probabilities(each, self._calibration) for each in found]
        return dict(zip(texts, found, strict=True))


def search_depth(top_k: int) -> int:
    """RETURNS (int): How many candidates of a text to search for if top_k are wanted."""
    return max(top_k, _DEPTH)


def best_first(interpretations: Sequence[Interpretation]) -> list[Interpretation]:
    """Put the interpretation that answers first: the whole mention with the best score, or its
    parts if they link better.

    interpretations (Sequence[Interpretation]): At least one of the whole mention; ties go to the
        first.
    RETURNS (List[Interpretation]): The same; the others keep their order.
    """
    if len(interpretations) == 1:
        return list(interpretations)
    whole = max(
        (each for each in interpretations if each.kind != "parts"), key=lambda each: each.score
    )
    parts = [each for each in interpretations if each.kind == "parts" and links_better(each, whole)]
    chosen = max(parts, key=lambda each: each.score, default=whole)
    others = [each for each in interpretations if each is not chosen]
    return [chosen if chosen is whole else as_known(chosen, whole), *others]


def as_known(parts: Interpretation, whole: Interpretation) -> Interpretation:
    """Give parts the scores of the whole mention where these are higher and the text of the whole
    denotes all parts. So a composite that was annotated with all of its ids is as certain as its
    text.

    parts (Interpretation): The mention as its parts.
    whole (Interpretation): The mention as one.
    RETURNS (Interpretation): The parts.
    """
    if not parts.concepts <= _leading(whole):
        return parts
    known = {each.concept_id: each for each in whole.parts[0]}
    return parts._replace(
        parts=tuple(
            [max(part[0], known[part[0].concept_id], key=lambda each: each.score), *part[1:]]
            for part in parts.parts
        )
    )


def links_better(parts: Interpretation, whole: Interpretation) -> bool:
    """Check whether a mention stands for its parts. They must be different concepts. They answer if
    the best text for the whole denotes all of them, such as a composite that was annotated with all
    of its ids. Otherwise each must be right more likely than not, the worst of them score clearly
    higher than the whole, and the best text for the whole say nothing of some part: a concept whose
    name coordinates them is more than its parts.

    parts (Interpretation): The mention as its parts.
    whole (Interpretation): The mention as one.
    RETURNS (bool): Whether the parts answer.
    """
    if len(parts.concepts) < len(parts.parts):
        return False
    if parts.concepts <= _leading(whole):
        return True
    is_clear = parts.score > whole.score + _MARGIN and all(map(_is_likely, parts.parts))
    return is_clear and not _names_all(whole, parts)


def _is_likely(part: Sequence[Candidate]) -> bool:
    best = part[0]
    if best.probability is None:
        return best.score >= _LEAST_SCORE
    return best.probability >= _LEAST_PROBABILITY


def _names_all(whole: Interpretation, parts: Interpretation) -> bool:
    """Check whether the best text for the whole has a word of each part that not all parts have."""
    (candidates,) = whole.parts
    by_part = [_words(text) for text in parts.texts]
    shared = set.intersection(*by_part)
    own = list(filter(None, [words - shared for words in by_part]))
    named = _words(candidates[0].text) if candidates else set()
    return bool(own) and all(words & named for words in own)


def _words(text: str) -> set[str]:
    return set(_WORD.findall(text.lower()))


def is_settled(interpretation: Interpretation) -> bool:
    """RETURNS (bool): Whether a mention links so well to a single concept that no parts can link
    better.
    """
    return interpretation.score >= 1 - _MARGIN and len(_leading(interpretation)) == 1


def _leading(interpretation: Interpretation) -> set[str]:
    """RETURNS (Set[str]): The concepts with the best score for a whole mention: several if one
    text denotes them all.
    """
    (candidates,) = interpretation.parts
    return {each.concept_id for each in candidates if each.score == candidates[0].score}
