"""Map a table of local terms to concepts: the rows, their ids, the claimed relations, people's
decisions, and how much is mapped.
"""

from collections import defaultdict, deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from pathlib import Path
from typing import Any, TypeAlias
from uuid import NAMESPACE_URL, uuid5

from spacy.language import Language

from ..about import __version__
from ..concepts import NIL, Candidate
from ..documents.sssom import (
    ACCEPTED,
    NO_LICENCE,
    NO_TERM,
    REVIEW,
    UNMATCHED,
    MappingCandidate,
    MappingSet,
    TermMapping,
    read_sssom,
    write_sssom,
)
from ..encoders.protocol import is_sparse
from ..errors import Errors, require_ending, require_path, require_range
from ..files.atomic import require_apart
from ..files.progress import progress_bar
from ..files.text import find_ending
from ..pipeline.concept_normalizer import ConceptNormalizer
from ..pipeline.loading import find_normalizer, load_pipeline
from .mapping_ids import MappingIds, concept_curie
from .mapping_rows import (
    BROAD,
    EXACT,
    MEANING,
    SPELLING,
    MappingSummary,
    find_relation,
    summarize_mappings,
)
from .terms import CODE, CONTEXT, COUNT, TERM, LocalTerm, find_candidates, read_terms

_SUFFIXES = (".tsv", ".csv")
# The least confidence of mappings that are accepted, and of those to be reviewed: a probability
# that was fitted to names; another one, or a cosine. From 0.5 on, 98 percent of the titles of
# ICD-10-CM were mapped rightly to the Disease Ontology (docs/benchmarks/mapping.md).
_BY_NAMES, _OTHERWISE = (0.5, 0.05), (0.9, 0.5)
_FILE = "a file: write a table to a .csv, or pass a list of terms to `search`"


def map_terms(
    pipeline: str | Path | Language,
    terms_path: str | Path,
    output_path: str | Path,
    *,
    code: str = CODE,
    term: str = TERM,
    context: str = CONTEXT,
    count: str = COUNT,
    sheet: str | None = None,
    delimiter: str | None = None,
    accept: float | None = None,
    review: float | None = None,
    top_k: int = 5,
    types: Sequence[str] | None = None,
    branches: Sequence[str] | None = None,
    prefix: str = "local",
    addresses: Mapping[str, str] | None = None,
    licence: str = NO_LICENCE,
    raw: bool = False,
    component: str | None = None,
) -> MappingSummary:
    """Map a table of local terms to the concepts of a pipeline: `connorm map`.
    People's decisions in the output (`connorm serve --review`) are kept; if their terms are no
    longer in the table, they are moved to the end, with a count of 0. Unchanged rows keep their
    date, so the same input gives the same bytes.

    pipeline (Union[str, Path, Language]): An installed package, or a pipeline's folder.
        Or a pipeline.
    terms_path (Union[str, Path]): A table with a header, or a list with one term in each line:
        `.csv`, `.tsv`, `.txt` or `.xlsx`. See `read_terms`.
    output_path (Union[str, Path]): The mappings: `.tsv` for SSSOM, `.csv` for only its table.
    code (str): The column of the codes; it may be missing if it has the default name, then each
        term is its own code.
    term (str): The column of the terms.
    context (str): The column with the text around a term; it may be missing.
    count (str): The column with the number of occurrences of a term; it may be missing.
    sheet (Optional[str]): The sheet of an Excel file; the first one if None.
    delimiter (Optional[str]): The delimiter of the fields in a text file; detected if None. See
        `read_rows`.
    accept (Optional[float]): The minimum confidence of a mapping that is accepted: its probability,
        or its cosine if the pipeline has none. If None, 0.5 for a probability that was fitted to
        names, otherwise 0.9.
    review (Optional[float]): The minimum confidence of a mapping to be reviewed; below, a term is
        unmatched. If None, 0.05 for a probability that was fitted to names, otherwise 0.5.
    top_k (int): The maximum number of candidates to keep for a term.
    types (Optional[Sequence[str]]): Find only concepts of these semantic types; the pipeline's
        setting if None.
    branches (Optional[Sequence[str]]): Find only concepts at or below these; the pipeline's setting
        if None.
    prefix (str): The prefix of codes without one, e.g. ICD10CM.
    addresses (Optional[Mapping[str, str]]): The beginning of the IRIs of ids, by prefix, for
        prefixes that are not well known.
    licence (str): The URL of the terms of use of the mappings.
    raw (bool): Whether a `.csv` output leaves cells unchanged that a spreadsheet would run as
        formulas. If not, they are prefixed with an apostrophe. SSSOM never changes them.
    component (Optional[str]): The concept normalizer to use, if there are several.
    RETURNS (MappingSummary): How many terms, and what share of their counts, are mapped.
    RAISES (ConnormError): CN006 for invalid settings, CN105, CN108 or CN109 if the output can't be
        written, CN121 if it would replace the input, CN700 to CN704 as for `load_normalizer`, CN708
        for another extension, CN422 for inner products that are not calibrated, CN115 for an output
        with damaged mappings, CN406 for unknown types and branches, CN709 for a context
        that is longer than the pipeline allows, and the errors of `read_terms`.
    WARNS (ConnormWarning): The warnings of `read_terms`.
    """
    require_path("terms_path", terms_path, _FILE)
    terms_path, output_path = Path(terms_path), Path(output_path)
    require_ending(output_path, _SUFFIXES)
    require_range(least=1, top_k=top_k)
    require_apart(output_path, terms_path)
    ids = MappingIds(prefix, addresses or {})
    columns = {"code": code, "term": term, "context": context, "count": count}
    terms = read_terms(terms_path, sheet=sheet, delimiter=delimiter, **columns)
    earlier = _read_earlier(output_path)
    nlp = load_pipeline(pipeline)
    normalizer = find_normalizer(nlp, component=component)
    accept, review = _choose_thresholds(normalizer, accept, review)
    mapper = TermMapper(normalizer, ids, accept=accept, review=review, top_k=top_k)
    limits = {"top_k": max(top_k, 2), "types": types, "branches": branches}
    answers = find_candidates(nlp, normalizer, terms, **limits)
    with progress_bar(answers, unit="terms", total=len(terms)) as bar:
        mappings = [mapper.map(*pair) for pair in zip(terms, bar, strict=True)]
    mappings = [_keep_earlier(mapping, earlier) for mapping in mappings]
    left = [row for rows in earlier.values() for row in rows]
    # Decisions about terms that are no longer in the table.
    gone = [replace(row, count=0) for row in left if row.is_decided]
    metadata = mapper.metadata(terms_path, [*mappings, *gone], licence=licence)
    write_sssom(MappingSet(metadata, [*mappings, *gone]), output_path, raw=raw)
    summary = summarize_mappings(mappings, measure=mapper.measure)
    return replace(summary, gone=len(gone))


def _choose_thresholds(
    normalizer: ConceptNormalizer, accept: float | None, review: float | None
) -> tuple[float, float]:
    is_fitted_to_names = normalizer.cfg["calibration"] is None and normalizer.calibration
    usual = _BY_NAMES if is_fitted_to_names else _OTHERWISE
    accept = usual[0] if accept is None else accept
    require_range(least=0, most=1, accept=accept)
    review = min(usual[1], accept) if review is None else review
    require_range(least=0, most=accept, review=review)
    return accept, review


# Rows by code and term, in the order of the file, since a table may repeat both.
_Earlier: TypeAlias = dict[tuple[str, str], deque[TermMapping]]


def _read_earlier(path: Path) -> _Earlier:
    """Read an earlier output, which may contain hours of work."""
    earlier: _Earlier = defaultdict(deque)
    if find_ending(path) == ".csv" or not path.is_file():
        return earlier
    # Spreadsheets add a byte order mark, and may lose the metadata.
    with path.open(encoding="utf-8-sig", errors="replace") as file:
        first = file.readline()
    if first.startswith("#") or "subject_id" in first.split("\t"):
        for mapping in read_sssom(path).mappings:
            earlier[mapping.subject_id, mapping.subject_label].append(mapping)
    return earlier


def _keep_earlier(mapping: TermMapping, earlier: _Earlier) -> TermMapping:
    """Keep the earlier row of a term, removing it from `earlier`, if a person has decided it or
    only its date differs. The count is always that of the current table.

    RETURNS (TermMapping): The earlier row, or else the new one.
    """
    rows = earlier.get((mapping.subject_id, mapping.subject_label))
    row = rows.popleft() if rows else mapping
    if row.is_decided:
        return replace(row, count=mapping.count, context=mapping.context)
    same = replace(mapping, mapping_date=row.mapping_date, others=row.others)
    return same if same == row else mapping


@dataclass(frozen=True, slots=True)
class TermMapper:
    """Creates rows from terms and their candidates.

    normalizer (ConceptNormalizer): The component that found the candidates.
    ids (MappingIds): Converts codes to CURIEs.
    accept, review, top_k: As for `map_terms`, chosen.
    """

    normalizer: ConceptNormalizer
    ids: MappingIds
    accept: float
    review: float
    top_k: int
    today: str = field(default_factory=lambda: date.today().isoformat())

    def __post_init__(self) -> None:
        if self.measure == "cosine" and not self.normalizer.lookup.retriever.has_cosines:
            mend = "Calibrate it first: `connorm evaluate --calibrate`."
            raise Errors.CN422(what="A mapping", name=self.normalizer.name, mend=mend)

    @property
    def measure(self) -> str:
        """The measure that the thresholds apply to.

        RETURNS (str): "probability", or "cosine" if the pipeline has no calibration.
        """
        return "cosine" if self.normalizer.calibration is None else "probability"

    def map(self, term: LocalTerm, candidates: Sequence[Candidate]) -> TermMapping:
        """Create the row of a term.

        term (LocalTerm): The term.
        candidates (Sequence[Candidate]): Its candidates, best first; at least two if there are two.
        RETURNS (TermMapping): The row.
        """
        by_spelling = is_sparse(self.normalizer.lookup.encoder)
        unmatched = TermMapping(
            subject_id=self.ids.subject(term.code),
            predicate_id=EXACT,
            object_id=NO_TERM,
            mapping_justification=SPELLING if by_spelling else MEANING,
            subject_label=term.term,
            mapping_date=self.today,
            status=UNMATCHED,
            count=term.count,
            context=term.context,
            candidates=tuple(map(self._candidate, candidates[: self.top_k])),
        )
        status = self._status(candidates)
        if status == UNMATCHED:
            return unmatched
        best, (chosen, *_) = candidates[0], unmatched.candidates
        retriever = self.normalizer.lookup.retriever
        exactly = retriever.names_exactly(best.text, best.concept_id)
        relation = find_relation(
            term.term, best.text, retriever.index.words, is_exact=exactly, by_spelling=by_spelling
        )
        return replace(
            unmatched,
            predicate_id=relation.predicate,
            object_id=chosen.object_id,
            object_label=chosen.label,
            mapping_justification=relation.justification,
            match_string=relation.match_string,
            confidence=chosen.confidence,
            similarity_score=_share(best.score) if retriever.has_cosines else None,
            # A broader concept is not what the term means.
            status=REVIEW if relation.predicate == BROAD else status,
        )

    def _candidate(self, candidate: Candidate) -> MappingCandidate:
        vocabulary = self.normalizer.lookup.index.store.own_vocabulary
        curie = concept_curie(candidate.concept_id, vocabulary)
        return MappingCandidate(curie, _confidence(candidate), candidate.name)

    def _status(self, candidates: Sequence[Candidate]) -> str:
        if not candidates or _confidence(candidates[0]) < self.review:
            return UNMATCHED
        is_certain = _confidence(candidates[0]) >= self.accept and not _is_tied(candidates)
        # Below its NIL threshold, the pipeline would not write an id.
        is_nil = self.normalizer.decide(candidates) == NIL
        return ACCEPTED if is_certain and not is_nil else REVIEW

    def metadata(
        self, terms_path: Path, mappings: Sequence[TermMapping], *, licence: str
    ) -> dict[str, Any]:
        """Create the metadata of all rows.

        terms_path (Path): The table of terms.
        mappings (Sequence[TermMapping]): The rows.
        licence (str): The URL of their terms of use.
        RETURNS (Dict[str, Any]): The slots of SSSOM's mapping sets.
        """
        has_cosines = self.normalizer.lookup.retriever.has_cosines
        ontology = self.normalizer.lookup.index.manifest.get("ontology") or {}
        subject_source = self.ids.source(terms_path.name)
        object_source = self.ids.ontology(str(ontology.get("path") or "index"))
        sources = (subject_source, object_source)
        comment = (
            f"Confidence is the {self.measure} of the first candidate. It is accepted from "
            f"{self.accept}, to be reviewed from {self.review}."
        )
        terms_of_use = f" The ontology's terms of use: {ontology['licence']}"
        return {
            "sssom_version": "1.1",
            "mapping_set_id": f"urn:uuid:{uuid5(NAMESPACE_URL, repr([object_source, mappings]))}",
            "license": licence,
            "comment": comment + (terms_of_use if ontology.get("licence") else ""),
            "mapping_tool": "spacy_connorm",
            "mapping_tool_version": __version__,
            **({"similarity_measure": "cosine"} if has_cosines else {}),
            "subject_source": subject_source,
            "object_source": object_source,
            "object_source_version": f"sha256:{ontology.get('sha256', '')}",
            "curie_map": self.ids.addresses_of([*sources, *_curies_of(mappings)]),
        }


def _curies_of(mappings: Iterable[TermMapping]) -> Iterator[str]:
    for mapping in mappings:
        yield from (mapping.subject_id, mapping.object_id, mapping.author_id)
        yield from (candidate.object_id for candidate in mapping.candidates)


def _is_tied(candidates: Sequence[Candidate]) -> bool:
    """Check whether the text belongs to several concepts, and is not the preferred name of the
    first one alone.
    """
    best, *others = candidates
    tied = [candidate for candidate in others if candidate.score >= best.score]
    return bool(tied) and (
        best.text != best.name or any(candidate.text == candidate.name for candidate in tied)
    )


def _confidence(candidate: Candidate) -> float:
    return _share(candidate.score if candidate.probability is None else candidate.probability)


def _share(number: float) -> float:
    return round(min(max(float(number), 0.0), 1.0), 4)
