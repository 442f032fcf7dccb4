"""Words that a candidate's text has and the mention lacks: "renal tubular acidosis" says more than
"kidney problems". A special concept is rarely meant by a mention that says less.
"""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from math import ceil

from ..index.search import DIGITS, Hit, Search, best_hits
from ..text.word_bags import word_bag
from .rescoring import SearchedTexts

# How many concepts are found for a mention before their scores are lowered.
_MIN_FOUND = 25
# Words that share this many first letters, and this part of the longer word, are taken for forms
# of one word: "hypertension" and "hypertensive".
_LETTERS = 4
_SHARE = 0.6

known_bag = lru_cache(maxsize=65_536)(word_bag)


class ExtraWords:
    """A `Rescorer` that lowers the scores of names by their words that a mention lacks. Mentions
    that the index has are left alone: their own name comes first anyway.
    """

    def __init__(self, batch: SearchedTexts, weight: float) -> None:
        """batch (SearchedTexts): The mentions.
        weight (float): How much a name without any word of the mention loses.
        """
        batch.depth = max(batch.depth, _MIN_FOUND)
        self._batch = batch
        self._weight = weight

    def __call__(
        self, search: Search, places: Sequence[int], found: list[list[Hit]]
    ) -> list[list[Hit]]:
        """RETURNS (List[List[Hit]]): The hits in their new order; see `Rescorer`."""
        if search.representation != "T":
            return found
        texts = self._batch.index.store.texts(
            hit.member for hits in found for hit in hits if hit.member >= 0
        )
        return [
            hits if self._batch.rows[place] >= 0 else self._lowered(place, hits, texts)
            for place, hits in zip(places, found, strict=True)
        ]

    def _lowered(self, place: int, hits: Sequence[Hit], texts: Mapping[int, str]) -> list[Hit]:
        mention, spared = self._batch.texts[place], self._batch.same_meaning[place]
        lowered = []
        for hit in hits:
            name, distance = texts.get(hit.member) or hit.text, hit.distance
            if hit.member not in spared:
                distance = round(distance + self._weight * extra_share(mention, name), DIGITS)
            lowered.append(hit._replace(distance=distance, text=name))
        return best_hits(lowered, self._batch.depth)


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
