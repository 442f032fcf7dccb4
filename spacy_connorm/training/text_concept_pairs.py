"""What O and D say of texts, read once and kept as numbers."""

from array import array
from collections.abc import Iterator

from ..annotations.mentions import Mention, split_ids
from ..concepts import Concept
from ..text.cleaning import clean
from .pool_report import PoolReport


class TextConceptPairs:
    """What was said of which text, as text and concept numbers in turns."""

    def __init__(self) -> None:
        """Begin with nothing: no texts, and no concept known from O."""
        self.texts: dict[str, int] = {}
        self.ontology = array("i")
        self.data = array("i")
        self.known = 0
        self._concepts: dict[str, int] = {}
        self._primary: dict[str, int] = {}
        self._parent_ids: dict[int, tuple[str, ...]] = {}

    @property
    def concept_ids(self) -> list[str]:
        """RETURNS (List[str]): By number."""
        return list(self._concepts)

    def parents(self, number: int) -> Iterator[int]:
        """YIELDS (int): The numbers of a concept's parents; those that O lacks are passed over."""
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
        if concept.parents:
            known = self._parent_ids.get(number, ())
            self._parent_ids[number] = tuple(dict.fromkeys(known + concept.parents))
        for name in concept.names:
            self.ontology.extend((self._text(name), number))

    def add_mention(self, mention: Mention, report: PoolReport) -> None:
        """mention (Mention): One that makes D.
        report (PoolReport): Counts what is left out.
        """
        report.mentions += 1
        if not mention.concept_ids:
            report.nil_mentions += 1
            return
        denoted = {self._resolve(concept_id) for concept_id in mention.concept_ids}
        parts = mention.kb_id.replace("+", "|").split("|")
        # Beside a part without an id, the other ids name a part of the mention too.
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
        """The number of a concept; its id as it is if nobody has named it yet."""
        return self._concepts.get(concept_id, self._primary.get(concept_id, concept_id))

    def _text(self, text: str) -> int:
        return self.texts.setdefault(clean(text), len(self.texts))
