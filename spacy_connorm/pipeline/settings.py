"""What the settings of a concept normalizer may be; types are checked by spaCy's config."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypedDict

from ..errors import refuse, require_positive


class Settings(TypedDict, total=False):
    """The settings that a concept normalizer keeps when it is saved.

    spans_key (Optional[str]): Normalize `doc.spans[spans_key]`; `doc.ents` if None.
    labels (Optional[Sequence[str]]): Only spans with these labels; all if None or empty.
    attribute_prefix (str): Stands before `candidates`, `kb_id` and `kb_ents` in `span._`. A
        normalizer with a prefix leaves `span.kb_id_` to the one without.
    top_k (int): Most candidates kept for a span; of a composite, for each part.
    nil_threshold (Optional[float]): A best score under it makes "NIL"; None: never.
    calibration (Optional[Mapping[str, float]]): Turns scores into probabilities; what
        `connorm evaluate --calibrate` fitted.
    expand_abbreviations (bool): Whether the long form of a mention is looked up where its document
        defines one, and put beside the short one in D; see `definitions`.
    split_composites (bool): Whether a mention such as "breast and ovarian cancer" gets the ids of
        its parts if these link better than the whole; see `readings`.
    types (Sequence[str]): Find only concepts of these semantic types; all if empty.
    branches (Sequence[str]): Find only concepts at or below these; all if empty.
    kb_url_template (Optional[str]): A link with `{}` for the id, for displaCy.
    memo_size (int): Texts of the index whose answers are worked out when it is built, those of D
        first; see `memo`. 0 for none.
    cache_size (int): Answers kept, while the pipeline runs, of texts that were searched for. 0 for
        none.
    """

    spans_key: str | None
    labels: Sequence[str] | None
    attribute_prefix: str
    top_k: int
    nil_threshold: float | None
    calibration: Mapping[str, float] | None
    expand_abbreviations: bool
    split_composites: bool
    types: Sequence[str]
    branches: Sequence[str]
    kb_url_template: str | None
    memo_size: int
    cache_size: int


class Limits(TypedDict, total=False):
    """Settings that one call can replace; None leaves them as they are.

    top_k (Optional[int]): As in `Settings`, as are the others.
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
    types=(),
    branches=(),
    kb_url_template=None,
    memo_size=10_000,
    cache_size=10_000,
)


def check_settings(settings: dict[str, Any]) -> None:
    """Refuse settings that could only fail later, or silently find nothing.

    settings (Dict[str, Any]): By name; those not named here are passed over.
    RAISES (ConnormError): CN006 for the first that will not do.
    """
    require_positive("top_k", settings["top_k"])
    for setting in ("memo_size", "cache_size"):
        if settings[setting] < 0:
            refuse(setting, settings[setting], "at least 0")
    threshold = settings["nil_threshold"]
    if threshold is not None and not -1 <= threshold <= 1:
        refuse("nil_threshold", threshold, "a cosine, from -1 to 1, or null")
    prefix = settings["attribute_prefix"]
    if prefix and not prefix.isidentifier():
        refuse("attribute_prefix", prefix, "the beginning of a Python name, e.g. 'mesh_'")
    template = settings["kb_url_template"]
    if template is not None and not _is_template(template):
        refuse("kb_url_template", template, "a link with {} in the place of the id")


def check_arguments(*, index: Any, sieve: Any, settings: Iterable[str]) -> None:
    """Refuse what is not an index or a sieve, since config validation lets any object through, and
    settings that there are not, which would do nothing.

    index (Any): Must be a `Backend`.
    sieve (Any): Must be a `Sieve`.
    settings (Iterable[str]): Names of `Settings`.
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
    """Put the limits of a call in the place of those of the settings.

    settings (Mapping[str, Any]): By name.
    limits (Limits): Those that are None stay as in the settings.
    RETURNS (Dict[str, Any]): All of `Limits`.
    RAISES (ConnormError): CN006 for limits that there are not, and for one name in no list, whose
        letters would each be a name.
    """
    chosen = {name: settings[name] for name in Limits.__annotations__}
    for name, value in limits.items():
        if name not in chosen:
            refuse("limits", name, f"one of {', '.join(chosen)}")
        if isinstance(value, str):
            refuse(name, value, "a list of texts")
        if value is not None:
            chosen[name] = value
    return chosen


def as_pairs(synonyms: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
    """Collect synonyms, refusing what would come apart wrongly, such as one pair in no list.

    synonyms (Iterable[Tuple[str, str]]): Texts and concept ids.
    RETURNS (List[Tuple[str, str]]): The same.
    RAISES (ConnormError): CN006.
    """
    pairs = list(synonyms)
    for pair in pairs:
        is_pair = isinstance(pair, (tuple, list)) and len(pair) == 2
        if not is_pair or not all(isinstance(each, str) for each in pair):
            refuse("synonyms", pair, "pairs of a text and a concept id")
    return pairs


def _is_template(template: str) -> bool:
    # displaCy gives the id to `str.format`, where other braces mean something else.
    try:
        return template.format("C1") != template
    except (ValueError, IndexError, KeyError):
        return False
