"""Mentions in, candidates out: an encoder, an index, the synonyms beside it, and a sieve."""

from collections.abc import Iterable, Sequence

from thinc.api import Model

from ..concepts import Candidate, Concept, Source
from ..encoders.normalized import NormalizedEncoder
from ..errors import ConnormError, Errors, refuse, require_positive
from ..files.atomic import atomic_folder
from ..files.temporary import TemporaryFolder
from ..index.backends.protocol import Backend
from ..index.builder.build import all_texts, write_index
from ..index.concept_index import ConceptIndex
from ..index.filters import Filter
from ..index.members import TARGETS
from ..index.overlay import SynonymOverlay
from ..text.cleaning import clean
from .explanation import Explanation, Step
from .memo import Memo
from .memo_writer import write_memo
from .retriever import Retriever
from .sieve import Question, Sieve, best_cosine
from .synonyms import add_synonyms, remove_synonyms


class ConceptLookup:
    """Everything that an answer depends on. It knows nothing of pipelines and documents."""

    def __init__(
        self,
        encoder: Model,
        sieve: Sieve,
        backend: Backend,
        *,
        normalization: Sequence[str] = (),
    ) -> None:
        """Put the parts together; nothing is loaded.

        encoder (Model[List[str], Floats2d]): See `encoders`.
        sieve (Sieve): Which searches answer.
        backend (Backend): How vectors are searched.
        normalization (Sequence[str]): What is done, in order, to names and mentions before they
            are encoded; see `text.normalization`.
        RAISES (ConnormError): CN006 for a step of normalization that there is not.
        """
        self._encoder = NormalizedEncoder(encoder, normalization)
        self.sieve = sieve
        self.backend = backend
        self._retriever: Retriever | None = None
        self._cache_size = 0
        self._known: ConceptIndex | None = None

    @property
    def encoder(self) -> Model:
        """RETURNS (Model[List[str], Floats2d]): The encoder."""
        return self._encoder.model

    @property
    def prepared(self) -> NormalizedEncoder:
        """RETURNS (NormalizedEncoder): The encoder behind the steps of normalization, as the index
        and its searches see it.
        """
        return self._encoder

    @property
    def is_ready(self) -> bool:
        """RETURNS (bool): Whether there is an index."""
        return self._retriever is not None

    @property
    def retriever(self) -> Retriever:
        """RETURNS (Retriever): What answers texts with the index.
        RAISES (ConnormError): CN001 before `build` or `use`.
        """
        if self._retriever is None:
            raise ConnormError(Errors.CN001)
        return self._retriever

    @property
    def cache_size(self) -> int:
        """RETURNS (int): Most answers kept of texts that were searched for; 0 for none."""
        return self._cache_size

    @cache_size.setter
    def cache_size(self, size: int) -> None:
        self._cache_size = size
        if self._retriever is not None:
            self._retriever.cache_size = size
            self._retriever.forget()

    @property
    def index(self) -> ConceptIndex:
        """RETURNS (ConceptIndex): The index.
        RAISES (ConnormError): CN001 before `build` or `use`.
        """
        return self.retriever.index

    @property
    def overlay(self) -> SynonymOverlay:
        """RETURNS (SynonymOverlay): What was added to the index and removed from it.
        RAISES (ConnormError): CN001 before `build` or `use`.
        """
        return self.retriever.overlay

    def build(
        self,
        concepts: Iterable[Concept],
        synonyms: Iterable[tuple[str, str]] = (),
        *,
        source: Source | None = None,
        searches: Sequence[str] = (),
    ) -> None:
        """Initialize the encoder and index an ontology; the synonyms added before are dropped. If
        that fails, everything stays as it was. Texts are held only for an encoder that is fitted
        to them; vectors that the present index has of the same encoder are copied.

        concepts (Iterable[Concept]): O.
        synonyms (Iterable[Tuple[str, str]]): D: texts and concept ids.
        source (Optional[Source]): Of the ontology, for the manifest.
        searches (Sequence[str]): Searches to serve besides those of the sieve.
        RAISES (ConnormError): CN409 if there is no text at all, CN405 if the disk is full, and
            those of the encoder.
        """
        if self._encoder.fits:
            concepts, synonyms = list(concepts), list(synonyms)
            encoder = self._encoder.fitted(all_texts(concepts, synonyms, clean))
        else:
            encoder = self._encoder.fitted()
        owner = TemporaryFolder()
        write_index(
            owner.path / "index",
            concepts,
            synonyms,
            encoder,
            searches=list(dict.fromkeys([*self.sieve.searches, *searches])),
            backend=self.backend,
            clean=clean,
            source=source,
            known=self._known or (self.index if self.is_ready else None),
        )
        self.use(encoder.model, ConceptIndex(owner.path / "index", self.backend, owner=owner))
        self._known = None

    def reuse(self, index: ConceptIndex) -> None:
        """Let the next `build` copy the vectors that another index has of the same encoder."""
        self._known = index

    def candidates(
        self,
        mentions: Sequence[str],
        *,
        top_k: int,
        types: Sequence[str] = (),
        branches: Sequence[str] = (),
    ) -> list[list[Candidate]]:
        """Answer mentions with the sieve; each distinct one is encoded once.

        mentions (Sequence[str]): b texts; an empty one has no candidates.
        top_k (int): Most candidates for each.
        types (Sequence[str]): Find only concepts of these semantic types; all if empty.
        branches (Sequence[str]): Find only concepts at or below these; all if empty.
        RETURNS (List[List[Candidate]]): b lists, best first.
        RAISES (ConnormError): CN001 before `build` or `read`, CN006 for a `top_k` under 1, CN406
            and CN407 for types and branches that the index lacks.
        """
        question = self._question(self.sieve, top_k, types, branches)
        return self._ask(mentions, question)

    def search(
        self,
        search: str,
        mentions: Sequence[str],
        *,
        top_k: int,
        types: Sequence[str] = (),
        branches: Sequence[str] = (),
    ) -> list[list[Candidate]]:
        """Answer mentions with one search alone.

        search (str): "O-T", "O-C", "D-T", "D-C", "OD-T" or "OD-C"; the others as in `candidates`.
        RETURNS (List[List[Candidate]]): b lists, best first.
        RAISES (ConnormError): CN408 if the index was built without this search.
        """
        question = self._question(Sieve((search,), ()), top_k, types, branches)
        return self._ask(mentions, question)

    def explain(
        self,
        mention: str,
        *,
        top_k: int,
        types: Sequence[str] = (),
        branches: Sequence[str] = (),
    ) -> Explanation:
        """Tell what each search of the sieve finds, and which one answers.

        mention (str): A text; the others as in `candidates`.
        RETURNS (Explanation): One step a search.
        """
        sieve = self.sieve
        found = {
            search: self.search(search, [mention], top_k=top_k, types=types, branches=branches)
            for search in sieve.searches
        }
        ((answering, _),) = sieve.sift(1, lambda search, *_: found[search], best_cosine)
        steps = [
            Step(search, threshold, number == answering, *found[search])
            for number, (search, threshold) in enumerate(
                zip(sieve.searches, (*sieve.thresholds, None), strict=True)
            )
        ]
        return Explanation(mention, self._encoder.normalize(clean(mention)), steps)

    def holds(self, texts: Sequence[str], target: str) -> list[bool]:
        """Tell which texts the index has, as the encoder sees them.

        texts (Sequence[str]): b texts.
        target (str): Where to look: "O", "D" or "OD".
        RETURNS (List[bool]): Of each text whether it denotes a concept there.
        RAISES (ConnormError): CN001 before `build` or `read`.
        """
        cleaned = [clean(text) for text in texts]
        keys = self._encoder.inputs(cleaned) if cleaned else []
        return [self.overlay.holds(key, TARGETS[target]) for key in keys]

    def _question(
        self, sieve: Sieve, top_k: int, types: Sequence[str], branches: Sequence[str]
    ) -> Question:
        require_positive("top_k", top_k)
        filter = Filter(tuple(map(clean, types)), tuple(map(clean, branches)))
        return Question(sieve, top_k, filter)

    def _ask(self, mentions: Sequence[str], question: Question) -> list[list[Candidate]]:
        if isinstance(mentions, str):
            refuse("mentions", mentions, "a list of texts")
        return self.retriever.ask([clean(mention) for mention in mentions], question)

    def add_synonyms(self, synonyms: Iterable[tuple[str, str]], *, count: int = 1) -> None:
        """Let texts denote concepts from now on, as part of D; see `synonyms.add_synonyms`."""
        add_synonyms(synonyms, self.index, self.overlay, self._encoder, count=count)
        self.retriever.forget()

    def remove_synonyms(self, synonyms: Iterable[tuple[str, str]]) -> None:
        """Let texts no longer denote concepts; see `synonyms.remove_synonyms`."""
        remove_synonyms(synonyms, self.index, self.overlay, self._encoder)
        self.retriever.forget()

    def memoize(
        self, *, size: int, top_k: int, types: Sequence[str] = (), branches: Sequence[str] = ()
    ) -> None:
        """Work out what the sieve answers to texts of the index, so that neither the encoder nor a
        search is needed for them. See `memo`.

        size (int): Most texts: first those of D, then the others; 0 for none.
        top_k (int): Candidates of each; others are asked for at the price of a search, as are
            other types and branches than these, which are those of `candidates`.
        RAISES (ConnormError): CN001 before `build` or `use`, CN405 if the disk is full, CN406 and
            CN407 for types and branches that the index lacks.
        """
        memo = None
        if size:
            owner = TemporaryFolder()
            question = self._question(self.sieve, top_k, types, branches)
            with atomic_folder(owner.path / "memo") as folder:
                write_memo(folder, self.index, self._encoder, question, size=size)
            memo = Memo(owner.path / "memo", owner=owner)
        self.use(self.encoder, self.index, self.overlay, memo)

    def use(
        self,
        encoder: Model,
        index: ConceptIndex | None = None,
        overlay: SynonymOverlay | None = None,
        memo: Memo | None = None,
    ) -> None:
        """Take other parts, all of them or, if they do not fit together, none.

        encoder (Model[List[str], Floats2d]): The encoder.
        index (Optional[ConceptIndex]): Built with it; the present one if None, with all that
            belongs to it.
        overlay (Optional[SynonymOverlay]): What goes with a new index; nothing if None.
        memo (Optional[Memo]): What goes with a new index; nothing if None.
        RAISES (ConnormError): CN408 if the index lacks a search of the sieve, CN410 if it was
            built with another encoder or other steps of normalization.
        """
        prepared = NormalizedEncoder(encoder, self._encoder.normalization)
        retriever = None
        if index is None and self._retriever is not None:
            index, overlay, memo = self.index, self.overlay, self._retriever.memo
        if index is not None:
            self._check(prepared, index)
            overlay = SynonymOverlay(index) if overlay is None else overlay
            retriever = Retriever(prepared, index, overlay, memo=memo, cache_size=self._cache_size)
        self._encoder, self._retriever = prepared, retriever

    def _check(self, encoder: NormalizedEncoder, index: ConceptIndex) -> None:
        own, built_with = encoder.fingerprint(), index.fingerprint
        if built_with != own:
            message = Errors.CN410.format(path=index.folder, found=built_with, expected=own)
            raise ConnormError(message)
        for search in self.sieve.searches:
            index.searcher(search)
