"""Names in other words: "renal disorder" for "kidney disease"."""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from itertools import combinations
from typing import NamedTuple

from .substitutions import Substitution, Words
from .word_bags import STOP_WORDS, normalized_words


class Paraphrase(NamedTuple):
    """A text in other words.

    text (str): In lower case and normalized as bags of words are.
    certainty (float): How likely it means the same, 0 to 1.
    """

    text: str
    certainty: float


class Paraphraser:
    """Replaces words of texts by others of the same meaning."""

    def __init__(
        self, substitutions: Iterable[Substitution], *, min_certainty: float = 0.0
    ) -> None:
        """substitutions (Iterable[Substitution]): Each is used in both directions. Words are
            dropped, but not added to a text that lacks them, which makes it say more.
        min_certainty (float): Leave out substitutions that are less certain.
        """
        self._others = defaultdict[Words, list[tuple[Words, float]]](list)
        for each in substitutions:
            if each.certainty < min_certainty:
                continue
            for words, others in ((each.words, each.others), (each.others, each.words)):
                if words:
                    self._others[words].append((others, each.certainty))

    def paraphrase(self, text: str) -> Iterator[Paraphrase]:
        """Put a text in other words, one substitution at a time.

        text (str): A name.
        YIELDS (Paraphrase): Its paraphrases, in no particular order; the same one may come twice.
        """
        words = normalized_words(text)
        places = [place for place, word in enumerate(words) if word not in STOP_WORDS]
        for replaced in (*((place,) for place in places), *combinations(places, 2)):
            # Some of the name must be left: this context shows that the replacement fits.
            if len(replaced) == len(places):
                continue
            known = tuple(sorted(words[place] for place in replaced))
            for others, certainty in self._others.get(known, ()):
                yield Paraphrase(" ".join(_replace(words, replaced, others)), certainty)


def _replace(words: list[str], places: tuple[int, ...], others: Words) -> Iterator[str]:
    """YIELDS (str): The words, with others in the first of the places and nothing in the rest."""
    for place, word in enumerate(words):
        if place == places[0]:
            yield from others
        elif place not in places:
            yield word
