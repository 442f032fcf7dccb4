"""Corrections as synonyms and marked phrases of a pipeline, and as answers."""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence

from ..documents.mentions import split_ids
from ..errors import ConnormError
from ..linker.lookup import encode_synonyms, find_synonyms
from ..linker.synonym_changes import ChangedSynonym
from ..pipeline.concept_normalizer import ConceptNormalizer
from ..pipeline.mention_marker import MentionMarker
from .corrections import Correction

# A text in which the encoder recognizes nothing.
_UNREADABLE = "CN009"


class AppliedCorrections:
    """Applies corrections to a normalizer and the marker before it. Corrections with concepts that
    are not in the ontology, or with texts that can't be encoded, have no effect until they are used
    with another pipeline.

    corrections (List[Correction]): The corrections that are applied, in the order of the file.
    """

    def __init__(self, normalizer: ConceptNormalizer, marker: MentionMarker) -> None:
        """Store the components. Nothing is applied until `use` is called.

        normalizer (ConceptNormalizer): Gets synonyms, in addition to its current ones.
        marker (MentionMarker): Marks the mentions that people have marked.
        """
        self._normalizer = normalizer
        self._marker = marker
        self._base = normalizer.lookup.changed_synonyms()
        self.corrections: list[Correction] = []
        self._answers: dict[bytes, str] = {}

    def use(self, corrections: list[Correction]) -> None:
        """Apply these corrections instead of the previous ones.

        corrections (List[Correction]): The effective corrections.
        """
        before = len(self.corrections)
        if corrections[:before] == self.corrections:
            new = self._apply(self._normalizer.add_synonyms, corrections[before:])
            self._answers = {**self._answers, **self._answers_of(new)}
        else:
            self._answers = self._answers_of(self._apply(self._replace_synonyms, corrections))
        self.corrections = corrections
        marked = [correction for correction in corrections if correction.marked]
        self._marker.use(
            [(correction.mention, correction.label) for correction in marked],
            [
                correction.text[slice(*correction.replaces)]
                for correction in marked
                if correction.replaces
            ],
            spans_key=self._normalizer.cfg["spans_key"],
        )

    def require_readable(self, correction: Correction) -> None:
        """Refuse a correction that could not be applied.

        correction (Correction): A correction with known concepts.
        RAISES (ConnormError): CN009 for a text in which the encoder recognizes nothing.
        """
        lookup = self._normalizer.lookup
        synonyms = find_synonyms(correction.synonyms, lookup.index, lookup.encoder)
        if synonyms:
            encode_synonyms(synonyms, lookup.encoder)

    def answers(self, mentions: Sequence[str], long_forms: Sequence[str]) -> list[str | None]:
        """Look up the corrections of mentions.

        mentions (Sequence[str]): b mentions.
        long_forms (Sequence[str]): b long forms; empty if a document does not define one.
        RETURNS (List[Optional[str]]): b ids, or "NIL", or None if there is no correction.
        """
        answers = self._answers
        if not answers:
            return [None] * len(mentions)
        texts = [long or mention for mention, long in zip(mentions, long_forms, strict=True)]
        return [answers.get(key) for key in self._normalizer.lookup.keys(texts)]

    def _known(self, corrections: Iterable[Correction]) -> list[Correction]:
        """Select the corrections whose concepts are in the index; another release of the ontology
        may lack some.
        """
        number = self._normalizer.lookup.index.store.number
        return [
            correction
            for correction in corrections
            if all(number(concept_id) is not None for concept_id in split_ids(correction.kb_id))
        ]

    def _is_readable(self, correction: Correction) -> bool:
        try:
            self.require_readable(correction)
        except ConnormError as error:
            if error.code != _UNREADABLE:
                raise
            return False
        return True

    def _apply(
        self, change: Callable[[list[tuple[str, str]]], None], corrections: Iterable[Correction]
    ) -> list[Correction]:
        """Pass the synonyms of as many corrections as possible to a change.

        RETURNS (List[Correction]): Those that could be applied.
        """
        known = self._known(corrections)
        try:
            change(_synonyms(known))
        except ConnormError:
            # Another error is raised again.
            known = list(filter(self._is_readable, known))
            change(_synonyms(known))
        return known

    def _replace_synonyms(self, synonyms: list[tuple[str, str]]) -> None:
        counts = Counter(synonyms).most_common()
        added = [ChangedSynonym(*pair, times) for pair, times in counts]
        self._normalizer.lookup.change_synonyms([*self._base, *added])

    def _answers_of(self, corrections: Sequence[Correction]) -> dict[bytes, str]:
        keys = self._normalizer.lookup.keys(correction.searched for correction in corrections)
        return {key: correction.kb_id for key, correction in zip(keys, corrections, strict=True)}


def _synonyms(corrections: Iterable[Correction]) -> list[tuple[str, str]]:
    return [pair for correction in corrections for pair in correction.synonyms]
