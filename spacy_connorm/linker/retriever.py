"""Texts to candidates, from one snapshot of everything that answers depend on.

A text is answered from the cache, from the memo or by a search. The answer is the same: what the
sieve finds for the text's vector. A text of the index has the vector that the index has.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TypeAlias

import numpy as np

from ..concepts import Candidate
from ..encoders.normalized import NormalizedEncoder
from ..encoders.vectors import Raw, stack, weighted
from ..index.cache import Cache
from ..index.concept_index import ConceptIndex
from ..index.filters import AllowedConcepts, Masks
from ..index.members import TARGETS
from ..index.overlay import SynonymOverlay
from ..index.query import Query
from ..index.rewriting import Rewritten
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
# What the encoder sees of a text, or a stand-in for it, and the words of the text.
_Form: TypeAlias = tuple[str, tuple[str, ...]]
# The settings that do not depend on the index.
TUNABLE = ("cache_size", "extra_words_weight", "rewriting_weight")


@dataclass(frozen=True, eq=False)
class Retriever:
    """Everything that answers depend on, at one moment. It never changes: other synonyms make
    another retriever, so a question in progress is not affected.

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
        forms = self.encoder.forms(texts)
        form_of = {text: form for form, text in zip(forms, texts, strict=True) if text}
        found = self._memorized(form_of, question)
        new = {text: form for text, form in form_of.items() if text not in found}
        found |= self._searched(new, question, allowed)
        return [_as_searched(found[text], text) if text else [] for text in texts]

    def _memorized(
        self, form_of: Mapping[str, str], question: Question
    ) -> dict[str, list[Candidate]]:
        """Read the answers to texts from the memo by their forms. They are not cached: reading them
        again is cheap, and long-lived objects cost Python more. The memo's texts are the index's,
        whose words do not matter.
        """
        memo = self._memo_of(question)
        if memo is None or not form_of:
            return {}
        return self._read(memo, memo.find(list(form_of.values())), list(form_of))

    def _searched(
        self, form_of: Mapping[str, str], question: Question, allowed: AllowedConcepts | None
    ) -> dict[str, list[Candidate]]:
        """Answer texts from the cache or by a search."""
        words = self._words(form_of)
        forms = zip(form_of.values(), words, strict=True)
        keys: dict[str, _Form] = dict(zip(form_of, forms, strict=True))
        text_of = {key: text for text, key in keys.items()}
        cached = {key: self._cache.get((question, key)) for key in text_of}
        found = {key: known for key, known in cached.items() if known is not None}
        new = {text: key for key, text in text_of.items() if key not in found}
        if new:
            for text, candidates in self._retrieve(new, question, allowed).items():
                found[new[text]] = candidates
                self._cache.put((question, new[text]), candidates)
        return {text: found[key] for text, key in keys.items()}

    def _words(self, texts: Iterable[str]) -> Iterable[tuple[str, ...]]:
        """RETURNS (Iterable[Tuple[str, ...]]): The words of texts if answers depend on them: "SIDS"
        and "sids" have other ones, and may be the same to the encoder.
        """
        reads_words = self.extra_words_weight or self.rewriting_weight
        return (known_bag(text) if reads_words else () for text in texts)

    def _memo_of(self, question: Question) -> Memo | None:
        return None if self.memo is None or self.memo.question != question else self.revised_memo

    def _read(
        self, memo: Memo, places: np.ndarray, texts: Sequence[str]
    ) -> dict[str, list[Candidate]]:
        known = np.flatnonzero(places >= 0).tolist()
        if not known:
            return {}
        searched = [texts[place] for place in known]
        found = memo.candidates(places[known], searched, self.index.store)
        return dict(zip(searched, found, strict=True))

    def _retrieve(
        self, forms: Mapping[str, _Form], question: Question, allowed: AllowedConcepts | None
    ) -> dict[str, list[Candidate]]:
        """Search for texts, given with their forms, that neither the cache nor the memo has by
        these. Of texts with equal encoder inputs and words only one is searched, and none that the
        memo has by its row.
        """
        words = (own for _, own in forms.values())
        inputs = list(zip(self.encoder.inputs(forms), words, strict=True))
        text_of = dict(zip(inputs, forms, strict=True))
        keys, distinct = [key for key, _ in text_of], list(text_of.values())
        rows = self.index.keys.rows(keys)
        memo = self._memo_of(question)
        found = {} if memo is None else self._read(memo, memo.find_rows(rows), distinct)
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
        return {text: found.get(text_of[key], []) for text, key in zip(forms, inputs, strict=True)}

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
