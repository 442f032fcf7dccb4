"""Map a table of local terms to the concepts of a pipeline: `connorm map`."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from spacy.language import Language
from spacy.tokens import Doc, Span
from spacy.util import minibatch
from tqdm import tqdm

from ..concepts import Candidate
from ..documents.sssom import NO_LICENCE, MappingSet, TermMapping, read_sssom, write_sssom
from ..errors import ConnormError, Errors, refuse, require_positive
from ..files.atomic import require_apart
from ..pipeline.concept_normalizer import ConceptNormalizer
from ..pipeline.loading import component_name, find_normalizer, load_pipeline
from .mapping_decisions import MappingSummary, summarize_mappings
from .mapping_rows import MappingIds, TermMapper
from .terms import CODE, CONTEXT, COUNT, TERM, LocalTerm, read_terms


class TermSearch:
    """Asks a pipeline for terms. A term is one concept: it is not split as a composite mention."""

    def __init__(self, nlp: Language, normalizer: ConceptNormalizer, **limits: Any) -> None:
        """Take the settings of a normalizer.

        nlp (Language): Reads the text around a term.
        normalizer (ConceptNormalizer): One of its components.
        **limits (Limits): As in `ConceptNormalizer.candidates`.
        RAISES (ConnormError): CN001 if it has no index, CN006 for a `top_k` under 1.
        """
        self._nlp = nlp
        self._normalizer = normalizer
        self._interpreter = normalizer.interpreter(split_composites=False, **limits)

    def find(self, terms: Sequence[LocalTerm], *, batch_size: int) -> Iterator[list[Candidate]]:
        """Search for terms.

        terms (Sequence[LocalTerm]): The terms.
        batch_size (int): Terms in one batch.
        YIELDS (List[Candidate]): The candidates of each, best first.
        RAISES (ConnormError): CN406 and CN407 for unknown types and branches, CN709 for a context
            that is longer than the pipeline takes.
        """
        for batch in minibatch(terms, batch_size):
            yield from self._find(batch)

    def _find(self, terms: Sequence[LocalTerm]) -> list[list[Candidate]]:
        long_forms = [
            "" if doc is None else self._normalizer.long_forms(doc, [_find_span(doc, term)])[0]
            for term, doc in zip(terms, self._docs(terms), strict=True)
        ]
        return self._interpreter.candidates([term.term for term in terms], long_forms)

    def _docs(self, terms: Sequence[LocalTerm]) -> list[Doc | None]:
        texts = [_text_of(term) for term in terms if term.context]
        limit = self._nlp.max_length
        for text in texts:
            if len(text) > limit:
                place = "The context of a term"
                message = Errors.CN709.format(place=place, length=len(text), limit=limit)
                raise ConnormError(message)
        docs = self._nlp.pipe(texts, disable=[component_name(self._nlp, self._normalizer)])
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
    batch_size: int = 512,
    component: str | None = None,
) -> MappingSummary:
    """Map a table of local terms to the concepts of a pipeline: `python -m spacy connorm map`. What
    people have decided in the output (`connorm serve --review`) stays; of terms that the table no
    longer has, at the end and with a count of 0.

    pipeline (Union[str, Path, Language]): An installed package, a pipeline's folder, or a pipeline.
    terms_path (Union[str, Path]): A `.csv`, `.tsv` or `.xlsx` file with a header; see `read_terms`.
    output_path (Union[str, Path]): A `.tsv` file for SSSOM, or a `.csv` file for its table alone.
    code, term, context, count (str): The columns of the table. Context and count may be missing.
    sheet (Optional[str]): The sheet of an Excel file; the first one if None.
    delimiter (Optional[str]): Separates the fields of a text file; found out if None, see
        `read_rows`.
    accept (float): The least confidence of a mapping that is accepted: its probability if the
        pipeline is calibrated, or else its cosine.
    review (float): The least confidence of one that is to be reviewed; below, a term is unmatched.
    top_k (int): At most how many candidates of a term are kept.
    types, branches (Optional[Sequence[str]]): Find only concepts of these semantic types, at or
        below these concepts; the pipeline's setting if None.
    prefix (str): The prefix of codes that have none, e.g. the name of their code list.
    addresses (Optional[Mapping[str, str]]): What the addresses (IRIs) of ids begin with, by prefix,
        for prefixes that are not well known.
    licence (str): The address of the terms of use of the mappings.
    batch_size (int): Terms in one batch.
    component (Optional[str]): Which concept normalizer, if there are several.
    RETURNS (MappingSummary): How many terms, and how much of their counts, are mapped.
    RAISES (ConnormError): CN006 for invalid settings, CN105, CN108 or CN109 if the output can't be
        written, CN121 if it would replace the input, CN700 to CN704 as `load_normalizer`, CN708 for
        another suffix, CN422 for inner products that are not calibrated, CN115 for an output that
        holds damaged mappings, and the errors of `read_terms` and `TermSearch`.
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
    decided = _read_decided(output_path)
    nlp = load_pipeline(pipeline)
    normalizer = find_normalizer(nlp, component=component)
    search = TermSearch(nlp, normalizer, top_k=max(top_k, 2), types=types, branches=branches)
    mapper = TermMapper(normalizer, ids, accept=accept, review=review, top_k=top_k)
    found = search.find(terms, batch_size=batch_size)
    with tqdm(found, total=len(terms), unit=" terms", delay=2, leave=False) as bar:
        mappings = [mapper.map(*each) for each in zip(terms, bar, strict=True)]
    mappings = [_keep_decided(each, decided) for each in mappings]
    # Of terms that the table no longer has.
    gone = [replace(each, count=0) for each in decided.values()]
    metadata = mapper.metadata(terms_path, [*mappings, *gone], licence=licence)
    write_sssom(MappingSet(metadata, [*mappings, *gone]), output_path)
    summary = summarize_mappings(mappings, measure=mapper.measure)
    return replace(summary, gone=len(gone))


def _require_thresholds(accept: float, review: float) -> None:
    if not 0 <= accept <= 1:
        refuse("accept", accept, "a number from 0 to 1")
    if not 0 <= review <= accept:
        refuse("review", review, f"a number from 0 to `accept` ({accept})")


def _keep_decided(found: TermMapping, decided: dict[tuple[str, str], TermMapping]) -> TermMapping:
    """RETURNS (TermMapping): The row of a term as a person has decided it, which is taken out of
    `decided`; what was found if nobody has. How often the term occurs is what the table says now.
    """
    row = decided.pop((found.subject_id, found.subject_label), found)
    return replace(row, count=found.count, context=found.context)


def _read_decided(path: Path) -> dict[tuple[str, str], TermMapping]:
    """An output that is written again may hold hours of work."""
    if path.suffix == ".csv" or not path.is_file():
        return {}
    # Spreadsheets add a byte order mark, and may lose the metadata.
    with path.open(encoding="utf-8-sig", errors="replace") as file:
        first = file.readline()
    is_sssom = first.startswith("#") or "subject_id" in first.split("\t")
    found = read_sssom(path).mappings if is_sssom else []
    return {(each.subject_id, each.subject_label): each for each in found if each.is_decided}
