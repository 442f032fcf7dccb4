"""Rows of mappings: their ids, what they claim, what people decide, and how much is mapped."""

import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import date
from typing import NamedTuple
from urllib.parse import quote, unquote

from ..concepts.curies import PREFIX, PREFIXES, require_prefix, split_curie
from ..documents.sssom import ACCEPTED, MANUAL, NO_TERM, STATUSES, UNMATCHED, TermMapping
from ..errors import refuse, refuse_text
from ..text.word_bags import word_bag

_CURIE = re.compile(rf"{PREFIX.pattern}:[^\s:/|][^\s|]*")
# Of concept ids without a vocabulary.
_CONCEPT, _ONTOLOGY = "concept", "ontology"
_SAFE = "._~-+/"
_ADDRESS = "urn:connorm:{}:"
_BUILT_IN = {"orcid": "https://orcid.org/"}
# SSSOM knows these by itself.
_IMPLIED = {"sssom", "semapv", "skos", "owl", "rdf", "rdfs", "oboInOwl"}


class MappingIds:
    """Writes codes and concept ids as CURIEs."""

    def __init__(self, prefix: str, addresses: Mapping[str, str]) -> None:
        """Store the user's prefixes.

        prefix (str): The prefix of codes that have none.
        addresses (Mapping[str, str]): What the addresses (IRIs) of ids begin with, by prefix.
        RAISES (ConnormError): CN006 for what can't be a prefix or an address.
        """
        for each in (prefix, *addresses):
            require_prefix(each)
        for each in addresses.values():
            if not re.match(r"[A-Za-z][A-Za-z0-9+.\-]*:\S+$", each):
                refuse("addresses", each, "an address (IRI) for each prefix")
        self._prefix = PREFIXES.prefix(prefix) if PREFIXES.knows(prefix) else prefix
        self._addresses = {each.upper(): address for each, address in addresses.items()}

    def subject(self, code: str) -> str:
        """Write the code of a term as a CURIE.

        RETURNS (str): A code as a CURIE. Codes with the prefix of a known vocabulary keep it.
        """
        prefix = split_curie(code)[0]
        if prefix and _CURIE.fullmatch(code) and self._knows(prefix):
            return code
        return f"{self._prefix}:{quote(code, safe=_SAFE)}"

    def concept(self, concept_id: str) -> str:
        """Write the id of a concept as a CURIE.

        RETURNS (str): A concept id as a CURIE; `concept_ids_of` reads it.
        """
        if _CURIE.fullmatch(concept_id):
            return concept_id
        own = PREFIXES.own_curie(concept_id)
        return own or f"{_CONCEPT}:{quote(concept_id, safe=_SAFE)}"

    def source(self, name: str) -> str:
        """Name a table of terms in the metadata of mappings.

        RETURNS (str): The name of a table of terms as a CURIE, with the prefix of its codes.
        """
        return f"{self._prefix}:{quote(name, safe=_SAFE)}"

    def addresses_of(self, curies: Iterable[str]) -> dict[str, str]:
        """Tell what the prefixes of CURIEs stand for.

        RETURNS (Dict[str, str]): SSSOM's curie_map: what the prefixes of CURIEs stand for.
        """
        prefixes = {split_curie(each)[0] for each in curies if each} - _IMPLIED
        return {each: self._address(each) for each in sorted(prefixes)}

    def _knows(self, prefix: str) -> bool:
        return PREFIXES.knows(prefix) or prefix.upper() in self._addresses

    def _address(self, prefix: str) -> str:
        known = self._addresses.get(prefix.upper()) or _BUILT_IN.get(prefix)
        return known or PREFIXES.address(f"{prefix}:") or _ADDRESS.format(prefix)


def ontology_source(name: str) -> str:
    """Name an ontology in the metadata of mappings.

    RETURNS (str): The name of an ontology's file as a CURIE.
    """
    return f"{_ONTOLOGY}:{quote(name, safe=_SAFE)}"


def concept_ids_of(curie: str) -> list[str]:
    """List the concept ids that a CURIE may have been written for.

    curie (str): From `MappingIds.concept`, or from others.
    RETURNS (List[str]): Ids, the most likely first; none for `NO_TERM`.
    """
    if curie == NO_TERM:
        return []
    local_id = split_curie(curie)[1]
    return list(dict.fromkeys((curie, *PREFIXES.spellings_of(curie), local_id, unquote(local_id))))


EXACT, CLOSE = "skos:exactMatch", "skos:closeMatch"
BROAD, NARROW = "skos:broadMatch", "skos:narrowMatch"
LEXICAL = "semapv:LexicalMatching"
SPELLING = "semapv:LexicalSimilarityThresholdMatching"
MEANING = "semapv:SemanticSimilarityThresholdMatching"
# Words of code lists that make no difference.
_EMPTY = frozenset(["nos", "unspecified"])
# Words after which a term does not say more than a name, but something else.
_TURNING = frozenset(["except", "excluding", "no", "non", "not", "other", "without"])


class Relation(NamedTuple):
    """What is claimed of a term and a concept.

    predicate (str): Of SKOS.
    justification (str): Of the semantic mapping vocabulary.
    match_string (str): The text that both share; empty if they share none.
    """

    predicate: str
    justification: str
    match_string: str


def find_relation(term: str, name: str, *, is_exact: bool, by_spelling: bool) -> Relation:
    """Find what can be claimed of a term and the concept with a name.

    term (str): The term.
    name (str): The name of the concept that was found for it.
    is_exact (bool): Whether it names the concept exactly, as its ontology says.
    by_spelling (bool): Whether the encoder compares spellings, not meanings.
    RETURNS (Relation): The same words are an exact match, in any order and inflection, and without
        "unspecified" and "NOS". If the term says more than the name, the concept is broader; if it
        says less, narrower.
    """
    ours, theirs = _words(term), _words(name)
    if ours == theirs:
        return Relation(EXACT if is_exact else CLOSE, LEXICAL, name)
    predicate = CLOSE
    if is_exact and not (ours ^ theirs) & _TURNING:
        predicate = BROAD if theirs < ours else NARROW if ours < theirs else CLOSE
    return Relation(predicate, SPELLING if by_spelling else MEANING, "")


def _words(text: str) -> frozenset[str]:
    words = frozenset(word_bag(text))
    # Signs alone have no words.
    return (words - _EMPTY) or words or frozenset([text.casefold()])


RELATED = "skos:relatedMatch"
PREDICATES = (EXACT, CLOSE, BROAD, NARROW, RELATED)
ORCID = "orcid"
_ORCID = re.compile(r"(?:https?://orcid\.org/|orcid:)?(\d{4}-\d{4}-\d{4}-\d{3}[\dX])")
# What a decision replaces, and taking it back restores.
_REPLACED = (
    *("predicate_id", "object_id", "mapping_justification", "object_label", "author_id"),
    *("author_label", "mapping_date", "confidence", "similarity_score", "match_string", "status"),
    "correction",
)


def decide_mapping(
    mapping: TermMapping,
    *,
    object_id: str,
    object_label: str,
    predicate_id: str = EXACT,
    author: str = "",
    correction: str = "",
) -> TermMapping:
    """Write what a person has decided. What the row said before any person decided is kept.

    mapping (TermMapping): The row.
    object_id (str): The concept, as a CURIE, or `NO_TERM` if none has the term's meaning.
    object_label (str): Its name.
    predicate_id (str): One of `PREDICATES`.
    author (str): A name or an ORCID iD; may be empty.
    correction (str): The id of the correction that says so, too.
    RETURNS (TermMapping): The new row.
    RAISES (ConnormError): CN006 for an author with `|`, which stands between several in SSSOM.
    """
    if "|" in author:
        refuse_text("author", author, "one name, without `|`")
    found = _ORCID.fullmatch(author.strip())
    values = {name: getattr(mapping, name) for name in _REPLACED}
    kept = mapping.proposal or json.dumps(values, ensure_ascii=False)
    is_none = object_id == NO_TERM
    return replace(
        mapping,
        predicate_id=EXACT if is_none else predicate_id,
        object_id=object_id,
        object_label="" if is_none else object_label,
        mapping_justification=MANUAL,
        author_id=f"{ORCID}:{found[1]}" if found else "",
        author_label="" if found else author.strip(),
        mapping_date=date.today().isoformat(),
        confidence=None,
        similarity_score=None,
        match_string="",
        status=UNMATCHED if is_none else ACCEPTED,
        correction=correction,
        proposal=kept,
    )


def take_back(mapping: TermMapping) -> TermMapping:
    """Take back what a person has decided.

    RETURNS (TermMapping): The row as it was before a person decided; the same one if nobody has,
    or if what it was is damaged.
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
    """What became of terms.

    measure (str): What the thresholds compare: "probability" or "cosine".
    rows (Dict[str, int]): Terms by status: "accepted", "review", "unmatched".
    counts (Dict[str, int]): The sums of their counts.
    decided (int): Terms that a person has decided.
    gone (int): Rows that are not counted: a person has decided them, and the table no longer has
        their terms.
    """

    measure: str
    rows: dict[str, int]
    counts: dict[str, int]
    decided: int
    gone: int = 0

    def share(self, status: str) -> tuple[float, float]:
        """Compute how many terms have a status.

        RETURNS (Tuple[float, float]): The share of terms with a status, and that of their
        counts, 0 to 1.
        """
        shares = [each[status] / (sum(each.values()) or 1) for each in (self.rows, self.counts)]
        return shares[0], shares[1]


def summarize_mappings(mappings: Iterable[TermMapping], *, measure: str = "") -> MappingSummary:
    """Count what became of terms.

    RETURNS (MappingSummary): The rows, and how often their terms occur, by status.
    """
    rows, counts, decided = Counter[str](), Counter[str](), 0
    for each in mappings:
        rows[each.status] += 1
        counts[each.status] += each.count
        decided += each.is_decided
    return MappingSummary(
        measure,
        rows={status: rows[status] for status in STATUSES},
        counts={status: counts[status] for status in STATUSES},
        decided=decided,
    )
