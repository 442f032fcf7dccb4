"""The rows of a mapping: the relation that they claim, what people decide about them, and how many
there are.
"""

import json
import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, fields, replace
from datetime import date
from typing import NamedTuple

from ..documents.sssom import ACCEPTED, MANUAL, NO_TERM, STATUSES, UNMATCHED, TermMapping
from ..errors import refuse_text
from ..text.words import Words

EXACT, CLOSE = "skos:exactMatch", "skos:closeMatch"
BROAD, NARROW = "skos:broadMatch", "skos:narrowMatch"
LEXICAL = "semapv:LexicalMatching"
SPELLING = "semapv:LexicalSimilarityThresholdMatching"
MEANING = "semapv:SemanticSimilarityThresholdMatching"
RELATED = "skos:relatedMatch"
PREDICATES = (EXACT, CLOSE, BROAD, NARROW, RELATED)


class Relation(NamedTuple):
    """The claimed relation between a term and a concept.

    predicate (str): A SKOS predicate.
    justification (str): A term of the semantic mapping vocabulary.
    match_string (str): The text that both share; empty if they share none.
    """

    predicate: str
    justification: str
    match_string: str


def find_relation(
    term: str, name: str, words: Words, *, is_exact: bool, by_spelling: bool
) -> Relation:
    """Find the relation between a term and the concept with a name.

    term (str): The term.
    name (str): The name of the concept that was found for it.
    words (Words): Reads the words of their language.
    is_exact (bool): Whether it is an exact name of the concept in its ontology.
    by_spelling (bool): Whether the encoder compares spellings, not meanings.
    RETURNS (Relation): An exact match if both have the same words, in any order and inflection,
        ignoring "unspecified" and "NOS". If the term has all words of the name and more, the
        concept is broader; in the reverse case, narrower.
    """
    ours, theirs = _words(term, words), _words(name, words)
    if ours == theirs:
        return Relation(EXACT if is_exact else CLOSE, LEXICAL, name)
    predicate = CLOSE
    if is_exact and not (ours ^ theirs) & words.classes.turning_words:
        predicate = BROAD if theirs < ours else NARROW if ours < theirs else CLOSE
    return Relation(predicate, SPELLING if by_spelling else MEANING, "")


def _words(text: str, words: Words) -> frozenset[str]:
    bag = frozenset(words.bag(text))
    # A text of signs has no words.
    return (bag - words.classes.residual_words) or bag or frozenset([text.casefold()])


ORCID = "orcid"


_ORCID = re.compile(r"(?:https?://orcid\.org/|orcid:)?(\d{4}-\d{4}-\d{4}-\d{3}[\dX])")


# What a decision leaves: the term, and what was found for it. Undoing it restores all the others.
_LEFT = ("subject_id", "subject_label", "count", "context", "candidates", "proposal", "others")
_REPLACED = [column.name for column in fields(TermMapping) if column.name not in _LEFT]


def decide_mapping(
    mapping: TermMapping,
    *,
    object_id: str,
    object_label: str,
    predicate_id: str = EXACT,
    author: str = "",
) -> TermMapping:
    """Write a person's decision to a row. The content of the row before any decision is kept.

    mapping (TermMapping): The row.
    object_id (str): The concept, as a CURIE, or `NO_TERM` if no concept has the term's meaning.
    object_label (str): Its name.
    predicate_id (str): One of `PREDICATES`.
    author (str): A name or an ORCID iD; may be empty.
    RETURNS (TermMapping): The new row, without the id of a correction.
    RAISES (ConnormError): CN006 for an author with `|`, which separates authors in SSSOM.
    """
    if "|" in author:
        refuse_text("author", author, "one name, without `|`")
    match = _ORCID.fullmatch(author.strip())
    values = {name: getattr(mapping, name) for name in _REPLACED}
    proposal = mapping.proposal or json.dumps(values, ensure_ascii=False)
    is_none = object_id == NO_TERM
    return replace(
        mapping,
        predicate_id=EXACT if is_none else predicate_id,
        object_id=object_id,
        object_label="" if is_none else object_label,
        mapping_justification=MANUAL,
        author_id=f"{ORCID}:{match[1]}" if match else "",
        author_label="" if match else author.strip(),
        mapping_date=date.today().isoformat(),
        confidence=None,
        similarity_score=None,
        match_string="",
        status=UNMATCHED if is_none else ACCEPTED,
        correction="",
        proposal=proposal,
    )


def take_back(mapping: TermMapping) -> TermMapping:
    """Undo a person's decision.

    RETURNS (TermMapping): The row as it was before the decision; the same row if there was none, or
        if the earlier content is damaged.
    """
    try:
        values = json.loads(mapping.proposal)
    except ValueError:
        return mapping
    if not isinstance(values, dict) or values.keys() != set(_REPLACED):
        return mapping
    return replace(mapping, **values, proposal="")


@dataclass(frozen=True, slots=True)
class MappingSummary:
    """Counts of terms by the result of the mapping.

    measure (str): What the thresholds compare: "probability" or "cosine".
    rows (Dict[str, int]): Terms by status: "accepted", "review", "unmatched".
    counts (Dict[str, int]): The sums of their counts.
    decided (int): Terms decided by a person.
    gone (int): Rows that are not counted: a person has decided them, and their terms are no longer
        in the table.
    """

    measure: str
    rows: dict[str, int]
    counts: dict[str, int]
    decided: int
    gone: int = 0

    def share(self, status: str) -> tuple[float, float]:
        """Compute how many terms have a status.

        RETURNS (Tuple[float, float]): The share of terms, and of their counts, 0 to 1.
        """
        rows, counts = sum(self.rows.values()), sum(self.counts.values())
        return self.rows[status] / (rows or 1), self.counts[status] / (counts or 1)


def summarize_mappings(mappings: Iterable[TermMapping], *, measure: str = "") -> MappingSummary:
    """Count the rows of a mapping.

    RETURNS (MappingSummary): The rows by status, and how often their terms occur.
    """
    rows, counts, decided = Counter[str](), Counter[str](), 0
    for mapping in mappings:
        rows[mapping.status] += 1
        counts[mapping.status] += mapping.count
        decided += mapping.is_decided
    return MappingSummary(
        measure,
        rows={status: rows[status] for status in STATUSES},
        counts={status: counts[status] for status in STATUSES},
        decided=decided,
    )
