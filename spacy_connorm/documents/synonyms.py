"""D(c), the texts of a concept, from annotated mentions and from their long forms."""

from collections.abc import Callable, Collection, Iterable, Iterator

from spacy.tokens import Doc

from ..text.abbreviations import find_abbreviations
from .abbreviations import Abbreviations, read_abbreviations
from .mentions import Mention, annotated_mentions


def annotated_synonyms(
    docs: Iterable[Doc],
    labels: Collection[str] | None = None,
    *,
    spans_key: str | None = None,
) -> Iterator[tuple[str, str]]:
    """Read D(c) from annotated mentions. A mention of several concepts counts for each of them; one
    without gold ids is skipped.

    docs (Iterable[Doc]): Annotated documents.
    labels (Optional[Collection[str]]): Only mentions with these labels; all if None or empty.
    spans_key (Optional[str]): As in `annotated_mentions`.
    YIELDS (Tuple[str, str]): Text and concept id, once per occurrence.
    """
    return _synonyms(annotated_mentions, docs, labels, spans_key)


def expanded_synonyms(
    docs: Iterable[Doc],
    labels: Collection[str] | None = None,
    *,
    spans_key: str | None = None,
) -> Iterator[tuple[str, str]]:
    """Read D(c) as `annotated_synonyms` does, and add the long forms of mentions whose document
    defines one.

    docs (Iterable[Doc]): Annotated documents, read as in `expanded_mentions`.
    labels (Optional[Collection[str]]): Only mentions with these labels; all if None or empty.
    spans_key (Optional[str]): As in `annotated_mentions`.
    YIELDS (Tuple[str, str]): Text and concept id, once per occurrence.
    """
    return _synonyms(expanded_mentions, docs, labels, spans_key)


def expanded_mentions(doc: Doc, *, spans_key: str | None = None) -> Iterator[Mention]:
    """Read the annotated mentions of a document; those with a defined long form again with that as
    their text.

    doc (Doc): A document. If no component has looked for abbreviations, this does.
    spans_key (Optional[str]): As in `annotated_mentions`.
    YIELDS (Mention): The mentions, including those without gold ids.
    """
    abbreviations = read_abbreviations(doc) or Abbreviations([(0, find_abbreviations(doc.text))])
    for mention in annotated_mentions(doc, spans_key=spans_key):
        yield mention
        long_form = abbreviations.long_form(mention.text, mention.extent[1] - 1)
        if long_form:
            yield mention._replace(text=long_form)


def _synonyms(
    read: Callable[..., Iterator[Mention]],
    docs: Iterable[Doc],
    labels: Collection[str] | None,
    spans_key: str | None,
) -> Iterator[tuple[str, str]]:
    for doc in docs:
        for mention in read(doc, spans_key=spans_key):
            if not labels or mention.label in labels:
                for concept_id in mention.concept_ids:
                    yield mention.text, concept_id
