"""Texts that are not mentions: those of a file, and names in the ontology that annotators do not
mark, such as "gene" and "patient".
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path

from spacy.tokens import Doc

from ..documents.mentions import annotated_mentions
from ..errors import refuse_text, require_range
from ..files.text import read_lines
from ..text.words import Words
from .found_mentions import FoundMention


def read_stop_list(path: str | Path) -> list[str]:
    """Read a list of texts that are never mentions.

    path (Union[str, Path]): A file with one text per line.
    RETURNS (List[str]): The texts.
    RAISES (ConnormError): CN100, CN105, CN106 and CN107 for a file that can't be read.
    """
    return [text for _, line in read_lines(path) if (text := line.strip())]


def require_docs(docs: Iterable[Doc]) -> list[Doc]:
    """Check that all items are documents.

    RETURNS (List[Doc]): The documents.
    RAISES (ConnormError): CN006 for anything else.
    """
    read = list(docs)
    for doc in read:
        if not isinstance(doc, Doc):
            refuse_text("docs", doc, "documents, spaCy's `Doc`")
    return read


def unmarked_texts(
    docs: Iterable[Doc],
    found: Iterable[Sequence[FoundMention]],
    words: Words,
    spans_key: str | None = None,
    *,
    min_times: int,
    max_share: float,
) -> list[str]:
    """List texts that a finder found often and annotators marked rarely.

    docs (Iterable[Doc]): Annotated documents.
    found (Iterable[Sequence[FoundMention]]): What the finder found in each.
    words (Words): Reads the words of their language.
    spans_key (Optional[str]): As for `annotated_mentions`.
    min_times (int): Texts that were found less often are left out.
    max_share (float): Texts are left out if a larger share of them overlaps an annotated mention.
    RETURNS (List[str]): The texts, the most frequent first, one for each bag of words.
    RAISES (ConnormError): CN006 for invalid numbers.
    """
    require_range(least=1, min_times=min_times)
    require_range(least=0, most=1, max_share=max_share)
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
            bag = words.bag(span.text)
            written[bag][span.text] += 1
            marked[bag] += not gold.isdisjoint(range(span.start_char, span.end_char))
    return [
        texts.most_common(1)[0][0]
        for bag, texts in sorted(written.items(), key=lambda item: -item[1].total())
        if texts.total() >= min_times and marked[bag] <= max_share * texts.total()
    ]
