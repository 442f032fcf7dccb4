"""What a pipeline looks mentions up in: the encoder, the sieve and the index that are in use, and
how they and the synonyms change.
"""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from itertools import groupby
from operator import attrgetter
from threading import RLock
from typing import Any

import numpy as np

from ..concepts import Concept, Source
from ..encoders.protocol import Encoder, encode_inputs, encoder_inputs
from ..encoders.raw import Raw
from ..errors import Errors, Warnings, quote, quote_id, refuse, swapped
from ..files.atomic import TemporaryFolder
from ..files.folders import add_facts
from ..index.backends.protocol import Backend
from ..index.concept_index import ConceptIndex
from ..index.overlay import Synonym, SynonymOverlay
from ..index.vectors.kinds import from_raw
from ..text.cleaning import clean
from ..text.substitutions import Substitution
from .query import Query
from .retriever import CALIBRATION, LEFT_OUT, Retriever
from .sieve import Sieve
from .synonym_changes import ChangedSynonym, as_pairs

_INDEX = "index"
# Files of synonyms have counts of up to six digits.
_MAX_COUNT = 999_999


class ConceptLookup:
    """Finds candidates for mentions, independently of pipelines and documents.

    Answers depend only on a `Retriever`, which never changes. Each change creates a new one and
    replaces the old one in a single step, so threads can search while another thread changes
    synonyms.
    """

    def __init__(self, encoder: Encoder, sieve: Sieve, backend: Backend, *, language: str) -> None:
        """Store the parts without loading anything.

        encoder (Model[List[str], Floats2d]): See `encoders`.
        sieve (Sieve): The searches.
        backend (Backend): The settings of the vector index.
        language (str): The language of the names to index, as in `nlp.lang`.
        """
        self.language = language
        self.encoder = encoder
        self.sieve = sieve
        self.backend = backend
        self._retriever: Retriever | None = None
        self._changing = RLock()

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "_changing"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state, _changing=RLock())

    @property
    def is_ready(self) -> bool:
        """Whether there is an index to search.

        RETURNS (bool): False before `build` or `use`.
        """
        return self._retriever is not None

    @property
    def retriever(self) -> Retriever:
        """The current snapshot of all parts.

        RETURNS (Retriever): Everything that answers depend on.
        RAISES (ConnormError): CN001 before `build` or `use`.
        """
        if self._retriever is None:
            raise Errors.CN001()
        return self._retriever

    @property
    def index(self) -> ConceptIndex:
        """The index in use.

        RETURNS (ConceptIndex): The retriever's.
        """
        return self.retriever.index

    @property
    def overlay(self) -> SynonymOverlay:
        """The synonyms added and removed since the index was built.

        RETURNS (SynonymOverlay): The retriever's.
        """
        return self.retriever.overlay

    @contextmanager
    def changing(self) -> Iterator[None]:
        """Change all parts or none: if the block fails, encoder, index and synonyms are restored.
        Other threads wait before they make changes.
        """
        with self._changing:
            before = self.encoder, self._retriever
            try:
                yield
            except BaseException:
                self.encoder, self._retriever = before
                raise

    def build(
        self,
        concepts: Iterable[Concept],
        synonyms: Iterable[tuple[str, str]] = (),
        *,
        source: Source | None = None,
        searches: Sequence[str] = (),
        substitutions: Iterable[Substitution] | None = (),
        background: Iterable[Concept] = (),
        reused: ConceptIndex | None = None,
        calibrated_for: Query | None = None,
    ) -> None:
        """Initialize the encoder and index an ontology. Synonyms that were added before are
        dropped. If it fails, nothing changes. Texts are kept in memory only for an encoder that is
        fitted to them. Vectors that the current index has from the same encoder are copied.

        concepts (Iterable[Concept]): The ontology, O.
        synonyms (Iterable[Tuple[str, str]]): D: texts and concept ids.
        source (Optional[Source]): The source of the ontology, for the manifest.
        searches (Sequence[str]): Searches to build in addition to those of the sieve.
        substitutions (Optional[Iterable[Substitution]]): Words in mentions that can replace words
            in names; learned from the names themselves if None.
        background (Iterable[Concept]): Other things, whose names are not found; see `write_index`.
        reused (Optional[ConceptIndex]): An older index to copy vectors from, instead of the current
            one.
        calibrated_for (Optional[Query]): How mentions will be searched. If given, a calibration is
            fitted to the names and stored with the index, see `fit_to_names`.
        RAISES (ConnormError): CN409 without texts, CN108 if the disk is full, and the encoder's
            errors.
        """
        from ..index.builder import fit_encoder, write_index
        from .name_calibration import fit_to_names

        encoder, concepts, synonyms = fit_encoder(self.encoder, concepts, synonyms)
        owner = TemporaryFolder()
        write_index(
            owner.path / _INDEX,
            concepts,
            synonyms,
            encoder,
            searches=list(dict.fromkeys([*self.sieve.searches, *searches])),
            backend=self.backend,
            language=self.language,
            source=source,
            known=reused or (self.index if self.is_ready else None),
            substitutions=substitutions,
            background=background,
        )
        index = ConceptIndex(owner.path / _INDEX, self.backend, owner=owner)
        if calibrated_for is not None:
            retriever = Retriever(encoder, index, SynonymOverlay(index))
            fitted_to = fit_to_names(retriever, calibrated_for, self.language)
            if fitted_to is not None:
                facts: dict[str, Any] = {CALIBRATION: fitted_to.calibration._asdict()}
                if fitted_to.left_out:
                    facts[LEFT_OUT] = {"names": fitted_to.left_out, "right": fitted_to.right}
                add_facts(index.folder, facts)
                index = ConceptIndex(index.folder, self.backend, owner=owner)
        self.use(encoder, index)

    def keys(self, texts: Iterable[str]) -> list[bytes]:
        """Get texts as the encoder sees them.

        RETURNS (List[bytes]): One key per text; texts with the same key get the same answers.
        RAISES (ConnormError): CN001 as `retriever`.
        """
        return encoder_inputs(self.retriever.encoder, list(map(clean, texts)))

    def add_synonyms(self, synonyms: Iterable[tuple[str, str]], *, count: int = 1) -> None:
        """Add synonyms to D. They can be found at once; nothing is retrained.

        synonyms (Iterable[Tuple[str, str]]): Texts and concept ids.
        count (int): How often D has them; if two concepts share a text, the more frequent one comes
            first.
        RAISES (ConnormError): CN001 as `retriever`, CN411 for a concept that the index lacks, CN009
            for a text in which the encoder recognizes nothing, or that is empty, CN006 for
            anything but pairs, and for a `count` below 1 or a total over 999999. Nothing is added
            then.
        """
        with self._changing:
            self._retriever = _with_added(self.retriever, synonyms, count=count)

    def remove_synonyms(self, synonyms: Iterable[tuple[str, str]]) -> None:
        """Remove synonyms, whether they come from the ontology, the annotated data or
        `add_synonyms`.

        synonyms (Iterable[Tuple[str, str]]): Texts and concept ids.
        RAISES (ConnormError): CN001, CN411, CN009 and CN006 as `add_synonyms`. Nothing is removed
            then.
        WARNS (ConnormWarning): CNW001 for a pair that is not in the index.
        """
        with self._changing:
            before = self.retriever
            removed = find_synonyms(synonyms, before.index, before.encoder)
            overlay = before.overlay.without_synonyms(removed)
            self._retriever = replace(before, overlay=overlay)
        for number, synonym in enumerate(removed, start=1):
            if not before.overlay.has_synonym(synonym):
                (concept_id, _) = before.index.store.labels([synonym.concept])[synonym.concept]
                text, concept = quote(synonym.text), quote_id(concept_id)
                Warnings.CNW001.warn(number=number, text=text, concept=concept)

    def changed_synonyms(self) -> list[ChangedSynonym]:
        """List the synonyms removed and added since the index was built.

        RETURNS (List[ChangedSynonym]): The removed synonyms, then the added ones in order.
        RAISES (ConnormError): CN001 as `retriever`.
        """
        retriever = self.retriever
        overlay, index = retriever.overlay, retriever.index
        removed = sorted(overlay.removed)
        members = [int(index.members.of(*pair)[0]) for pair in removed]
        texts = index.store.texts(members)
        changes = [
            (texts[member], concept, 0)
            for member, (_, concept) in zip(members, removed, strict=True)
        ]
        for synonym in overlay.synonyms:
            changes.append((synonym.text, synonym.concept, overlay.own_count(synonym)))
        labels = index.store.labels({concept for _, concept, _ in changes})
        return [ChangedSynonym(text, labels[number][0], times) for text, number, times in changes]

    def change_synonyms(self, changes: Iterable[ChangedSynonym]) -> None:
        """Replace all synonyms removed and added since the index was built.

        changes (Iterable[ChangedSynonym]): From `changed_synonyms`, of this or another index.
        RAISES (ConnormError): As `add_synonyms`. Nothing changes then.
        """
        changes = list(changes)
        gone = [(text, concept_id) for text, concept_id, count in changes if not count]
        added = (change for change in changes if change.times)
        with self._changing:
            index, encoder = self.retriever.index, self.retriever.encoder
            overlay = SynonymOverlay(index).without_synonyms(find_synonyms(gone, index, encoder))
            changed = replace(self.retriever, overlay=overlay)
            for count, some in groupby(added, key=attrgetter("times")):
                changed = _with_added(changed, [change[:2] for change in some], count=count)
            self._retriever = changed

    def use(
        self,
        encoder: Encoder,
        index: ConceptIndex | None = None,
        overlay: SynonymOverlay | None = None,
    ) -> None:
        """Replace the parts: all of them, or none if they do not fit together.

        encoder (Model[List[str], Floats2d]): The encoder.
        index (Optional[ConceptIndex]): Built with this encoder; if None, the current index with its
            overlay.
        overlay (Optional[SynonymOverlay]): For a new index; empty if None.
        RAISES (ConnormError): CN408 if the index lacks a search of the sieve, CN410 if it was built
            with another encoder or metric.
        """
        with self._changing:
            old, retriever = self._retriever, None
            if index is None and old is not None:
                index, overlay = old.index, old.overlay
            if index is not None:
                index.require(encoder, self.sieve.searches)
                overlay = SynonymOverlay(index) if overlay is None else overlay
                retriever = Retriever(encoder, index, overlay)
            self.encoder, self._retriever = encoder, retriever


def _with_added(
    retriever: Retriever, synonyms: Iterable[tuple[str, str]], *, count: int
) -> Retriever:
    """Add synonyms; see `ConceptLookup.add_synonyms`.

    RETURNS (Retriever): A retriever with these synonyms.
    """
    if not isinstance(count, int) or not 1 <= count <= _MAX_COUNT:
        refuse("count", count, f"a whole number from 1 to {_MAX_COUNT}")
    added = find_synonyms(synonyms, retriever.index, retriever.encoder)
    if not added:
        return retriever
    vectors = encode_synonyms(added, retriever.encoder)
    overlay = retriever.overlay.with_synonyms(added, vectors, count=count)
    in_all = max(map(overlay.own_count, added))
    if in_all > _MAX_COUNT:
        refuse("count", in_all, f"at most {_MAX_COUNT}, with what was added before")
    return replace(retriever, overlay=overlay)


def find_synonyms(
    synonyms: Iterable[tuple[str, str]], index: ConceptIndex, encoder: Encoder
) -> list[Synonym]:
    """Look up the concepts of synonyms, and what the encoder sees of their texts.

    synonyms (Iterable[Tuple[str, str]]): Texts and concept ids.
    index (ConceptIndex): The index with the concepts.
    encoder (Model[List[str], Floats2d]): The encoder that the index was built with.
    RETURNS (List[Synonym]): One for each pair.
    RAISES (ConnormError): CN006 for anything but pairs, CN411 for a concept that the index lacks,
        CN424 if it is in the place of the text, CN009 for an empty text.
    """
    pairs = []
    for number, (text, concept) in enumerate(as_pairs(synonyms), start=1):
        if index.store.number(concept) is None and index.store.number(text) is not None:
            raise swapped(text, concept)
        if not (cleaned := clean(text)):
            raise Errors.CN009(number=number, text=quote(text))
        pairs.append((cleaned, index.number(concept)))
    keys = encoder_inputs(encoder, [text for text, _ in pairs]) if pairs else []
    return [Synonym(key, *pair) for key, pair in zip(keys, pairs, strict=True)]


def encode_synonyms(synonyms: Sequence[Synonym], encoder: Encoder) -> Raw:
    """Encode the texts of synonyms.

    synonyms (Sequence[Synonym]): n synonyms, at least one.
    encoder (Model[List[str], Floats2d]): The encoder.
    RETURNS (Raw): Raw vectors, (n, width).
    RAISES (ConnormError): CN009 for a text in which the encoder recognizes nothing.
    """
    vectors = encode_inputs(encoder, [synonym.key for synonym in synonyms])
    for place in np.flatnonzero(from_raw(vectors).norms == 0).tolist():
        raise Errors.CN009(number=place + 1, text=quote(synonyms[place].text))
    return vectors
