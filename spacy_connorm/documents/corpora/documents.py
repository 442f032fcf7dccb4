"""Turn annotated documents of a corpus into spaCy documents."""

from collections.abc import Iterable
from dataclasses import dataclass, replace

from spacy.language import Language
from spacy.tokens import Doc, Span
from spacy.util import filter_spans

from ...errors import ConnormError, Errors
from ..mentions import MENTIONS_KEY, Mention, set_mentions
from ..metadata import DOC_ID_KEY
from .ids import normalize_ids
from .lines import Place
from .report import CorpusReport

# Of mentions in formats that tell no type.
DEFAULT_TYPE = "MENTION"


@dataclass(frozen=True, slots=True)
class Document:
    """A document as read from a corpus file.

    doc_id (str): Its id in the corpus.
    text (str): Its text.
    mentions (Tuple[Mention, ...]): Its annotated mentions.
    passages (int): The number of blocks of text that it was joined from.
    """

    doc_id: str
    text: str
    mentions: tuple[Mention, ...] = ()
    passages: int = 1


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
    RAISES (ConnormError): CN206 if it has no visible character, CN207 if it is outside the text,
        CN208 if it has no type.
    """
    if not label.strip():
        raise ConnormError(Errors.CN208.format(place=place))
    fragments = tuple(sorted(fragments))
    for start, end in fragments:
        if start < 0 or max(start, end) > len(text):
            message = Errors.CN207.format(place=place, start=start, end=end, length=len(text))
            raise ConnormError(message)
        if not text[start:end].strip():
            raise ConnormError(Errors.CN206.format(place=place, start=start, end=end))
    found = " ".join(text[start:end].strip() for start, end in fragments)
    annotated = annotated.strip() or found
    if annotated != found:
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
    kept = []
    for mention in document.mentions:
        if mention.label in types or not (types or mention.label in unlinked):
            kept.append(mention)
        else:
            report.left_out[mention.label] += 1
    return replace(document, mentions=tuple(kept))


def make_doc(document: Document, *, nlp: Language, report: CorpusReport) -> Doc:
    """Create an annotated Doc. Every mention is a span of `doc.spans["mentions"]`; those in one
    piece that do not overlap a longer one are in `doc.ents` too.

    document (Document): The document.
    nlp (Language): Its tokenizer is used.
    report (CorpusReport): Counts the mentions.
    RETURNS (Doc): The Doc; `annotated_mentions` reads the exact mentions back.
    """
    doc = nlp.make_doc(document.text)
    doc.user_data[DOC_ID_KEY] = document.doc_id
    spans = [_span(doc, mention) for mention in document.mentions]
    doc.spans[MENTIONS_KEY] = spans
    set_mentions(doc, document.mentions)
    whole = [
        span
        for span, mention in zip(spans, document.mentions, strict=True)
        if len(mention.fragments) == 1
    ]
    doc.ents = filter_spans(whole)
    for span, mention in zip(spans, document.mentions, strict=True):
        report.count_mention(mention)
        report.misaligned += (span.start_char, span.end_char) != mention.extent
    report.overlapping += len(whole) - len(doc.ents)
    return doc


def _span(doc: Doc, mention: Mention) -> Span:
    # Never None: "expand" finds a span for every extent inside the text.
    return doc.char_span(  # type: ignore[return-value]
        *mention.extent, label=mention.label, kb_id=mention.kb_id, alignment_mode="expand"
    )
