"""Mentions in, candidates out: an encoder, an index, the synonyms beside it, and a sieve."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from threading import RLock
from typing import Any

from thinc.api import Model

from ..concepts import Candidate, Concept, Source
from ..encoders.normalized import Encoding, NormalizedEncoder, encode_here
from ..errors import ConnormError, Errors, refuse_text
from ..files.atomic import TemporaryFolder
from ..index.backends.protocol import Backend
from ..index.builder.build import fit_encoder, write_index
from ..index.concept_index import ConceptIndex
from ..index.metrics import metric_of
from ..index.overlay import SynonymOverlay
from ..text.cleaning import clean
from ..text.substitutions import Substitution
from .comparable import require_comparable
from .memo import Memo
from .memo_writer import make_memo
from .retriever import TUNABLE, Retriever
from .sieve import Sieve, make_question
from .synonyms import (
    ChangedSynonym,
    changed_synonyms,
    find_synonyms,
    warn_of_missing,
    with_added,
    with_changed,
    with_removed,
)

_INDEX = "index"


class ConceptLookup:
    """Answers mentions. It knows nothing of pipelines and documents.

    All that answers depend on is one `Retriever`, which never changes. A change makes a new one and
    publishes it at once, so threads may ask while another one changes synonyms.
    """

    def __init__(
        self, encoder: Model, sieve: Sieve, backend: Backend, *, normalization: Sequence[str] = ()
    ) -> None:
        """Store the parts; nothing is loaded.

        encoder (Model[List[str], Floats2d]): See `encoders`.
        sieve (Sieve): Which searches answer.
        backend (Backend): How vectors are searched.
        normalization (Sequence[str]): Steps that names and mentions go through, in order, before
            they are encoded; see `text.normalization`.
        RAISES (ConnormError): CN118 for an unknown step of normalization.
        """
        self._encoder = NormalizedEncoder(encoder, normalization)
        self.sieve = sieve
        self.backend = backend
        self._retriever: Retriever | None = None
        self._settings: dict[str, Any] = {}
        self._reused: ConceptIndex | None = None
        self._encoding: Encoding = encode_here
        self._changing = RLock()

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "_changing"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state, _changing=RLock())

    @property
    def encoder(self) -> Model:
        """RETURNS (Model[List[str], Floats2d]): The encoder."""
        return self._encoder.model

    @property
    def normalized_encoder(self) -> NormalizedEncoder:
        """RETURNS (NormalizedEncoder): The steps of normalization and the encoder, as one."""
        return self._encoder

    @property
    def is_ready(self) -> bool:
        """RETURNS (bool): Whether there is an index."""
        return self._retriever is not None

    @property
    def retriever(self) -> Retriever:
        """RETURNS (Retriever): All that answers depend on now.
        RAISES (ConnormError): CN001 before `build` or `use`.
        """
        if self._retriever is None:
            raise ConnormError(Errors.CN001)
        return self._retriever

    @property
    def index(self) -> ConceptIndex:
        """RETURNS (ConceptIndex): The retriever's."""
        return self.retriever.index

    @property
    def overlay(self) -> SynonymOverlay:
        """RETURNS (SynonymOverlay): The retriever's."""
        return self.retriever.overlay

    @contextmanager
    def changing(self) -> Iterator[None]:
        """Change all parts or none: if the block fails, encoder, index and synonyms are as they
        were before it. Other threads wait before they change anything.
        """
        with self._changing:
            before = self._encoder, self._retriever
            try:
                yield
            except BaseException:
                self._encoder, self._retriever = before
                raise

    def tune(self, settings: Mapping[str, Any]) -> None:
        """Change the settings of the `Retriever`, and empty the cache.

        settings (Mapping[str, Any]): By name: `cache_size`, `extra_words_weight`,
            `rewriting_weight`; those that are missing keep their values, and others are ignored.
        RAISES (ConnormError): CN421 if any make no sense with the metric of the backend.
        """
        require_comparable(metric_of(self.backend), self.sieve, settings)
        own = {name: settings[name] for name in TUNABLE if name in settings}
        with self._changing:
            self._settings |= own
            if self._retriever is not None:
                self._retriever = replace(self._retriever, **own)

    def build(
        self,
        concepts: Iterable[Concept],
        synonyms: Iterable[tuple[str, str]] = (),
        *,
        source: Source | None = None,
        searches: Sequence[str] = (),
        substitutions: Iterable[Substitution] = (),
    ) -> None:
        """Initialize the encoder and index an ontology. Synonyms that were added before are
        dropped. If it fails, nothing changes. Texts are kept in memory only for an encoder that is
        fitted to them. Vectors that the present index has of the same encoder are copied.

        concepts (Iterable[Concept]): O.
        synonyms (Iterable[Tuple[str, str]]): D: texts and concept ids.
        source (Optional[Source]): Of the ontology, for the manifest.
        searches (Sequence[str]): Searches to build besides those of the sieve.
        substitutions (Iterable[Substitution]): Words of mentions in place of those of names.
        RAISES (ConnormError): CN409 without texts, CN108 if the disk is full, and the encoder's.
        """
        encoder, concepts, synonyms = fit_encoder(self._encoder, concepts, synonyms, clean)
        owner = TemporaryFolder()
        write_index(
            owner.path / _INDEX,
            concepts,
            synonyms,
            encoder,
            searches=list(dict.fromkeys([*self.sieve.searches, *searches])),
            backend=self.backend,
            clean=clean,
            source=source,
            known=self._reused or (self.index if self.is_ready else None),
            substitutions=substitutions,
            encoding=self._encoding,
        )
        self.use(encoder.model, ConceptIndex(owner.path / _INDEX, self.backend, owner=owner))
        self._reused, self._encoding = None, encode_here

    def prepare_build(
        self, *, reused: "ConceptLookup | None" = None, encoding: Encoding = encode_here
    ) -> None:
        """Say where the next `build` gets vectors from.

        reused (Optional[ConceptLookup]): One whose vectors are copied where the encoder and the
            texts are the same; None for the present index, if there is one.
        encoding (Callable): Encodes the other texts.
        """
        self._reused = None if reused is None else reused.index
        self._encoding = encoding

    def memoize(
        self, *, size: int, top_k: int, types: Sequence[str] = (), branches: Sequence[str] = ()
    ) -> None:
        """Work out the sieve's answers to texts of the index, so that these need neither the
        encoder nor a search. See `memo`.

        size (int): At most how many texts, those of D first; 0 for none.
        top_k (int): How many candidates of each. Questions with another `top_k`, types or branches
            are searched.
        RAISES (ConnormError): CN108 if the disk is full, and those of `Retriever.ask`.
        """
        with self._changing:
            retriever = self.retriever
            question = make_question(self.sieve, top_k=top_k, types=types, branches=branches)
            memo = make_memo(retriever.index, retriever.encoder, question, size=size)
            self._retriever = replace(retriever, memo=memo)

    def candidates(
        self,
        mentions: Sequence[str],
        *,
        top_k: int,
        types: Sequence[str] = (),
        branches: Sequence[str] = (),
        search: str | None = None,
    ) -> list[list[Candidate]]:
        """Answer mentions with the sieve.

        mentions (Sequence[str]): b texts; an empty one has no candidates.
        top_k (int): At most how many candidates of each.
        types (Sequence[str]): Find only concepts of these semantic types; all if empty.
        branches (Sequence[str]): Find only concepts at or below these; all if empty.
        search (Optional[str]): Answer with one search alone, e.g. "O-T", instead of the sieve.
        RETURNS (List[List[Candidate]]): b lists, best first.
        RAISES (ConnormError): CN001 as `retriever`, CN006 for a `top_k` under 1, CN118 for an
            unknown search, and those of `Retriever.ask`.
        """
        if isinstance(mentions, str):
            refuse_text("mentions", mentions, "a list of texts")
        sieve = self.sieve if search is None else Sieve((search,), ())
        question = make_question(sieve, top_k=top_k, types=types, branches=branches)
        return self.retriever.ask(list(map(clean, mentions)), question)

    def keys(self, texts: Iterable[str]) -> list[bytes]:
        """RETURNS (List[bytes]): What the encoder sees: texts with one key get the same answers."""
        return self._encoder.inputs(map(clean, texts))

    def add_synonyms(self, synonyms: Iterable[tuple[str, str]], *, count: int = 1) -> None:
        """Add synonyms to D. They are found at once; nothing is retrained.

        synonyms (Iterable[Tuple[str, str]]): Texts and concept ids.
        count (int): How often D has it; of two concepts with one text the more frequent leads.
        RAISES (ConnormError): CN001 as `retriever`, CN002 for a concept that the index lacks, CN003
            for an empty text, CN009 for one of which the encoder knows nothing, CN006 for anything
            but pairs and for a `count` under 1 or, in all, over 999999. Nothing is added then.
        """
        with self._changing:
            self._retriever = with_added(self.retriever, synonyms, count=count)

    def remove_synonyms(self, synonyms: Iterable[tuple[str, str]]) -> None:
        """Remove synonyms, whether the ontology, the annotated data or `add_synonyms` says so.

        synonyms (Iterable[Tuple[str, str]]): Texts and concept ids.
        RAISES (ConnormError): CN001, CN002, CN003 and CN006 as `add_synonyms`. Nothing is removed
            then.
        WARNS (ConnormWarning): CNW001 for a pair that is not in the index.
        """
        with self._changing:
            before = self.retriever
            removed = find_synonyms(synonyms, before.index, before.encoder)
            self._retriever = with_removed(before, removed)
        warn_of_missing(removed, before.overlay, before.index)

    def changed_synonyms(self) -> list[ChangedSynonym]:
        """RETURNS (List[ChangedSynonym]): The synonyms removed and added since the index was built.
        RAISES (ConnormError): CN001 as `retriever`.
        """
        retriever = self.retriever
        return changed_synonyms(retriever.overlay, retriever.index)

    def change_synonyms(self, changes: Iterable[ChangedSynonym]) -> None:
        """Replace all synonyms removed and added since the index was built.

        changes (Iterable[ChangedSynonym]): From `changed_synonyms`, of this or another index.
        RAISES (ConnormError): As `add_synonyms`. Nothing changes then.
        """
        with self._changing:
            self._retriever = with_changed(self.retriever, changes)

    def use(
        self,
        encoder: Model,
        index: ConceptIndex | None = None,
        overlay: SynonymOverlay | None = None,
        memo: Memo | None = None,
    ) -> None:
        """Replace the parts: all of them, or none if they do not fit together.

        encoder (Model[List[str], Floats2d]): The encoder.
        index (Optional[ConceptIndex]): Built with it; if None, the present one with its overlay and
            memo.
        overlay (Optional[SynonymOverlay]): Of a new index; an empty one if None.
        memo (Optional[Memo]): Of a new index. A memo built with other settings is ignored.
        RAISES (ConnormError): CN408 if the index lacks a search of the sieve, CN410 if it was
            built with another encoder or other steps of normalization, CN418 with another metric,
            CN421 if the sieve makes no sense with that.
        """
        normalized = NormalizedEncoder(encoder, self._encoder.normalization)
        with self._changing:
            old, retriever = self._retriever, None
            if index is None and old is not None:
                index, overlay, memo = old.index, old.overlay, old.memo
            if index is not None:
                index.require(normalized, self.sieve.searches)
                require_comparable(index.metric, self.sieve, self._settings)
                overlay = SynonymOverlay(index) if overlay is None else overlay
                memo = memo if memo is not None and memo.fits(index, normalized) else None
                retriever = Retriever(normalized, index, overlay, memo, **self._settings)
            self._encoder, self._retriever = normalized, retriever
