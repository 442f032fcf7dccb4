"""What corrections do to a pipeline: synonyms, marked mentions and answers that are set."""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence

from ..documents.mentions import split_ids
from ..errors import ConnormError
from ..pipeline.concept_normalizer import ConceptNormalizer
from .corrections import Correction
from .mention_marker import MentionMarker

# An empty text, and one of which the encoder knows nothing.
_UNREADABLE = ("CN003", "CN009")


class AppliedCorrections:
    """Applies corrections to a normalizer and the marker before it. Those of concepts that the
    ontology lacks, and those whose texts the encoder can't read, wait for another pipeline.
    """

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
        """
        before = len(self._corrections)
        if corrections[:before] == self._corrections:
            new = self._change(self._add_synonyms, self._known(corrections[before:]))
            self._answers = {**self._answers, **self._answers_of(new)}
        else:
            known = self._change(self._replace_synonyms, self._known(corrections))
            self._answers = self._answers_of(known)
        self._corrections = corrections
        self._marker.use(corrections, spans_key=self._normalizer.cfg["spans_key"])

    def require_readable(self, correction: Correction) -> None:
        """Refuse a correction that would wait.

        correction (Correction): Of known concepts.
        RAISES (ConnormError): CN003 for an empty text, CN009 for one of which the encoder knows
            nothing.
        """
        self._encode([correction])

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

    def _change(
        self, change: Callable[[list[Correction]], None], corrections: list[Correction]
    ) -> list[Correction]:
        """RETURNS (List[Correction]): Those that could be applied."""
        try:
            change(corrections)
        except ConnormError as error:
            if not _is_unreadable(error):
                raise
            corrections = self._readable(corrections)
            change(corrections)
        return corrections

    def _readable(self, corrections: list[Correction]) -> list[Correction]:
        """An error names one text alone: they are halved until none has any."""
        try:
            self._encode(corrections)
        except ConnormError as error:
            if not _is_unreadable(error):
                raise
            middle = len(corrections) // 2
            halves = (corrections[:middle], corrections[middle:]) if middle else ()
            return [each for half in halves for each in self._readable(half)]
        return corrections

    def _encode(self, corrections: Sequence[Correction]) -> None:
        from ..linker.synonyms import encode_synonyms, find_synonyms

        lookup = self._normalizer.lookup
        encoder = lookup.normalized_encoder
        found = find_synonyms(_synonyms(corrections), lookup.index, encoder)
        if found:
            encode_synonyms(found, encoder)

    def _add_synonyms(self, corrections: Iterable[Correction]) -> None:
        self._normalizer.add_synonyms(_synonyms(corrections))

    def _replace_synonyms(self, corrections: Iterable[Correction]) -> None:
        from ..linker.synonyms import ChangedSynonym

        counts = Counter(_synonyms(corrections))
        added = [ChangedSynonym(*pair, times) for pair, times in counts.most_common()]
        self._normalizer.lookup.change_synonyms([*self._base, *added])

    def _answers_of(self, corrections: Sequence[Correction]) -> dict[bytes, str]:
        keys = self._normalizer.lookup.keys(each.searched for each in corrections)
        return {key: each.kb_id for key, each in zip(keys, corrections, strict=True)}


def _is_unreadable(error: ConnormError) -> bool:
    return error.code in _UNREADABLE


def _synonyms(corrections: Iterable[Correction]) -> list[tuple[str, str]]:
    return [pair for each in corrections for pair in each.synonyms]
