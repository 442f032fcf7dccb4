"""The settings of a concept normalizer."""

import sys
from collections.abc import Iterable, Mapping, Sequence
from numbers import Integral, Real
from types import NoneType
from typing import Any, TypedDict

from ..concepts.curies import PREFIXES
from ..errors import refuse, require_positive
from ..index.metrics import COSINE


class Settings(TypedDict, total=False):
    """The settings that are saved with a concept normalizer.

    spans_key (Optional[str]): Normalize `doc.spans[spans_key]`; `doc.ents` if None.
    labels (Optional[Sequence[str]]): Only spans with these labels; all if None or empty.
    attribute_prefix (str): Prefix of `candidates`, `kb_id` and `kb_ents` in `span._`. A normalizer
        with a prefix does not write `span.kb_id_`.
    top_k (int): At most how many candidates of a span; of a composite, of each part.
    nil_threshold (Optional[float]): A lower best score makes "NIL"; None: never. From -1 to 1, or
        any number if scores are inner products.
    calibration (Optional[Mapping[str, float]]): Turns scores into probabilities; fitted by
        `connorm evaluate --calibrate`.
    expand_abbreviations (bool): Whether to search for the long form of a mention if its document
        defines one, and to add it to D beside the short form; see `annotations.abbreviations`.
    split_composites (bool): Whether a mention such as "breast and ovarian cancer" gets the ids of
        its parts if these link better than the whole; see `linker.interpretations`.
    extra_words_weight (float): How much a score is lowered if the mention has none of the words of
        the name that was found, less if it has some; see `linker.extra_words`. 0 for not at all.
    rewriting_weight (float): How far a name's cosine is raised towards 1 if the mention becomes it
        by substitutions of words: the noun for its adjective, or those of the table of the index,
        if it has one; 0 to 1.
    types (Sequence[str]): Find only concepts of these semantic types; all if empty.
    branches (Sequence[str]): Find only concepts at or below these; all if empty.
    code_systems (Sequence[str]): Add the codes that candidates have in these vocabularies, such as
        "ICD10CM", as far as the ontology has cross-references to them.
    prefixes (Mapping[str, str]): Prefixes of your own, for ids that come in and for `code_systems`;
        see `curies.PrefixMap.extended`.
    kb_url_template (Optional[str]): A link with `{}` for the id, for displaCy.
    memo_size (int): How many texts of the index, those of D first, get their answers when it is
        built; see `linker.memo`. 0 for none.
    cache_size (int): How many other answers to keep while the pipeline runs. 0 for none.
    """

    spans_key: str | None
    labels: Sequence[str] | None
    attribute_prefix: str
    top_k: int
    nil_threshold: float | None
    calibration: Mapping[str, float] | None
    expand_abbreviations: bool
    split_composites: bool
    extra_words_weight: float
    rewriting_weight: float
    types: Sequence[str]
    branches: Sequence[str]
    code_systems: Sequence[str]
    prefixes: Mapping[str, str]
    kb_url_template: str | None
    memo_size: int
    cache_size: int


class Limits(TypedDict, total=False):
    """Settings that one call can override; None keeps a setting.

    top_k (Optional[int]): At most how many candidates.
    types (Optional[Sequence[str]]): Find only concepts of these semantic types.
    branches (Optional[Sequence[str]]): Find only concepts at or below these.
    """

    top_k: int | None
    types: Sequence[str] | None
    branches: Sequence[str] | None


DEFAULTS = Settings(
    spans_key=None,
    labels=None,
    attribute_prefix="",
    top_k=10,
    nil_threshold=None,
    calibration=None,
    expand_abbreviations=True,
    split_composites=True,
    extra_words_weight=0.0,
    rewriting_weight=0.5,
    types=(),
    branches=(),
    code_systems=(),
    prefixes={},
    kb_url_template=None,
    memo_size=10_000,
    cache_size=10_000,
)


_LARGEST = sys.float_info.max
# spaCy's config checks these, but not the settings that are saved beside an index.
_TYPES: dict[str, tuple[tuple[type, ...], str]] = {
    "spans_key": ((str, NoneType), "a key of `doc.spans`, or null"),
    "attribute_prefix": ((str,), "a text"),
    "top_k": ((int,), "a whole number"),
    "nil_threshold": ((float, int, NoneType), "a score, or null"),
    "expand_abbreviations": ((bool,), "true or false"),
    "split_composites": ((bool,), "true or false"),
    "extra_words_weight": ((float, int), "a number from 0 to 1"),
    "rewriting_weight": ((float, int), "a number from 0 to 1"),
    "kb_url_template": ((str, NoneType), "a link with {} in the place of the id"),
    "memo_size": ((int,), "a whole number"),
    "cache_size": ((int,), "a whole number"),
}


def require_types(
    settings: Mapping[str, Any], types: Mapping[str, tuple[tuple[type, ...], str]]
) -> None:
    """Refuse settings of another type. To Python, true and false are whole numbers: here they are
    not.

    settings (Mapping[str, Any]): All settings by name.
    types (Mapping[str, Tuple[Tuple[type, ...], str]]): By name the types, and what is expected.
    RAISES (ConnormError): CN006 for the first that is invalid.
    """
    for setting, (allowed, expected) in types.items():
        value = settings[setting]
        if not isinstance(value, allowed) or (isinstance(value, bool) and bool not in allowed):
            refuse(setting, value, expected)


def check_settings(settings: dict[str, Any], *, metric: str = COSINE) -> None:
    """Refuse settings that would fail later, or silently find nothing.

    settings (Dict[str, Any]): All settings by name.
    metric (str): Of the index: what scores are.
    RAISES (ConnormError): CN006 for the first that is invalid.
    """
    require_types(settings, _TYPES)
    check_labels(settings["labels"])
    for setting, value in (
        ("types", settings["types"]),
        ("branches", settings["branches"]),
        ("code_systems", settings["code_systems"]),
    ):
        if not are_texts(value):
            refuse(setting, settings[setting], "a list of texts")
    if not _are_prefixes(settings["prefixes"]):
        refuse("prefixes", settings["prefixes"], 'texts by prefix, e.g. {"MSH2019": "MESH"}')
    require_positive("top_k", settings["top_k"])
    for setting in ("memo_size", "cache_size"):
        if settings[setting] < 0:
            refuse(setting, settings[setting], "at least 0")
    for setting in ("extra_words_weight", "rewriting_weight"):
        if not 0 <= settings[setting] <= 1:
            refuse(setting, settings[setting], "a number from 0 to 1")
    check_nil_threshold(settings["nil_threshold"], metric=metric)
    prefix = settings["attribute_prefix"]
    if prefix and not prefix.isidentifier():
        refuse("attribute_prefix", prefix, "the beginning of a Python name, e.g. 'mesh_'")
    template = settings["kb_url_template"]
    if template is not None and not _is_template(template):
        refuse("kb_url_template", template, "a link with {} in the place of the id")


def check_arguments(*, index: Any, sieve: Any, settings: Iterable[str]) -> None:
    """Refuse unknown settings, and anything but an index and a sieve: config validation lets any
    object through.

    index (Any): Must be a `Backend`.
    sieve (Any): Must be a `Sieve`.
    settings (Iterable[str]): Names of settings.
    RAISES (ConnormError): CN006.
    """
    for name in settings:
        if name not in DEFAULTS:
            refuse("settings", name, f"one of {', '.join(DEFAULTS)}")
    if not hasattr(index, "build") or not hasattr(index, "open"):
        refuse("index", index, 'an index, e.g. {"@misc": "spacy-connorm.ExactIndex.v1"}')
    if not hasattr(sieve, "searches") or not hasattr(sieve, "thresholds"):
        refuse("sieve", sieve, 'a sieve, e.g. {"@misc": "spacy-connorm.Sieve.v1"}')


def choose_limits(settings: Mapping[str, Any], limits: Limits) -> dict[str, Any]:
    """Override settings with the limits of a call.

    settings (Mapping[str, Any]): All settings by name.
    limits (Limits): Limits that are None keep the setting.
    RETURNS (Dict[str, Any]): All of `Limits`.
    RAISES (ConnormError): CN006 for an unknown limit, a `top_k` that is no whole number or under 1,
        and `types` and `branches` that are no lists of texts: also those of settings, which may
        have been changed in `cfg`.
    """
    chosen = {name: settings[name] for name in Limits.__annotations__}
    for name, value in limits.items():
        if name not in chosen:
            refuse("limits", name, f"one of {', '.join(chosen)}")
        if value is not None:
            chosen[name] = value
    if not isinstance(chosen["top_k"], Integral):
        refuse("top_k", chosen["top_k"], "a whole number")
    require_positive("top_k", int(chosen["top_k"]))
    for name in ("types", "branches"):
        chosen[name] = _read_texts(name, chosen[name])
    chosen["branches"] = [known_id(each, settings) for each in chosen["branches"]]
    return chosen


def check_labels(labels: Any) -> None:
    """RAISES (ConnormError): CN006 for labels that are neither a list of texts nor None: the
    letters of a text would be labels.
    """
    if not are_texts(labels or ()):
        refuse("labels", labels, "a list of texts")


def check_nil_threshold(threshold: Any, *, metric: str) -> None:
    """Refuse what is no score, and no None.

    threshold (Any): The setting.
    metric (str): Of the index: what scores are.
    RAISES (ConnormError): CN006.
    """
    limit = 1.0 if metric == COSINE else _LARGEST
    is_number = isinstance(threshold, Real) and not isinstance(threshold, bool)
    if threshold is not None and not (is_number and -limit <= threshold <= limit):
        expected = "a cosine, from -1 to 1" if limit == 1 else "a finite number"
        refuse("nil_threshold", threshold, f"{expected}, or null")


def known_id(concept_id: str, settings: Mapping[str, Any]) -> str:
    """Write an id that comes in without the user's own prefixes. Indexes know all other spellings.

    concept_id (str): An id.
    settings (Mapping[str, Any]): All settings by name.
    RETURNS (str): The id.
    """
    prefixes = settings["prefixes"]
    return (prefixes and PREFIXES.extended(prefixes).curie(concept_id)) or concept_id


def _read_texts(name: str, value: Any) -> list[str]:
    texts = list(value) if isinstance(value, Iterable) and not isinstance(value, str) else value
    if not are_texts(texts):
        refuse(name, value, "a list of texts")
    return texts


def are_texts(value: Any) -> bool:
    """RETURNS (bool): Whether a setting is a list of texts, and no single text."""
    return (
        isinstance(value, Sequence)
        and not isinstance(value, str)
        and all(isinstance(each, str) for each in value)
    )


def _are_prefixes(value: Any) -> bool:
    if not isinstance(value, Mapping):
        return False
    return all(isinstance(each, str) and each for pair in value.items() for each in pair)


def _is_template(template: str) -> bool:
    # displaCy uses `str.format`, where other braces mean something else.
    try:
        return template.format("C1") != template
    except (ValueError, IndexError, KeyError):
        return False
