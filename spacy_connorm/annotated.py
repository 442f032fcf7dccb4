"""D(c) with what documents define: the long forms of annotated mentions beside the mentions."""

from collections.abc import Collection, Iterable, Iterator

from spacy.tokens import Doc

from .definitions import Definitions, read_definitions
from .mentions import annotated_mentions
from .text.abbreviations import find_definitions


def expanded_synonyms(
    docs: Iterable[Doc],
    labels: Collection[str] | None = None,
    *,
    spans_key: str | None = None,
) -> Iterator[tuple[str, str]]:
    """Read what annotated mentions say about concepts, as `annotated_synonyms` does, and what their
    long forms say where their document defines some: both denote the mention's concepts.

    docs (Iterable[Doc]): Annotated documents. Those without definitions are searched for them.
    labels (Optional[Collection[str]]): Only mentions with these labels; all if None or empty.
    spans_key (Optional[str]): As in `annotated_mentions`.
    YIELDS (Tuple[str, str]): Text and concept id, as often as they occur.
    """
    for doc in docs:
        definitions = read_definitions(doc) or Definitions([(0, find_definitions(doc.text))])
        for mention in annotated_mentions(doc, spans_key=spans_key):
            if not labels or mention.label in labels:
                long_form = definitions.long_form(mention.text, mention.extent[1] - 1)
                for concept_id in mention.concept_ids:
                    yield mention.text, concept_id
                    if long_form:
                        yield long_form, concept_id
