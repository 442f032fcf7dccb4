"""Mentions: spans of text that name concepts, as found by annotators or a concept normalizer.

Every annotated mention is a span of `doc.spans[MENTIONS_KEY]`; those in one piece that do not
overlap a longer one are in `doc.ents` too. A span can be wider than its mention, since spans end
at token boundaries, so the mention's own characters are stored as well.
"""

import re
from collections.abc import Collection, Iterable, Iterator
from typing import NamedTuple

from spacy.tokens import Doc, Span

from ..concepts import Candidate
from ..concepts.concept import NO_ID, by_part, is_no_id
from ..concepts.curies import PREFIXES, join_curie, split_curie
from ..text.abbreviations import find_abbreviations
from .abbreviations import Abbreviations, read_abbreviations

MENTIONS_KEY = "mentions"
# All mentions that a finder found, including overlapping ones.
ALL_MENTIONS_KEY = "mentions_all"
# The vocabulary of ids without one, for formats that require one.
LOCAL_PREFIX = "LOCAL"
_RECORDS_KEY = "spacy_connorm.mentions"
# What joins the ids of a mention; and what does in corpora, kept by `split`.
JOINS = re.compile(r"[|+]")
SEPARATORS = re.compile(r"([|+,;])")
# "p|SUB|D|506|G", "c|DEL|35|G;RS#:121908754"
_VARIANT = re.compile(r"\s*(?:tmVar:)?(?:[a-z]\|[A-Za-z]{2,9}|\|Allele)\|")
# Corpora write the ids of these without a prefix.
_BARE = ("MESH", "UMLS")


class Mention(NamedTuple):
    """A mention in a document.

    text (str): The mention; the fragments of a discontinuous one are joined by a space.
    label (str): The entity type.
    kb_id (str): Concept ids, separated by `|` in a composite and by `+` in a combination; `-1` or
        `CUI-less` for a part without one, `NIL` if none was found, empty if it was not annotated or
        linked.
    fragments (Tuple[Tuple[int, int], ...]): Start and end of each fragment in the document's text
        (code points), in order. Nearly all mentions have one.
    candidates (Tuple[Candidate, ...]): The candidates found by a concept normalizer, part by part,
        best first.
    long_form (str): The long form that the document defines for the mention; empty if none.
    assertions (Optional[Tuple[str, ...]]): Any of "negated", "possible", "family" and "history";
        None if this was not checked.
    possibility (str): What `Possibility` a possible mention is; empty if it is not possible, or if
        this was not told.
    """

    text: str
    label: str
    kb_id: str
    fragments: tuple[tuple[int, int], ...]
    candidates: tuple[Candidate, ...] = ()
    long_form: str = ""
    assertions: tuple[str, ...] | None = None
    possibility: str = ""

    @property
    def extent(self) -> tuple[int, int]:
        """Where it begins and ends, including gaps.

        RETURNS (Tuple[int, int]): The start of the first fragment and the end of the last.
        """
        return self.fragments[0][0], max(end for _, end in self.fragments)

    @property
    def concept_ids(self) -> tuple[str, ...]:
        """Its concept ids, split.

        RETURNS (Tuple[str, ...]): The ids; none for `NIL`.
        """
        return split_ids(self.kb_id)

    @property
    def is_nil(self) -> bool:
        """Whether a concept was looked for and none was found.

        RETURNS (bool): True for `NIL` and `-1`; False without an id.
        """
        return bool(self.kb_id) and not self.concept_ids

    @property
    def leading(self) -> list[Candidate]:
        """The best candidate of each part.

        RETURNS (List[Candidate]): One candidate per part, NIL or not.
        """
        return [part[0] for part in by_part(self.candidates)]

    @property
    def names(self) -> str:
        """The preferred names of its concepts.

        RETURNS (str): The names, joined by `|`.
        """
        return "|".join(
            candidate.name for candidate in self.leading if candidate.concept_id in self.concept_ids
        )

    @property
    def score(self) -> float | None:
        """The lowest score of its parts.

        RETURNS (Optional[float]): The score; None without candidates.
        """
        return min((candidate.score for candidate in self.leading), default=None)

    @property
    def probability(self) -> float | None:
        """The lowest probability of its parts.

        RETURNS (Optional[float]): The probability; None if the pipeline is not calibrated.
        """
        known = (candidate.probability for candidate in self.leading)
        return min((number for number in known if number is not None), default=None)

    def find_candidate(self, concept_id: str) -> Candidate | None:
        """Find the best candidate with a concept id.

        concept_id (str): The id.
        RETURNS (Optional[Candidate]): The candidate, if there is one.
        """
        found = (candidate for candidate in self.candidates if candidate.concept_id == concept_id)
        return next(found, None)

    def shifted(self, offset: int) -> "Mention":
        """Shift the offsets of a mention.

        offset (int): The number of characters.
        RETURNS (Mention): The shifted mention.
        """
        fragments = tuple((start + offset, end + offset) for start, end in self.fragments)
        return self._replace(fragments=fragments)


def split_ids(kb_id: str) -> tuple[str, ...]:
    """Split joined concept ids.

    kb_id (str): Ids joined by `|` or `+`.
    RETURNS (Tuple[str, ...]): Each id once, in order, without `-1`, `-`, `CUI-less` and spaCy's
        `NIL`, which stand for no concept.
    """
    parts = (part.strip() for part in JOINS.split(kb_id))
    return tuple(dict.fromkeys(part for part in parts if not is_no_id(part)))


def normalize_ids(ids: str) -> str:
    """Write the gold ids of all corpora in the same form: MeSH ids and CUIs without a prefix,
    others with the prefix of `PREFIXES`, such as `OMIM:106210`, separated by `|` in a composite and
    by `+` in a combination.

    NLM-Chem's `,` becomes `+`, since nearly all of its lists describe one thing by several concepts
    (`PBS-T`, `sodium pyruvate`). PubTator Central's `;` becomes `|`. A part without a concept, or
    with `CUI-less`, becomes `-1`, so that the number of parts is kept.

    The `|` in PubTator's ids of variants becomes `_` (`p_SUB_D_506_G`), and several names of one
    variant are separated by `+`.

    ids (str): The ids as annotated.
    RETURNS (str): The ids; empty if there are none.
    """
    if _VARIANT.match(ids):
        variant, semicolon, others = ids.partition(";")
        ids = variant.replace("|", "_") + ("," + others.replace(";", ",")) * bool(semicolon)
    parts = SEPARATORS.split(ids)
    parts[::2] = map(_normalize_id, parts[::2])
    if all(concept_id == NO_ID for concept_id in parts[::2]):
        return ""
    parts[1::2] = (part.replace(",", "+").replace(";", "|") for part in parts[1::2])
    return "".join(parts)


def _normalize_id(concept_id: str) -> str:
    concept_id = "".join(concept_id.split())
    prefix, local_id = split_curie(concept_id)
    if PREFIXES.prefix(prefix) in _BARE:
        concept_id = local_id
    elif PREFIXES.knows(prefix):
        concept_id = PREFIXES.curie(concept_id)
    return NO_ID if is_no_id(concept_id) else concept_id


def curie_of(concept_id: str, vocabulary: str) -> str:
    """Add the prefix of its vocabulary to a concept id, unless it has one.

    concept_id (str): The id.
    vocabulary (str): The prefix of ids whose form shows none.
    RETURNS (str): The CURIE.
    """
    if ":" in concept_id:
        return concept_id
    return PREFIXES.own_curie(concept_id) or join_curie(vocabulary, concept_id)


def set_mentions(doc: Doc, mentions: Iterable[Mention]) -> None:
    """Store the exact characters of annotated mentions on their document.

    doc (Doc): A document with one span per mention in `spans[MENTIONS_KEY]`, in the same order.
    mentions (Iterable[Mention]): The mentions.
    """
    doc.user_data[_RECORDS_KEY] = [tuple(mention[:4]) for mention in mentions]


def annotated_mentions(doc: Doc, *, spans_key: str | None = None) -> Iterator[Mention]:
    """Read the annotated mentions of a document: those stored by `set_mentions`, or else the
    spans of `doc.spans[spans_key]`, or else the entities.

    doc (Doc): A document.
    spans_key (Optional[str]): `MENTIONS_KEY` if None.
    YIELDS (Mention): The mentions, including those without gold ids.
    """
    records = doc.user_data.get(_RECORDS_KEY)
    if records is not None:
        for text, label, kb_id, fragments in records:
            yield Mention(text, label, kb_id, tuple((start, end) for start, end in fragments))
        return
    for span in doc.spans.get(spans_key or MENTIONS_KEY, doc.ents):
        fragment = (span.start_char, span.end_char)
        yield Mention(span.text, span.label_, span.kb_id_, (fragment,))


def set_label(doc: Doc, label: str) -> Doc:
    """Give all mentions of a document the same label, so that an NER learns them as one type.

    doc (Doc): An annotated document, which is changed.
    label (str): The label of its entities and of the spans of its groups.
    RETURNS (Doc): The same document.
    """
    doc.set_ents([_labelled(span, label) for span in doc.ents])
    for key in doc.spans:
        doc.spans[key] = [_labelled(span, label) for span in doc.spans[key]]
    return doc


def _labelled(span: Span, label: str) -> Span:
    return Span(span.doc, span.start, span.end, label=label, kb_id=span.kb_id)


def annotated_synonyms(
    docs: Iterable[Doc],
    labels: Collection[str] | None = None,
    *,
    spans_key: str | None = None,
    long_forms: bool = False,
) -> Iterator[tuple[str, str]]:
    """Read D(c) from annotated mentions. A mention of several concepts counts for each of them; a
    mention without gold ids is skipped.

    docs (Iterable[Doc]): Annotated documents.
    labels (Optional[Collection[str]]): Only mentions with these labels; all if None or empty.
    spans_key (Optional[str]): As in `annotated_mentions`.
    long_forms (bool): Whether to add the long forms of mentions, as `expanded_mentions` does.
    YIELDS (Tuple[str, str]): Text and concept id, once per occurrence.
    """
    read = expanded_mentions if long_forms else annotated_mentions
    for doc in docs:
        for mention in read(doc, spans_key=spans_key):
            if not labels or mention.label in labels:
                for concept_id in mention.concept_ids:
                    yield mention.text, concept_id


def expanded_mentions(doc: Doc, *, spans_key: str | None = None) -> Iterator[Mention]:
    """Read the annotated mentions of a document. Mentions with a defined long form are repeated
    with the long form as their text.

    doc (Doc): A document. If no component has looked for abbreviations, this function does.
    spans_key (Optional[str]): As in `annotated_mentions`.
    YIELDS (Mention): The mentions, including those without gold ids.
    """
    abbreviations = read_abbreviations(doc) or Abbreviations(
        [(0, find_abbreviations(doc.text, doc.lang_))]
    )
    for mention in annotated_mentions(doc, spans_key=spans_key):
        yield mention
        long_form = abbreviations.long_form(mention.text, mention.extent[1] - 1)
        if long_form:
            yield mention._replace(text=long_form)
