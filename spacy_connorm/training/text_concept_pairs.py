"""The pairs of text and concept in O and D, as numbers."""

from array import array
from collections.abc import Iterator

from ..concepts import Concept
from ..documents.mentions import Mention, split_ids
from ..text.cleaning import clean
from .pool_report import PoolReport


class TextConceptPairs:
    """Numbers texts and concepts, and collects the pairs of O (`ontology`) and of D (`data`):
    text number, concept number, text number and so on. Arrays, as ten million pairs are no Python
    objects.
    """

    def __init__(self) -> None:
        """Start without texts and concepts."""
        self.texts: dict[str, int] = {}
        self.ontology = array("i")
        self.data = array("i")
        self.known = 0
        self._concepts: dict[str, int] = {}
        self._primary: dict[str, int] = {}
        self._spellings: dict[str, int] = {}
        self._parent_ids: dict[int, tuple[str, ...]] = {}

    @property
    def concept_ids(self) -> list[str]:
        """RETURNS (List[str]): The ids of the concepts, by number."""
        return list(self._concepts)

    def parents(self, number: int) -> Iterator[int]:
        """YIELDS (int): The numbers of a concept's parents; parents that O lacks are skipped."""
        for concept_id in self._parent_ids.get(number, ()):
            parent = self._resolve(concept_id)
            if isinstance(parent, int):
                yield parent

    def add_concept(self, concept: Concept) -> None:
        """concept (Concept): A record of O."""
        number = self._concepts.setdefault(concept.concept_id, len(self._concepts))
        self.known = len(self._concepts)
        for alt_id in concept.alt_ids:
            self._primary.setdefault(alt_id, number)
        for spelling in concept.spellings:
            self._spellings.setdefault(spelling, number)
        if concept.parents:
            known = self._parent_ids.get(number, ())
            self._parent_ids[number] = tuple(dict.fromkeys(known + concept.parents))
        for name in concept.names:
            self.ontology.extend((self._text(name), number))

    def add_mention(self, mention: Mention, report: PoolReport) -> None:
        """mention (Mention): An annotation of D.
        report (PoolReport): Counts what is left out.
        """
        report.mentions += 1
        if not mention.concept_ids:
            report.nil_mentions += 1
            return
        denoted = {self._resolve(concept_id) for concept_id in mention.concept_ids}
        parts = mention.kb_id.replace("+", "|").split("|")
        # If a part has no id, the ids of the others name only a part of the mention.
        if len(denoted) > 1 or not all(split_ids(part) for part in parts):
            report.composite_mentions += 1
            return
        (number,) = denoted
        if isinstance(number, str):
            report.unknown_ids += 1
            number = self._concepts.setdefault(number, len(self._concepts))
        report.unknown_mentions += number >= self.known
        self.data.extend((self._text(mention.text), number))

    def _resolve(self, concept_id: str) -> int | str:
        """The number of a concept, or its id if it has no number yet."""
        for numbers in (self._concepts, self._primary, self._spellings):
            if concept_id in numbers:
                return numbers[concept_id]
        return concept_id

    def _text(self, text: str) -> int:
        return self.texts.setdefault(clean(text), len(self.texts))
