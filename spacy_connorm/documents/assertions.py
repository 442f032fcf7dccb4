"""What a text says of its mentions: that they are absent, a relative's, or in the past."""

from typing import Any

from spacy.tokens import Span

# The attributes of spans. The first one's name is negspacy's.
ASSERTIONS = {"negated": "negex", "family": "family", "history": "history"}


def register_assertion_attributes() -> None:
    """Register `span._.negex`, `span._.family` and `span._.history`, unless another component
    already has.
    """
    for attribute in ASSERTIONS.values():
        if not Span.has_extension(attribute):
            Span.set_extension(attribute, default=False)


def get_assertions(span: Span) -> tuple[str, ...]:
    """Read what the text says of a mention.

    span (Span): The mention.
    RETURNS (Tuple[str, ...]): Any of "negated", "family" and "history"; empty too where no
        component looked for them.
    """
    return tuple(name for name, attribute in ASSERTIONS.items() if _is_set(span, attribute))


def _is_set(span: Span, attribute: str) -> bool:
    # Reading it through spaCy is slow. Another component's attribute may hold anything.
    value: Any = span.doc.user_data.get(("._.", attribute, span.start_char, span.end_char))
    return value is True
