"""What `nlp.add_pipe("concept_normalizer")` calls. spaCy imports this module whenever a pipeline is
made, so it must stay light: no torch, transformers, annoy, scikit-learn or SciPy.
"""

from collections.abc import Callable
from typing import Any

from spacy.language import Language
from thinc.api import Config, Model

from ..errors import Warnings, warn
from .concept_normalizer import ConceptNormalizer

DEFAULT_CONFIG = """
[concept_normalizer]
spans_key = null
labels = null
attribute_prefix = ""
top_k = 10
nil_threshold = null
calibration = null
expand_abbreviations = true
split_composites = true
rewriting_weight = 0.5
normalization = []
extra_words_weight = 0.0
types = []
branches = []
code_systems = []
prefixes = {}
kb_url_template = null
memo_size = 10000
cache_size = 10000

[concept_normalizer.encoder]
@architectures = "spacy-connorm.TransformerEncoder.v1"
name = "sentence-transformers/all-MiniLM-L6-v2"
pooling = "mean"

[concept_normalizer.index]
@misc = "spacy-connorm.AnnoyIndex.v1"
exact_below = 300000
dtype = "int8"

[concept_normalizer.sieve]
@misc = "spacy-connorm.Sieve.v1"
searches = ["D-T", "OD-T"]
thresholds = [0.98]

[concept_normalizer.scorer]
@scorers = "spacy-connorm.concept_scorer.v1"
"""


@Language.factory(
    "concept_normalizer",
    assigns=["token.ent_kb_id", "span._.candidates", "span._.kb_ents", "span._.kb_id"],
    default_config=Config().from_str(DEFAULT_CONFIG)["concept_normalizer"],
    default_score_weights={
        "concept_f": 1.0,
        "concept_p": None,
        "concept_r": None,
        "concept_acc": None,
    },
)
def make_concept_normalizer(
    nlp: Language,
    name: str,
    encoder: Model,
    index: Any,
    sieve: Any,
    spans_key: str | None,
    labels: list[str] | None,
    attribute_prefix: str,
    top_k: int,
    nil_threshold: float | None,
    calibration: dict[str, float] | None,
    expand_abbreviations: bool,
    split_composites: bool,
    rewriting_weight: float,
    normalization: list[str],
    extra_words_weight: float,
    types: list[str],
    branches: list[str],
    code_systems: list[str],
    prefixes: dict[str, str],
    kb_url_template: str | None,
    memo_size: int,
    cache_size: int,
    scorer: Callable | None,
) -> ConceptNormalizer:
    mine = {"attribute_prefix": attribute_prefix, "spans_key": spans_key, "labels": labels}
    _warn_of_rivals(nlp, name, mine)
    return ConceptNormalizer(
        nlp.vocab,
        name,
        encoder=encoder,
        index=index,
        sieve=sieve,
        spans_key=spans_key,
        labels=labels,
        attribute_prefix=attribute_prefix,
        top_k=top_k,
        nil_threshold=nil_threshold,
        calibration=calibration,
        expand_abbreviations=expand_abbreviations,
        split_composites=split_composites,
        rewriting_weight=rewriting_weight,
        normalization=normalization,
        extra_words_weight=extra_words_weight,
        types=types,
        branches=branches,
        code_systems=code_systems,
        prefixes=prefixes,
        kb_url_template=kb_url_template,
        memo_size=memo_size,
        cache_size=cache_size,
        scorer=scorer,
    )


def _warn_of_rivals(nlp: Language, name: str, mine: dict[str, Any]) -> None:
    """Warn of the concept normalizers of a pipeline that write the same attributes of the same
    spans as a new one.
    """
    for other, pipe in nlp.components:
        if isinstance(pipe, ConceptNormalizer) and _are_rivals(pipe.cfg, mine):
            warn(Warnings.CNW005.format(name=name, other=other))


def _are_rivals(one: dict[str, Any], other: dict[str, Any]) -> bool:
    if any(one[key] != other[key] for key in ("attribute_prefix", "spans_key")):
        return False
    labels = one["labels"], other["labels"]
    return not all(labels) or not set(labels[0]).isdisjoint(labels[1])
