"""Searching for the candidates of terms, in batches, with the text around them."""

from collections.abc import Iterator, Sequence
from typing import Any

from spacy.language import Language
from spacy.tokens import Doc, Span
from spacy.util import minibatch

from ..concepts import Candidate
from ..errors import ConnormError, Errors
from ..pipeline.concept_normalizer import ConceptNormalizer
from ..pipeline.loading import component_name
from .terms import LocalTerm


class TermSearch:
    """Asks a pipeline for terms. A term is one concept: it is not split as a composite mention."""

    def __init__(self, nlp: Language, normalizer: ConceptNormalizer, **limits: Any) -> None:
        """Take the settings of a normalizer.

        nlp (Language): Reads the text around a term.
        normalizer (ConceptNormalizer): One of its components.
        **limits (Limits): As in `ConceptNormalizer.candidates`.
        RAISES (ConnormError): CN001 if it has no index, CN006 for a `top_k` under 1.
        """
        self._nlp = nlp
        self._normalizer = normalizer
        self._interpreter = normalizer.interpreter(split_composites=False, **limits)

    def find(self, terms: Sequence[LocalTerm], *, batch_size: int) -> Iterator[list[Candidate]]:
        """Search for terms.

        terms (Sequence[LocalTerm]): The terms.
        batch_size (int): Terms in one batch.
        YIELDS (List[Candidate]): The candidates of each, best first.
        RAISES (ConnormError): CN406 and CN407 for unknown types and branches, CN709 for a context
            that is longer than the pipeline takes.
        """
        for batch in minibatch(terms, batch_size):
            yield from self._find(batch)

    def _find(self, terms: Sequence[LocalTerm]) -> list[list[Candidate]]:
        long_forms = [
            "" if doc is None else self._normalizer.long_forms(doc, [_find_span(doc, term)])[0]
            for term, doc in zip(terms, self._docs(terms), strict=True)
        ]
        return self._interpreter.candidates([term.term for term in terms], long_forms)

    def _docs(self, terms: Sequence[LocalTerm]) -> list[Doc | None]:
        texts = [_text_of(term) for term in terms if term.context]
        limit = self._nlp.max_length
        for text in texts:
            if len(text) > limit:
                place = "The context of a term"
                message = Errors.CN709.format(place=place, length=len(text), limit=limit)
                raise ConnormError(message)
        docs = self._nlp.pipe(texts, disable=[component_name(self._nlp, self._normalizer)])
        return [next(docs) if term.context else None for term in terms]


def _text_of(term: LocalTerm) -> str:
    if _last_place(term.context.lower(), term.term.lower()) >= 0:
        return term.context
    return f"{term.context}\n{term.term}"


def _find_span(doc: Doc, term: LocalTerm) -> Span:
    text, length = doc.text, len(term.term)
    start = _last_place(text, term.term)
    if start < 0:
        # Lower case can have another length than the text.
        start = min(_last_place(text.lower(), term.term.lower()), len(text) - length)
    # Never None: "expand" finds a span for all characters inside the text.
    return doc.char_span(start, start + length, alignment_mode="expand")  # type: ignore[return-value]


def _last_place(text: str, term: str) -> int:
    """RETURNS (int): Where a text has a term for the last time, as whole words; -1 if nowhere."""
    start = text.rfind(term)
    while start >= 0 and not _is_whole(text, start, start + len(term)):
        start = text.rfind(term, 0, start + len(term) - 1)
    return start


def _is_whole(text: str, start: int, end: int) -> bool:
    """RETURNS (bool): Whether a piece of a text begins and ends no word in the middle."""
    return not any(
        text[max(place - 1, 0) : place].isalnum() and text[place : place + 1].isalnum()
        for place in (start, end)
    )
