"""What corrections do to a pipeline: synonyms, marked mentions and answers that are set."""

from collections import Counter
from collections.abc import Iterable, Sequence

from ..annotations.mentions import split_ids
from ..pipeline.concept_normalizer import ConceptNormalizer
from .corrections import Correction
from .mention_marker import MentionMarker


class AppliedCorrections:
    """Applies corrections to a normalizer and the marker before it."""

    def __init__(self, normalizer: ConceptNormalizer, marker: MentionMarker) -> None:
        """Apply nothing until `use` is called.

        normalizer (ConceptNormalizer): Gets synonyms, besides those that it has now.
        marker (MentionMarker): Marks the mentions that people have marked.
        """
        self._normalizer = normalizer
        self._marker = marker
        self._base = normalizer.lookup.changed_synonyms()
        self._corrections: list[Correction] = []
        self._answers: dict[bytes, str] = {}

    @property
    def corrections(self) -> list[Correction]:
        """RETURNS (List[Correction]): Those that are applied."""
        return self._corrections

    def use(self, corrections: list[Correction]) -> None:
        """Apply these corrections instead of those before.

        corrections (List[Correction]): Those that count.
        RAISES (ConnormError): CN009 for a text of which the encoder knows nothing.
        """
        before = len(self._corrections)
        if corrections[:before] == self._corrections:
            new = self._known(corrections[before:])
            self._normalizer.add_synonyms(_synonyms(new))
            self._answers = {**self._answers, **self._answers_of(new)}
        else:
            known = self._known(corrections)
            self._replace_synonyms(known)
            self._answers = self._answers_of(known)
        self._corrections = corrections
        self._marker.use(corrections, spans_key=self._normalizer.cfg["spans_key"])

    def answers(self, mentions: Sequence[str], long_forms: Sequence[str]) -> list[str | None]:
        """Look up what people have said of mentions.

        mentions (Sequence[str]): b mentions.
        long_forms (Sequence[str]): b long forms; empty where a document defines none.
        RETURNS (List[Optional[str]]): b ids, "NIL" or None: nobody has said anything.
        """
        answers = self._answers
        if not answers:
            return [None] * len(mentions)
        texts = [long or mention for mention, long in zip(mentions, long_forms, strict=True)]
        return [answers.get(key) for key in self._normalizer.lookup.keys(texts)]

    def _known(self, corrections: Iterable[Correction]) -> list[Correction]:
        """Another release of the ontology may lack a concept: its corrections wait."""
        number = self._normalizer.lookup.index.store.number
        return [
            correction
            for correction in corrections
            if all(number(each) is not None for each in split_ids(correction.kb_id))
        ]

    def _replace_synonyms(self, corrections: Iterable[Correction]) -> None:
        from ..linker.synonyms import ChangedSynonym

        counts = Counter(_synonyms(corrections))
        added = [ChangedSynonym(*pair, times) for pair, times in counts.most_common()]
        self._normalizer.lookup.change_synonyms([*self._base, *added])

    def _answers_of(self, corrections: Sequence[Correction]) -> dict[bytes, str]:
        texts = [each.long_form or each.mention for each in corrections]
        keys = self._normalizer.lookup.keys(texts)
        return {key: each.kb_id for key, each in zip(keys, corrections, strict=True)}


def _synonyms(corrections: Iterable[Correction]) -> list[tuple[str, str]]:
    return [pair for each in corrections for pair in each.synonyms]
