"""The spans that a concept normalizer reads, and the attributes that it writes on them.

The values are stored in `doc.user_data` under spaCy's own keys for span attributes, as tuples and
strings, so that a `DocBin(store_user_data=True)`, `Doc.from_docs` and worker processes keep them.
"""

from collections.abc import Callable, Collection, Iterable, Sequence
from enum import StrEnum
from functools import partial
from typing import Any

from spacy.tokens import Doc, Span

from ..concepts import Candidate
from ..errors import Errors, Warnings

_CANDIDATES = "candidates"
_KB_ID = "kb_id"
_KB_ENTS = "kb_ents"
_NORMALIZED = "normalized"
_MATCHED_NAME = "matched_name"


def register_span_attributes(prefix: str = "") -> None:
    """Register `span._.candidates`, `span._.kb_id` and `span._.kb_ents`.

    prefix (str): A prefix of each name.
    RAISES (ConnormError): CN005 if another component has already registered one of them.
    """
    for name, getter in _getters(prefix).items():
        if not Span.has_extension(name):
            Span.set_extension(name, getter=getter)
        elif not _is_ours(Span.get_extension(name)[2]):
            raise Errors.CN005(attribute=name)


def choose_spans(doc: Doc, *, spans_key: str | None, labels: Collection[str] | None) -> list[Span]:
    """Select the spans of a document to normalize.

    doc (Doc): The document.
    spans_key (Optional[str]): Use `doc.spans[spans_key]`; `doc.ents` if None.
    labels (Optional[Collection[str]]): Only spans with these labels; all if None or empty.
    RETURNS (List[Span]): The spans, in the document's order.
    WARNS (ConnormWarning): CNW002 if the document has no such group of spans.
    """
    spans: Iterable[Span] = ()
    if spans_key is None:
        spans = doc.ents
    elif spans_key in doc.spans:
        spans = doc.spans[spans_key]
    else:
        Warnings.CNW002.warn(key=spans_key, known=list(doc.spans) or "none at all")
    return [span for span in spans if span.label_ in labels] if labels else list(spans)


def set_kb_ids(
    doc: Doc, spans: Sequence[Span], kb_ids: Sequence[str], *, spans_key: str | None
) -> None:
    """Write concept ids where spaCy keeps them: on the tokens of entities, or in the span group
    itself, since both return copies of spans.

    doc (Doc): The document.
    spans (Sequence[Span]): The spans from `choose_spans`.
    kb_ids (Sequence[str]): One id per span.
    spans_key (Optional[str]): As in `choose_spans`.
    """
    if spans_key is None:
        for span, kb_id in zip(spans, kb_ids, strict=True):
            for token in span:
                token.ent_kb_id_ = kb_id
    elif spans:
        by_place = {_place(span): kb_id for span, kb_id in zip(spans, kb_ids, strict=True)}
        group = doc.spans[spans_key]
        for number, span in enumerate(group):
            if _place(span) in by_place:
                span.kb_id_ = by_place[_place(span)]
                group[number] = span


def set_span_attributes(
    doc: Doc,
    spans: Sequence[Span],
    kb_ids: Sequence[str],
    candidates: Sequence[Sequence[Candidate]],
    *,
    prefix: str,
) -> None:
    """Store the results of a concept normalizer in a document.

    doc (Doc): The document.
    spans (Sequence[Span]): The mentions.
    kb_ids (Sequence[str]): One concept id, or "NIL", per mention.
    candidates (Sequence[Sequence[Candidate]]): The candidates of each mention, best first.
    prefix (str): The prefix of the attributes.
    """
    # The keys are those of spaCy's attributes of spans.
    user_data: dict[Any, Any] = doc.user_data
    # Stored as if on an empty span, since `Doc.from_docs` warns about values on a whole document.
    user_data["._.", prefix + _NORMALIZED, 0, 0] = True
    for span, kb_id, found_candidates in zip(spans, kb_ids, candidates, strict=True):
        place = span.start_char, span.end_char
        user_data["._.", prefix + _KB_ID, *place] = kb_id
        user_data["._.", prefix + _CANDIDATES, *place] = tuple(map(tuple, found_candidates))


def register_matched_name() -> None:
    """Register `span._.matched_name`: the name that a finder matched, as written in the index, or
    the names that the span coordinates, joined by `|`, so that a normalizer links the span to the
    concepts of these names. Empty if there is none.
    """
    if not Span.has_extension(_MATCHED_NAME):
        Span.set_extension(_MATCHED_NAME, default="")


def get_matched_name(span: Span) -> str:
    """Read the name that a finder matched, faster than through `span._`.

    span (Span): The mention.
    RETURNS (str): The name as written in the index; empty if no finder found the span.
    """
    return _read(span, _MATCHED_NAME, "")


def is_normalized(doc: Doc, prefix: str = "") -> bool:
    """Check whether a concept normalizer has processed a document.

    doc (Doc): The document.
    prefix (str): The prefix of the normalizer's attributes.
    RETURNS (bool): True even if it found no mentions.
    """
    user_data: dict[Any, Any] = doc.user_data
    return ("._.", prefix + _NORMALIZED, 0, 0) in user_data


def get_candidates(span: Span, prefix: str = "") -> list[Candidate] | None:
    """Read the candidates of a span.

    span (Span): The mention.
    prefix (str): The prefix of the attributes.
    RETURNS (Optional[List[Candidate]]): Best first; None if no normalizer has processed the span.
    """
    stored = _read(span, prefix + _CANDIDATES, None)
    return None if stored is None else [Candidate(*candidate) for candidate in stored]


def get_kb_id(span: Span, prefix: str = "") -> str:
    """Read the concept id that a normalizer wrote.

    span (Span): The mention.
    prefix (str): The prefix of the attributes.
    RETURNS (str): The id, or "NIL"; empty if no normalizer has processed the span.
    """
    return _read(span, prefix + _KB_ID, "")


def _getters(prefix: str) -> dict[str, Callable[[Span], Any]]:
    return {
        prefix + _CANDIDATES: partial(_read_candidates, prefix=prefix),
        prefix + _KB_ID: partial(get_kb_id, prefix=prefix),
        prefix + _KB_ENTS: partial(_read_kb_ents, prefix=prefix),
    }


def _read_candidates(span: Span, prefix: str) -> list[Candidate]:
    return get_candidates(span, prefix) or []


def _read_kb_ents(span: Span, prefix: str) -> list[tuple[str, float]]:
    """Read ids and scores, as in scispaCy."""
    return [(candidate.concept_id, candidate.score) for candidate in _read_candidates(span, prefix)]


def _place(span: Span) -> tuple[int, int, int]:
    return span.start, span.end, span.label


def _is_ours(getter: Any) -> bool:
    return getattr(getattr(getter, "func", None), "__module__", None) == __name__


def _read(span: Span, name: str, default: Any) -> Any:
    user_data: dict[Any, Any] = span.doc.user_data
    return user_data.get(("._.", name, span.start_char, span.end_char), default)


def _write(span: Span, name: str, value: Any) -> None:
    user_data: dict[Any, Any] = span.doc.user_data
    user_data["._.", name, span.start_char, span.end_char] = value


# The attributes of spans. The name of the first one is from negspacy.
ASSERTIONS = {"negated": "negex", "possible": "possible", "family": "family", "history": "history"}
_POSSIBILITY = "possibility"


class Possibility(StrEnum):
    """What kind of possibility a mention is, in the terms of FHIR and of the i2b2 challenges.

    SUSPECTED: The writer believes that it may be there: "probable asthma", "asthma unlikely".
    DIFFERENTIAL: Somebody asks for it, or it is to be excluded: "r/o asthma", "CT for stroke?".
    HYPOTHETICAL: It may come, or is only spoken of: "return if fever", "risk of stroke".
    """

    SUSPECTED = "suspected"
    DIFFERENTIAL = "differential"
    HYPOTHETICAL = "hypothetical"


def register_assertion_attributes() -> None:
    """Register `span._.negex`, `span._.possible`, `span._.family`, `span._.history` and
    `span._.possibility`, unless another component already has.
    """
    defaults = {**dict.fromkeys(ASSERTIONS.values(), False), _POSSIBILITY: ""}
    for attribute, default in defaults.items():
        if not Span.has_extension(attribute):
            Span.set_extension(attribute, default=default)


def set_assertions(span: Span, assertions: Collection[str], possibility: str) -> None:
    """Store what a text says of a mention. Of a mention without any, it is stored that it was
    checked.

    span (Span): The mention.
    assertions (Collection[str]): Any of "negated", "possible", "family" and "history".
    possibility (str): What `Possibility` it is, if it is possible; else empty.
    """
    for name, attribute in ASSERTIONS.items():
        _write(span, attribute, name in assertions)
    _write(span, _POSSIBILITY, possibility)


def get_assertions(span: Span) -> tuple[str, ...] | None:
    """Read the assertions about a mention.

    span (Span): The mention.
    RETURNS (Optional[Tuple[str, ...]]): Any of "negated", "possible", "family" and "history"; None
        if no component has checked them.
    """
    # Reading them through spaCy is slow. An attribute of another component may hold anything.
    marks = {name: _read(span, attribute, None) for name, attribute in ASSERTIONS.items()}
    if all(value is None for value in marks.values()):
        return None
    return tuple(name for name, value in marks.items() if value is True)


def get_possibility(span: Span) -> str:
    """Read what kind of possibility a mention is.

    span (Span): The mention.
    RETURNS (str): A `Possibility`; empty if the mention is not possible, or if this was not told.
    """
    kind = _read(span, _POSSIBILITY, "")
    return kind if kind in set(Possibility) else ""
