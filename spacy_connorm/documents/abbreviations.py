"""Store the abbreviations of a `Doc`, and read the long forms of its spans.

They are stored in `doc.user_data` as tuples, under a key like spaCy's own, so that a
`DocBin(store_user_data=True)`, `Doc.from_docs`, `Span.as_doc` and worker processes keep them. Their
offsets are relative to the key's, which spaCy moves when it joins or cuts documents.

Abbreviations found by scispaCy's `AbbreviationDetector` take precedence.
"""

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import starmap
from operator import attrgetter, itemgetter
from typing import Any
from weakref import WeakKeyDictionary

from spacy.tokens import Doc, Span

from ..text.abbreviations import Abbreviation, abbreviation_finder
from ..text.cleaning import clean
from ..text.expansion import ShortForms, expand

_START = attrgetter("start")
_KEY = "connorm_definitions"
_ABBREVIATIONS = "abbreviations"
_LONG_FORM = "long_form"
_SERIALIZED = frozenset({"short_start", "short_text", "long_text"})
# medspaCy's name for the rule that matched a span: usually its long form, but rule authors are free
# to choose another name; without a rule, the text of the span.
_LITERAL = "literal"
_STOP = "."


class Abbreviations:
    """The long forms of short forms in a document, or in each of several joined documents."""

    def __init__(self, parts: Iterable[tuple[int, Iterable[Abbreviation]]] = ()) -> None:
        """Store the long forms.

        parts (Iterable[Tuple[int, Iterable[Abbreviation]]]): The start of each document and its
            abbreviations, with offsets relative to that start.
        """
        in_order = sorted(parts, key=itemgetter(0))
        self._starts = [start for start, _ in in_order]
        self._senses = [_group(abbreviations) for _, abbreviations in in_order]
        self._shorts = [ShortForms(senses) for senses in self._senses]
        # Most documents have none, so their mentions are not abbreviated.
        self.senses = sum(map(len, self._senses))

    def __bool__(self) -> bool:
        """Check whether a component has looked for abbreviations, even if it found none.

        RETURNS (bool): True if so.
        """
        return bool(self._starts)

    def at(self, offset: int) -> Mapping[str, str]:
        """Get the long forms that apply at an offset.

        offset (int): The offset of a character of the document.
        RETURNS (Mapping[str, str]): Long forms by short form. If a short form is defined several
            times: the last definition up to the offset, or else the first one after it.
        """
        number = bisect_right(self._starts, offset) - 1
        if number < 0:
            return {}
        return _LongForms(self._senses[number], offset - self._starts[number])

    def long_form(self, text: str, offset: int) -> str:
        """Expand a mention.

        text (str): The mention.
        offset (int): The offset of its last character, since the mention may contain the
            definition: "Angelman syndrome (AS)".
        RETURNS (str): Its long form; empty if it has no defined short form.
        """
        number = bisect_right(self._starts, offset) - 1
        if number < 0:
            return ""
        expanded = expand(text, self.at(offset), self._shorts[number])
        return "" if expanded == text else expanded


class _LongForms(Mapping[str, str]):
    """The long forms that apply at an offset, each found when it is read."""

    def __init__(self, senses: Mapping[str, Sequence[Abbreviation]], offset: int) -> None:
        self._senses = senses
        self._offset = offset

    def __getitem__(self, short: str) -> str:
        senses = self._senses[short]
        passed = bisect_right(senses, self._offset, key=_START)
        return senses[max(0, passed - 1)].long

    def __iter__(self) -> Iterator[str]:
        return iter(self._senses)

    def __len__(self) -> int:
        return len(self._senses)


def _group(abbreviations: Iterable[Abbreviation]) -> dict[str, list[Abbreviation]]:
    by_short: dict[str, list[Abbreviation]] = {}
    for abbreviation in sorted(abbreviations, key=_START):
        by_short.setdefault(abbreviation.short, []).append(abbreviation)
    return by_short


def set_abbreviations(doc: Doc, abbreviations: Iterable[Abbreviation]) -> None:
    """Store the abbreviations of a document, replacing any it had.

    doc (Doc): The document.
    abbreviations (Iterable[Abbreviation]): The abbreviations of its text, if any.
    """
    user_data: dict[Any, Any] = doc.user_data
    for key in [key for key in user_data if _is_ours(key)]:
        del user_data[key]
    # Stored as if on an empty span, since `Doc.from_docs` drops values stored on a whole document.
    user_data[("._.", _KEY, 0, 0)] = tuple(map(tuple, abbreviations))


def get_abbreviations(doc: Doc) -> list[Abbreviation]:
    """Read the abbreviations stored by `set_abbreviations`.

    doc (Doc): The document.
    RETURNS (List[Abbreviation]): The abbreviations, in order.
    """
    user_data: dict[Any, Any] = doc.user_data
    return [
        Abbreviation(*definition[:2], *(key[2] + offset for offset in definition[2:]))
        for key, part in sorted(item for item in user_data.items() if _is_ours(item[0]))
        for definition in part
    ]


_NONE = Abbreviations()
# What documents were read to, with what was stored in them: the attributes of spans are read one by
# one.
_READ: WeakKeyDictionary[Doc, tuple[int, list, Abbreviations]] = WeakKeyDictionary()


def read_abbreviations(doc: Doc) -> Abbreviations:
    """Read the abbreviations of a document.

    doc (Doc): The document.
    RETURNS (Abbreviations): Those of scispaCy's detector if it found any, otherwise those of
        `set_abbreviations`.
    """
    if _is_theirs(doc, _ABBREVIATIONS) and (detected := list(_detected(doc))):
        return Abbreviations([(0, detected)])
    user_data: dict[Any, Any] = doc.user_data
    size, stored, abbreviations = _READ.get(doc, (0, [], _NONE))
    if len(user_data) == size and all(user_data.get(key) is part for key, part in stored):
        return abbreviations
    stored = [item for item in user_data.items() if _is_ours(item[0])]
    if not stored:
        return _NONE
    abbreviations = Abbreviations((key[2], starmap(Abbreviation, part)) for key, part in stored)
    _READ[doc] = len(user_data), stored, abbreviations
    return abbreviations


def find_long_forms(doc: Doc, spans: Sequence[Span]) -> list[str]:
    """Find the long forms of spans.

    doc (Doc): The document.
    spans (Sequence[Span]): Its mentions.
    RETURNS (List[str]): One long form per span; empty if unknown.
    """
    abbreviations = read_abbreviations(doc)
    if _is_theirs(Span, _LONG_FORM) or _is_theirs(Span, _LITERAL):
        return [external_long_form(span) or _expanded(span, abbreviations) for span in spans]
    if not abbreviations.senses:
        return [""] * len(spans)
    return [_expanded(span, abbreviations) for span in spans]


def long_forms_of(spans: Iterable[Span]) -> list[str]:
    """Find the long forms of spans, each of a document of its own.

    spans (Iterable[Span]): The spans.
    RETURNS (List[str]): As in `find_long_forms`.
    """
    return [find_long_forms(span.doc, [span])[0] for span in spans]


def external_long_form(span: Span) -> str | None:
    """Read the long form that another component set on a span: scispaCy in `span._.long_form`,
    medspaCy in `span._.literal` if it spells out the span ("atrial fibrillation" for "afib").

    span (Span): The mention.
    RETURNS (Optional[str]): Its long form; None if no component set one.
    """
    long_form = _text(_read(span, _LONG_FORM))
    if long_form:
        return long_form
    literal = _text(_read(span, _LITERAL))
    if literal and len(literal) > len(span.text):
        aligned = abbreviation_finder(span.doc.lang_).align(span.text, literal)
        if aligned and aligned.start == 0:
            return literal
    return None


def register_abbreviation_attributes() -> None:
    """Register `doc._.abbreviations` and `span._.long_form`, unless another component already has;
    then its values are read instead.
    """
    if not Doc.has_extension(_ABBREVIATIONS):
        Doc.set_extension(_ABBREVIATIONS, getter=abbreviation_spans)
    if not Span.has_extension(_LONG_FORM):
        Span.set_extension(_LONG_FORM, getter=get_long_form)


def abbreviation_spans(doc: Doc) -> list[Span]:
    """Find every use of a short form that a document defines.

    doc (Doc): The document.
    RETURNS (List[Span]): The uses, in order.
    """
    defined = get_abbreviations(doc)
    if not defined:
        return []  # joining the text of a document takes longer than everything else
    spans = []
    abbreviations = read_abbreviations(doc)
    shorts = ShortForms(definition.short for definition in defined)
    text = doc.text
    for use in shorts.find(text):
        # spaCy leaves the stop of a sentence at a single letter: "n/v."
        span = doc.char_span(use.start, use.end, alignment_mode="expand")
        short = text[use.start : use.end]
        if span is None or span.text not in (short, short + _STOP):
            continue
        # In joined documents, it may be defined in another one; a heading stands for itself.
        if abbreviations.at(use.start).get(use.short, use.short) != use.short:
            spans.append(span)
    return spans


def get_long_form(span: Span) -> str | None:
    """Find the long form of a span in its document.

    span (Span): The mention.
    RETURNS (Optional[str]): The long form; None if the document defines none.
    """
    return _expanded(span, read_abbreviations(span.doc)) or None


def _expanded(span: Span, abbreviations: Abbreviations) -> str:
    return abbreviations.long_form(clean(span.text), span.end_char - 1)


def _is_ours(key: Any) -> bool:
    return isinstance(key, tuple) and len(key) == 4 and key[:2] == ("._.", _KEY)


def _detected(doc: Doc) -> Iterator[Abbreviation]:
    """Read the abbreviations of scispaCy's detector: spans or, with `make_serializable`,
    dictionaries of token offsets and texts. Values of other components under the same name are
    ignored.

    YIELDS (Abbreviation): The abbreviations; the offsets of their long forms are not known.
    """
    entries = _read(doc, _ABBREVIATIONS)
    for entry in entries if isinstance(entries, list | tuple) else ():
        if isinstance(entry, Span):
            start, short, long = entry.start_char, entry.text, _text(_read(entry, _LONG_FORM))
        elif isinstance(entry, dict) and entry.keys() >= _SERIALIZED:
            start = doc[entry["short_start"]].idx
            short, long = entry["short_text"], entry["long_text"]
        else:
            continue
        if long:
            place = (start, start + len(short))
            yield Abbreviation(short, long, *place, *place)


def _is_theirs(owner: Any, name: str) -> bool:
    """Check whether another component registered an attribute.

    owner (Union[Doc, Span, Type]): A document or a span, or their class.
    RETURNS (bool): True if it did.
    """
    if not owner.has_extension(name):
        return False
    return owner.get_extension(name)[2] not in (abbreviation_spans, get_long_form)


def _read(owner: Doc | Span, name: str) -> Any:
    """Read an attribute that another component registered. Reading it through spaCy would write a
    default list into the document.

    RETURNS (Any): The value, or None.
    """
    if not _is_theirs(owner, name):
        return None
    extension: tuple[Any, ...] = owner.get_extension(name)
    default, _, getter, _ = extension
    if getter is not None:
        return getter(owner)
    place = (owner.start_char, owner.end_char) if isinstance(owner, Span) else (None, None)
    user_data: dict[Any, Any] = owner.doc.user_data
    return user_data.get(("._.", name, *place), default)


def _text(value: Any) -> str | None:
    text = value.text if isinstance(value, Span) else value
    return text if isinstance(text, str) else None
