"""The settings of a mention finder."""

from collections.abc import Mapping, Sequence
from types import NoneType
from typing import Any, TypedDict

from ..errors import refuse, require_positive
from ..text.normalization import STEPS, compose
from .settings import are_texts, require_types

OVERLAPS = ("longest", "best", "all")
FINDER_TARGETS = ("O", "D", "OD")
# Words and phrases that ontologies of diseases have, and that name no concept by themselves.
GENERIC = (
    *("adverse event", "condition", "cord", "death", "disease", "disease progression"),
    *("disorder", "emergency", "face", "finding", "included", "recurrence", "relapse"),
    *("sign", "signs and symptoms", "symptom", "syndrome"),
)


class FinderSettings(TypedDict, total=False):
    """The settings that are saved with a mention finder.

    spans_key (Optional[str]): Write to `doc.spans[spans_key]`; `doc.ents` if None.
    normalizer (Optional[str]): The name of the concept normalizer whose names are found; the first
        one in the pipeline if None.
    target (str): Which names are found: those of the ontology ("O"), those of annotated documents
        and synonyms added since ("D"), or both ("OD").
    overlaps (str): Of mentions that overlap, keep the "longest", the "best" (the longest of those
        with the best score) or, with a `spans_key`, "all".
    label (str): The label of a mention whose concept has no semantic type in `labels`.
    labels (Optional[Mapping[str, str]]): Labels by semantic type; None: the first type itself.
    max_words (int): At most how many words of a text a mention has, without stop words.
    min_letters (int): Mentions have at least so many letters and digits.
    short_letters (int): Shorter mentions must be written exactly like a name, if that is a short
        form.
    stop_texts (Sequence[str]): Texts that are no mentions.
    everyday_words (Sequence[str]): Words that are mentions only in the capitals of a name.
        `initialize` adds those of a background text.
    steps (Sequence[str]): What a mention may differ in from a name: steps of normalization. With
        fewer than all of them, names and mentions are also compared as these leave them.
    expand_abbreviations (bool): Whether a short form that the document defines counts as its long
        form. It needs an `abbreviation_resolver` earlier in the pipeline.
    derivations (bool): Whether one word may be an adjective or a Latin plural where the name has
        the noun: "retinal" for "retina". Only with all `steps`.
    inexact_names (bool): Whether synonyms are found that the ontology calls narrow, broad or
        related. They are searched for a mention anyway.
    coordinations (bool): Whether "breast and ovarian cancer" is one mention if "breast cancer" and
        "ovarian cancer" are names. Not with all overlaps.
    phrase_threshold (Optional[float]): The least cosine of the nearest name, 0 to 1, of phrases
        that are mentions though no name has their words: every phrase of up to four words that
        names have is searched. None: there are none.
    """

    spans_key: str | None
    normalizer: str | None
    target: str
    overlaps: str
    label: str
    labels: Mapping[str, str] | None
    max_words: int
    min_letters: int
    short_letters: int
    stop_texts: Sequence[str]
    everyday_words: Sequence[str]
    steps: Sequence[str]
    expand_abbreviations: bool
    derivations: bool
    inexact_names: bool
    coordinations: bool
    phrase_threshold: float | None


FINDER_DEFAULTS = FinderSettings(
    spans_key=None,
    normalizer=None,
    target="OD",
    overlaps="longest",
    label="MENTION",
    labels=None,
    max_words=8,
    min_letters=3,
    short_letters=5,
    stop_texts=[*GENERIC],
    everyday_words=[],
    steps=[*STEPS],
    expand_abbreviations=True,
    derivations=True,
    inexact_names=False,
    coordinations=True,
    phrase_threshold=None,
)

_A_SCORE = "a number from 0 to 1, or null"
_TYPES: dict[str, tuple[tuple[type, ...], str]] = {
    "spans_key": ((str, NoneType), "a key of `doc.spans`, or null"),
    "normalizer": ((str, NoneType), "the name of a component, or null"),
    "label": ((str,), "a text"),
    "max_words": ((int,), "a whole number"),
    "min_letters": ((int,), "a whole number"),
    "short_letters": ((int,), "a whole number"),
    "expand_abbreviations": ((bool,), "true or false"),
    "derivations": ((bool,), "true or false"),
    "inexact_names": ((bool,), "true or false"),
    "coordinations": ((bool,), "true or false"),
    "phrase_threshold": ((float, int, NoneType), _A_SCORE),
}


def check_finder_settings(settings: Mapping[str, Any]) -> None:
    """Refuse settings that would fail later, or silently find nothing.

    settings (Mapping[str, Any]): All settings by name.
    RAISES (ConnormError): CN006 for the first that is invalid, CN920 for an unknown step.
    """
    for setting in settings:
        if setting not in FINDER_DEFAULTS:
            refuse("settings", setting, f"one of {', '.join(FINDER_DEFAULTS)}")
    require_types(settings, _TYPES)
    for setting in ("stop_texts", "everyday_words", "steps"):
        if not are_texts(settings[setting]):
            refuse(setting, settings[setting], "a list of texts")
    # spaCy silently drops entities without a label.
    if not settings["label"]:
        refuse("label", settings["label"], "a text that is not empty")
    labels = settings["labels"]
    if labels is not None and not _are_labels(labels):
        refuse("labels", labels, "labels by semantic type, none of them empty, or null")
    if settings["target"] not in FINDER_TARGETS:
        refuse("target", settings["target"], f"one of {', '.join(FINDER_TARGETS)}")
    if settings["overlaps"] not in OVERLAPS:
        refuse("overlaps", settings["overlaps"], f"one of {', '.join(OVERLAPS)}")
    if settings["overlaps"] == "all" and settings["spans_key"] is None:
        refuse("overlaps", "all", '"longest" or "best" without a `spans_key`')
    for setting in ("max_words", "min_letters"):
        require_positive(setting, settings[setting])
    threshold = settings["phrase_threshold"]
    if threshold is not None and not 0 <= threshold <= 1:
        refuse("phrase_threshold", threshold, _A_SCORE)
    if settings["short_letters"] < 0:
        refuse("short_letters", settings["short_letters"], "at least 0")
    compose(settings["steps"])


def _are_labels(value: Any) -> bool:
    if not isinstance(value, Mapping):
        return False
    return are_texts([*value, *value.values()]) and all(value.values())
