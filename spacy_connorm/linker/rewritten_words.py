"""Names that mentions become when words are replaced by others that mean the same."""

from collections.abc import Sequence

import numpy as np

from ..index.backends.protocol import rescore
from ..index.rewriting import Rewritten, rewrite
from ..index.search import Hit, Search, best_hits, rounded
from ..index.searching import IndexTexts, with_parts
from ..text.characters import are_opposite, has_sign
from .extra_words import known_bag
from .rescoring import SearchedTexts

# Names that a text becomes by less certain substitutions are not looked at.
_MIN_CERTAINTY = 0.3


class RewrittenWords:
    """A `Rescorer` that raises the scores of names that say the same as a mention in other words.
    Mentions that the index has are left alone.
    """

    def __init__(self, batch: SearchedTexts, weight: float) -> None:
        """batch (SearchedTexts): The mentions.
        weight (float): How far certain substitutions raise a cosine towards 1, 0 to 1.
        """
        self._batch = batch
        self._names: dict[int, Rewritten] = {}
        for place in np.flatnonzero(batch.rows < 0).tolist():
            names = self._names_of(batch.texts[place])
            if len(names.rows):
                self._names[place] = names._replace(certainty=weight * names.certainty)
                batch.may_rise[place] = True
                batch.same_meaning[place].update(batch.index.members.of_rows(names.rows).tolist())

    def __call__(
        self, search: Search, places: Sequence[int], found: list[list[Hit]]
    ) -> list[list[Hit]]:
        """RETURNS (List[List[Hit]]): The hits in their new order; see `Rescorer`."""
        if search.representation != "T":
            return found
        return [
            best_hits((*hits, *self._raised(search, place)), self._batch.depth)
            if place in self._names
            else hits
            for place, hits in zip(places, found, strict=True)
        ]

    def _names_of(self, text: str) -> Rewritten:
        """RETURNS (Rewritten): The names that a mention becomes, without those that have a minus
        where it has a plus, or the reverse.
        """
        index = self._batch.index
        found = rewrite(
            known_bag(text), index.word_bags, index.rewriting, min_certainty=_MIN_CERTAINTY
        )
        if not len(found.rows) or not has_sign(text):
            return found
        members = index.members.start[found.rows].tolist()
        names = index.store.texts(members)
        kept = np.array([not are_opposite(text, names[member]) for member in members])
        return Rewritten(found.rows[kept], found.certainty[kept])

    def _raised(self, search: Search, place: int) -> list[Hit]:
        """RETURNS (List[Hit]): What the names of a mention denote, with raised cosines."""
        batch, (rows, certainty) = self._batch, self._names[place]
        names = IndexTexts.of(search, batch.index, batch.overlay, batch.allowed)
        vectors, items = names.searcher.vectors, rows - batch.index.first_row(search)
        inside = (items >= 0) & (items < len(vectors))
        items, certainty = items[inside], certainty[inside]
        own = batch.vectors[place : place + 1]
        found = rescore(vectors, own, [items], len(items))
        order = np.argsort(items)
        raised = certainty[order[np.searchsorted(items, found.items[0], sorter=order)]]
        found.scores[0] += raised * (1 - found.scores[0])
        hits = names.hits(found._replace(scores=rounded(found.scores)), batch.depth)
        return with_parts(hits, vectors, own)[0]
