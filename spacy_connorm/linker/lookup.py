"""The parts that find candidates: an encoder, an index, the synonyms beside it, and a sieve."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from itertools import groupby
from operator import attrgetter
from threading import RLock
from typing import Any

import numpy as np

from ..concepts import Candidate, Concept, Source
from ..encoders.protocol import Encoder, encode_inputs, encoder_inputs, loaded_shim
from ..encoders.raw import HybridArray, Raw, stack
from ..encoders.shims import EncoderShim
from ..errors import ConnormError, Errors, Warnings, quote, quote_id, refuse, swapped, warn
from ..files.atomic import TemporaryFolder
from ..index.backends.protocol import Backend
from ..index.cache import Cache
from ..index.concept_index import ConceptIndex
from ..index.filter import AllowedConcepts, Filter, allowed_concepts
from ..index.keys import hash_keys
from ..index.overlay import Synonym, SynonymOverlay
from ..index.search import TARGETS
from ..index.vectors.kinds import from_raw
from ..index.vectors.metric import COSINE, metric_of
from ..text.cleaning import clean, encodable
from ..text.substitutions import Substitution
from .rescorers import RESCORERS, SearchBatch
from .sieve import Sieve
from .synonyms import ChangedSynonym, as_pairs

# The number of filters whose masks are kept: one byte per concept, and for each search one per row.
_MAX_MASKS = 16


@dataclass(frozen=True, eq=False)
class Retriever:
    """Everything that answers depend on, at one moment. It never changes: a change of synonyms
    makes a new retriever, so that running queries are not affected.

    encoder (Model[List[str], Floats2d]): The encoder that the index was built with.
    index (ConceptIndex): The index to search.
    overlay (SynonymOverlay): Synonyms added and removed since the index was built.
    cache_size (int): The maximum number of answers to keep; 0 for none.
    weights (Mapping[str, float]): The weights of `RESCORERS`, by setting; those at 0 are left out.
    masks (Cache): The concepts that each filter allows.
    cache (Cache): Answers to texts.
    has_cosines (bool): Whether scores are cosines, so that the scores of different texts can be
        compared.
    """

    encoder: Encoder
    index: ConceptIndex
    overlay: SynonymOverlay
    cache_size: int = 0
    weights: Mapping[str, float] = field(default_factory=dict)
    masks: Cache[Filter, AllowedConcepts] = field(
        default_factory=lambda: Cache(_MAX_MASKS), repr=False
    )
    cache: Cache[tuple, list[Candidate]] = field(init=False, repr=False)

    has_cosines: bool = field(init=False, repr=False)
    _shim: EncoderShim = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_shim", loaded_shim(self.encoder))
        object.__setattr__(self, "cache", Cache(self.cache_size))
        object.__setattr__(self, "has_cosines", self.index.metric == COSINE)

    def __reduce__(self) -> tuple:
        # A worker starts with empty caches.
        return Retriever, (self.encoder, self.index, self.overlay, self.cache_size, self.weights)

    def allowed(self, filter: Filter) -> AllowedConcepts | None:
        """Find the concepts that a filter allows, once for each filter.

        filter (Filter): The filter.
        RETURNS (Optional[AllowedConcepts]): The concepts; None if all are allowed.
        RAISES (ConnormError): CN406 for types and branches that the index lacks.
        """
        allowed = self.masks.get(filter)
        if allowed is None:
            allowed = allowed_concepts(filter, self.index)
            if allowed is not None:
                self.masks.put(filter, allowed)
        return allowed

    def find_known_texts(self, texts: Iterable[str], target: str) -> set[str]:
        """Find out which texts denote a concept.

        texts (Iterable[str]): Cleaned texts.
        target (str): Where to look: "O", "D" or "OD".
        RETURNS (Set[str]): The texts that the encoder cannot tell apart from a text of a concept.
        """
        asked = list(texts)
        keys = self._shim.inputs(encodable(asked)) if asked else []
        return {
            text
            for text, key in zip(asked, keys, strict=True)
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

    def encode(
        self, texts: Sequence[str], top_k: int, allowed: AllowedConcepts | None = None
    ) -> SearchBatch:
        """Get vectors from the index or from the encoder.

        texts (Sequence[str]): Cleaned texts.
        top_k (int): The number of concepts to find for each.
        allowed (Optional[AllowedConcepts]): The concepts that may be found; all if None.
        RETURNS (SearchBatch): The texts with vectors, without those in which the encoder
            recognizes nothing.
        """
        index, shim = self.index, self._shim
        inputs = shim.inputs(encodable(texts)) if texts else []
        rows = index.keys.rows_of(hash_keys(inputs))
        held = np.flatnonzero(rows >= 0)
        held = held[index.vectors.norms[rows[held]] > 0]
        places, found = held.tolist(), []
        if places:
            found.append(index.compared.queries(rows[held]))
        other = np.flatnonzero(rows < 0).tolist()
        if other:
            # Texts that the encoder cannot tell apart are encoded once.
            number: dict[bytes, int] = {}
            items = np.array([number.setdefault(inputs[each], len(number)) for each in other])
            vectors = from_raw(shim.encode([*number]), metric=index.metric)
            recognized = np.flatnonzero(vectors.norms[items] > 0)
            if len(recognized):
                places += [other[each] for each in recognized.tolist()]
                found.append(vectors.queries(items[recognized]))
        rows = rows[places]
        if self.overlay.removed:
            rows = np.where(np.isin(rows, self.overlay.rows_without_concepts), -1, rows)
        asked = stack(found) if len(found) > 1 else next(iter(found), None)
        if isinstance(asked, HybridArray):  # vectors of the index lack the current weight
            asked = replace(asked, weight=shim.lexical_weight)
        return SearchBatch(
            [texts[place] for place in places],
            rows,
            asked,
            index,
            self.overlay,
            top_k,
            allowed,
            depth=top_k,
            may_rise=np.zeros(len(places), dtype="bool"),
        )


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
        self._settings: dict[str, Any] = {}
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
            raise ConnormError(Errors.CN001)
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

    def tune(self, settings: Mapping[str, Any]) -> None:
        """Change the settings of the `Retriever`, and empty the cache.

        settings (Mapping[str, Any]): Values by name: `cache_size` and the settings of `RESCORERS`.
            Missing ones keep their values; others are ignored.
        RAISES (ConnormError): CN421 if any is incompatible with the metric of the backend.
        """
        _require_comparable(metric_of(self.backend), self.sieve, settings)
        with self._changing:
            self._settings |= settings
            if self._retriever is not None:
                self._retriever = replace(self._retriever, **self._own_settings())

    def _own_settings(self) -> dict[str, Any]:
        weights = {name: self._settings.get(name, 0.0) for name in RESCORERS}
        return {
            "cache_size": self._settings.get("cache_size", 0),
            "weights": {name: weight for name, weight in weights.items() if weight},
        }

    def build(
        self,
        concepts: Iterable[Concept],
        synonyms: Iterable[tuple[str, str]] = (),
        *,
        source: Source | None = None,
        searches: Sequence[str] = (),
        substitutions: Iterable[Substitution] = (),
        reused: ConceptIndex | None = None,
    ) -> None:
        """Initialize the encoder and index an ontology. Synonyms that were added before are
        dropped. If it fails, nothing changes. Texts are kept in memory only for an encoder that is
        fitted to them. Vectors that the current index has from the same encoder are copied.

        concepts (Iterable[Concept]): The ontology, O.
        synonyms (Iterable[Tuple[str, str]]): D: texts and concept ids.
        source (Optional[Source]): The source of the ontology, for the manifest.
        searches (Sequence[str]): Searches to build in addition to those of the sieve.
        substitutions (Iterable[Substitution]): Words in mentions that can replace words in names.
        reused (Optional[ConceptIndex]): An older index to copy vectors from, instead of the current
            one.
        RAISES (ConnormError): CN409 without texts, CN108 if the disk is full, and the encoder's
            errors.
        """
        from ..index.builder import fit_encoder, write_index

        encoder, concepts, synonyms = fit_encoder(self.encoder, concepts, synonyms, clean)
        owner = TemporaryFolder()
        write_index(
            owner.path / _INDEX,
            concepts,
            synonyms,
            encoder,
            searches=list(dict.fromkeys([*self.sieve.searches, *searches])),
            backend=self.backend,
            clean=clean,
            language=self.language,
            source=source,
            known=reused or (self.index if self.is_ready else None),
            substitutions=substitutions,
        )
        self.use(encoder, ConceptIndex(owner.path / _INDEX, self.backend, owner=owner))

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
        _warn_of_missing(removed, before.overlay, before.index)

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
        added = [(each, overlay.own_count(each)) for each in overlay.synonyms]
        numbers = {concept for _, concept in removed} | {each.concept for each, _ in added}
        labels = index.store.labels(numbers)
        return [
            *(
                ChangedSynonym(texts[member], labels[concept][0], 0)
                for member, (_, concept) in zip(members, removed, strict=True)
            ),
            *(ChangedSynonym(each.text, labels[each.concept][0], count) for each, count in added),
        ]

    def change_synonyms(self, changes: Iterable[ChangedSynonym]) -> None:
        """Replace all synonyms removed and added since the index was built.

        changes (Iterable[ChangedSynonym]): From `changed_synonyms`, of this or another index.
        RAISES (ConnormError): As `add_synonyms`. Nothing changes then.
        """
        changes = list(changes)
        gone = [(text, concept_id) for text, concept_id, count in changes if not count]
        added = (each for each in changes if each.times)
        with self._changing:
            index, encoder = self.retriever.index, self.retriever.encoder
            overlay = SynonymOverlay(index).without_synonyms(find_synonyms(gone, index, encoder))
            changed = replace(self.retriever, overlay=overlay)
            for count, some in groupby(added, key=attrgetter("times")):
                changed = _with_added(changed, [each[:2] for each in some], count=count)
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
            with another encoder or metric, CN421 if the sieve is incompatible with the metric.
        """
        with self._changing:
            old, retriever = self._retriever, None
            if index is None and old is not None:
                index, overlay = old.index, old.overlay
            if index is not None:
                index.require(encoder, self.sieve.searches)
                _require_comparable(index.metric, self.sieve, self._settings)
                overlay = SynonymOverlay(index) if overlay is None else overlay
                retriever = Retriever(encoder, index, overlay, **self._own_settings())
            self.encoder, self._retriever = encoder, retriever


def _require_comparable(metric: str, sieve: Sieve, settings: Mapping[str, Any]) -> None:
    """Refuse settings that compare a score with a fixed number or another text's score: an inner
    product has no upper limit, and grows with the length of the mention's vector.

    metric (str): The metric of the index.
    sieve (Sieve): The searches.
    settings (Mapping[str, Any]): Values by name; missing ones are not used.
    RAISES (ConnormError): CN421 with everything that must be changed, unless the metric is
        "cosine".
    """
    if metric == COSINE:
        return
    # They raise or lower scores by a share of the largest cosine, 1.
    wanted = [f"`{name} = 0`" for name in RESCORERS if settings.get(name)]
    if settings.get("split_composites"):
        wanted.append("`split_composites = false`")
    if len(sieve.searches) > 1:
        wanted.append(
            f'a sieve of one search (`searches = ["{sieve.searches[-1]}"]`, `thresholds = []`)'
        )
    if wanted:
        raise ConnormError(Errors.CN421.format(metric=metric, settings=", ".join(wanted)))


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
        pairs.append((_text(text, number), index.number(concept)))
    keys = encoder_inputs(encoder, [text for text, _ in pairs]) if pairs else []
    return [Synonym(key, *pair) for key, pair in zip(keys, pairs, strict=True)]


def encode_synonyms(synonyms: Sequence[Synonym], encoder: Encoder) -> Raw:
    """Encode the texts of synonyms.

    synonyms (Sequence[Synonym]): n synonyms, at least one.
    encoder (Model[List[str], Floats2d]): The encoder.
    RETURNS (Raw): Raw vectors, (n, width).
    RAISES (ConnormError): CN009 for a text in which the encoder recognizes nothing.
    """
    vectors = encode_inputs(encoder, [each.key for each in synonyms])
    for place in np.flatnonzero(from_raw(vectors).norms == 0).tolist():
        raise ConnormError(Errors.CN009.format(number=place + 1, text=quote(synonyms[place].text)))
    return vectors


def _warn_of_missing(
    synonyms: Sequence[Synonym], overlay: SynonymOverlay, index: ConceptIndex
) -> None:
    """Warn about synonyms that are neither in the index nor in the overlay.

    synonyms (Sequence[Synonym]): The synonyms.
    overlay (SynonymOverlay): The synonyms added to the index.
    index (ConceptIndex): The index.
    WARNS (ConnormWarning): CNW001 for each.
    """
    for number, each in enumerate(synonyms, start=1):
        if not overlay.has_synonym(each):
            (concept_id, _) = index.store.labels([each.concept])[each.concept]
            text, concept = quote(each.text), quote_id(concept_id)
            warn(Warnings.CNW001.format(number=number, text=text, concept=concept))


def _text(text: str, number: int) -> str:
    cleaned = clean(text)
    if not cleaned:
        raise ConnormError(Errors.CN009.format(number=number, text=quote(text)))
    return cleaned
