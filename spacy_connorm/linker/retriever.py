"""Everything that answers depend on, at one moment."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from ..concepts import Candidate
from ..encoders.normalized import NormalizedEncoder
from ..encoders.vectors import stack, weighted
from ..index.cache import Cache
from ..index.concept_index import ConceptIndex
from ..index.filters import AllowedConcepts, Masks
from ..index.members import TARGETS
from ..index.overlay import SynonymOverlay
from ..index.vectors.base import from_raw
from ..text.cleaning import clean
from .extra_words import ExtraWords
from .rescoring import Rescorer, SearchedTexts
from .rewritten_words import RewrittenWords

# What changes scores after a search, in this order, by the setting of its weight.
RESCORERS: Mapping[str, type[Rescorer]] = {
    "rewriting_weight": RewrittenWords,
    "extra_words_weight": ExtraWords,
}


@dataclass(frozen=True, eq=False)
class Retriever:
    """Everything that answers depend on, at one moment. It never changes: other synonyms make
    another retriever, so a question in progress is not affected.

    encoder (NormalizedEncoder): Built the index.
    index (ConceptIndex): What is searched.
    overlay (SynonymOverlay): Synonyms added and removed since the index was built.
    cache_size (int): At most how many answers to keep; 0 for none.
    weights (Mapping[str, float]): Of `RESCORERS`, by setting; those at 0 are left out.
    masks (Masks): What filters let through.
    cache (Cache): Answers to texts.
    """

    encoder: NormalizedEncoder
    index: ConceptIndex
    overlay: SynonymOverlay
    cache_size: int = 0
    weights: Mapping[str, float] = field(default_factory=dict)
    masks: Masks = field(default_factory=Masks, repr=False)
    cache: Cache[tuple, list[Candidate]] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "cache", Cache(self.cache_size))

    def __reduce__(self) -> tuple:
        # A worker starts with empty caches.
        return Retriever, (self.encoder, self.index, self.overlay, self.cache_size, self.weights)

    @property
    def has_cosines(self) -> bool:
        """RETURNS (bool): Whether scores are cosines: those of several texts can be compared."""
        return not self.index.compared.is_scaled

    def held(self, texts: Iterable[str], target: str) -> set[str]:
        """Find the texts that denote a concept.

        texts (Iterable[str]): Cleaned texts.
        target (str): Where to look: "O", "D" or "OD".
        RETURNS (Set[str]): Those that are there, as the encoder sees them.
        """
        asked = list(texts)
        keys = self.encoder.inputs(asked) if asked else []
        return {
            text
            for text, key in zip(asked, keys, strict=True)
            if self.overlay.holds(key, TARGETS[target])
        }

    def names_exactly(self, text: str, concept_id: str) -> bool:
        """RETURNS (bool): Whether a text that denotes a concept is its preferred name, an exact
        synonym, or in annotated data: false for the ontology's narrow, broad and related synonyms.
        """
        row = self.index.keys.row(self.encoder.inputs([clean(text)])[0])
        if row is None:
            return True  # a synonym that somebody has added
        members = self.index.members
        return not members.inexact[members.of(row, self.index.number(concept_id))].any()

    def encode(
        self, texts: Sequence[str], top_k: int, allowed: AllowedConcepts | None = None
    ) -> SearchedTexts:
        """Take vectors from the index, from the synonyms beside it, or from the encoder.

        texts (Sequence[str]): Cleaned texts.
        top_k (int): How many concepts each wants.
        allowed (Optional[AllowedConcepts]): Which concepts may be found; all if None.
        RETURNS (SearchedTexts): The texts of which the encoder knows anything.
        """
        index, added = self.index, self.overlay.raw
        inputs = self.encoder.inputs(texts) if texts else []
        rows = index.keys.rows(inputs)
        held = np.flatnonzero(rows >= 0)
        held = held[index.vectors.norms[rows[held]] > 0]
        places, found = held.tolist(), []
        if places:
            found.append(index.compared.queries(rows[held]))
        other = np.flatnonzero(rows < 0)
        if len(other):
            # Texts that the encoder cannot tell apart are encoded once.
            keys = dict.fromkeys(inputs[place] for place in other)
            old, new = (
                [key for key in keys if key in added],
                [key for key in keys if key not in added],
            )
            encoded = [self.encoder.encode_inputs(new)] if new else []
            vectors = index.as_compared(from_raw(stack([*map(added.__getitem__, old), *encoded])))
            number = {key: number for number, key in enumerate([*old, *new])}
            items = np.array([number[inputs[place]] for place in other])
            is_known = vectors.norms[items] > 0
            if is_known.any():
                places += other[is_known].tolist()
                found.append(vectors.queries(items[is_known]))
        rows = rows[places]
        if self.overlay.removed:
            rows = np.where(np.isin(rows, self.overlay.silent_rows), -1, rows)
        return SearchedTexts(
            [texts[place] for place in places],
            rows,
            weighted(stack(found), self.encoder.lexical_weight) if places else None,
            index,
            self.overlay,
            top_k,
            allowed,
        )
