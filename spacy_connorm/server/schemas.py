"""The bodies of requests."""

import re
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, StrictBool, StrictInt, StrictStr

_SURROGATE = re.compile("[\ud800-\udfff]")
Ids = Annotated[list[StrictStr], Field(max_length=100)]
Label = Annotated[StrictStr, Field(max_length=100)]
Author = Annotated[StrictStr, Field(max_length=100)]


class Body(BaseModel):
    """Unknown fields are an error."""

    model_config = ConfigDict(extra="forbid")


class MentionBody(Body):
    """A mention that is known: its start, its end (characters) and its label."""

    start: StrictInt
    end: StrictInt
    label: Label = ""


class TextBody(Body):
    """A text, and mentions that are known. The pipeline may find more."""

    text: StrictStr
    mentions: list[MentionBody] | None = None


class AnnotateBody(Body):
    """Texts to annotate."""

    texts: list[StrictStr | TextBody]


class SearchBody(Body):
    """Mentions to search for, and as `connorm search` has them: one search instead of the sieve, at
    most how many candidates, only these semantic types, only at or below these concepts.
    """

    mentions: list[StrictStr]
    search: StrictStr | None = None
    top_k: Annotated[StrictInt, Field(ge=1, le=100)] | None = None
    types: Ids | None = None
    branches: Ids | None = None


class ExplainBody(Body):
    """A mention to explain. With the text that it stands in and its first character there, its long
    form is read, too.
    """

    mention: StrictStr
    text: StrictStr = ""
    start: StrictInt = 0


class CorrectionBody(Body):
    """What a mention denotes: a concept id, ids joined by "|", or "NIL". `marked` says that the
    pipeline had not found it so, `replaces` what it had found instead.
    """

    text: StrictStr
    start: StrictInt
    end: StrictInt
    kb_id: Annotated[StrictStr, Field(min_length=1, max_length=1000)]
    label: Label = ""
    marked: StrictBool = False
    replaces: tuple[StrictInt, StrictInt] | None = None
    author: Author = ""


class UndoBody(Body):
    """Who takes a correction back."""

    author: Author = ""


class DecisionBody(Body):
    """What a term means: a concept id, or "NIL", and how: one of SKOS's predicates. `version` is
    that of the row that was seen.
    """

    version: Annotated[StrictStr, Field(max_length=100)]
    concept: Annotated[StrictStr, Field(min_length=1, max_length=1000)]
    predicate: Annotated[StrictStr, Field(max_length=100)] = "skos:exactMatch"
    author: Author = ""


class TakeBackBody(Body):
    """Who takes a decision back. `version` is that of the row that was seen."""

    version: Annotated[StrictStr, Field(max_length=100)]
    author: Author = ""


def storable(text: str) -> str:
    """Replace lone surrogates, which JSON can write and spaCy can't store.

    RETURNS (str): Lone surrogates, which JSON can write and spaCy can't store, one for one.
    """
    return _SURROGATE.sub("\ufffd", text)
