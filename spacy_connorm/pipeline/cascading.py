"""Two saved pipelines as one: the first answers where it is certain, the second otherwise."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from spacy.language import Language

from ..errors import ConnormError, Errors, quote_id
from ..files.folders import replaced, require_replaceable
from ..files.overlap import require_apart
from .concept_normalizer import ConceptNormalizer
from .loading import component_name, find_normalizer, load_pipeline
from .saving import is_pipeline, write_pipeline

if TYPE_CHECKING:
    from ..linker.lookup import ConceptLookup
    from ..linker.synonyms import ChangedSynonym

_OWN = ("encoder", "index", "sieve")
# Chosen on the dev parts of NCBI and BC5CDR, among 0.5 to 0.9.
MIN_PROBABILITY = 0.5


def cascade(
    first: str | Path,
    second: str | Path,
    output_path: str | Path,
    *,
    min_probability: float = MIN_PROBABILITY,
    component: str | None = None,
) -> Path:
    """Join two calibrated pipelines over the same ontology: `python -m spacy connorm cascade`. The
    first one's encoder reads all mentions, the second one's those of which it is not certain. All
    other settings and components are the first one's, but `nil_threshold`, which concerns uncertain
    mentions, is the second one's.

    first (Union[str, Path]): A package or a folder: the faster pipeline.
    second (Union[str, Path]): The better one.
    output_path (Union[str, Path]): The folder to make, or a pipeline's folder to replace.
    min_probability (float): Mentions whose first candidate is less likely right go to the second
        encoder, 0 to 1.
    component (Optional[str]): The concept normalizer's name, if a pipeline has several.
    RETURNS (Path): The folder.
    RAISES (ConnormError): CN011 for a pipeline that is not calibrated, CN012 for two with other
        concepts, steps of normalization or added and removed synonyms, CN013 for one that is a
        cascade already, CN121 if the output would replace an input, CN705 if something else is at
        the path, CN006 for an invalid probability, and CN700 to CN704 as `load_normalizer`.
    """
    require_apart(output_path, first, second)
    path = Path(output_path)
    require_replaceable(path, is_ours=is_pipeline)
    pipelines = [load_pipeline(first), load_pipeline(second)]
    fast, good = (find_normalizer(nlp, component=component) for nlp in pipelines)
    for name, normalizer in ((first, fast), (second, good)):
        _require_calibrated(name, normalizer)
    _require_same_concepts(fast.lookup, good.lookup, names=(first, second))
    _join(pipelines[0], fast, _settings(pipelines[1], good, min_probability), good.lookup)
    with replaced(path, is_ours=is_pipeline) as folder:
        write_pipeline(pipelines[0], folder)
    return path


def _require_calibrated(name: str | Path, normalizer: ConceptNormalizer) -> None:
    if len(normalizer.lookup.lookups) > 1:
        raise ConnormError(Errors.CN013.format(pipeline=name))
    if normalizer.cfg["calibration"] is None:
        raise ConnormError(Errors.CN011.format(pipeline=name))


def _require_same_concepts(
    first: "ConceptLookup", second: "ConceptLookup", *, names: tuple[str | Path, str | Path]
) -> None:
    steps = [list(each.normalized_encoder.normalization) for each in (first, second)]
    concepts = [
        {concept_id for concept_id, _ in index.store.labels(range(index.concept_count)).values()}
        for index in (first.index, second.index)
    ]
    reason = ""
    if steps[0] != steps[1]:
        reason = f"the steps of normalization are {steps[0]} and {steps[1]}"
    elif concepts[0] != concepts[1]:
        reason = f"only one of them has {quote_id(min(concepts[0] ^ concepts[1]))}"
    elif not _have_same_changes(first, second):
        reason = "other synonyms were added or removed since their indexes were built"
    if reason:
        raise ConnormError(Errors.CN012.format(first=names[0], second=names[1], reason=reason))


def _have_same_changes(first: "ConceptLookup", second: "ConceptLookup") -> bool:
    # An encoder takes several spellings for one, and the index tells one of them.
    both = first.changed_synonyms(), second.changed_synonyms()
    keyed = ([_keyed(each, lookup) for each in both] for lookup in (first, second))
    return any(mine == others for mine, others in keyed)


def _keyed(
    changes: "Sequence[ChangedSynonym]", lookup: "ConceptLookup"
) -> set[tuple[bytes, str, int]]:
    keys = lookup.keys(each.text for each in changes) if changes else []
    return {(key, each.concept_id, each.times) for key, each in zip(keys, changes, strict=True)}


def _settings(nlp: Language, normalizer: ConceptNormalizer, minimum: float) -> dict[str, Any]:
    """RETURNS (Dict[str, Any]): The settings of the first pipeline's component that change."""
    config = nlp.get_pipe_config(component_name(nlp, normalizer))
    return {
        "nil_threshold": normalizer.cfg["nil_threshold"],
        "cascade": {
            "@misc": "spacy-connorm.Cascade.v1",
            "min_probability": minimum,
            "calibration": normalizer.cfg["calibration"],
            **{each: config[each] for each in _OWN},
        },
    }


def _join(
    nlp: Language, normalizer: ConceptNormalizer, settings: dict[str, Any], other: "ConceptLookup"
) -> None:
    name = component_name(nlp, normalizer)
    config = {**nlp.get_pipe_config(name), **settings}
    config.pop("factory", None)
    joined: Any = nlp.replace_pipe(name, "concept_normalizer", config=config)
    for lookup, parts in zip(joined.lookup.lookups, (normalizer.lookup, other), strict=True):
        retriever = parts.retriever
        lookup.use(parts.encoder, retriever.index, retriever.overlay, retriever.memo)
