"""Answers to texts: those given lately, those of the memo, and those that must be searched for.

Whichever way a text takes, its answer is what the sieve says of its vector; a text that the index
knows has the vector that stands there.
"""

from collections.abc import Mapping, Sequence
from threading import Lock

import numpy as np

from ..concepts import Candidate
from ..encoders.normalized import NormalizedEncoder
from ..encoders.vectors import Raw, stack
from ..index.cache import Cache
from ..index.concept_index import ConceptIndex
from ..index.filters import Masks
from ..index.overlay import SynonymOverlay
from ..index.query import Query
from ..index.vectors.base import from_raw
from .memo import Memo, premises
from .sieve import Question, name_candidates, run_sieve

# Texts searched together: their cosines with a block of the index stand in memory at once.
_MOST_AT_ONCE = 512


class Retriever:
    """Answers texts with an index."""

    def __init__(
        self,
        encoder: NormalizedEncoder,
        index: ConceptIndex,
        overlay: SynonymOverlay,
        *,
        memo: Memo | None = None,
        cache_size: int = 0,
    ) -> None:
        """Put together what answers depend on.

        encoder (NormalizedEncoder): Built the index.
        index (ConceptIndex): What is searched.
        overlay (SynonymOverlay): What was added to it and removed from it.
        memo (Optional[Memo]): Answers worked out before; left aside if they are others than those
            that a search would give now, such as with other settings of the index.
        cache_size (int): Most answers kept of texts that were searched for; 0 to keep none.
        """
        self._encoder = encoder
        self.index = index
        self.overlay = overlay
        fits = memo is not None and memo.premises == premises(index, encoder)
        self.memo = memo if fits else None
        self.cache_size = cache_size
        self._masks = Masks()
        # No thread may read answers while another one still finds out which are stale.
        self._revising = Lock()
        self.forget()

    def __reduce__(self) -> tuple:
        # A worker begins anew: what it maps for itself nobody has revised.
        return _restore, (self._encoder, self.index, self.overlay, self.memo, self.cache_size)

    def forget(self) -> None:
        """Forget what a change of the overlay may have changed; called after each."""
        self._recent: Cache[tuple[Question, str], list[Candidate]] = Cache(self.cache_size)
        with self._revising:
            self._is_revised = False

    def ask(self, texts: Sequence[str], question: Question) -> list[list[Candidate]]:
        """Answer texts.

        texts (Sequence[str]): b cleaned texts; an empty one has no candidates.
        question (Question): What is asked of each.
        RETURNS (List[List[Candidate]]): b lists, best first.
        RAISES (ConnormError): CN406 and CN407 for types and branches that the index lacks.
        """
        allowed = self._masks.get(question.filter, self.index)
        distinct = list(dict.fromkeys(filter(None, texts)))
        forms = self._encoder.forms(distinct)
        by_form = self._by_form(dict(zip(forms, distinct, strict=True)), question, allowed)
        form_of = dict(zip(distinct, forms, strict=True))
        return [_as_searched(by_form[form_of[text]], text) if text else [] for text in texts]

    def _by_form(
        self, text_of: Mapping[str, str], question: Question, allowed: np.ndarray | None
    ) -> dict[str, list[Candidate]]:
        """Of texts with equal forms only one is looked up. What the memo knows is not remembered:
        to read it again takes little, and what is kept long costs Python more than that.
        """
        recent = self._recent
        found: dict[str, list[Candidate]] = {}
        new: dict[str, str] = {}
        for form, text in text_of.items():
            known = recent.get((question, form))
            if known is None:
                new[form] = text
            else:
                found[form] = known
        memo = self._memo_for(question)
        if new and memo:
            read = self._read(memo, [*new.values()], memo.find([*new]))
            found |= {form: read[text] for form, text in new.items() if text in read}
            new = {form: text for form, text in new.items() if form not in found}
        if new:
            by_text = self._by_input([*new.values()], question, allowed)
            for form, text in new.items():
                recent.put((question, form), by_text[text])
                found[form] = by_text[text]
        return found

    def _memo_for(self, question: Question) -> Memo | None:
        if self.memo is None or self.memo.question != question:
            return None
        with self._revising:
            if not self._is_revised:
                self.memo.revise(self.index, self.overlay)
                self._is_revised = True
        return self.memo

    def _read(
        self, memo: Memo, texts: Sequence[str], places: np.ndarray
    ) -> dict[str, list[Candidate]]:
        known = np.flatnonzero(places >= 0)
        searched = [texts[place] for place in known.tolist()]
        found = memo.candidates(places[known], searched, self.index.store)
        return dict(zip(searched, found, strict=True))

    def _by_input(
        self, texts: Sequence[str], question: Question, allowed: np.ndarray | None
    ) -> dict[str, list[Candidate]]:
        """Of texts with equal encoder inputs only one is searched for, and none that the memo knows
        in another spelling."""
        keys = self._encoder.inputs(texts)
        one_of = dict(zip(keys, texts, strict=True))
        memo = self._memo_for(question)
        rows = self.index.keys.rows(list(one_of))
        found = self._read(memo, [*one_of.values()], memo.find_rows(rows)) if memo else {}
        asked = [pair for pair in one_of.items() if pair[1] not in found]
        for start in range(0, len(asked), _MOST_AT_ONCE):
            batch = asked[start : start + _MOST_AT_ONCE]
            found |= {text: [] for _, text in batch}
            found |= self._search(batch, question, allowed)
        return {text: found[one_of[key]] for text, key in zip(texts, keys, strict=True)}

    def _search(
        self, asked: Sequence[tuple[bytes, str]], question: Question, allowed: np.ndarray | None
    ) -> dict[str, list[Candidate]]:
        places, vectors = self._unit_vectors(asked)
        searched = [asked[place][1] for place in places]
        query = Query(vectors, question.top_k, allowed)
        answers = run_sieve(question.sieve, self.index, self.overlay, query)
        return dict(zip(searched, name_candidates(answers, self.index, searched), strict=True))

    def _unit_vectors(self, asked: Sequence[tuple[bytes, str]]) -> tuple[list[int], Raw]:
        """Take the vectors of texts from the index, from the synonyms beside it, or else from the
        encoder.

        asked (Sequence[Tuple[bytes, str]]): b encoder inputs and texts.
        RETURNS (Tuple[List[int], Raw]): Places of the texts whose vectors are not zero, for n-grams
            give such a one to a text they know nothing of; and their unit vectors.
        """
        index, added = self.index, self.overlay.raw
        rows = index.keys.rows([key for key, _ in asked])
        held = np.flatnonzero(rows >= 0)
        held = held[index.vectors.norms[rows[held]] > 0]
        parts = [held]
        units = [index.vectors.queries(rows[held], weight=self._encoder.lexical_weight)]
        other = np.flatnonzero(rows < 0).tolist()
        own = [place for place in other if asked[place][0] in added]
        new = [place for place in other if asked[place][0] not in added]
        for places, raw in (
            (own, [added[asked[place][0]] for place in own]),
            (
                new,
                [self._encoder.encode_inputs([asked[place][0] for place in new])] if new else [],
            ),
        ):
            if places:
                vectors = from_raw(stack(raw))
                some = np.flatnonzero(vectors.norms)
                parts.append(np.asarray(places)[some])
                units.append(vectors.unit[some])
        return np.concatenate(parts).tolist(), stack(units)


def _restore(
    encoder: NormalizedEncoder,
    index: ConceptIndex,
    overlay: SynonymOverlay,
    memo: Memo | None,
    cache_size: int,
) -> Retriever:
    return Retriever(encoder, index, overlay, memo=memo, cache_size=cache_size)


def _as_searched(candidates: list[Candidate], text: str) -> list[Candidate]:
    if candidates and candidates[0].searched != text:
        return [candidate._replace(searched=text) for candidate in candidates]
    return list(candidates)
