"""Rows of mappings, made of terms and what was found for them."""

from collections.abc import Iterable, Iterator, Sequence
from datetime import date
from pathlib import Path
from typing import Any
from uuid import uuid4

from ..about import __version__
from ..concepts import NIL, Candidate
from ..documents.sssom import (
    ACCEPTED,
    NO_TERM,
    REVIEW,
    UNMATCHED,
    MappingCandidate,
    TermMapping,
)
from ..encoders.protocol import is_sparse
from ..errors import ConnormError, Errors
from ..pipeline.concept_normalizer import ConceptNormalizer
from .mapping_ids import MappingIds, ontology_source
from .mapping_relations import EXACT, MEANING, SPELLING, find_relation
from .terms import LocalTerm


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
