"""Counts of what was found in a corpus and of what was left out."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from ..errors import Warnings, quote_all, warn
from .mentions import Mention

# What became of a gold id that an ontology's ids were to replace.
KNOWN = "an id of the ontology already"
TRANSLATED = "replaced by the id of the concept that refers to it"
AMBIGUOUS = "several concepts refer to it, kept"
UNKNOWN = "no concept refers to it, kept"


@dataclass(slots=True)
class CorpusReport:
    """Counts, filled while a corpus is read.

    doc_ids (Set[str]): The ids of the documents.
    repeated (int): Documents with the id of an earlier one; they are kept.
    passages (int): Blocks of text; a document can have several.
    without_mentions (int): Documents without annotated mentions.
    mentions (Counter[str]): Mentions kept, by type.
    without_id (Counter[str]): Kept mentions without a gold id, by type.
    concept_ids (Set[str]): The distinct gold ids.
    composite (int): Mentions with several ids joined by `|`.
    combination (int): Mentions with several ids joined by `+`.
    discontinuous (int): Mentions in several fragments, in `doc.spans` only.
    overlapping (int): Mentions that overlap a longer one, in `doc.spans` only.
    misaligned (int): Mentions that do not start and end at token boundaries, so that their span is
        wider.
    mismatched (List[str]): Places of mentions that differ from the text at their offsets.
    surrogates (int): Lone surrogates replaced by U+FFFD.
    left_out (Counter[str]): Mentions left out because of their type, by type.
    skipped (Counter[str]): Everything else that was ignored, by reason.
    translated (Counter[str]): What became of the gold ids, mention by mention, if an ontology's
        replace them.
    """

    doc_ids: set[str] = field(default_factory=set)
    repeated: int = 0
    passages: int = 0
    without_mentions: int = 0
    mentions: Counter[str] = field(default_factory=Counter)
    without_id: Counter[str] = field(default_factory=Counter)
    concept_ids: set[str] = field(default_factory=set)
    composite: int = 0
    combination: int = 0
    discontinuous: int = 0
    overlapping: int = 0
    misaligned: int = 0
    mismatched: list[str] = field(default_factory=list)
    surrogates: int = 0
    left_out: Counter[str] = field(default_factory=Counter)
    skipped: Counter[str] = field(default_factory=Counter)
    translated: Counter[str] = field(default_factory=Counter)

    def count_document(self, doc_id: str, *, passages: int) -> None:
        """Count a document.

        doc_id (str): Its id.
        passages (int): The number of blocks of text that it was joined from.
        """
        self.repeated += doc_id in self.doc_ids
        self.doc_ids.add(doc_id)
        self.passages += passages

    def count_mention(self, mention: Mention) -> None:
        """Count a mention that is kept.

        mention (Mention): The mention.
        """
        self.mentions[mention.label] += 1
        self.without_id[mention.label] += not mention.concept_ids
        self.concept_ids.update(mention.concept_ids)
        self.composite += "|" in mention.kb_id
        self.combination += "+" in mention.kb_id
        self.discontinuous += len(mention.fragments) > 1

    def warn(self, *, types: Iterable[str] = ()) -> None:
        """Warn about likely problems, once per kind.

        types (Iterable[str]): The requested mention types.
        """
        if self.mismatched:
            first, count = self.mismatched[0], len(self.mismatched)
            warn(Warnings.CNW200.format(count=count, first=first))
        if self.without_mentions:
            warn(Warnings.CNW201.format(count=self.without_mentions))
        if self.surrogates:
            warn(Warnings.CNW202.format(count=self.surrogates))
        if self.repeated:
            warn(Warnings.CNW203.format(count=self.repeated))
        if self.translated and not (self.translated[TRANSLATED] or self.translated[KNOWN]):
            warn(Warnings.CNW205.format(count=self.translated.total()))
        missing = [label for label in types if label not in self.mentions]
        if missing:
            present = quote_all(sorted(self.mentions | self.left_out))
            warn(Warnings.CNW204.format(missing=", ".join(missing), present=present))
