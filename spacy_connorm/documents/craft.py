"""CRAFT's concept annotation as JSON lines, one article per line. Mentions can be discontinuous.

    {"pmcid": "PMC13", "text": "rod and cone photoreceptors", "mentions": [
        {"spans": [[0, 3], [13, 27]], "text": "rod ... photoreceptors", "id": "CL:0000604",
         "ontology": "CL"}]}

The type of a mention is its ontology, so keeping one type keeps one ontology.
"""

import json
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

from ..errors import quote
from .document import (
    CorpusReport,
    Document,
    Place,
    make_mention,
    placed_lines,
    replace_surrogates,
    unlike,
)
from .mentions import Mention

_ELLIPSIS = " ... "
_EXPECTED = (
    "a JSON object with `text` and `mentions`, each with `spans` as [[start, end], ...], `text`, "
    "`id` and `ontology`"
)
_unlike = partial(unlike, format="CRAFT", expected=_EXPECTED)


def read_craft(path: Path, *, report: CorpusReport) -> Iterator[Document]:
    """Read the articles of a CRAFT file.

    path (Path): The file.
    report (CorpusReport): Counts problems.
    YIELDS (Document): The articles.
    RAISES (ConnormError): CN204 for a line that is not an article, and what `make_mention` and
        `placed_lines` raise.
    """
    for place, line in placed_lines(path, report=report):
        try:
            record = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise _unlike(place, error) from error
        text = _text(record, "text", place=place, report=report)
        mentions = tuple(
            _mention(mention, text=text, place=place, report=report)
            for mention in _field(record, "mentions", list, place=place)
        )
        doc_id = record.get("pmcid") or record.get("pmid") or place.line
        yield Document(str(doc_id), text, mentions)


def _mention(record: Any, *, text: str, place: Place, report: CorpusReport) -> Mention:
    return make_mention(
        text,
        _fragments(_field(record, "spans", list, place=place), place=place),
        label=_text(record, "ontology", place=place, report=report),
        ids=_text(record, "id", place=place, report=report),
        place=place,
        report=report,
        annotated=_text(record, "text", place=place, report=report).replace(_ELLIPSIS, " "),
    )


def _fragments(spans: list[Any], *, place: Place) -> list[tuple[int, int]]:
    try:
        fragments = [(start, end) for start, end in spans]
    except (TypeError, ValueError):
        fragments = []
    if not fragments or not all(type(offset) is int for pair in fragments for offset in pair):
        raise _unlike(place, f"`spans` is {quote(spans)}")
    return fragments


def _text(record: Any, key: str, *, place: Place, report: CorpusReport) -> str:
    # JSON escapes such as \ud83d become lone surrogates only here.
    return replace_surrogates(_field(record, key, str, place=place), report=report)


def _field(record: Any, key: str, expected: type, *, place: Place) -> Any:
    value = record.get(key) if isinstance(record, dict) else None
    if not isinstance(value, expected):
        raise _unlike(place, f"`{key}` is missing or invalid")
    return value
