"""Texts to candidates, from one snapshot of everything that answers depend on.

A text is answered from the cache, from the memo or by a search. The answer is the same: what the
sieve finds for the text's vector. A text of the index has the vector that the index has.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TypeAlias, TypeVar

import numpy as np

from ..concepts import Candidate
from ..encoders.normalized import NormalizedEncoder
from ..encoders.vectors import Raw, stack, weighted
from ..index.cache import Cache
from ..index.concept_index import ConceptIndex
from ..index.filters import AllowedConcepts, Filter, Masks
from ..index.members import TARGETS
from ..index.overlay import SynonymOverlay
from ..index.query import Query, run_search
from ..index.ranking import Hit
from ..index.rewriting import Rewritten
from ..index.search import Search
from ..index.vectors.base import from_raw
from ..text.cleaning import clean
from .extra_words import known_bag
from .memo import Memo
from .rewritten_mentions import rewrite_mentions
from .sieve import ExtraWordsPenalty, Question, name_candidates, run_sieve

# How many texts are searched at once: their cosines with a block of the index are in memory
# together.
_BATCH = 512
# How many concepts are found for a mention before their scores are lowered.
_MIN_FOUND = 25
# The settings that do not depend on the index.
# What the encoder sees of a text, or a stand-in for it, and the words of the text.
_Form: TypeAlias = tuple[str, tuple[str, ...]]
_Key = TypeVar("_Key")
TUNABLE = ("cache_size", "extra_words_weight", "rewriting_weight")


@dataclass(frozen=True, eq=False)
class Retriever:
    """Everything that answers depend on, at one moment. It never changes: other synonyms make
    another retriever, so a question that has begun is answered as if nothing had happened.

    encoder (NormalizedEncoder): Built the index.
    index (ConceptIndex): What is searched.
    overlay (SynonymOverlay): Synonyms added and removed since the index was built.
    memo (Optional[Memo]): Answers worked out in advance, without some of these synonyms.
    cache_size (int): At most how many other answers to keep; 0 for none.
    extra_words_weight (float): How much scores are lowered by words that the mention lacks, see
        `extra_words`. Texts of the index are left alone: their own name comes first anyway.
    rewriting_weight (float): How much certain substitutions of words raise cosines, 0 to 1.
    """

    encoder: NormalizedEncoder
    index: ConceptIndex
    overlay: SynonymOverlay
    memo: Memo | None = None
    cache_size: int = 0
    extra_words_weight: float = 0.0
    rewriting_weight: float = 0.0
    _masks: Masks = field(default_factory=Masks, repr=False)
    _cache: Cache[tuple[Question, _Form], list[Candidate]] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_cache", Cache(self.cache_size))

    def __reduce__(self) -> tuple:
        # A worker starts with empty caches.
        parts = self.encoder, self.index, self.overlay, self.memo, self.cache_size
        return Retriever, (*parts, self.extra_words_weight, self.rewriting_weight)

    @property
    def has_cosines(self) -> bool:
        """RETURNS (bool): Whether scores are cosines: those of several texts can be compared."""
        return not self.index.compared.is_scaled

    def with_overlay(self, overlay: SynonymOverlay) -> "Retriever":
        """RETURNS (Retriever): The same with other synonyms, and an empty cache."""
        # A memo that was revised already needs to be compared with the difference only.
        return replace(self, overlay=overlay, memo=vars(self).get("revised_memo", self.memo))

    @cached_property
    def revised_memo(self) -> Memo | None:
        """RETURNS (Optional[Memo]): The memo without the answers that these synonyms could change.
        It is revised when it is first needed: many changes in a row cost no more than one.
        """
        return None if self.memo is None else self.memo.revised(self.index, self.overlay)

    def holds(self, texts: Sequence[str], target: str) -> list[bool]:
        """Check which texts denote a concept.

        texts (Sequence[str]): b cleaned texts.
        target (str): Where to look: "O", "D" or "OD".
        RETURNS (List[bool]): b times whether the text is there, as the encoder sees it.
        """
        inputs = self.encoder.inputs(texts) if texts else []
        return [self.overlay.holds(key, TARGETS[target]) for key in inputs]

    def names_exactly(self, text: str, concept_id: str) -> bool:
        """RETURNS (bool): Whether a text that denotes a concept is its preferred name, an exact
        synonym, or in annotated data: false for the ontology's narrow, broad and related synonyms.
        """
        row = self.index.keys.row(self.encoder.inputs([clean(text)])[0])
        if row is None:
            return True  # a synonym that somebody has added
        members = self.index.members
        return not members.inexact[members.of(row, self.index.number(concept_id))].any()

    def ask(self, texts: Sequence[str], question: Question) -> list[list[Candidate]]:
        """Answer texts.

        texts (Sequence[str]): b cleaned texts; an empty one has no candidates.
        question (Question): What each is asked.
        RETURNS (List[List[Candidate]]): b lists, best first.
        RAISES (ConnormError): CN402 if the index turned out to be damaged, CN406 and CN407 for
            types and branches that it lacks, CN408 for a search that it was built without.
        """
        self.index.require_sound()
        allowed = self._masks.get(question.filter, self.index)
        forms = list(zip(self.encoder.forms(texts), self._words(texts), strict=True))
        asked = {form: text for form, text in zip(forms, texts, strict=True) if text}
        found = self._known(asked, question)
        new = {text: form for form, text in asked.items() if form not in found}
        if new:
            for text, candidates in self._retrieve(list(new), question, allowed).items():
                found[new[text]] = candidates
                self._cache.put((question, new[text]), candidates)
        return [
            _as_searched(found[form], text) if text else []
            for form, text in zip(forms, texts, strict=True)
        ]

    def _words(self, texts: Sequence[str]) -> list[tuple[str, ...]]:
        """RETURNS (List[Tuple[str, ...]]): The words of texts if answers depend on them: "SIDS" and
        "sids" have other ones, and may be the same to the encoder.
        """
        reads_words = self.extra_words_weight or self.rewriting_weight
        return list(map(known_bag, texts)) if reads_words else [()] * len(texts)

    def nearest(
        self, texts: Sequence[str], search: Search, limits: Filter, *, min_score: float
    ) -> dict[str, Hit]:
        """Find the concept of the nearest name of texts that may be no mentions at all. Words are
        not compared, and answers are not kept: that makes it several times as fast as `ask`.

        texts (Sequence[str]): The texts.
        search (Search): A search over texts.
        limits (Filter): Which concepts may be found.
        min_score (float): Texts with a lower best score have none.
        RETURNS (Dict[str, Hit]): The first concept by text.
        RAISES (ConnormError): CN402, CN406 and CN407 as `ask`.
        """
        self.index.require_sound()
        allowed = self._masks.get(limits, self.index)
        inputs = self.encoder.inputs(texts)
        keys = list(dict.fromkeys(inputs))
        rows = self.index.keys.rows(keys)
        found: dict[bytes, Hit] = {}
        for start in range(0, len(keys), _BATCH):
            batch = slice(start, start + _BATCH)
            known, vectors = self._query_vectors(keys[batch], rows[batch])
            if not known:
                continue
            query = Query(vectors, 1, allowed)
            hits = run_search(search, self.index, self.overlay, query, threshold=min_score)
            for place, own in zip(known, hits, strict=True):
                if own and own[0].score >= min_score:
                    found[keys[start + place]] = own[0]
        return {text: found[key] for text, key in zip(texts, inputs, strict=True) if key in found}

    def _known(
        self, asked: Mapping[_Form, str], question: Question
    ) -> dict[_Form, list[Candidate]]:
        """Read the answers to texts, given by form, from the cache and the memo. Those of the memo
        are not cached: reading them again is cheap, and long-lived objects cost Python more. Its
        texts are the index's, whose words do not matter.
        """
        cached = {form: self._cache.get((question, form)) for form in asked}
        found = {form: known for form, known in cached.items() if known is not None}
        memo = self._memo_of(question)
        if memo is None or len(found) == len(asked):
            return found
        left = [form for form in asked if form not in found]
        places = memo.find([form for form, _ in left])
        return found | self._read(memo, places, left, [asked[form] for form in left])

    def _memo_of(self, question: Question) -> Memo | None:
        return None if self.memo is None or self.memo.question != question else self.revised_memo

    def _read(
        self, memo: Memo, places: np.ndarray, keys: Sequence[_Key], texts: Sequence[str]
    ) -> dict[_Key, list[Candidate]]:
        known = np.flatnonzero(places >= 0).tolist()
        if not known:
            return {}
        searched = [texts[place] for place in known]
        found = memo.candidates(places[known], searched, self.index.store)
        return dict(zip([keys[place] for place in known], found, strict=True))

    def _retrieve(
        self, texts: Sequence[str], question: Question, allowed: AllowedConcepts | None
    ) -> dict[str, list[Candidate]]:
        """Search for texts that neither the cache nor the memo has by their forms. Of texts with
        equal encoder inputs and words only one is searched, and none that the memo has by its
        row.
        """
        inputs = list(zip(self.encoder.inputs(texts), self._words(texts), strict=True))
        text_of = dict(zip(inputs, texts, strict=True))
        keys, distinct = [key for key, _ in text_of], list(text_of.values())
        rows = self.index.keys.rows(keys)
        memo = self._memo_of(question)
        found = {} if memo is None else self._read(memo, memo.find_rows(rows), distinct, distinct)
        left = [place for place, text in enumerate(distinct) if text not in found]
        for start in range(0, len(left), _BATCH):
            batch = left[start : start + _BATCH]
            known, vectors = self._query_vectors([keys[place] for place in batch], rows[batch])
            if known:
                searched = [distinct[batch[place]] for place in known]
                own_rows = rows[[batch[place] for place in known]]
                query = Query(vectors, question.top_k, allowed)
                query, penalty = self.prepare(query, searched, own_rows)
                answers = run_sieve(question.sieve, self.index, self.overlay, query, penalty)
                named = name_candidates(answers, self.index, searched)
                found |= dict(zip(searched, named, strict=True))
        return {text: found.get(text_of[key], []) for text, key in zip(texts, inputs, strict=True)}

    def prepare(
        self, query: Query, texts: Sequence[str], rows: np.ndarray
    ) -> tuple[Query, ExtraWordsPenalty | None]:
        """Add what the words of mentions say to what is asked for their vectors.

        query (Query): b mentions.
        texts (Sequence[str]): b cleaned texts.
        rows (Ints1d): int64 (b,): their rows in the index; -1 if it lacks them. A text that denotes
            nothing any more is read as one that the index lacks.
        RETURNS (Tuple[Query, Optional[ExtraWordsPenalty]]): The query with rewritten names, and as
            deep as the penalty of extra words needs; and that penalty, if there is any.
        """
        if self.overlay.removed:
            rows = np.where(np.isin(rows, self.overlay.silent_rows), -1, rows)
        rewritten = rewrite_mentions(texts, rows, self.index, weight=self.rewriting_weight)
        penalty = self._penalty(texts, rows, rewritten, query.top_k)
        depth = query.top_k if penalty is None else max(query.top_k, _MIN_FOUND)
        return query._replace(top_k=depth, rewritten=rewritten), penalty

    def _penalty(
        self, texts: Sequence[str], rows: np.ndarray, rewritten: Sequence[Rewritten], top_k: int
    ) -> ExtraWordsPenalty | None:
        if not self.extra_words_weight:
            return None
        mentions = ["" if row >= 0 else text for text, row in zip(texts, rows, strict=True)]
        return ExtraWordsPenalty(mentions, self.extra_words_weight, top_k, rewritten)

    def _query_vectors(self, inputs: Sequence[bytes], rows: np.ndarray) -> tuple[list[int], Raw]:
        """Take vectors from the index, from the synonyms beside it, or from the encoder.

        inputs (Sequence[bytes]): b encoder inputs.
        rows (Ints1d): int64 (b,): their rows in the index; -1 if it lacks them.
        RETURNS (Tuple[List[int], Raw]): The places of the vectors that are not zero, and these
            as the index compares them, if there are any. A text of which the encoder knows nothing
            has a zero vector.
        """
        index, added = self.index, self.overlay.raw
        held = np.flatnonzero(rows >= 0)
        held = held[index.vectors.norms[rows[held]] > 0]
        places, found = held.tolist(), []
        if places:
            found.append(index.compared.queries(rows[held]))
        other = np.flatnonzero(rows < 0).tolist()
        own = [place for place in other if inputs[place] in added]
        new = [place for place in other if inputs[place] not in added]
        for some, raw in (
            (own, [added[inputs[place]] for place in own]),
            (new, [self.encoder.encode_inputs([inputs[place] for place in new])] if new else []),
        ):
            if some:
                vectors = index.as_compared(from_raw(stack(raw)))
                nonzero = np.flatnonzero(vectors.norms)
                places += [some[place] for place in nonzero.tolist()]
                found.append(vectors.queries(nonzero))
        return places, weighted(stack(found), self.encoder.lexical_weight) if places else None


def _as_searched(candidates: list[Candidate], text: str) -> list[Candidate]:
    if candidates and candidates[0].searched != text:
        return [candidate._replace(searched=text) for candidate in candidates]
    return list(candidates)
