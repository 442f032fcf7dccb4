"""How the papers prepare a mention before it is looked up (BioSyn's scripts, whose numbers Xu and
Bethard 2021 compare themselves with): for comparison with their numbers and for nothing else, since
it looks at the gold standard.

Of what they do this does the mention's side. They treat the dictionary's names alike; an index is
as it was built, so that takes one that was built with steps of normalization to the same end.
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
    """Tell which texts the papers look up for a mention: its short forms are replaced, then it is
    split if that gives as many parts as there are gold ids, then letters are made small, and runs
    of space and punctuation one space.

    mention (str): As annotated.
    gold_ids (Sequence[str]): Those of `biosyn_ids`. Their number decides whether it is split.
    long_forms (Mapping[str, str]): Of the short forms that its abstract defines.
    RETURNS (Tuple[str, ...]): The parts of a composite, or the one text.
    """
    expanded = expand(mention, long_forms)
    ways = split_composite(expanded) if len(gold_ids) > 1 else []
    parts = next((way for way in ways if len(way) == len(gold_ids)), (expanded,))
    return tuple(map(_fold, parts))


def biosyn_ids(gold_ids: Sequence[str]) -> tuple[str, ...]:
    """RETURNS (Tuple[str, ...]): The gold ids without those of OMIM, unless there are no others."""
    return tuple(each for each in gold_ids if not each.startswith(_OMIM)) or tuple(gold_ids)


def _fold(text: str) -> str:
    lowered = text.lower()
    # A mention of nothing but punctuation is still looked up.
    return _GAPS.sub(" ", lowered).strip() or lowered
