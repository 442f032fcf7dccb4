"""D(c) with what documents define: the long forms of annotated mentions beside the mentions."""

from collections.abc import Collection, Iterable, Iterator

from spacy.tokens import Doc

from ..text.abbreviations import find_definitions
from .abbreviations import Definitions, read_definitions
from .mentions import Mention, annotated_mentions


def expanded_synonyms(
    docs: Iterable[Doc],
    labels: Collection[str] | None = None,
    *,
    spans_key: str | None = None,
) -> Iterator[tuple[str, str]]:
    """Read what annotated mentions say about concepts, as `annotated_synonyms` does, and what their
    long forms say where their document defines some: both denote the mention's concepts.

    docs (Iterable[Doc]): Annotated documents, read as by `expanded_mentions`.
    labels (Optional[Collection[str]]): Only mentions with these labels; all if None or empty.
    spans_key (Optional[str]): As in `annotated_mentions`.
    YIELDS (Tuple[str, str]): Text and concept id, as often as they occur.
    """
    for doc in docs:
        for mention in expanded_mentions(doc, spans_key=spans_key):
            if not labels or mention.label in labels:
                for concept_id in mention.concept_ids:
                    yield mention.text, concept_id


def expanded_mentions(doc: Doc, *, spans_key: str | None = None) -> Iterator[Mention]:
    """Read the annotated mentions of a document, and each again with its long form for its text if
    the document defines one.

    doc (Doc): A document; one in which nobody has looked for definitions is searched for them.
    spans_key (Optional[str]): As in `annotated_mentions`.
    YIELDS (Mention): The mentions, those without gold ids included.
    """
    definitions = read_definitions(doc) or Definitions([(0, find_definitions(doc.text))])
    for mention in annotated_mentions(doc, spans_key=spans_key):
        yield mention
        long_form = definitions.long_form(mention.text, mention.extent[1] - 1)
        if long_form:
            yield mention._replace(text=long_form)
