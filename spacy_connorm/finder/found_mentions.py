"""Mentions that a finder found, and which of several overlapping ones are kept."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from spacy.tokens import Doc, Span

from ..documents.mentions import ALL_MENTIONS_KEY
from ..documents.spans import register_matched_name


class FoundMention(NamedTuple):
    """A window of a document that may be a mention.

    start (int): Its first token.
    end (int): The token after it.
    score (float): 1.0 if it has the words of a name, less if one of them is derived.
    label (str): The label for its span.
    name (str): The name that it is or can be rewritten as, as written in the index, or those that
        it coordinates, joined by `|`; empty if a part of it can only be rewritten as a name.
    is_nested (bool): Whether a longer mention overlaps it, so that it does not become an
        entity.
    """

    start: int
    end: int
    score: float
    label: str
    name: str = ""
    is_nested: bool = False


class RefusedWindow(NamedTuple):
    """A window of a document that has the words of a name, but does not mean it.

    start (int): Its first token.
    end (int): The token after it.
    concepts (FrozenSet[int]): The numbers of the concepts with the name.
    """

    start: int
    end: int
    concepts: frozenset[int]


class FoundWindows(NamedTuple):
    """The windows of a document that have the words of a name.

    mentions (List[FoundMention]): Those that are mentions.
    refused (List[RefusedWindow]): The others, but for those that only have another order of words,
        see `rules.ABOUT_ORDER`.
    """

    mentions: list[FoundMention]
    refused: list[RefusedWindow]

    def tokens(self) -> set[int]:
        """Collect the tokens of the mentions.

        RETURNS (Set[int]): Their numbers.
        """
        return {token for start, end, *_ in self.mentions for token in range(start, end)}


class MentionExplanation(NamedTuple):
    """Why a span is a mention or not.

    is_mention (bool): Whether the finder finds exactly this span.
    reason (str): Why it is not; empty for a mention.
    names (Tuple[str, ...]): The names with the same words.
    rule (str): The name of the rule by which it is not, see `finder.rules`; empty if it is a
        mention, or no rule refuses it.
    """

    is_mention: bool
    reason: str
    names: tuple[str, ...]
    rule: str = ""


def choose_mentions(mentions: Iterable[FoundMention]) -> list[FoundMention]:
    """Keep the longest of overlapping mentions; of equally long ones, that with the best score.

    mentions (Iterable[FoundMention]): The mentions of a document.
    RETURNS (List[FoundMention]): The mentions to keep, in the order of the document.
    """
    taken: set[int] = set()
    chosen = []
    for mention in sorted(
        mentions, key=lambda mention: (mention.start - mention.end, -mention.score, mention)
    ):
        tokens = range(mention.start, mention.end)
        if taken.isdisjoint(tokens):
            taken.update(tokens)
            chosen.append(mention)
    return sorted(chosen)


def with_nested(
    chosen: Iterable[FoundMention], found: Iterable[FoundMention]
) -> list[FoundMention]:
    """Add the mentions that were not chosen, marked as nested.

    chosen (Iterable[FoundMention]): The mentions of a document that do not overlap.
    found (Iterable[FoundMention]): All mentions.
    RETURNS (List[FoundMention]): Both, in the order of the document.
    """
    places = {(mention.start, mention.end): mention for mention in chosen}
    nested = (mention for mention in found if (mention.start, mention.end) not in places)
    return sorted([*places.values(), *(mention._replace(is_nested=True) for mention in nested)])


def set_found_mentions(
    doc: Doc, found: Sequence[FoundMention], *, spans_key: str | None, nested: bool = False
) -> None:
    """Write mentions to a document. Existing entities are kept, and mentions that overlap them are
    left out.

    doc (Doc): The document.
    found (Sequence[FoundMention]): Its mentions.
    spans_key (Optional[str]): Write to `doc.spans[spans_key]`; `doc.ents` if None.
    nested (bool): Whether to write all mentions to `doc.spans["mentions_all"]`, too.
    """
    all_spans = [Span(doc, mention.start, mention.end, label=mention.label) for mention in found]
    register_matched_name()
    for span, mention in zip(all_spans, found, strict=True):
        if mention.name:
            span._.matched_name = mention.name
    if nested:
        doc.spans[ALL_MENTIONS_KEY] = all_spans
    spans = [span for span, mention in zip(all_spans, found, strict=True) if not mention.is_nested]
    if spans_key is not None:
        doc.spans[spans_key] = spans
    else:
        taken = {token for entity in doc.ents for token in range(entity.start, entity.end)}
        free = [span for span in spans if taken.isdisjoint(range(span.start, span.end))]
        doc.ents = [*doc.ents, *free]
