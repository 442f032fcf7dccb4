"""The ids that documents lack or have too many, counted by kind."""

from collections import Counter
from collections.abc import Iterable

from spacy_connorm.concepts import Ontology
from spacy_connorm.evaluation.end_to_end import DocumentSpans, LinkedSpan
from spacy_connorm.evaluation.report import Row
from spacy_connorm.text.words import words_of

_BROADER, _NARROWER, _OTHER = "a broader id", "a narrower id", "another id"
_KINDS = {
    "missed": (
        *("no mention: the text is a name", "no mention: the text shares words with a name"),
        *("no mention: the text shares no word with a name", _BROADER, _NARROWER, _OTHER),
    ),
    "wrong": ("nothing is annotated there", _BROADER, _NARROWER, _OTHER),
}


class ErrorKinds:
    """Sorts errors by what stands in their place, the first mention of each id."""

    def __init__(self, ontology: Ontology) -> None:
        """ontology (Ontology): Has the names and parents."""
        self._concepts = {concept.concept_id: concept for concept in ontology}
        self._words = words_of("en")

    def count(self, documents: Iterable[DocumentSpans]) -> list[Row]:
        """RETURNS (List[Dict[str, Any]]): How many ids of each kind are missed, and wrong."""
        counts: Counter[tuple[str, str]] = Counter()
        for gold, found in documents:
            for spans, others, error in ((gold, found, "missed"), (found, gold, "wrong")):
                known = frozenset().union(*(span.concept_ids for span in others))
                firsts = {
                    concept_id: span for span in reversed(spans) for concept_id in span.concept_ids
                }
                for concept_id in firsts.keys() - known:
                    counts[error, self._kind(concept_id, firsts[concept_id], others, error)] += 1
        return [
            {"error": error, "in its place": kind, "ids": counts[error, kind]}
            for error, kinds in _KINDS.items()
            for kind in kinds
        ]

    def _kind(
        self, concept_id: str, span: LinkedSpan, others: Iterable[LinkedSpan], error: str
    ) -> str:
        near = [other for other in others if other.start < span.end and span.start < other.end]
        ids = frozenset().union(*(other.concept_ids for other in near))
        if not ids:
            return self._unmarked(concept_id, span.text) if error == "missed" else _KINDS[error][0]
        if not ids.isdisjoint(self._ancestors(concept_id)):
            return _BROADER
        is_narrower = any(concept_id in self._ancestors(other) for other in ids)
        return _NARROWER if is_narrower else _OTHER

    def _unmarked(self, concept_id: str, text: str) -> str:
        concept = self._concepts.get(concept_id)
        bags = [set(self._words.content(name)) for name in concept.names] if concept else []
        own = set(self._words.content(text))
        if own in bags:
            return _KINDS["missed"][0]
        return _KINDS["missed"][1 if any(own & bag for bag in bags) else 2]

    def _ancestors(self, concept_id: str) -> set[str]:
        above, rest = set[str](), [concept_id]
        while rest:
            concept = self._concepts.get(rest.pop())
            new = set(concept.parents) - above if concept else set[str]()
            above |= new
            rest += new
        return above
