"""A text and its mentions: the form that every corpus is read into, and every format is written
from.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

from spacy.language import Language
from spacy.tokens import Doc, Span
from spacy.util import filter_spans

from ..errors import ConnormError, Errors, Warnings, quote_all, quote_id
from ..files.odd_lines import OddLines
from ..files.text import LONE_SURROGATE, read_lines
from .abbreviations import find_long_forms
from .mentions import MENTIONS_KEY, Mention, annotated_mentions, normalize_ids, set_mentions
from .spans import (
    choose_spans,
    get_assertions,
    get_candidates,
    get_kb_id,
    get_possibility,
    is_normalized,
)

ID_FIELD = "id"
DOC_ID_KEY = "spacy_connorm.doc_id"
# The type of mentions in formats without types.
DEFAULT_TYPE = "MENTION"
_FIELDS_KEY = "fields"


@dataclass(frozen=True, slots=True)
class Document:
    """A text and its mentions.

    doc_id (str): Its id in its corpus or in its JSON; otherwise its number.
    text (str): Its text.
    mentions (Tuple[Mention, ...]): Its mentions, in order; they may overlap.
    passages (int): The number of blocks of text that it was joined from.
    fields (Dict[str, Any]): The other fields of the text's JSON object.
    number (int): Its number among the documents to write, from 1.
    has_id (bool): Whether `doc_id` is an id, not the number.
    doc (Optional[Doc]): The spaCy document, to be written completely.
    """

    doc_id: str
    text: str
    mentions: tuple[Mention, ...] = ()
    passages: int = 1
    fields: Mapping[str, Any] = field(default_factory=dict)
    number: int = 0
    has_id: bool = True
    doc: Doc | None = None


def contents(document: Document, known_fields: Collection[str] = ()) -> set[str]:
    """Name what a document has that some formats have no place for.

    document (Document): The document.
    known_fields (Collection[str]): Fields that have a place in all formats, or in the one to write.
    RETURNS (Set[str]): The names, as `Format.lacks` has them.
    """
    mentions = document.mentions
    has = {
        "other fields": bool(document.fields.keys() - {*known_fields}),
        "line breaks": "\n" in document.text.rstrip(),
        "texts without mentions": not mentions,
        "gaps in mentions": any(len(mention.fragments) > 1 for mention in mentions),
        "long forms": any(mention.long_form for mention in mentions),
        "candidates": any(mention.candidates for mention in mentions),
        "further candidates": any(len(mention.candidates) > 1 for mention in mentions),
    }
    return {name for name, is_there in has.items() if is_there}


# The result of replacing a gold id by an ontology's id.
KNOWN = "already an id of the ontology"
TRANSLATED = "replaced by the id of the concept that refers to it"
AMBIGUOUS = "several concepts refer to it, kept"
UNKNOWN = "no concept refers to it, kept"


@dataclass(slots=True)
class CorpusReport:
    """Counts, filled while a corpus is read.

    doc_ids (Set[str]): The ids of the documents.
    repeated (int): Documents with the id of an earlier one; they are kept.
    passages (int): Blocks of text; a document can have several.
    without_mentions (int): Documents without annotated mentions.
    mentions (Counter[str]): Mentions kept, by type.
    without_id (Counter[str]): Kept mentions without a gold id, by type.
    concept_ids (Set[str]): The distinct gold ids.
    composite (int): Mentions with several ids joined by `|`.
    combination (int): Mentions with several ids joined by `+`.
    discontinuous (int): Mentions in several fragments, in `doc.spans` only.
    overlapping (int): Mentions that overlap a longer one, in `doc.spans` only.
    misaligned (int): Mentions that do not start and end at token boundaries, so that their span is
        wider.
    mismatched (List[str]): Places of mentions whose text differs from the document at their
        offsets.
    surrogates (int): Lone surrogates replaced by U+FFFD.
    odd (OddLines): Lines that can't be read, which are skipped.
    left_out (Counter[str]): Mentions left out because of their type, by type.
    skipped (Counter[str]): Everything else that was ignored, by reason.
    translated (Counter[str]): What happened to the gold ids, per mention, if they are replaced by
        an ontology's.
    """

    doc_ids: set[str] = field(default_factory=set)
    repeated: int = 0
    passages: int = 0
    without_mentions: int = 0
    mentions: Counter[str] = field(default_factory=Counter)
    without_id: Counter[str] = field(default_factory=Counter)
    concept_ids: set[str] = field(default_factory=set)
    composite: int = 0
    combination: int = 0
    discontinuous: int = 0
    overlapping: int = 0
    misaligned: int = 0
    mismatched: list[str] = field(default_factory=list)
    surrogates: int = 0
    odd: OddLines = field(default_factory=OddLines)
    left_out: Counter[str] = field(default_factory=Counter)
    skipped: Counter[str] = field(default_factory=Counter)
    translated: Counter[str] = field(default_factory=Counter)

    def count_document(self, doc_id: str, *, passages: int) -> None:
        """Count a document.

        doc_id (str): Its id.
        passages (int): The number of blocks of text that it was joined from.
        """
        self.repeated += doc_id in self.doc_ids
        self.doc_ids.add(doc_id)
        self.passages += passages

    def count_mention(self, mention: Mention) -> None:
        """Count a mention that is kept.

        mention (Mention): The mention.
        """
        self.mentions[mention.label] += 1
        self.without_id[mention.label] += not mention.concept_ids
        self.concept_ids.update(mention.concept_ids)
        self.composite += "|" in mention.kb_id
        self.combination += "+" in mention.kb_id
        self.discontinuous += len(mention.fragments) > 1

    def warn(self, path: Path, *, types: Iterable[str] = ()) -> None:
        """Warn about likely problems, once per kind.

        path (Path): The corpus.
        types (Iterable[str]): The requested mention types.
        """
        self.odd.warn(path)
        if self.mismatched:
            first, count = self.mismatched[0], len(self.mismatched)
            Warnings.CNW200.warn(count=count, first=first)
        if self.without_mentions:
            Warnings.CNW201.warn(count=self.without_mentions)
        if self.surrogates:
            Warnings.CNW202.warn(count=self.surrogates)
        if self.repeated:
            Warnings.CNW203.warn(count=self.repeated)
        if self.translated and not (self.translated[TRANSLATED] or self.translated[KNOWN]):
            Warnings.CNW205.warn(count=self.translated.total())
        missing = [label for label in types if label not in self.mentions]
        if missing:
            present = quote_all(sorted(self.mentions | self.left_out))
            Warnings.CNW204.warn(missing=", ".join(missing), present=present)


class Place(NamedTuple):
    """The location of a line, for messages.

    path (Path): The file.
    line (int): The line number, from 1.
    inside (str): Which document and mention it belongs to; empty if not known.
    """

    path: Path
    line: int
    inside: str = ""

    def within(self, kind: str, own_id: str) -> "Place":
        """Add the document or the mention that the line belongs to.

        RETURNS (Place): The same line.
        """
        return self._replace(inside=f"{self.inside}, {kind} {quote_id(own_id)}")

    def __str__(self) -> str:
        return f"'{self.path}', line {self.line}{self.inside}"


def unlike(place: Place, reason: object, *, format: str, expected: str) -> ConnormError:
    """Make the error for a line of a corpus that is not in its format.

    place (Place): The line.
    reason (object): What is wrong with it, without texts of the corpus.
    format (str): The name of the format.
    expected (str): What its lines look like.
    RETURNS (ConnormError): CN204.
    """
    return Errors.CN204(place=place, format=format, reason=reason, expected=expected)


def placed_lines(path: Path, *, report: CorpusReport) -> Iterator[tuple[Place, str]]:
    """Read a corpus file line by line, without blank lines.

    path (Path): A UTF-8 file; may be compressed (`.gz`).
    report (CorpusReport): Counts the lone surrogates that were replaced.
    YIELDS (Tuple[Place, str]): Place and text of each line, without its line end.
    RAISES (ConnormError): The errors of `read_lines`: for a missing file, a folder, a damaged file
        or one that is not text.
    """
    filled = ((number, line) for number, line in read_lines(path) if line.strip())
    for number, line in report.odd.count(filled):
        yield Place(path, number), replace_surrogates(line, report=report)


def replace_surrogates(text: str, *, report: CorpusReport) -> str:
    """Replace lone surrogates, which spaCy cannot store, one for one, so that offsets stay valid.

    text (str): Any text.
    report (CorpusReport): Counts them.
    RETURNS (str): The text with U+FFFD instead.
    """
    text, count = LONE_SURROGATE.subn("\ufffd", text)
    report.surrogates += count
    return text


def make_mention(
    text: str,
    fragments: Iterable[tuple[int, int]],
    *,
    label: str,
    ids: str,
    place: Place,
    report: CorpusReport,
    annotated: str = "",
) -> Mention:
    """Create a mention from one annotation and check its offsets.

    text (str): The text that the offsets refer to.
    fragments (Iterable[Tuple[int, int]]): Start and end of each fragment (characters).
    label (str): The mention's type.
    ids (str): Its gold ids, as annotated.
    place (Place): The line of the annotation.
    report (CorpusReport): Gets the place if `annotated` differs from the text at the offsets.
    annotated (str): The mention's text as annotated; empty if the corpus does not repeat it.
    RETURNS (Mention): The mention; if the two texts differ, with the annotated one.
    RAISES (ConnormError): CN207 if it has no visible character or is outside the text, CN204 if it
        has no type.
    """
    if not label.strip():
        reason, expected = "the mention has no type", "a type, such as `Disease`"
        raise unlike(place, reason, format="a mention", expected=expected)
    fragments = tuple(sorted(fragments))
    for start, end in fragments:
        if start < 0 or max(start, end) > len(text) or not text[start:end].strip():
            raise Errors.CN207(place=place, start=start, end=end, length=len(text))
    covered = " ".join(text[start:end].strip() for start, end in fragments)
    annotated = annotated.strip() or covered
    if annotated != covered:
        report.mismatched.append(str(place))
    return Mention(annotated, label.strip(), normalize_ids(ids), fragments)


def keep_types(
    document: Document, *, types: Iterable[str], unlinked: Iterable[str], report: CorpusReport
) -> Document:
    """Filter the mentions of a document by type.

    document (Document): A document.
    types (Iterable[str]): The types to keep; if empty, all but `unlinked`.
    unlinked (Iterable[str]): Types that should not be linked, according to the corpus.
    report (CorpusReport): Counts the mentions left out.
    RETURNS (Document): The document with the kept mentions.
    """
    types, unlinked = frozenset(types), frozenset(unlinked)
    mentions = []
    for mention in document.mentions:
        if mention.label in types or not (types or mention.label in unlinked):
            mentions.append(mention)
        else:
            report.left_out[mention.label] += 1
    return replace(document, mentions=tuple(mentions))


def make_doc(document: Document, *, nlp: Language, report: CorpusReport) -> Doc:
    """Create an annotated Doc. Every mention is a span of `doc.spans["mentions"]`; those in one
    piece that do not overlap a longer one are in `doc.ents` too.

    document (Document): The document.
    nlp (Language): Its tokenizer is used.
    report (CorpusReport): Counts the mentions.
    RETURNS (Doc): The Doc; `annotated_mentions` reads the exact mentions back.
    """
    doc = nlp.make_doc(document.text)
    if document.doc_id:
        doc.user_data[DOC_ID_KEY] = document.doc_id
    # Never None: "expand" finds a span for every extent inside the text.
    spans: list[Any] = [
        doc.char_span(*mention.extent, mention.label, mention.kb_id, alignment_mode="expand")
        for mention in document.mentions
    ]
    doc.spans[MENTIONS_KEY] = spans
    set_mentions(doc, document.mentions)
    marked = list(zip(spans, document.mentions, strict=True))
    whole = [span for span, mention in marked if len(mention.fragments) == 1]
    doc.ents = filter_spans(whole)
    for span, mention in marked:
        report.count_mention(mention)
        report.misaligned += (span.start_char, span.end_char) != mention.extent
    report.overlapping += len(whole) - len(doc.ents)
    return doc


def set_other_fields(doc: Doc, fields: dict[str, Any]) -> None:
    """Store the other fields of the JSON object of a document's text.

    doc (Doc): The document.
    fields (Dict[str, Any]): The other fields.
    """
    doc.user_data[_FIELDS_KEY] = fields


def other_fields(doc: Doc) -> dict[str, Any]:
    """Read the other fields of the JSON object of a document's text.

    doc (Doc): The document.
    RETURNS (Dict[str, Any]): The other fields.
    """
    return doc.user_data.get(_FIELDS_KEY, {})


def find_id(fields: Mapping[str, Any], field: str) -> str | None:
    """Read the id of a document from one of its fields.

    fields (Mapping[str, Any]): Its fields.
    field (str): The field that may hold its id.
    RETURNS (Optional[str]): The content of the field, if it is a string or a whole number.
    """
    value = fields.get(field)
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    return value.strip() or None if isinstance(value, str) else None


def read_document(
    doc: Doc,
    number: int,
    *,
    spans_key: str | None = None,
    attribute_prefix: str = "",
    id_field: str = ID_FIELD,
) -> Document:
    """Read the annotations that a concept normalizer wrote on a document or, if it has not been
    normalized, the annotated mentions and gold ids of a corpus.

    doc (Doc): The document.
    number (int): Its number, from 1, which is its id if it has no other.
    spans_key (Optional[str]): The mentions are in `doc.spans[spans_key]`; in `doc.ents` if None.
    attribute_prefix (str): The normalizer's prefix.
    id_field (str): The field of its JSON that may hold its id.
    RETURNS (Document): Its text, mentions and fields.
    """
    if is_normalized(doc, attribute_prefix):
        mentions = _normalized(doc, spans_key=spans_key, prefix=attribute_prefix)
    else:
        mentions = annotated_mentions(doc, spans_key=spans_key)
    fields = other_fields(doc)
    own_id = find_id(fields, id_field) or doc.user_data.get(DOC_ID_KEY)
    return Document(
        own_id or str(number),
        doc.text,
        tuple(mentions),
        fields=fields,
        number=number,
        has_id=bool(own_id),
        doc=doc,
    )


def _normalized(doc: Doc, *, spans_key: str | None, prefix: str) -> Iterator[Mention]:
    spans = choose_spans(doc, spans_key=spans_key, labels=None)
    exact = list(annotated_mentions(doc)) if spans_key == MENTIONS_KEY else []
    mentions = exact if len(exact) == len(spans) else [None] * len(spans)
    for span, mention, long_form in zip(spans, mentions, find_long_forms(doc, spans), strict=True):
        yield _exact(span, mention)._replace(
            label=span.label_,
            kb_id=get_kb_id(span, prefix),
            candidates=tuple(get_candidates(span, prefix) or ()),
            long_form=long_form,
            assertions=get_assertions(span),
            possibility=get_possibility(span),
        )


def _exact(span: Span, annotated: Mention | None) -> Mention:
    """Get the exact characters of a span of a corpus. Unlike these, spans end at token boundaries,
    and have no gaps.
    """
    start, end = span.start_char, span.end_char
    if annotated and start <= annotated.extent[0] and annotated.extent[1] <= end:
        return annotated
    return Mention(span.text, "", "", ((start, end),))
