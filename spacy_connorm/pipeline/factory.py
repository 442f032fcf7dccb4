"""What `nlp.add_pipe("concept_normalizer")` calls. spaCy imports this module whenever a pipeline is
made, so it must stay light: no torch, transformers, annoy, scikit-learn or SciPy.
"""

from collections.abc import Callable
from typing import Any

from spacy.language import Language
from thinc.api import Config, Model

from ..errors import Warnings, warn
from .concept_normalizer import ConceptNormalizer
from .settings import NormalizerSettings, Settings, with_settings

# What a normalizer is made of; its settings have their defaults in `NormalizerSettings`.
_PARTS = """
[concept_normalizer]
normalization = []

[concept_normalizer.encoder]
@architectures = "spacy-connorm.TransformerEncoder.v1"
name = "sentence-transformers/all-MiniLM-L6-v2"
pooling = "mean"

[concept_normalizer.index]
@misc = "spacy-connorm.AnnoyIndex.v1"
dtype = "int8"

[concept_normalizer.sieve]
@misc = "spacy-connorm.Sieve.v1"

[concept_normalizer.scorer]
@scorers = "spacy-connorm.concept_scorer.v1"
"""
DEFAULTS: dict[str, Any] = {
    **NormalizerSettings.defaults(),
    **Config().from_str(_PARTS)["concept_normalizer"],
}


@Language.factory(
    "concept_normalizer",
    assigns=["token.ent_kb_id", "span._.candidates", "span._.kb_ents", "span._.kb_id"],
    default_config=DEFAULTS,
    default_score_weights={
        "concept_f": 1.0,
        "concept_p": None,
        "concept_r": None,
        "concept_acc": None,
    },
)
@with_settings(NormalizerSettings)
def make_concept_normalizer(
    nlp: Language,
    name: str,
    encoder: Model,
    index: Any,
    sieve: Any,
    normalization: list[str],
    scorer: Callable | None,
    **settings: Any,
) -> ConceptNormalizer:
    normalizer = ConceptNormalizer(
        nlp.vocab,
        name,
        encoder=encoder,
        index=index,
        sieve=sieve,
        normalization=normalization,
        scorer=scorer,
        **settings,
    )
    _warn_of_rivals(nlp, normalizer)
    return normalizer


def _warn_of_rivals(nlp: Language, new: ConceptNormalizer) -> None:
    """Warn of the concept normalizers of a pipeline that write the same attributes of the same
    spans as a new one.
    """
    for other, pipe in nlp.components:
        if isinstance(pipe, ConceptNormalizer) and _are_rivals(pipe.cfg, new.cfg):
            warn(Warnings.CNW005.format(name=new.name, other=other))


def _are_rivals(one: Settings, other: Settings) -> bool:
    if any(one[key] != other[key] for key in ("attribute_prefix", "spans_key")):
        return False
    labels = one["labels"], other["labels"]
    return not all(labels) or not set(labels[0]).isdisjoint(labels[1])
