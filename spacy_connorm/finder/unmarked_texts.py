"""Names in the ontology that annotators do not mark: "gene", "patient"."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence

from spacy.tokens import Doc

from ..documents.mentions import annotated_mentions
from ..errors import refuse, refuse_text, require_positive
from ..text.word_bags import word_bag
from .found_mentions import FoundMention


def require_docs(docs: Iterable[Doc]) -> list[Doc]:
    """Check that all items are documents.

    RETURNS (List[Doc]): The documents.
    RAISES (ConnormError): CN006 for anything else.
    """
    read = list(docs)
    for each in read:
        if not isinstance(each, Doc):
            refuse_text("docs", each, "documents, spaCy's `Doc`")
    return read


def unmarked_texts(
    docs: Iterable[Doc],
    found: Iterable[Sequence[FoundMention]],
    spans_key: str | None = None,
    *,
    min_times: int,
    max_share: float,
) -> list[str]:
    """List texts that a finder found often and annotators marked rarely.

    docs (Iterable[Doc]): Annotated documents.
    found (Iterable[Sequence[FoundMention]]): What the finder found in each.
    spans_key (Optional[str]): As for `annotated_mentions`.
    min_times (int): Texts that were found less often are left out.
    max_share (float): Texts are left out if a larger share of them overlaps an annotated mention.
    RETURNS (List[str]): The texts, the most frequent first, one for each bag of words.
    RAISES (ConnormError): CN006 for invalid numbers.
    """
    require_positive("min_times", min_times)
    if not 0 <= max_share <= 1:
        refuse("max_share", max_share, "from 0 to 1")
    written: dict[tuple[str, ...], Counter[str]] = defaultdict(Counter)
    marked: Counter[tuple[str, ...]] = Counter()
    for doc, mentions in zip(docs, found, strict=True):
        gold = {
            place
            for mention in annotated_mentions(doc, spans_key=spans_key)
            for start, end in mention.fragments
            for place in range(start, end)
        }
        for mention in mentions:
            span = doc[mention.start : mention.end]
            bag = word_bag(span.text)
            written[bag][span.text] += 1
            marked[bag] += not gold.isdisjoint(range(span.start_char, span.end_char))
    return [
        texts.most_common(1)[0][0]
        for bag, texts in sorted(written.items(), key=lambda each: -each[1].total())
        if texts.total() >= min_times and marked[bag] <= max_share * texts.total()
    ]
