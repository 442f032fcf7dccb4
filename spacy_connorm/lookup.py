"""Mentions in, candidates out: an encoder, an index, the synonyms beside it, and a sieve."""

from collections.abc import Callable, Iterable, Sequence

import numpy as np
from thinc.api import Model

from .concepts import Candidate, Concept, Source
from .errors import ConnormError, Errors
from .explanation import Explanation, Step
from .index.build import Encoder, build_index
from .index.concept_index import Backend, ConceptIndex
from .index.filters import Filter, Masks
from .index.folder import TemporaryFolder
from .index.layer import SynonymLayer
from .index.members import TARGETS
from .index.spaces import Query, run_search
from .index.vectors import from_raw
from .preparation import PreparedEncoder
from .settings import refuse, require_positive
from .sieve import Answer, Sieve, answers_at, name_candidates, run_sieve
from .synonyms import add_synonyms, remove_synonyms
from .text.cleaning import clean

# Texts searched together: their cosines with a block of the index stand in memory at once.
_MOST_AT_ONCE = 512


class ConceptLookup:
    """Everything that an answer depends on. It knows nothing of pipelines and documents."""

    def __init__(
        self, encoder: Model, sieve: Sieve, backend: Backend, *, normalization: Sequence[str] = ()
    ) -> None:
        """Put the parts together; nothing is loaded.

        encoder (Model[List[str], Floats2d]): See `encoders`.
        sieve (Sieve): Which searches answer.
        backend (Backend): How vectors are searched.
        normalization (Sequence[str]): What is done, in order, to names and mentions before they
            are encoded; see `text.normalization`.
        RAISES (ConnormError): CN006 for a step of normalization that there is not.
        """
        self._encoder = PreparedEncoder(encoder, normalization)
        self.sieve = sieve
        self.backend = backend
        self._index: ConceptIndex | None = None
        self._layer: SynonymLayer | None = None
        self._masks = Masks()

    @property
    def encoder(self) -> Model:
        """RETURNS (Model[List[str], Floats2d]): The encoder."""
        return self._encoder.model

    @property
    def prepared(self) -> PreparedEncoder:
        """RETURNS (PreparedEncoder): The encoder behind the steps of normalization, as the index
        and its searches see it.
        """
        return self._encoder

    @property
    def is_ready(self) -> bool:
        """RETURNS (bool): Whether there is an index."""
        return self._index is not None

    @property
    def index(self) -> ConceptIndex:
        """RETURNS (ConceptIndex): The index.
        RAISES (ConnormError): CN001 before `build` or `from_disk`.
        """
        if self._index is None:
            raise ConnormError(Errors.CN001)
        return self._index

    @property
    def layer(self) -> SynonymLayer:
        """RETURNS (SynonymLayer): What was added to the index and removed from it."""
        if self._layer is None:
            raise ConnormError(Errors.CN001)
        return self._layer

    def build(
        self,
        concepts: Iterable[Concept],
        synonyms: Iterable[tuple[str, str]] = (),
        *,
        source: Source | None = None,
        searches: Sequence[str] = (),
    ) -> None:
        """Initialize the encoder and index an ontology; the synonyms added before are dropped. If
        that fails, everything stays as it was.

        concepts (Iterable[Concept]): O.
        synonyms (Iterable[Tuple[str, str]]): D: texts and concept ids.
        source (Optional[Source]): Of the ontology, for the manifest.
        searches (Sequence[str]): Searches to serve besides those of the sieve.
        RAISES (ConnormError): CN409 if there is no text at all, CN405 if the disk is full, and
            those of the encoder.
        """
        concepts, synonyms = list(concepts), list(synonyms)
        names = [clean(name) for concept in concepts for name in concept.names]
        texts = [*names, *(clean(text) for text, _ in synonyms)]
        if not any(texts):
            raise ConnormError(Errors.CN409)
        encoder = self._encoder.fitted(texts)
        owner = TemporaryFolder()
        build_index(
            owner.path / "index",
            concepts,
            synonyms,
            Encoder(encoder.inputs, encoder.encode, encoder.fingerprint()),
            searches=list(dict.fromkeys([*self.sieve.searches, *searches])),
            backend=self.backend,
            clean=clean,
            source=source,
        )
        self.use(encoder.model, ConceptIndex(owner.path / "index", self.backend, owner=owner))

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

        def answer(query: Query) -> list[Answer]:
            return run_sieve(self.sieve, self.index, self.layer, query)

        return self._ask(mentions, top_k, Filter(tuple(types), tuple(branches)), answer)

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

        def answer(query: Query) -> list[Answer]:
            hits = run_search(search, self.index, self.layer, query)
            return [Answer(search, each) for each in hits]

        return self._ask(mentions, top_k, Filter(tuple(types), tuple(branches)), answer)

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
        steps: list[Step] = []
        thresholds = [*self.sieve.thresholds, None]
        for search, threshold in zip(self.sieve.searches, thresholds, strict=True):
            (candidates,) = self.search(
                search, [mention], top_k=top_k, types=types, branches=branches
            )
            reached = answers_at(candidates[0].score if candidates else None, threshold)
            answered = any(step.answers for step in steps)
            steps.append(Step(search, threshold, reached and not answered, candidates))
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
        return [self.layer.holds(key, TARGETS[target]) for key in keys]

    def _ask(
        self,
        mentions: Sequence[str],
        top_k: int,
        filter: Filter,
        answer: Callable[[Query], list[Answer]],
    ) -> list[list[Candidate]]:
        require_positive("top_k", top_k)
        if isinstance(mentions, str):
            refuse("mentions", mentions, "a list of texts")
        allowed = self._masks.get(
            Filter(*(tuple(map(clean, names)) for names in filter)), self.index
        )
        texts = [clean(mention) for mention in mentions]
        distinct = list(dict.fromkeys(text for text in texts if text))
        keys = self._encoder.inputs(distinct) if distinct else []
        representatives = dict(zip(keys, distinct, strict=True))
        found = self._ask_encoded(list(representatives.values()), top_k, allowed, answer)
        by_key = dict(zip(representatives, found, strict=True))
        by_text = {
            text: [candidate._replace(searched=text) for candidate in by_key[key]]
            for text, key in zip(distinct, keys, strict=True)
        }
        return [list(by_text.get(text, ())) for text in texts]

    def _ask_encoded(
        self,
        texts: list[str],
        top_k: int,
        allowed: np.ndarray | None,
        answer: Callable[[Query], list[Answer]],
    ) -> list[list[Candidate]]:
        found: list[list[Candidate]] = [[] for _ in texts]
        for start in range(0, len(texts), _MOST_AT_ONCE):
            vectors = from_raw(self._encoder.encode(texts[start : start + _MOST_AT_ONCE]))
            # A zero vector has no direction: n-grams give it to a text they know nothing of.
            some = np.flatnonzero(vectors.norms)
            query = Query(vectors.unit[some], top_k, allowed)
            named = name_candidates(answer(query), self.index)
            for row, candidates in zip(some, named, strict=True):
                found[start + row] = candidates
        return found

    def add_synonyms(self, synonyms: Iterable[tuple[str, str]], *, count: int = 1) -> None:
        """Let texts denote concepts from now on, as part of D; see `synonyms.add_synonyms`."""
        add_synonyms(synonyms, self.index, self.layer, self._encoder, count=count)

    def remove_synonyms(self, synonyms: Iterable[tuple[str, str]]) -> None:
        """Let texts no longer denote concepts; see `synonyms.remove_synonyms`."""
        remove_synonyms(synonyms, self.index, self.layer, self._encoder)

    def use(
        self,
        encoder: Model,
        index: ConceptIndex | None = None,
        layer: SynonymLayer | None = None,
    ) -> None:
        """Take other parts, all of them or, if they do not fit together, none.

        encoder (Model[List[str], Floats2d]): The encoder.
        index (Optional[ConceptIndex]): Built with it; the present one if None.
        layer (Optional[SynonymLayer]): What goes with a new index; nothing if None.
        RAISES (ConnormError): CN408 if the index lacks a search of the sieve, CN410 if it was
            built with another encoder or other steps of normalization.
        """
        prepared = PreparedEncoder(encoder, self._encoder.normalization)
        if index is None:
            index, layer = self._index, self._layer
        if index is not None:
            self._check(prepared, index)
            layer = SynonymLayer(index) if layer is None else layer
        self._encoder, self._index, self._layer = prepared, index, layer
        self._masks = Masks()

    def _check(self, encoder: PreparedEncoder, index: ConceptIndex) -> None:
        own, built_with = encoder.fingerprint(), index.fingerprint
        if built_with != own:
            message = Errors.CN410.format(path=index.folder, found=built_with, expected=own)
            raise ConnormError(message)
        for search in self.sieve.searches:
            index.searcher(search)
