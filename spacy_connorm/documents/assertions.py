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


def get_assertions(span: Span) -> tuple[str, ...] | None:
    """Read what the text says of a mention.

    span (Span): The mention.
    RETURNS (Optional[Tuple[str, ...]]): Any of "negated", "family" and "history"; None if no
        component looked for them.
    """
    user_data: dict[Any, Any] = span.doc.user_data
    place = (span.start_char, span.end_char)
    # Reading them through spaCy is slow. Another component's attribute may hold anything.
    told = {name: user_data.get(("._.", each, *place)) for name, each in ASSERTIONS.items()}
    if all(value is None for value in told.values()):
        return None
    return tuple(name for name, value in told.items() if value is True)
