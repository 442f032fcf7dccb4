"""What a mention may stand for, and which of these interpretations the index knows best.

A mention is read as the long form that its document defines for it, as it is written, and as the
several mentions that it coordinates. All are searched; the one that links best answers.
"""

from collections.abc import Iterable, Sequence
from itertools import compress
from typing import Literal

from ..concepts import Candidate
from ..errors import refuse, require_positive
from ..text.cleaning import clean
from ..text.composites import split_composite
from .calibration import Calibration, with_probabilities
from .explanation import Explanation, Interpretation
from .lookup import ConceptLookup

# How much better parts must link than the whole: less is what one more word in a text makes. Chosen
# on the dev parts of NCBI and BC5CDR (0, 0.02, 0.05, 0.1).
_MARGIN = 0.05
# Candidates that are looked at, however few are kept: a text denotes all that it scores alike, and
# how probable one is depends on its rival.
_DEPTH = 10

WholeKind = Literal["long form", "as written"]


class MentionInterpreter:
    """Reads mentions with an index."""

    def __init__(
        self,
        lookup: ConceptLookup,
        *,
        top_k: int,
        types: Sequence[str] = (),
        branches: Sequence[str] = (),
        split_composites: bool = True,
        calibration: Calibration | None = None,
    ) -> None:
        """Store what answers depend on.

        lookup (ConceptLookup): Finds concepts for texts.
        top_k (int): Most candidates kept of a text; the two that follow as in
            `ConceptLookup.candidates`.
        types (Sequence[str]): Find only concepts of these semantic types; all if empty.
        branches (Sequence[str]): Find only concepts at or below these; all if empty.
        split_composites (bool): Whether coordinated mentions are read as their parts too.
        calibration (Optional[Calibration]): Gives candidates their probabilities.
        """
        self.lookup = lookup
        self.top_k = top_k
        self._depth = max(top_k, _DEPTH)
        self.limits = {"types": types, "branches": branches}
        self.split_composites = split_composites
        self.calibration = calibration

    def memoize(self, size: int) -> None:
        """Work out what texts of the index are answered with when they are mentions.

        size (int): As in `ConceptLookup.memoize`.
        """
        self.lookup.memoize(size=size, top_k=self._depth, **self.limits)

    def candidates(
        self, mentions: Sequence[str], long_forms: Sequence[str]
    ) -> list[list[Candidate]]:
        """RETURNS (List[List[Candidate]]): b lists: candidates of the interpretation that answers;
        the arguments are those of `read`.
        """
        return [found[0].candidates for found in self.read(mentions, long_forms)]

    def explain(self, mention: str, long_form: str) -> Explanation:
        """Explain how a mention is interpreted, and what each search finds for the first text of
        the interpretation that answers.

        mention (str): As written.
        long_form (str): What it stands for; empty if that is not known.
        RETURNS (Explanation): The interpretations, the one that answers first, and the searches.
        """
        (interpretations,) = self.read([mention], [long_form])
        searched = self.lookup.explain(interpretations[0].texts[0], top_k=self.top_k, **self.limits)
        return searched._replace(mention=mention, interpretations=interpretations)

    def read(
        self, mentions: Sequence[str], long_forms: Sequence[str]
    ) -> list[list[Interpretation]]:
        """Look up what mentions may stand for.

        mentions (Sequence[str]): b mentions, as written.
        long_forms (Sequence[str]): b long forms; empty where a document defines none.
        RETURNS (List[List[Interpretation]]): b lists, the interpretation that answers first.
        RAISES (ConnormError): CN006 for a `top_k` under 1, for what is no list of texts and for
            more or fewer long forms than mentions, and those of `ConceptLookup.candidates`.
        """
        require_positive("top_k", self.top_k)
        for name, texts in (("mentions", mentions), ("long_forms", long_forms)):
            if isinstance(texts, str) or not all(isinstance(text, str) for text in texts):
                refuse(name, texts, "a list of texts")
        if len(mentions) != len(long_forms):
            refuse("long_forms", long_forms, f"one for each of {len(mentions)} mentions")
        asked = list(zip(map(clean, mentions), map(clean, long_forms), strict=True))
        distinct = list(dict.fromkeys(asked))
        read = dict(zip(distinct, self._read(distinct), strict=True))
        return [list(read[pair]) for pair in asked]

    def _read(self, pairs: Sequence[tuple[str, str]]) -> list[list[Interpretation]]:
        interpretations = self._read_whole(pairs)
        if self.split_composites:
            for found, parts in zip(
                interpretations, self._read_parts(interpretations), strict=True
            ):
                found.extend(parts)
        return [[each.first(self.top_k) for each in best_first(found)] for found in interpretations]

    def _read_whole(self, pairs: Sequence[tuple[str, str]]) -> list[list[Interpretation]]:
        defined = {mention for mention, long_form in pairs if long_form}
        certain = self._find_certain(defined)
        asked: list[list[tuple[WholeKind, str]]] = []
        for mention, long_form in pairs:
            ways: list[tuple[WholeKind, str]] = [("long form", long_form)] if long_form else []
            if not long_form or mention in certain:
                ways.append(("as written", mention))
            asked.append(ways)
        found = self._look_up(text for ways in asked for _, text in ways)
        return [
            [Interpretation(kind, (text,), (found[text],)) for kind, text in ways] for ways in asked
        ]

    def _find_certain(self, mentions: Iterable[str]) -> set[str]:
        """A definition can mislead ("AAPC" is not all that its bracket follows), so what annotated
        data or a user says of a mention is heard too, and what the ontology says of one that holds
        more than a short form, which may stand for anything there.
        """
        certain = self._held(mentions, "D")
        longer = {mention for mention in mentions if " " in mention}
        return certain | self._held(longer - certain, "OD")

    def _held(self, texts: Iterable[str], target: str) -> set[str]:
        texts = list(texts)
        return set(compress(texts, self.lookup.holds(texts, target)))

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
        found = self._look_up(text for ways in asked for parts in ways for text in parts)
        return [
            [Interpretation("parts", parts, tuple(found[text] for text in parts)) for parts in ways]
            for ways in asked
        ]

    def _look_up(self, texts: Iterable[str]) -> dict[str, list[Candidate]]:
        distinct = list(dict.fromkeys(texts))
        found = self.lookup.candidates(distinct, top_k=self._depth, **self.limits)
        if self.calibration is not None:
            found = [with_probabilities(each, self.calibration) for each in found]
        return dict(zip(distinct, found, strict=True))


def best_first(interpretations: Sequence[Interpretation]) -> list[Interpretation]:
    """Put the interpretation that answers first: the whole one with the best score, or its parts
    if they link better.

    interpretations (Sequence[Interpretation]): At least one whole; ties go to the first.
    RETURNS (List[Interpretation]): The same, the others in the order in which they came.
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
    """Let what is known of a whole mention speak for its parts: the candidate that it gives a
    part's concept leads that part if it scores higher, so that a composite that was annotated with
    all of its ids is as certain as its text.

    parts (Interpretation): The mention as its parts.
    whole (Interpretation): The mention as one.
    RETURNS (Interpretation): The parts; as they are, unless the whole denotes them all.
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
    """Tell whether a mention stands for its parts: these are different concepts, and the worst of
    them scores clearly higher than the whole; or the best text for the whole denotes all of them,
    as a composite does that was annotated with all of its ids.

    parts (Interpretation): The mention as its parts.
    whole (Interpretation): The mention as one.
    RETURNS (bool): Whether the parts answer.
    """
    if len(parts.concepts) < len(parts.parts):
        return False
    return parts.score > whole.score + _MARGIN or parts.concepts <= _leading(whole)


def is_settled(interpretation: Interpretation) -> bool:
    """RETURNS (bool): Whether a mention links so well, to one concept alone, that no parts can link
    better.
    """
    return interpretation.score >= 1 - _MARGIN and len(_leading(interpretation)) == 1


def _leading(interpretation: Interpretation) -> set[str]:
    """The concepts on the first place of a whole mention, of which there are several if one text
    denotes them all."""
    (candidates,) = interpretation.parts
    return {each.concept_id for each in candidates if each.score == candidates[0].score}
