"""How definitions of short forms live on a `Doc`, and what a document says its spans stand for.

They live in `doc.user_data` under a key of spaCy's form, as tuples, so that a
`DocBin(store_user_data=True)`, `Doc.from_docs`, `Span.as_doc` and worker processes keep them. Their
offsets count from the key's own, which spaCy moves when it joins or cuts documents.

What scispaCy's `AbbreviationDetector` found in a document is read in their place.
"""

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from operator import attrgetter, itemgetter
from typing import Any, NamedTuple

from spacy.tokens import Doc, Span

from ..text.abbreviations import Definition
from ..text.alignment import align
from ..text.expansion import expand, find_uses

_START = attrgetter("start")
_KEY = "connorm_definitions"
_ABBREVIATIONS = "abbreviations"
_LONG_FORM = "long_form"
_SERIALIZED = frozenset({"short_start", "short_text", "long_text"})
# medspaCy's name for the rule that matched a span: what it stands for, unless its author chose
# another name or, without a rule, its own text.
_LITERAL = "literal"


class Sense(NamedTuple):
    """What a short form stands for from some place on.

    start (int): The offset of the short form.
    short (str): The short form.
    long (str): The long form.
    """

    start: int
    short: str
    long: str


class Definitions:
    """What short forms stand for in a document, or in each of several that were joined."""

    def __init__(self, parts: Iterable[tuple[int, Sequence[Sense | Definition]]] = ()) -> None:
        """Store what short forms stand for.

        parts (Iterable[Tuple[int, Sequence[Union[Sense, Definition]]]]): Where each document
            begins, and what its short forms stand for, their offsets counted from there.
        """
        in_order = sorted(parts, key=itemgetter(0))
        self._parts = [(start, sorted(each, key=_START)) for start, each in in_order]
        self._starts = [start for start, _ in self._parts]
        self._last: tuple[tuple[int, int], Mapping[str, str]] = ((-1, 0), {})

    def __bool__(self) -> bool:
        """RETURNS (bool): Whether anybody looked for definitions, be it that there are none."""
        return bool(self._parts)

    def at(self, offset: int) -> Mapping[str, str]:
        """Tell what short forms stand for at a place.

        offset (int): Of a character of the document.
        RETURNS (Mapping[str, str]): Long forms by short form: of several the nearest that is
            defined at the offset or before it, or else the first.
        """
        number = bisect_right(self._starts, offset) - 1
        if number < 0:
            return {}
        start, senses = self._parts[number]
        passed = bisect_right(senses, offset - start, key=_START)
        # Mentions come in order, so that many in a row stand between the same definitions.
        place, long_forms = self._last
        if place != (number, passed):
            nearest_last = [*reversed(senses[passed:]), *senses[:passed]]
            long_forms = {each.short: each.long for each in nearest_last}
            self._last = (number, passed), long_forms
        return long_forms

    def long_form(self, text: str, offset: int) -> str:
        """Write a mention out.

        text (str): The mention.
        offset (int): Of its last character, since its definition may stand in it: "Angelman
            syndrome (AS)".
        RETURNS (str): What it stands for; empty if nothing in it is defined.
        """
        long_forms = self.at(offset)
        expanded = expand(text, long_forms) if long_forms else text
        return "" if expanded == text else expanded


def set_definitions(doc: Doc, definitions: Iterable[Definition]) -> None:
    """Keep definitions with their document, in the place of those that it had.

    doc (Doc): The document.
    definitions (Iterable[Definition]): Those of its text; none is also an answer.
    """
    user_data: dict[Any, Any] = doc.user_data
    for key in [key for key in user_data if _is_ours(key)]:
        del user_data[key]
    # As if of an empty span: `Doc.from_docs` drops what belongs to a whole document.
    user_data[("._.", _KEY, 0, 0)] = tuple(map(tuple, definitions))


def get_definitions(doc: Doc) -> list[Definition]:
    """RETURNS (List[Definition]): Those that `set_definitions` kept, in order."""
    return [
        Definition(*each[:2], *(start + offset for offset in each[2:]))
        for start, part in sorted(_stored(doc))
        for each in part
    ]


def read_definitions(doc: Doc) -> Definitions:
    """Read what short forms stand for in a document.

    doc (Doc): The document.
    RETURNS (Definitions): As scispaCy's detector found it if it found any, or else as kept by
        `set_definitions`.
    """
    theirs = list(_detected(doc))
    if theirs:
        return Definitions([(0, theirs)])
    return Definitions(
        (start, [Sense(each[2], each[0], each[1]) for each in part]) for start, part in _stored(doc)
    )


def find_long_forms(doc: Doc, spans: Sequence[Span]) -> list[str]:
    """Tell what spans stand for.

    doc (Doc): The document.
    spans (Sequence[Span]): Its mentions.
    RETURNS (List[str]): Of each the long form; empty if nothing is known.
    """
    definitions = read_definitions(doc)
    if not any(map(_is_others, (_LONG_FORM, _LITERAL))):
        return [_expanded(span, definitions) for span in spans]
    return [long_form_of(span) or _expanded(span, definitions) for span in spans]


def long_form_of(span: Span) -> str | None:
    """Read what another component says of a very span: scispaCy in `span._.long_form`, medspaCy in
    `span._.literal` if that spells the span out ("atrial fibrillation" for "afib").

    span (Span): The mention.
    RETURNS (Optional[str]): Its long form; None if nobody tells.
    """
    long_form = _text(_read(span, _LONG_FORM))
    if long_form:
        return long_form
    literal = _text(_read(span, _LITERAL))
    if literal and len(literal) > len(span.text):
        aligned = align(span.text, literal)
        if aligned and aligned.start == 0:
            return literal
    return None


def register_abbreviation_attributes() -> None:
    """Make `doc._.abbreviations` and `span._.long_form` readable, each unless another component has
    it already; theirs are read where they have.
    """
    if not Doc.has_extension(_ABBREVIATIONS):
        Doc.set_extension(_ABBREVIATIONS, getter=get_abbreviations)
    if not Span.has_extension(_LONG_FORM):
        Span.set_extension(_LONG_FORM, getter=get_long_form)


def get_abbreviations(doc: Doc) -> list[Span]:
    """RETURNS (List[Span]): Wherever the document uses a short form that it defines, in order."""
    found = []
    definitions = read_definitions(doc)
    for use in find_uses(doc.text, {each.short for each in get_definitions(doc)}):
        span = doc.char_span(use.start, use.end)
        # Of joined documents another one may define it.
        if span is not None and use.short in definitions.at(use.start):
            found.append(span)
    return found


def get_long_form(span: Span) -> str | None:
    """RETURNS (Optional[str]): What the document says that the span stands for."""
    return _expanded(span, read_definitions(span.doc)) or None


def _expanded(span: Span, definitions: Definitions) -> str:
    return definitions.long_form(span.text, span.end_char - 1)


def _is_others(name: str) -> bool:
    return Span.has_extension(name) and Span.get_extension(name)[2] is not get_long_form


def _stored(doc: Doc) -> Iterator[tuple[int, Sequence[Sequence[Any]]]]:
    user_data: dict[Any, Any] = doc.user_data
    for key, stored in user_data.items():
        if _is_ours(key):
            yield key[2], stored


def _is_ours(key: Any) -> bool:
    return isinstance(key, tuple) and len(key) == 4 and key[:2] == ("._.", _KEY)


def _detected(doc: Doc) -> Iterator[Sense]:
    """YIELDS (Sense): What scispaCy's detector found: spans, or dictionaries of token offsets and
    texts with `make_serializable`. What others keep under its name is passed over.
    """
    found = _read(doc, _ABBREVIATIONS)
    for each in found if isinstance(found, list | tuple) else ():
        if isinstance(each, Span):
            start, short, long = each.start_char, each.text, _text(_read(each, _LONG_FORM))
        elif isinstance(each, dict) and each.keys() >= _SERIALIZED:
            start, short, long = doc[each["short_start"]].idx, each["short_text"], each["long_text"]
        else:
            continue
        if long:
            yield Sense(start, short, long)


def _read(owner: Doc | Span, name: str) -> Any:
    """RETURNS (Any): An attribute that another component has registered, or None. spaCy's own
    reading would write a default list into the document.
    """
    if not owner.has_extension(name):
        return None
    extension: tuple[Any, ...] = owner.get_extension(name)
    default, _, getter, _ = extension
    if getter in (get_abbreviations, get_long_form):
        return None
    if getter is not None:
        return getter(owner)
    place = (owner.start_char, owner.end_char) if isinstance(owner, Span) else (None, None)
    user_data: dict[Any, Any] = owner.doc.user_data
    return user_data.get(("._.", name, *place), default)


def _text(value: Any) -> str | None:
    text = value.text if isinstance(value, Span) else value
    return text if isinstance(text, str) else None
