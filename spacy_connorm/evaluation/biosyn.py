"""BioSyn's preprocessing of mentions, which Xu and Bethard 2021 compare their numbers with. Use it
for such comparisons only: it looks at the gold standard.

BioSyn preprocesses the names of the dictionary too. For that, build an index with the matching
normalization steps.
"""

import re
from collections.abc import Mapping, Sequence

from ..text.composites import split_composite
from ..text.expansion import expand

_OMIM = "OMIM:"
_GAPS = re.compile(r"[\W_]+")


def biosyn_texts(
    mention: str, gold_ids: Sequence[str], long_forms: Mapping[str, str]
) -> tuple[str, ...]:
    """Make the texts to search for a mention: abbreviations are expanded, the mention is split if
    that gives as many parts as gold ids, letters are lower-cased, and runs of space and punctuation
    become one space.

    mention (str): The text as annotated.
    gold_ids (Sequence[str]): The ids from `biosyn_ids`; their number decides whether to split.
    long_forms (Mapping[str, str]): The abstract's abbreviations, short forms to long forms.
    RETURNS (Tuple[str, ...]): The parts of a composite, or the one text.
    """
    expanded = expand(mention, long_forms)
    ways = split_composite(expanded) if len(gold_ids) > 1 else []
    parts = next((way for way in ways if len(way) == len(gold_ids)), (expanded,))
    return tuple(map(_fold, parts))


def biosyn_ids(gold_ids: Sequence[str]) -> tuple[str, ...]:
    """gold_ids (Sequence[str]): The gold ids of a mention.
    RETURNS (Tuple[str, ...]): The ids that are not OMIM's; all if OMIM's are the only ones.
    """
    return tuple(each for each in gold_ids if not each.startswith(_OMIM)) or tuple(gold_ids)


def _fold(text: str) -> str:
    lowered = text.lower()
    # A mention of nothing but punctuation is still searched.
    return _GAPS.sub(" ", lowered).strip() or lowered
