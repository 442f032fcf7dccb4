"""The mentions of a corpus, read under one of the protocols, and a pipeline's answers."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from spacy.language import Language
from spacy.tokens import Doc
from spacy.util import minibatch

from ..concepts import Candidate
from ..documents.abbreviations import read_abbreviations
from ..documents.docbin import read_docs
from ..documents.mentions import Mention, annotated_mentions
from ..errors import Errors
from ..files.progress import progress_bar
from ..pipeline.concept_normalizer import ConceptNormalizer
from ..text.abbreviations import find_abbreviations
from ..text.composites import split_composite
from ..text.expansion import expand
from .metrics import Prediction
from .report import OPEN

_OMIM = "OMIM:"
_GAPS = re.compile(r"[\W_]+")


def biosyn_texts(
    mention: str, gold_ids: Sequence[str], long_forms: Mapping[str, str], code: str
) -> tuple[str, ...]:
    """Prepare the texts to search for a mention: abbreviations are expanded, the mention is split
    if that gives as many parts as gold ids, letters are lower-cased, and runs of space and
    punctuation become one space.

    mention (str): The text as annotated.
    gold_ids (Sequence[str]): The result of `biosyn_ids`; their number decides whether to split.
    long_forms (Mapping[str, str]): The abstract's abbreviations, long forms by short form.
    code (str): The language, as in `nlp.lang`.
    RETURNS (Tuple[str, ...]): The parts of a composite, or the single text.
    """
    expanded = expand(mention, long_forms)
    ways = split_composite(expanded, code) if len(gold_ids) > 1 else []
    parts = next((way for way in ways if len(way) == len(gold_ids)), (expanded,))
    return tuple(map(_fold, parts))


def biosyn_ids(gold_ids: Sequence[str]) -> tuple[str, ...]:
    """Leave out OMIM ids beside others, as in BioSyn.

    gold_ids (Sequence[str]): The gold ids of a mention.
    RETURNS (Tuple[str, ...]): The ids that are not from OMIM; all if there are no others.
    """
    others = tuple(gold_id for gold_id in gold_ids if not gold_id.startswith(_OMIM))
    return others or tuple(gold_ids)


def _fold(text: str) -> str:
    lowered = text.lower()
    # A mention with only punctuation is still searched.
    return _GAPS.sub(" ", lowered).strip() or lowered


# The number of candidates for each mention; a right concept below them does not count.
DEPTH = 20
_BATCH = 256
# Components that find abbreviations: ours, and scispaCy's.
_RESOLVERS = ("abbreviation_resolver", "abbreviation_detector")


class MentionQuery(NamedTuple):
    """A mention, and what to search for.

    mention (Mention): The annotated mention; under BioSyn's protocol, without some of its gold ids.
    long_form (str): Its long form in its document; empty if there is none.
    texts (Tuple[str, ...]): The texts of BioSyn's protocol; empty if the pipeline reads the
        mention.
    """

    mention: Mention
    long_form: str = ""
    texts: tuple[str, ...] = ()


def read_queries(
    path: Path, nlp: Language, normalizer: ConceptNormalizer, *, protocol: str = OPEN
) -> list[MentionQuery]:
    """Read the annotated mentions that a concept normalizer would normalize.

    path (Path): A `.spacy` file.
    nlp (Language): The pipeline. Only its components that find abbreviations are run; the mentions
        are the annotated ones.
    normalizer (ConceptNormalizer): Its setting `labels` selects mentions.
    protocol (str): "open": as in the pipeline; "biosyn": as in BioSyn.
    RETURNS (List[MentionQuery]): One per mention, with or without gold ids.
    RAISES (ConnormError): CN600 if no mention has a gold id, and the errors of `read_docs`.
    """
    labels, spans_key = normalizer.cfg["labels"], normalizer.cfg["spans_key"]
    read = _read_openly(nlp) if protocol == OPEN else _read_as_biosyn
    queries: list[MentionQuery] = []
    for doc in read_docs(path, nlp.vocab):
        mentions = annotated_mentions(doc, spans_key=spans_key)
        chosen = [mention for mention in mentions if not labels or mention.label in labels]
        queries += read(doc, chosen)
    if not any(query.mention.concept_ids for query in queries):
        named = f" with the labels {', '.join(labels)}" if labels else ""
        raise Errors.CN600(count=len(queries), path=path, chosen=named)
    return queries


def _read_openly(nlp: Language) -> Callable[[Doc, Iterable[Mention]], Iterator[MentionQuery]]:
    resolvers = [
        pipe for name, pipe in nlp.pipeline if nlp.get_pipe_meta(name).factory in _RESOLVERS
    ]

    def read(doc: Doc, mentions: Iterable[Mention]) -> Iterator[MentionQuery]:
        for resolver in resolvers:
            doc = resolver(doc)
        definitions = read_abbreviations(doc)
        for mention in mentions:
            yield MentionQuery(mention, definitions.long_form(mention.text, mention.extent[1] - 1))

    return read


def _read_as_biosyn(doc: Doc, mentions: Iterable[Mention]) -> Iterator[MentionQuery]:
    definitions = find_abbreviations(doc.text, doc.lang_)
    long_forms = {definition.short: definition.long for definition in definitions}
    for mention in mentions:
        gold_ids = biosyn_ids(mention.concept_ids)
        texts = biosyn_texts(mention.text, gold_ids, long_forms, doc.lang_)
        yield MentionQuery(mention._replace(kb_id="|".join(gold_ids)), texts=texts)


def answer_queries(
    normalizer: ConceptNormalizer, queries: Sequence[MentionQuery], search: str | None = None
) -> list[Prediction]:
    """Answer queries. Equal queries are searched once.

    normalizer (ConceptNormalizer): The component that answers, within its types and branches.
    queries (Sequence[MentionQuery]): The mentions, all read under the same protocol.
    search (Optional[str]): A single search to use instead of the sieve.
    RETURNS (List[Prediction]): One per query.
    RAISES (ConnormError): CN408 for a search that the index was built without.
    """
    keys = [(query.mention.text, query.long_form, query.texts) for query in queries]
    distinct = dict(zip(keys, queries, strict=True))
    answers: list[list[Candidate]] = []
    with progress_bar(distinct.values(), unit="mentions", total=len(distinct)) as bar:
        for batch in minibatch(bar, _BATCH):
            answers += ask(normalizer, batch, search)
    predictions = {
        key: Prediction(candidates, normalizer.decide(candidates))
        for key, candidates in zip(distinct, answers, strict=True)
    }
    return [predictions[key] for key in keys]


def ask(
    normalizer: ConceptNormalizer, queries: Sequence[MentionQuery], search: str | None = None
) -> list[list[Candidate]]:
    """Answer queries one by one. The arguments are those of `answer_queries`.

    RETURNS (List[List[Candidate]]): One list of candidates per query, best first, part by part.
    """
    if not any(query.texts for query in queries):
        return normalizer.candidates(
            [query.mention.text for query in queries],
            long_forms=[query.long_form for query in queries],
            top_k=DEPTH,
            search=search,
        )
    texts = [text for query in queries for text in query.texts]
    candidates = normalizer.candidates(texts, top_k=DEPTH, search=search, split_composites=False)
    return join_parts(candidates, [len(query.texts) for query in queries])


def join_parts(
    answers: Iterable[Sequence[Candidate]], counts: Iterable[int]
) -> list[list[Candidate]]:
    """Combine the candidates of a mention's parts.

    answers (Iterable[Sequence[Candidate]]): One list per text.
    counts (Iterable[int]): The number of texts of each mention; several are numbered from 1.
    RETURNS (List[List[Candidate]]): One list per mention.
    """
    texts = iter(answers)
    return [
        [
            candidate._replace(part=part if count > 1 else 0)
            for part, candidates in enumerate(islice(texts, count), start=1)
            for candidate in candidates
        ]
        for count in counts
    ]
