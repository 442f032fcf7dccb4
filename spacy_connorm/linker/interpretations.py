"""The ways to read a mention.

A mention is read as the long form that its document defines for it, as it is written, and as the
mentions that it coordinates. All of them are searched; the one that links best answers.
"""

from collections.abc import Iterable, Sequence
from itertools import chain, compress
from typing import Literal

from ..concepts import Candidate
from ..errors import refuse_text, require_positive
from ..text.cleaning import clean
from ..text.composites import split_composite
from .calibration import Calibration, with_probabilities
from .choice import best_first, is_settled
from .explanation import ExplainedPart, Explanation, Interpretation, explain_sieve
from .lookup import ConceptLookup
from .sieve import Sieve, make_question

# How many candidates to look at, even if fewer are wanted: a text denotes all concepts that score
# alike, and the probability of a candidate depends on its rival.
_DEPTH = 10

WholeKind = Literal["long form", "as written"]
# A mention and its long form.
_Pair = tuple[str, str]


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
        split_composites (bool): Whether coordinated mentions are also read as their parts; never
            with inner products.
        calibration (Optional[Calibration]): Gives candidates their probabilities.
        RAISES (ConnormError): CN001 as `ConceptLookup.retriever`, CN006 for a `top_k` under 1.
        """
        require_positive("top_k", top_k)
        self._retriever = lookup.retriever
        self._top_k = top_k
        sieve = lookup.sieve if search is None else Sieve((search,), ())
        depth = search_depth(top_k)
        self._question = make_question(sieve, top_k=depth, types=types, branches=branches)
        self._split_composites = split_composites and self._retriever.has_cosines
        self._calibration = calibration

    def candidates(
        self, mentions: Sequence[str], long_forms: Sequence[str]
    ) -> list[list[Candidate]]:
        """Answer mentions; the arguments are those of `read`.

        RETURNS (List[List[Candidate]]): b lists: the candidates of the interpretation that answers.
        """
        return [found[0].candidates for found in self.read(mentions, long_forms)]

    def explain(self, mention: str, long_form: str) -> Explanation:
        """Explain how a mention is read, and what each search finds for the texts of the
        interpretation that answers.

        mention (str): The mention, as written.
        long_form (str): What it stands for; empty if that is not known.
        RETURNS (Explanation): The interpretations and the searches.
        RAISES (ConnormError): As `read`.
        """
        (interpretations,) = self.read([mention], [long_form])
        parts = [self._explain_sieve(text, self._top_k) for text in interpretations[0].texts]
        return Explanation(mention, parts, interpretations)

    def _explain_sieve(self, text: str, top_k: int) -> ExplainedPart:
        question = self._question._replace(top_k=top_k)
        searched = self._retriever.encoder.normalize(text)
        return ExplainedPart(searched, explain_sieve(text, self._retriever, question))

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
        asked = _clean_pairs(mentions, long_forms)
        read = self._read(asked)
        return [[each.first(self._top_k) for each in read[pair]] for pair in asked]

    def _read(self, pairs: Iterable[_Pair]) -> dict[_Pair, list[Interpretation]]:
        distinct = list(dict.fromkeys(pairs))
        interpretations = self._read_whole(distinct)
        if self._split_composites:
            for found, parts in zip(
                interpretations, self._read_parts(interpretations), strict=True
            ):
                found.extend(parts)
        return dict(zip(distinct, map(best_first, interpretations), strict=True))

    def _read_whole(self, pairs: Sequence[_Pair]) -> list[list[Interpretation]]:
        defined = {mention for mention, long_form in pairs if long_form}
        # Inner products of two texts can't be compared.
        comparable = self._retriever.has_cosines
        certain = self._find_certain(defined) if defined and comparable else set()
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
        users are heard too, and so is the ontology on a mention that is more than a short form
        ("MS/MS", "CA-125"), which may stand for anything there.
        """
        certain = self._held(mentions, "D")
        longer = {mention for mention in mentions if not mention.isalnum()}
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
        found = map(self._calibrated, self._retriever.ask(texts, self._question))
        return dict(zip(texts, found, strict=True))

    def _calibrated(self, found: list[Candidate]) -> list[Candidate]:
        if self._calibration is None:
            return found
        return with_probabilities(found, self._calibration)


def _clean_pairs(mentions: Sequence[str], long_forms: Sequence[str]) -> list[_Pair]:
    for name, texts in (("mentions", mentions), ("long_forms", long_forms)):
        if isinstance(texts, str):
            refuse_text(name, texts, "a list of texts")
        for place, text in enumerate(texts):
            if not isinstance(text, str):
                refuse_text(f"{name}[{place}]", text, "a text")
    if len(mentions) != len(long_forms):
        refuse_text("long_forms", long_forms, f"one for each of {len(mentions)} mentions")
    return list(zip(map(clean, mentions), map(clean, long_forms), strict=True))


def search_depth(top_k: int) -> int:
    """RETURNS (int): How many candidates of a text to search for if top_k are wanted."""
    return max(top_k, _DEPTH)
