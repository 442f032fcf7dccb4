"""A concept of an ontology, and a candidate found for a mention."""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from operator import attrgetter
from typing import Any, NamedTuple

from ..errors import Errors, quote, quote_id, refuse_text
from .curies import PREFIXES

_TEXTS = ("concept_id", "canonical_name", "definition", "shown_name")
SCOPES = ("narrow", "broad", "related")
EXACT = "EXACT"
ALL_SCOPES = (EXACT, *map(str.upper, SCOPES))
NIL = "NIL"
NO_ID = "-1"
# What stands for "no concept" in corpora. "-" is from NLM-Chem, for a part without one.
_NO_IDS = ("", NO_ID, NIL, "-")
# How corpora annotated with UMLS mark a mention without a concept.
_CUI_LESS = re.compile(r"cui[-_ ]?less", re.IGNORECASE)
_LISTS = ("aliases", "types", "parents", "alt_ids", "xrefs", *SCOPES)
_OPTIONAL = ("definition", "parents", "alt_ids", "xrefs", *SCOPES, "languages", "shown_name")


@dataclass(frozen=True, slots=True)
class Concept:
    """One concept of an ontology.

    concept_id (str): The unique id (CUI, MeSH id, HPO id ...).
    canonical_name (str): The preferred name.
    aliases (Tuple[str, ...]): Synonyms, without the preferred name.
    types (Tuple[str, ...]): Semantic types.
    definition (str): May be empty.
    parents (Tuple[str, ...]): Ids of the broader concepts.
    alt_ids (Tuple[str, ...]): Other ids of the same concept.
    xrefs (Tuple[str, ...]): Its ids in other vocabularies, as CURIEs (`MESH:D003920`).
    narrow, broad, related (Tuple[str, ...]): The aliases that are not exact, by scope.
    languages (Tuple[Tuple[str, str], ...]): Names and their languages ("fr"), where they are known.
    shown_name (str): What results show in place of the preferred name: one in another language,
        which is not searched. Empty if they show the preferred name.
    """

    concept_id: str
    canonical_name: str
    aliases: tuple[str, ...] = ()
    types: tuple[str, ...] = ()
    definition: str = ""
    parents: tuple[str, ...] = ()
    alt_ids: tuple[str, ...] = ()
    xrefs: tuple[str, ...] = ()
    narrow: tuple[str, ...] = ()
    broad: tuple[str, ...] = ()
    related: tuple[str, ...] = ()
    languages: tuple[tuple[str, str], ...] = ()
    shown_name: str = ""

    def __post_init__(self) -> None:
        for field in _LISTS:
            # ("one") is a string, not a tuple: each letter would become an item.
            if isinstance(getattr(self, field), str):
                refuse_text(field, getattr(self, field), "a tuple of strings")

    @property
    def names(self) -> tuple[str, ...]:
        """All names, O(c).

        RETURNS (Tuple[str, ...]): The preferred name, then the synonyms, each once.
        """
        return tuple(dict.fromkeys((self.canonical_name, *self.aliases)))

    @property
    def exact_names(self) -> tuple[str, ...]:
        """The names with exactly the meaning of the concept, not narrower, broader or related ones.

        RETURNS (Tuple[str, ...]): The preferred name, then the exact synonyms.
        """
        others = {*self.narrow, *self.broad, *self.related} - {self.canonical_name}
        return tuple(name for name in self.names if name not in others) if others else self.names

    @property
    def spellings(self) -> tuple[str, ...]:
        """The spellings of its id and alternate ids in corpora: `NCBITAXON:9606` for
        `NCBITaxon:9606`, `MESH:D003920` or `D003920` for `MSH:D003920`.

        RETURNS (Tuple[str, ...]): Other spellings; none for an id without a prefix.
        """
        prefixed = (known_id for known_id in (self.concept_id, *self.alt_ids) if ":" in known_id)
        return tuple(spelling for known in prefixed for spelling in PREFIXES.spellings_of(known))

    def cleaned(self, clean: Callable[[str], str]) -> "Concept":
        """Clean the id and all texts. Empty and repeated texts are dropped.

        clean (Callable[[str], str]): Cleans one text.
        RETURNS (Concept): The clean concept; the same object if it was already clean. Its id or its
            preferred name may now be empty.
        """
        # Most lists are empty, and an ontology may have millions of concepts.
        filled = {field: values for field in _LISTS if (values := getattr(self, field))}
        lists: dict[str, Any] = {
            field: _distinct(map(clean, values)) for field, values in filled.items()
        }
        name = clean(self.canonical_name)
        if name in lists.get("aliases", ()):
            lists["aliases"] = tuple(alias for alias in lists["aliases"] if alias != name)
        texts: dict[str, Any] = {
            field: clean(text) for field in _TEXTS if (text := getattr(self, field))
        }
        languages = tuple((clean(text), language) for text, language in self.languages)
        is_same = all(getattr(self, field) == text for field, text in texts.items())
        if is_same and lists == filled and languages == self.languages:
            return self  # as most concepts that a reader has cleaned
        return replace(self, **texts, **lists, languages=languages)

    def to_dict(self) -> dict[str, Any]:
        """Convert the concept to a record, without empty optional fields.

        RETURNS (Dict[str, Any]): The object on a line of the JSONL.
        """
        record = {field: getattr(self, field) for field in self.__slots__}
        record |= {field: list(record[field]) for field in _LISTS}
        record["languages"] = dict(self.languages)
        return {field: v for field, v in record.items() if v or field not in _OPTIONAL}

    @classmethod
    def from_dict(cls, record: dict[str, Any]) -> "Concept":
        """Create a concept from a knowledge-base record; unknown fields are ignored.

        record (Dict[str, Any]): As written by `to_dict`.
        RETURNS (Concept): The concept.
        RAISES (ConnormError): CN101 without an id or a preferred name, CN006 for a wrong type.
        """
        if not isinstance(record, dict):
            refuse_text("record", record, "a JSON object")
        fields: dict[str, Any] = {field: _text_field(record, field) for field in _TEXTS}
        fields |= {field: _list_field(record, field) for field in _LISTS}
        concept = cls(**fields, languages=_read_languages(record))
        require_id_and_name(concept, record)
        return concept


class Candidate(NamedTuple):
    """A candidate concept for a mention.

    concept_id (str): The id of the concept.
    name (str): Its preferred name.
    score (float): The cosine, or the inner product if the index has `metric = "dot"`; raised or
        lowered according to the settings.
    text (str): The concept text that matched; for searches over concepts (-C), the preferred name.
    search (str): The search of the sieve that found it, e.g. "D-T".
    searched (str): The text that was searched: the mention, its long form, or a part of either.
    part (int): The number of the mention's part, from 1; 0 if the whole mention was searched.
    dense (Optional[float]): The dense cosine in the score of a hybrid encoder.
    lexical (Optional[float]): The lexical (n-gram) cosine in it.
    probability (Optional[float]): The probability that it is correct, 0 to 1, if calibrated.
    codes (Optional[Dict[str, List[str]]]): Its ids in other vocabularies, by prefix; an empty list
        if it has none. None without `code_systems`.
    language (str): The language of the text that matched ("fr"); empty if the ontology does not say
        it.
    """

    concept_id: str
    name: str
    score: float
    text: str
    search: str
    searched: str = ""
    part: int = 0
    dense: float | None = None
    lexical: float | None = None
    probability: float | None = None
    codes: dict[str, list[str]] | None = None
    language: str = ""

    def __repr__(self) -> str:
        matched = "" if self.text == self.name else f" as {self.text!r}"
        certain = "" if self.probability is None else f", probability {self.probability:.2f}"
        return f"<{self.concept_id} {self.name!r}{matched}: score {self.score:.2f}{certain}>"


def by_part(candidates: Sequence[Candidate]) -> list[list[Candidate]]:
    """Separate the candidates of a mention's parts.

    candidates (Sequence[Candidate]): Best first, part by part.
    RETURNS (List[List[Candidate]]): One list per part, best first: a single list for a mention that
        was searched as a whole, none for a mention without candidates.
    """
    return [list(alike) for _, alike in groupby(candidates, key=attrgetter("part"))]


def is_no_id(concept_id: str) -> bool:
    """Check whether an id stands for "no concept" in corpora, predictions and exports.

    concept_id (str): The id.
    RETURNS (bool): True for `NIL`, `-1`, `-`, `CUI-less` and an empty id.
    """
    return concept_id in _NO_IDS or _CUI_LESS.fullmatch(concept_id) is not None


def require_id_and_name(concept: Concept, record: Any) -> None:
    """Refuse a concept without an id or a preferred name, or whose id stands for "no concept".

    concept (Concept): The concept.
    record (Any): The record that it was read from, for the message.
    RAISES (ConnormError): CN101, CN102.
    """
    if concept.concept_id and is_no_id(concept.concept_id):
        raise Errors.CN102(concept=concept.concept_id)
    if not concept.concept_id or not concept.canonical_name:
        missing = "canonical_name" if concept.concept_id else "concept_id"
        shown = quote_id(concept.concept_id) if concept.concept_id else quote(record)
        raise Errors.CN101(field=missing, concept=shown)


def _text_field(record: dict[str, Any], key: str) -> str:
    value = record.get(key)
    if value is None:
        return ""
    if isinstance(value, bool) or not isinstance(value, (str, int)):
        refuse_text(key, value, "a string")
    return str(value).strip()


def _list_field(record: dict[str, Any], key: str) -> tuple[str, ...]:
    value = record.get(key)
    if value is None:
        return ()
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        refuse_text(key, value, "a list of strings")
    return tuple(item.strip() for item in value if item.strip())


def _read_languages(record: dict[str, Any]) -> tuple[tuple[str, str], ...]:
    value = record.get("languages") or {}
    if not isinstance(value, dict) or not all(isinstance(item, str) for item in value.values()):
        refuse_text("languages", value, "an object with the language of each name")
    return tuple((name.strip(), language) for name, language in value.items())


def merge(first: Concept, second: Concept) -> Concept:
    """Merge two records of the same concept.

    first (Concept): Provides the id, the preferred name and the definition, if it has one.
    second (Concept): Its preferred name becomes an alias if it differs.
    RETURNS (Concept): The merged concept.
    """
    fields: dict[str, Any] = {
        field: _distinct(getattr(first, field) + getattr(second, field)) for field in _LISTS
    }
    fields["aliases"] = _distinct(first.names + second.names)[1:]
    exact = {*first.exact_names, *second.exact_names}
    fields |= {scope: tuple(n for n in fields[scope] if n not in exact) for scope in SCOPES}
    fields["languages"] = tuple((dict(second.languages) | dict(first.languages)).items())
    for field in ("definition", "shown_name"):
        fields[field] = getattr(first, field) or getattr(second, field)
    return replace(first, **fields)


def _distinct(texts: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(filter(None, texts)))
