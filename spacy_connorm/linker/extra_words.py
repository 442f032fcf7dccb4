"""Words that a candidate's text has and the mention lacks: "renal tubular acidosis" says more than
"kidney problems". A special concept is rarely meant by a mention that says less.
"""

from collections.abc import Collection, Iterable, Sequence
from functools import lru_cache
from math import ceil

from ..index.ranking import DIGITS, Hit, best_hits
from ..text.word_bags import word_bag

# Words that share this many first letters, and this part of the longer word, are taken for forms
# of one word: "hypertension" and "hypertensive".
_LETTERS = 4
_SHARE = 0.6

known_bag = lru_cache(maxsize=65_536)(word_bag)


def extra_share(mention: str, name: str) -> float:
    """Compute how much of a name a mention does not say.

    mention (str): The text of a mention.
    name (str): A name that was found for it.
    RETURNS (float): The share of the name's words that no word of the mention is a form of, 0 to 1.
    """
    own, words = known_bag(mention), known_bag(name)
    extra = sum(not any(_are_forms(word, each) for each in own) for word in words)
    return extra / max(len(words), 1)


def _are_forms(word: str, other: str) -> bool:
    if word == other:
        return True
    needed = max(_LETTERS, ceil(_SHARE * max(len(word), len(other))))
    return word[:needed] == other[:needed] and needed <= min(len(word), len(other))


def lower_scores(
    hits: Iterable[Hit],
    names: Sequence[str],
    mention: str,
    *,
    weight: float,
    top_k: int,
    spared: Collection[int] = (),
) -> list[Hit]:
    """Lower the scores of hits by the words that the mention lacks.

    hits (Iterable[Hit]): What a search found for a mention.
    names (Sequence[str]): The text of each hit.
    mention (str): The mention.
    weight (float): How much a name without any word of the mention loses.
    spared (Collection[int]): Members that keep their scores: they say the same in other words.
    top_k (int): How many hits to keep.
    RETURNS (List[Hit]): The best hits in their new order.
    """
    return best_hits(
        (
            hit._replace(
                distance=round(hit.distance + weight * extra_share(mention, name), DIGITS),
                text=name,
            )
            if hit.member not in spared
            else hit._replace(text=name)
            for hit, name in zip(hits, names, strict=True)
        ),
        top_k,
    )
