"""Rows of mappings: made of terms and what was found for them."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import date
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import quote, unquote
from uuid import uuid4

from ..about import __version__
from ..concepts import NIL, Candidate
from ..concepts.curies import PREFIX, PREFIXES, require_prefix, split_curie
from ..documents.sssom import ACCEPTED, NO_TERM, REVIEW, UNMATCHED, MappingCandidate, TermMapping
from ..encoders.protocol import is_sparse
from ..errors import ConnormError, Errors, refuse
from ..pipeline.concept_normalizer import ConceptNormalizer
from ..text.word_bags import word_bag
from .terms import LocalTerm

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
        """RETURNS (str): A code as a CURIE. Codes with the prefix of a known vocabulary keep it."""
        prefix = split_curie(code)[0]
        if prefix and _CURIE.fullmatch(code) and self._knows(prefix):
            return code
        return f"{self._prefix}:{quote(code, safe=_SAFE)}"

    def concept(self, concept_id: str) -> str:
        """RETURNS (str): A concept id as a CURIE; `find_concept_id` reads it."""
        if _CURIE.fullmatch(concept_id):
            return concept_id
        own = PREFIXES.own_curie(concept_id)
        return own or f"{_CONCEPT}:{quote(concept_id, safe=_SAFE)}"

    def source(self, name: str) -> str:
        """RETURNS (str): The name of a table of terms as a CURIE, with the prefix of its codes."""
        return f"{self._prefix}:{quote(name, safe=_SAFE)}"

    def addresses_of(self, curies: Iterable[str]) -> dict[str, str]:
        """RETURNS (Dict[str, str]): SSSOM's curie_map: what the prefixes of CURIEs stand for."""
        prefixes = {split_curie(each)[0] for each in curies if each} - _IMPLIED
        return {each: self._address(each) for each in sorted(prefixes)}

    def _knows(self, prefix: str) -> bool:
        return PREFIXES.knows(prefix) or prefix.upper() in self._addresses

    def _address(self, prefix: str) -> str:
        known = self._addresses.get(prefix.upper()) or _BUILT_IN.get(prefix)
        return known or PREFIXES.address(f"{prefix}:") or _ADDRESS.format(prefix)


def ontology_source(name: str) -> str:
    """RETURNS (str): The name of an ontology's file as a CURIE."""
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


class TermMapper:
    """Makes rows of terms and what was found for them."""

    def __init__(
        self,
        normalizer: ConceptNormalizer,
        ids: MappingIds,
        *,
        accept: float,
        review: float,
        top_k: int,
    ) -> None:
        """Store what rows depend on.

        normalizer (ConceptNormalizer): Has found the candidates.
        ids (MappingIds): Writes CURIEs.
        accept, review, top_k: As for `map_terms`.
        RAISES (ConnormError): CN422 for inner products without a calibration.
        """
        self._normalizer = normalizer
        self._ids = ids
        self._accept, self._review, self._top_k = accept, review, top_k
        self._by_spelling = is_sparse(normalizer.lookup.encoder)
        self._today = date.today().isoformat()
        is_calibrated = normalizer.cfg["calibration"] is not None
        self._has_cosines = normalizer.lookup.retriever.has_cosines
        if not is_calibrated and not self._has_cosines:
            mend = "Calibrate it first: `connorm evaluate --calibrate`."
            raise ConnormError(
                Errors.CN422.format(what="A mapping", name=normalizer.name, mend=mend)
            )
        self.measure = "probability" if is_calibrated else "cosine"

    def map(self, term: LocalTerm, found: Sequence[Candidate]) -> TermMapping:
        """Make the row of a term.

        term (LocalTerm): The term.
        found (Sequence[Candidate]): Its candidates, best first; two at least if there are two.
        RETURNS (TermMapping): The row.
        """
        kept = tuple(self._candidates(found[: self._top_k]))
        common: dict[str, Any] = {
            "subject_id": self._ids.subject(term.code),
            "subject_label": term.term,
            "mapping_date": self._today,
            "count": term.count,
            "context": term.context,
            "candidates": kept,
        }
        status = self._status(found)
        if status == UNMATCHED:
            return TermMapping(
                predicate_id=EXACT,
                object_id=NO_TERM,
                mapping_justification=SPELLING if self._by_spelling else MEANING,
                status=status,
                **common,
            )
        best = found[0]
        exactly = self._normalizer.lookup.retriever.names_exactly(best.text, best.concept_id)
        relation = find_relation(
            term.term, best.text, is_exact=exactly, by_spelling=self._by_spelling
        )
        return TermMapping(
            predicate_id=relation.predicate,
            object_id=kept[0].object_id,
            object_label=kept[0].label,
            mapping_justification=relation.justification,
            match_string=relation.match_string,
            confidence=kept[0].confidence,
            similarity_score=_share(best.score) if self._has_cosines else None,
            status=status,
            **common,
        )

    def _candidates(self, found: Iterable[Candidate]) -> Iterator[MappingCandidate]:
        for each in found:
            yield MappingCandidate(self._ids.concept(each.concept_id), _confidence(each), each.name)

    def _status(self, found: Sequence[Candidate]) -> str:
        if not found or _confidence(found[0]) < self._review:
            return UNMATCHED
        is_certain = _confidence(found[0]) >= self._accept and not _is_tied(found)
        # Below its NIL threshold the pipeline would write no id.
        is_nil = self._normalizer.decide(found) == NIL
        return ACCEPTED if is_certain and not is_nil else REVIEW

    def metadata(
        self, terms_path: Path, mappings: Sequence[TermMapping], *, licence: str
    ) -> dict[str, Any]:
        """Make the metadata of all rows.

        terms_path (Path): The table of terms.
        mappings (Sequence[TermMapping]): The rows.
        licence (str): The address of their terms of use.
        RETURNS (Dict[str, Any]): The slots of SSSOM's mapping sets.
        """
        ontology = self._normalizer.lookup.index.manifest.get("ontology") or {}
        subject_source = self._ids.source(terms_path.name)
        object_source = ontology_source(str(ontology.get("path") or "index"))
        sources = (subject_source, object_source)
        comment = (
            f"Confidence is the {self.measure} of the first candidate. It is accepted from "
            f"{self._accept}, to be reviewed from {self._review}."
        )
        terms_of_use = f" The ontology's terms of use: {ontology['licence']}"
        return {
            "sssom_version": "1.1",
            "mapping_set_id": f"urn:uuid:{uuid4()}",
            "license": licence,
            "comment": comment + (terms_of_use if ontology.get("licence") else ""),
            "mapping_tool": "spacy_connorm",
            "mapping_tool_version": __version__,
            **({"similarity_measure": "cosine"} if self._has_cosines else {}),
            "subject_source": subject_source,
            "object_source": object_source,
            "object_source_version": f"sha256:{ontology.get('sha256', '')}",
            "curie_map": self._ids.addresses_of([*sources, *_curies_of(mappings)]),
        }


def _curies_of(mappings: Iterable[TermMapping]) -> Iterator[str]:
    for each in mappings:
        yield from (each.subject_id, each.object_id, each.author_id)
        yield from (candidate.object_id for candidate in each.candidates)


def _is_tied(found: Sequence[Candidate]) -> bool:
    """RETURNS (bool): Whether another concept is named as well: a text of several concepts, and not
    the preferred name of the first alone.
    """
    best, *others = found
    tied = [each for each in others if each.score >= best.score]
    return bool(tied) and (best.text != best.name or any(each.text == each.name for each in tied))


def _confidence(candidate: Candidate) -> float:
    return _share(candidate.score if candidate.probability is None else candidate.probability)


def _share(number: float) -> float:
    return round(min(max(float(number), 0.0), 1.0), 4)
