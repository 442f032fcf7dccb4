"""The snapshot that answers: an encoder, an index, and the synonyms beside it."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from ..concepts import Candidate
from ..encoders.protocol import Encoder, loaded_shim
from ..encoders.raw import HybridArray, stack
from ..encoders.shims import EncoderShim
from ..files.folders import MANIFEST, damaged
from ..index.cache import Cache
from ..index.concept_index import ConceptIndex
from ..index.filter import AllowedConcepts, Filter, allowed_concepts
from ..index.overlay import SynonymOverlay
from ..index.rows import hash_keys
from ..index.search import COSINE, TARGETS
from ..index.vectors.kinds import from_raw
from ..text.cleaning import clean, encodable
from .batch import SearchBatch
from .calibration import Calibration

if TYPE_CHECKING:
    from .initials import Initials

# The number of filters whose masks are kept: one byte per concept, and for each search one per row.
_MAX_MASKS = 16
# The facts in the manifest of an index.
CALIBRATION = "calibration"
LEFT_OUT = "left_out"


@dataclass(frozen=True, eq=False)
class Retriever:
    """Everything that answers depend on, at one moment. It never changes: a change of synonyms
    makes a new retriever, so that running queries are not affected.

    encoder (Model[List[str], Floats2d]): The encoder that the index was built with.
    index (ConceptIndex): The index to search.
    overlay (SynonymOverlay): Synonyms added and removed since the index was built.
    masks (Cache): The concepts that each filter allows.
    answers (Cache): Answers to texts, by what they depend on; see `retrieve`.
    """

    encoder: Encoder
    index: ConceptIndex
    overlay: SynonymOverlay
    masks: Cache[Filter, AllowedConcepts] = field(
        default_factory=lambda: Cache(_MAX_MASKS), repr=False
    )
    answers: Cache[tuple, list[Candidate]] = field(
        default_factory=lambda: Cache(0), init=False, repr=False
    )

    def __reduce__(self) -> tuple:
        # A worker starts with empty caches.
        return Retriever, (self.encoder, self.index, self.overlay)

    @cached_property
    def has_cosines(self) -> bool:
        """Whether scores are cosines, so that the scores of different texts can be compared.

        RETURNS (bool): False for inner products.
        """
        return self.index.metric == COSINE

    @cached_property
    def _shim(self) -> EncoderShim:
        return loaded_shim(self.encoder)

    @cached_property
    def calibration(self) -> Calibration | None:
        """The calibration that was fitted to the names of the index.

        RETURNS (Optional[Calibration]): None if there is none, see `fit_to_names`.
        RAISES (ConnormError): CN402 if it is something else.
        """
        numbers = self.index.manifest.get(CALIBRATION)
        if numbers is None:
            return None
        try:
            return Calibration(**{name: float(numbers[name]) for name in Calibration._fields})
        except (KeyError, TypeError, ValueError) as error:
            raise damaged(self.index.folder / MANIFEST, "its calibration lacks a number") from error

    def allowed(self, filter: Filter) -> AllowedConcepts | None:
        """Find the concepts that a filter allows, once for each filter.

        filter (Filter): The filter.
        RETURNS (Optional[AllowedConcepts]): The concepts; None if all are allowed.
        RAISES (ConnormError): CN406 for types and branches that the index lacks.
        """
        if not any(filter):
            return None
        allowed = self.masks.get(filter)
        if allowed is None:
            allowed = allowed_concepts(filter, self.index)
            self.masks.put(filter, allowed)
        return allowed

    def find_known_texts(self, texts: Iterable[str], target: str) -> set[str]:
        """Find out which texts denote a concept.

        texts (Iterable[str]): Cleaned texts.
        target (str): Where to look: "O", "D" or "OD".
        RETURNS (Set[str]): The texts that the encoder cannot tell apart from a text of a concept.
        """
        texts = list(texts)
        keys = self._shim.inputs(encodable(texts)) if texts else []
        return {
            text
            for text, key in zip(texts, keys, strict=True)
            if self.overlay.has_text(key, TARGETS[target])
        }

    def names_exactly(self, text: str, concept_id: str) -> bool:
        """Check whether a text is an exact name of a concept that it denotes.

        RETURNS (bool): True for its preferred name, an exact synonym or an annotated text; false
            for a narrow, broad or related synonym of the ontology.
        """
        row = self.index.keys.row(self._shim.inputs(encodable([clean(text)]))[0])
        if row is None:
            return True  # a synonym that somebody has added
        members = self.index.members
        return not members.inexact[members.of(row, self.index.number(concept_id))].any()

    @property
    def initials(self) -> "Initials":
        """What short forms may stand for, by the names of the index.

        RETURNS (Initials): Reads the names when it is first asked.
        """
        # Most mentions have no short form.
        from .initials import initials_of

        return initials_of(self.index)

    def encode(self, texts: Sequence[str], allowed: AllowedConcepts | None = None) -> SearchBatch:
        """Get vectors from the index or from the encoder.

        texts (Sequence[str]): Cleaned texts.
        allowed (Optional[AllowedConcepts]): The concepts that may be found; all if None.
        RETURNS (SearchBatch): The texts with vectors, without those in which the encoder
            recognizes nothing.
        """
        index, shim = self.index, self._shim
        inputs = shim.inputs(encodable(texts)) if texts else []
        rows = index.keys.rows_of(hash_keys(inputs))
        known = np.flatnonzero(rows >= 0)
        known = known[index.vectors.norms[rows[known]] > 0]
        places, parts = known.tolist(), []
        if places:
            parts.append(index.compared.queries(rows[known]))
        new = np.flatnonzero(rows < 0).tolist()
        if new:
            # Texts that the encoder cannot tell apart are encoded once.
            number: dict[bytes, int] = {}
            items = np.array([number.setdefault(inputs[place], len(number)) for place in new])
            encoded = from_raw(shim.encode([*number]), metric=index.metric)
            recognized = np.flatnonzero(encoded.norms[items] > 0)
            if len(recognized):
                places += [new[place] for place in recognized.tolist()]
                are_all = len(recognized) == len(encoded) == len(new)
                parts.append(encoded.unit if are_all else encoded.queries(items[recognized]))
        rows = rows[places]
        if self.overlay.removed:
            rows = np.where(np.isin(rows, self.overlay.rows_without_concepts), -1, rows)
        vectors = stack(parts) if len(parts) > 1 else next(iter(parts), None)
        if isinstance(vectors, HybridArray):  # vectors of the index lack the current weight
            vectors = replace(vectors, weight=shim.lexical_weight)
        texts = [texts[place] for place in places]
        return SearchBatch(texts, rows, vectors, index, self.overlay, allowed)
