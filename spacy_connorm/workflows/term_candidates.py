"""The candidates of local terms, with the text around them."""

from collections.abc import Iterator, Sequence
from typing import Any

from spacy.language import Language
from spacy.tokens import Doc, Span
from spacy.util import minibatch

from ..concepts import Candidate
from ..documents.abbreviations import find_long_forms
from ..errors import ConnormError, Errors
from ..linker.linking import candidates_of
from ..pipeline.concept_normalizer import ConceptNormalizer
from ..pipeline.loading import component_name
from .terms import LocalTerm

# Terms that are read and searched together.
_AT_ONCE = 512


def find_candidates(
    nlp: Language,
    normalizer: ConceptNormalizer,
    terms: Sequence[LocalTerm],
    **limits: Any,
) -> Iterator[list[Candidate]]:
    """Search for terms. A term is a single concept: it is not split like a composite mention.

    nlp (Language): The pipeline, which reads the text around a term.
    normalizer (ConceptNormalizer): One of its components.
    terms (Sequence[LocalTerm]): The terms.
    **limits (Limits): As in `ConceptNormalizer.candidates`.
    YIELDS (List[Candidate]): The candidates of each, best first.
    RAISES (ConnormError): CN001 if the normalizer has no index, CN006 for a `top_k` below 1, CN406
        for unknown types and branches, CN709 for a context that is too long.
    """
    query = normalizer.query(split_composites=False, **limits)
    retriever = normalizer.lookup.retriever
    for batch in minibatch(terms, _AT_ONCE):
        long_forms = [
            "" if doc is None else find_long_forms(doc, [_find_span(doc, term)])[0]
            for term, doc in zip(batch, _docs(nlp, normalizer, batch), strict=True)
        ]
        texts = [term.term for term in batch]
        yield from candidates_of(retriever, texts, query, long_forms=long_forms)


def _docs(
    nlp: Language, normalizer: ConceptNormalizer, terms: Sequence[LocalTerm]
) -> list[Doc | None]:
    texts = [_text_of(term) for term in terms if term.context]
    for text in texts:
        if len(text) > nlp.max_length:
            fields = {"length": len(text), "limit": nlp.max_length}
            raise ConnormError(Errors.CN709.format(place="The context of a term", **fields))
    docs = nlp.pipe(texts, disable=[component_name(nlp, normalizer)])
    return [next(docs) if term.context else None for term in terms]


def _text_of(term: LocalTerm) -> str:
    if _last_place(term.context.lower(), term.term.lower()) >= 0:
        return term.context
    return f"{term.context}\n{term.term}"


def _find_span(doc: Doc, term: LocalTerm) -> Span:
    text, length = doc.text, len(term.term)
    start = _last_place(text, term.term)
    if start < 0:
        # In lower case, a text can have a different length.
        start = min(_last_place(text.lower(), term.term.lower()), len(text) - length)
    # Never None: "expand" finds a span for all characters inside the text.
    return doc.char_span(start, start + length, alignment_mode="expand")  # type: ignore[return-value]


def _last_place(text: str, term: str) -> int:
    """Find the last occurrence of a term in a text, as whole words.

    RETURNS (int): Its position; -1 if there is none.
    """
    start = text.rfind(term)
    while start >= 0 and not _is_whole(text, start, start + len(term)):
        start = text.rfind(term, 0, start + len(term) - 1)
    return start


def _is_whole(text: str, start: int, end: int) -> bool:
    """Check that a part of a text does not begin or end inside a word."""
    return not any(
        text[max(place - 1, 0) : place].isalnum() and text[place : place + 1].isalnum()
        for place in (start, end)
    )
