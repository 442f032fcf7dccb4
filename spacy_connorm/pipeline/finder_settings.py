"""The settings of a mention finder."""

from typing import Annotated, Literal, Self

from pydantic import AfterValidator, Field, StrictStr, model_validator

from ..errors import refuse
from ..text.normalization import STEPS, compose
from .settings import (
    ComponentSettings,
    Count,
    Expected,
    Flag,
    Positive,
    Share,
    SpansKey,
    Texts,
    only_if,
)

# Words and phrases that ontologies of diseases have, and that name no concept by themselves.
GENERIC = (
    *("adverse event", "condition", "cord", "death", "disease", "disease progression"),
    *("disorder", "emergency", "face", "finding", "included", "recurrence", "relapse"),
    *("sign", "signs and symptoms", "symptom", "syndrome"),
)
# spaCy silently drops entities without a label.
Label = Annotated[StrictStr, only_if(bool), Expected("a text that is not empty")]
LabelsByType = Annotated[
    dict[StrictStr, StrictStr],
    only_if(lambda labels: all(labels.values())),
    Expected("labels by semantic type, none of them empty"),
]


def _known_steps(steps: list[str]) -> list[str]:
    compose(steps)
    return steps


Steps = Annotated[Texts, AfterValidator(_known_steps)]
ComponentName = Annotated[StrictStr, Expected("the name of a component")]


class FinderSettings(ComponentSettings):
    """The settings that are saved with a mention finder; docs/settings.md has them."""

    spans_key: SpansKey | None = Field(
        None, description="write to `doc.spans[spans_key]`; to `doc.ents` if null"
    )
    normalizer: ComponentName | None = Field(
        None,
        description="the name of the normalizer whose names are found; the first one if null",
    )
    derivations: Flag = Field(
        True,
        description="whether one word may be an adjective where the name has the noun: "
        '"retinal" for "retina"',
    )
    min_certainty: Share = Field(
        0.85,
        description="how certain words must be to stand for those of a name, as the ontology's own "
        'synonyms show: "cutaneous" for "skin"; 1: never',
    )
    inexact_names: Flag = Field(
        False, description="whether narrow, broad and related synonyms are found, too"
    )
    coordinations: Flag = Field(
        True, description='whether "breast and ovarian cancer" is one mention of two names'
    )
    target: Literal["O", "D", "OD"] = Field(
        "OD",
        description="which names are found: `O`, the ontology's, `D`, those of annotated documents "
        "and added synonyms, or `OD`",
    )
    overlaps: Literal["longest", "best", "all"] = Field(
        "longest",
        description="which of mentions that overlap are kept: `longest`, `best`, or `all` with a "
        "`spans_key`",
    )
    nested_mentions: Flag = Field(
        False,
        description="whether all mentions, also those inside longer ones, are in "
        '`doc.spans["mentions_all"]`, where the normalizer links them, too',
    )
    label: Label = Field("MENTION", description="the label of mentions without a semantic type")
    labels: LabelsByType | None = Field(
        None, description="labels by semantic type; null: the type itself"
    )
    max_words: Positive = Field(
        8, description="at most this many words in a mention, not counting small ones"
    )
    min_letters: Positive = Field(
        3, description="at least this many letters and digits in a mention"
    )
    short_letters: Count = Field(
        5, description="up to this many, short forms must be written exactly like a name"
    )
    stop_texts: Texts = Field(
        [*GENERIC], description='texts that are no mentions, such as "disease"'
    )
    everyday_words: Texts = Field(
        [], description="words that are mentions only in the capitals of a name"
    )
    steps: Steps = Field([*STEPS], description="what a mention may differ in from a name: steps")
    expand_abbreviations: Flag = Field(
        True, description="short forms count as the long forms that the document defines"
    )

    @model_validator(mode="after")
    def _require_place(self) -> Self:
        if self.overlaps == "all" and self.spans_key is None:
            refuse("overlaps", "all", '"longest" or "best" without a `spans_key`')
        return self
