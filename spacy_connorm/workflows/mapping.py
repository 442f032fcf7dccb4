"""Map a table of local terms to the concepts of a pipeline: `connorm map`."""

from collections import defaultdict, deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any, TypeAlias
from uuid import NAMESPACE_URL, uuid5

from spacy.language import Language
from spacy.tokens import Doc, Span
from spacy.util import minibatch
from tqdm import tqdm

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
from ..errors import ConnormError, Errors, refuse, require_positive
from ..files.atomic import require_apart
from ..linker.linking import candidates_of
from ..pipeline.concept_normalizer import ConceptNormalizer
from ..pipeline.loading import component_name, find_normalizer, load_pipeline
from .mapping_rows import (
    EXACT,
    MEANING,
    SPELLING,
    MappingIds,
    MappingSummary,
    find_relation,
    ontology_source,
    summarize_mappings,
)
from .terms import CODE, CONTEXT, COUNT, TERM, LocalTerm, read_terms

_SUFFIXES = (".tsv", ".csv")


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
    accept: float = 0.9,
    review: float = 0.5,
    top_k: int = 5,
    types: Sequence[str] | None = None,
    branches: Sequence[str] | None = None,
    prefix: str = "local",
    addresses: Mapping[str, str] | None = None,
    licence: str = NO_LICENCE,
    raw: bool = False,
    batch_size: int = 512,
    component: str | None = None,
) -> MappingSummary:
    """Map a table of local terms to the concepts of a pipeline: `python -m spacy connorm map`. What
    people have decided in the output (`connorm serve --review`) stays; of terms that the table no
    longer has, at the end and with a count of 0. Rows that say what they said keep their date, so
    the same input gives the same bytes.

    pipeline (Union[str, Path, Language]): An installed package, a pipeline's folder, or a pipeline.
    terms_path (Union[str, Path]): A table with a header: `.csv`, `.tsv` or `.xlsx`. See
        `read_terms`.
    output_path (Union[str, Path]): The mappings: `.tsv` for SSSOM, `.csv` for its table alone.
    code (str): The column of the codes.
    term (str): The column of the terms.
    context (str): The column of the text around a term; it may be missing.
    count (str): The column that tells how often a term occurs; it may be missing.
    sheet (Optional[str]): The sheet of an Excel file; the first one if None.
    delimiter (Optional[str]): Separates the fields of a text file; found out if None, see
        `read_rows`.
    accept (float): The least confidence of a mapping that is accepted. It is the mapping's
        probability if the pipeline is calibrated, or else its cosine.
    review (float): The least confidence of a mapping to be reviewed; below, a term is unmatched.
    top_k (int): At most how many candidates of a term are kept.
    types (Optional[Sequence[str]]): Find only concepts of these semantic types; the pipeline's
        setting if None.
    branches (Optional[Sequence[str]]): Find only concepts at or below these; the pipeline's setting
        if None.
    prefix (str): The prefix of codes that have none, e.g. ICD10CM.
    addresses (Optional[Mapping[str, str]]): What the addresses (IRIs) of ids begin with, by prefix,
        for prefixes that are not well known.
    licence (str): The address of the terms of use of the mappings.
    raw (bool): Whether a `.csv` output keeps cells that a spreadsheet would run as formulas. If
        not, they begin with an apostrophe. SSSOM always keeps them.
    batch_size (int): Terms in one batch.
    component (Optional[str]): Which concept normalizer, if there are several.
    RETURNS (MappingSummary): How many terms, and how much of their counts, are mapped.
    RAISES (ConnormError): CN006 for invalid settings, CN105, CN108 or CN109 if the output can't be
        written, CN121 if it would replace the input, CN700 to CN704 as `load_normalizer`, CN708 for
        another suffix, CN422 for inner products that are not calibrated, CN115 for an output that
        holds damaged mappings, CN406 and CN407 for unknown types and branches, CN709 for a context
        that is longer than the pipeline takes, and the errors of `read_terms`.
    WARNS (ConnormWarning): As `read_terms`.
    """
    terms_path, output_path = Path(terms_path), Path(output_path)
    if output_path.suffix not in _SUFFIXES:
        known = " or ".join(_SUFFIXES)
        raise ConnormError(Errors.CN708.format(action="write", path=output_path, known=known))
    _require_thresholds(accept, review)
    require_positive("top_k", top_k)
    require_positive("batch_size", batch_size)
    require_apart(output_path, terms_path)
    ids = MappingIds(prefix, addresses or {})
    columns = {"code": code, "term": term, "context": context, "count": count}
    terms = read_terms(terms_path, sheet=sheet, delimiter=delimiter, **columns)
    earlier = _read_earlier(output_path)
    nlp = load_pipeline(pipeline)
    normalizer = find_normalizer(nlp, component=component)
    mapper = TermMapper(normalizer, ids, accept=accept, review=review, top_k=top_k)
    limits = {"top_k": max(top_k, 2), "types": types, "branches": branches}
    found = find_candidates(nlp, normalizer, terms, batch_size=batch_size, **limits)
    with tqdm(found, total=len(terms), unit=" terms", delay=2, leave=False) as bar:
        mappings = [mapper.map(*each) for each in zip(terms, bar, strict=True)]
    mappings = [_keep_earlier(each, earlier) for each in mappings]
    left = [each for rows in earlier.values() for each in rows]
    # Of terms that the table no longer has.
    gone = [replace(each, count=0) for each in left if each.is_decided]
    metadata = mapper.metadata(terms_path, [*mappings, *gone], licence=licence)
    write_sssom(MappingSet(metadata, [*mappings, *gone]), output_path, raw=raw)
    summary = summarize_mappings(mappings, measure=mapper.measure)
    return replace(summary, gone=len(gone))


def _require_thresholds(accept: float, review: float) -> None:
    if not 0 <= accept <= 1:
        refuse("accept", accept, "a number from 0 to 1")
    if not 0 <= review <= accept:
        refuse("review", review, f"a number from 0 to `accept` ({accept})")


# Rows by code and term, in the order of the file: a table may repeat both.
_Earlier: TypeAlias = dict[tuple[str, str], deque[TermMapping]]


def _read_earlier(path: Path) -> _Earlier:
    """An output that is written again may hold hours of work."""
    earlier: _Earlier = defaultdict(deque)
    if path.suffix == ".csv" or not path.is_file():
        return earlier
    # Spreadsheets add a byte order mark, and may lose the metadata.
    with path.open(encoding="utf-8-sig", errors="replace") as file:
        first = file.readline()
    if first.startswith("#") or "subject_id" in first.split("\t"):
        for each in read_sssom(path).mappings:
            earlier[each.subject_id, each.subject_label].append(each)
    return earlier


def _keep_earlier(found: TermMapping, earlier: _Earlier) -> TermMapping:
    """RETURNS (TermMapping): The earlier row of a term, which is taken out of `earlier`, if a
    person has decided it or if nothing but its date differs; else what was found. How often the
    term occurs is what the table says now.
    """
    rows = earlier.get((found.subject_id, found.subject_label))
    row = rows.popleft() if rows else found
    if row.is_decided:
        return replace(row, count=found.count, context=found.context)
    same = replace(found, mapping_date=row.mapping_date, others=row.others)
    return same if same == row else found


def find_candidates(
    nlp: Language,
    normalizer: ConceptNormalizer,
    terms: Sequence[LocalTerm],
    *,
    batch_size: int,
    **limits: Any,
) -> Iterator[list[Candidate]]:
    """Search for terms. A term is one concept: it is not split as a composite mention.

    nlp (Language): Reads the text around a term.
    normalizer (ConceptNormalizer): One of its components.
    terms (Sequence[LocalTerm]): The terms.
    batch_size (int): Terms in one batch.
    **limits (Limits): As in `ConceptNormalizer.candidates`.
    YIELDS (List[Candidate]): The candidates of each, best first.
    RAISES (ConnormError): CN001 if the normalizer has no index, CN006 for a `top_k` under 1, CN406
        and CN407 for unknown types and branches, CN709 for a context that is too long.
    """
    query = normalizer.query(split_composites=False, **limits)
    retriever = normalizer.lookup.retriever
    for batch in minibatch(terms, batch_size):
        long_forms = [
            "" if doc is None else normalizer.long_forms(doc, [_find_span(doc, term)])[0]
            for term, doc in zip(batch, _docs(nlp, normalizer, batch), strict=True)
        ]
        texts = [term.term for term in batch]
        yield from candidates_of(retriever, texts, query, long_forms=long_forms)


def _docs(
    nlp: Language, normalizer: ConceptNormalizer, terms: Sequence[LocalTerm]
) -> list[Doc | None]:
    texts = [_text_of(term) for term in terms if term.context]
    for text in texts:
        if len(text) > nlp.max_length:
            fields = {"length": len(text), "limit": nlp.max_length}
            raise ConnormError(Errors.CN709.format(place="The context of a term", **fields))
    docs = nlp.pipe(texts, disable=[component_name(nlp, normalizer)])
    return [next(docs) if term.context else None for term in terms]


def _text_of(term: LocalTerm) -> str:
    if _last_place(term.context.lower(), term.term.lower()) >= 0:
        return term.context
    return f"{term.context}\n{term.term}"


def _find_span(doc: Doc, term: LocalTerm) -> Span:
    text, length = doc.text, len(term.term)
    start = _last_place(text, term.term)
    if start < 0:
        # Lower case can have another length than the text.
        start = min(_last_place(text.lower(), term.term.lower()), len(text) - length)
    # Never None: "expand" finds a span for all characters inside the text.
    return doc.char_span(start, start + length, alignment_mode="expand")  # type: ignore[return-value]


def _last_place(text: str, term: str) -> int:
    """RETURNS (int): Where a text has a term for the last time, as whole words; -1 if nowhere."""
    start = text.rfind(term)
    while start >= 0 and not _is_whole(text, start, start + len(term)):
        start = text.rfind(term, 0, start + len(term) - 1)
    return start


def _is_whole(text: str, start: int, end: int) -> bool:
    """RETURNS (bool): Whether a piece of a text begins and ends no word in the middle."""
    return not any(
        text[max(place - 1, 0) : place].isalnum() and text[place : place + 1].isalnum()
        for place in (start, end)
    )


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
            "mapping_set_id": f"urn:uuid:{uuid5(NAMESPACE_URL, repr([object_source, mappings]))}",
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
