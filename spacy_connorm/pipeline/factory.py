"""The functions that `nlp.add_pipe` calls for each component. spaCy imports this module whenever it
creates a pipeline, so it must stay light: the class of a component is imported only when one is
added.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from spacy.language import Language
from thinc.api import Model

from ..errors import Warnings
from .presets import ADD_PIPE
from .settings import (
    AssertionSettings,
    FinderSettings,
    NormalizerSettings,
    ResolverSettings,
    Settings,
    with_settings,
)

if TYPE_CHECKING:
    from .abbreviation_resolver import AbbreviationResolver
    from .assertion_marker import AssertionMarker
    from .concept_normalizer import ConceptNormalizer
    from .mention_finder import MentionFinder
    from .mention_marker import MentionMarker

DEFAULTS: dict[str, Any] = {**NormalizerSettings.defaults(), **ADD_PIPE}


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
    scorer: Callable | None,
    **settings: Any,
) -> "ConceptNormalizer":
    from ..encoders.protocol import shim_of
    from .concept_normalizer import ConceptNormalizer
    from .mention_sources import record_pipeline

    normalizer = ConceptNormalizer(
        nlp.vocab,
        name,
        encoder=encoder,
        index=index,
        sieve=sieve,
        scorer=scorer,
        **settings,
    )
    record_pipeline(normalizer, nlp)
    shim_of(encoder).attach(nlp.get_pipe)
    for other, pipe in nlp.components:
        if isinstance(pipe, ConceptNormalizer) and _write_the_same(pipe.cfg, normalizer.cfg):
            Warnings.CNW005.warn(name=name, other=other)
    return normalizer


def _write_the_same(one: Settings, other: Settings) -> bool:
    if any(one[key] != other[key] for key in ("attribute_prefix", "spans_key")):
        return False
    labels = one["labels"], other["labels"]
    return not all(labels) or not set(labels[0]).isdisjoint(labels[1])


@Language.factory(
    "mention_finder",
    assigns=["doc.ents", "doc.spans", "span._.matched_name"],
    default_config=FinderSettings.defaults(),
)
@with_settings(FinderSettings)
def make_mention_finder(nlp: Language, name: str, **settings: Any) -> "MentionFinder":
    from .mention_finder import MentionFinder

    return MentionFinder(nlp, name, **settings)


@Language.factory(
    "abbreviation_resolver",
    assigns=["doc._.abbreviations", "span._.long_form"],
    default_config=ResolverSettings.defaults(),
)
@with_settings(ResolverSettings)
def make_abbreviation_resolver(nlp: Language, name: str, **settings: Any) -> "AbbreviationResolver":
    from .abbreviation_resolver import AbbreviationResolver

    return AbbreviationResolver(name, lang=nlp.vocab.lang, **settings)


@Language.factory(
    "assertion_marker",
    assigns=[
        *("span._.negex", "span._.possible", "span._.family", "span._.history"),
        "span._.possibility",
    ],
    default_config=AssertionSettings.defaults(),
)
@with_settings(AssertionSettings)
def make_assertion_marker(nlp: Language, name: str, **settings: Any) -> "AssertionMarker":
    from .assertion_marker import AssertionMarker

    return AssertionMarker(nlp, name, **settings)


@Language.factory("corrected_mentions", assigns=["doc.ents", "doc.spans"])
def make_mention_marker(nlp: Language, name: str) -> "MentionMarker":
    from .mention_marker import MentionMarker

    return MentionMarker(nlp, name)
