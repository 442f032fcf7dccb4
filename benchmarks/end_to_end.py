"""From plain text to concept ids: exact matching of names, `mention_finder` with an ontology alone,
pipelines with a trained NER, and two peers, gilda's matcher and FastHPOCR, which reads HPO only (in
environments that the first run makes from _peers/*.txt), on the same documents.

Without options it prints the finder `ontology` on the dev parts of eight data sets, in a few
minutes.

Examples: python benchmarks/end_to_end.py --each-setting
python benchmarks/end_to_end.py --dataset ncbi bc5cdr-d --part test --finder exact ontology trained
python benchmarks/end_to_end.py --dataset hpo-abstracts --part dev --finder ontology --errors
"""

from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import Any

import spacy
from _common.builders import encoder_config
from _common.cli import begin, clear_errors, fail, finish, make_parser
from _common.datasets import DATASETS, PARTS, Data, blank_english
from _common.error_kinds import ErrorKinds
from _common.ontology_finder import CHOSEN_ON, TYPES, build_finder, found_spans, gold_spans
from _common.options import at_least
from _common.trained_finders import NERS, train_finder_once
from _peers.peer_finder import PEERS, PeerFinder
from spacy.language import Language
from spacy.matcher import PhraseMatcher
from spacy.tokens import Doc, Span
from spacy.util import filter_spans

from spacy_connorm.concepts import Ontology
from spacy_connorm.evaluation.end_to_end import DocumentSpans, score_documents
from spacy_connorm.evaluation.report import Row
from spacy_connorm.pipeline.loading import load_pipeline
from spacy_connorm.pipeline.settings import FinderSettings, NormalizerSettings

FINDERS = ("exact", "ontology", "trained", *PEERS)
# Those with a normalizer.
ENCODED = ("ontology", "trained")
SHOWN = (
    "dataset",
    "part",
    "finder",
    "setting",
    "encoder",
    "documents",
    "document_f1",
    "document_f1_low",
    "document_f1_high",
    "document_precision",
    "document_recall",
    "mention_f1",
    "linked_f1",
    "tokens_per_second",
)
# Other settings of the finder than the default ones.
SETTINGS: dict[str, dict[str, Any]] = {
    "default": {},
    "exact names only": {"inexact_names": False},
    "inexact names, too": {"inexact_names": True},
    "words replaced from 0.7 on": {"min_certainty": 0.7},
    "words replaced from 0.95 on": {"min_certainty": 0.95},
    "no words replaced": {"min_certainty": 1.0},
    "no derivations": {"derivations": False},
    "no coordinations": {"coordinations": False},
    "short forms: up to 3 letters instead of 5": {"short_letters": 3},
    "undefined short forms, too": {"undefined_short_forms": True},
    "stop texts and groups are found": {"stop_texts": []},
    "one-word groups are found": {"stop_texts": None},
    "no profile": {},
}
_NO_PROFILE = [*SETTINGS][-1]
# The weight of a score that alone decides what is NIL.
_STEEP = 1e6
Reader = Callable[[Iterable[str]], Iterator[Doc]]


def main() -> None:
    arguments = begin(add_options(make_parser(__doc__ or "")))
    with clear_errors():
        rows = measure(arguments)
    finish(rows, arguments.json, columns=() if arguments.errors else SHOWN)


def add_options(parser: ArgumentParser) -> ArgumentParser:
    """RETURNS (ArgumentParser): The same, with the benchmark's options."""
    add = parser.add_argument
    add(
        "--dataset",
        choices=DATASETS,
        nargs="+",
        help=f"[the finder `ontology` on the dev parts of {', '.join(CHOSEN_ON)}]",
    )
    add("--part", choices=PARTS, help="dev has train as its D [test; dev without --dataset]")
    add("--clinical", action="store_true", help="the finder `ontology` reads clinical notes")
    add("--ontology", type=Path, metavar="PATH", help="another ontology than the usual one")
    add(
        "--types",
        nargs="+",
        default=[],
        metavar="TYPE",
        help="leave out concepts of other semantic types [D, MeSH's chemicals, for bc5cdr-c]",
    )
    add("--finder", choices=FINDERS, nargs="+", help="[exact ontology]")
    add("--encoder", default="ngram", help="of the normalizer [%(default)s]")
    add(
        "--each-setting",
        action="store_true",
        help="the finder `ontology` with each of its settings otherwise than by default, too",
    )
    add(
        "--nested-mentions",
        action="store_true",
        help="the finder `ontology` finds the mentions inside longer ones, too",
    )
    add(
        "--learn-stop-texts",
        action="store_true",
        help="the finder `ontology` learns from D's documents what is no mention",
    )
    add(
        "--nil-threshold",
        type=float,
        metavar="SCORE",
        help="mentions with a lower score get no id [none: all get one]",
    )
    add("--errors", action="store_true", help="count missed and wrong ids by kind instead")
    add("--ner", choices=NERS, default="tok2vec", help="of the finder `trained` [%(default)s]")
    add("--without-features", action="store_true", help="the NER does not see where names stand")
    add("--max-steps", type=at_least(1), help="of the NER's training [those of its config]")
    add("--learning-rate", type=float, help="of the NER's training [that of its config]")
    add(
        "--start-from",
        choices=DATASETS,
        metavar="NAME",
        help="the NER is first trained on another data set with the same ontology",
    )
    return parser


def measure(arguments: Namespace) -> list[Row]:
    """RETURNS (List[Dict[str, Any]]): One row a data set and finder."""
    chosen = arguments.dataset is None
    part = arguments.part or ("dev" if chosen else "test")
    return [
        row
        for dataset in arguments.dataset or CHOSEN_ON
        for finder in arguments.finder or (("ontology",) if chosen else FINDERS[:2])
        for row in _measure_one(arguments, Data(dataset, arguments.data, part=part), finder)
    ]


def _measure_one(arguments: Namespace, data: Data, finder: str) -> Iterator[Row]:
    if arguments.ontology is not None:
        data.other_ontology = arguments.ontology
    data.concept_types = arguments.types or TYPES.get(data.name, [])
    if finder == "ontology":
        for setting, read in _ontology_readers(arguments, data):
            yield from _score(arguments, data, finder, read, setting)
    else:
        yield from _score(arguments, data, finder, _reader(arguments, data, finder))


def _score(
    arguments: Namespace, data: Data, finder: str, read: Reader, setting: str | None = None
) -> Iterator[Row]:
    texts = [doc.text for doc in data.scored_docs]
    start = perf_counter()
    docs = list(read(texts))
    seconds = perf_counter() - start
    documents = [
        DocumentSpans(gold_spans(gold, data.ontology), found_spans(doc, data.ontology))
        for gold, doc in zip(data.scored_docs, docs, strict=True)
    ]
    if arguments.errors:
        kinds = ErrorKinds(data.ontology).count(documents)
        yield from ({"dataset": data.name, "finder": finder, **row} for row in kinds)
        return
    yield {
        "dataset": data.name,
        "part": data.part,
        "finder": finder,
        "setting": setting,
        "types": " ".join(data.concept_types),
        "clinical": arguments.clinical if finder == "ontology" else None,
        "nested": arguments.nested_mentions if finder == "ontology" else None,
        "learned": arguments.learn_stop_texts if finder == "ontology" else None,
        "ner": arguments.ner if finder == "trained" else None,
        "max_steps": arguments.max_steps if finder == "trained" else None,
        "start_from": arguments.start_from if finder == "trained" else None,
        "features": not arguments.without_features if finder == "trained" else None,
        "encoder": arguments.encoder if finder in ENCODED else None,
        "nil_threshold": arguments.nil_threshold,
        **score_documents(documents),
        "tokens_per_second": round(sum(map(len, docs)) / seconds),
    }


def _reader(arguments: Namespace, data: Data, finder: str) -> Reader:
    if finder == "exact":
        return ExactReader(data.ontology)
    if finder in PEERS:
        return PeerFinder(finder, data.ontology, arguments.work)
    return _trained_pipeline(arguments, data).pipe


def _ontology_readers(arguments: Namespace, data: Data) -> Iterator[tuple[str, Reader]]:
    """YIELDS (Tuple[str, Reader]): The name of a setting, and a pipeline with it, which the next
    one changes.
    """
    nlp = _ontology_pipeline(arguments, data)
    finder, normalizer = (nlp.get_pipe(name) for name in ("mention_finder", "concept_normalizer"))
    default = dict(finder.cfg)
    for setting in SETTINGS if arguments.each_setting else ("default",):
        finder.cfg.update({**default, **SETTINGS[setting]})
        if setting == _NO_PROFILE:
            finder.cfg.update(FinderSettings.defaults())
            limits = ("types", "branches", "excluded_branches")
            normalizer.cfg.update({limit: NormalizerSettings.defaults()[limit] for limit in limits})
        yield setting, nlp.pipe


def _ontology_pipeline(arguments: Namespace, data: Data) -> Language:
    encoder = encoder_config(arguments.encoder, data, train="O", work=arguments.work)
    nlp = build_finder(
        data.ontology, encoder, language=data.dataset.language, clinical=arguments.clinical
    )
    finder, normalizer = (nlp.get_pipe(name) for name in ("mention_finder", "concept_normalizer"))
    normalizer.cfg |= _nil_below(arguments.nil_threshold)
    finder.cfg["nested_mentions"] = arguments.nested_mentions
    if arguments.learn_stop_texts:
        finder.learn_stop_texts(map(nlp.get_pipe("abbreviation_resolver"), data.docs))
    return nlp


def _trained_pipeline(arguments: Namespace, data: Data) -> Language:
    """RETURNS (Language): An NER that was trained on train, and a normalizer with D."""
    names = _with_normalizer(
        spacy.blank("en"), data.ontology, encoder_config("ngram", data, work=arguments.work)
    )
    train = partial(
        train_finder_once,
        NERS[arguments.ner],
        names=names,
        work=arguments.work,
        features=not arguments.without_features,
    )
    start = None
    if arguments.start_from is not None:
        other = Data(arguments.start_from, arguments.data, ontology=data.other_ontology)
        if other.dataset.ontology != data.dataset.ontology:
            fail(f"--start-from {other.name} has another ontology than {data.name}.")
        other.concept_types = data.concept_types
        start = train(data=other)
    changes = {"max_steps": arguments.max_steps, "learning_rate": arguments.learning_rate}
    nlp = load_pipeline(train(data=data, start=start, **changes))
    nlp.remove_pipe("concept_normalizer")
    encoder = encoder_config(arguments.encoder, data, train="OD", work=arguments.work)
    return _with_normalizer(
        nlp,
        data.ontology,
        encoder,
        data.expanded_synonyms,
        **_nil_below(arguments.nil_threshold),
    )


def _nil_below(score: float | None) -> dict[str, Any]:
    """RETURNS (Dict[str, Any]): The settings of a normalizer for which mentions with a lower score,
    or none, are NIL, whatever their probability.
    """
    if score is None:
        return {"nil_threshold": None}
    steep = {"intercept": -_STEEP * score, "score": _STEEP, "margin": 0.0}
    return {"nil_threshold": 0.5, "calibration": steep}


def _with_normalizer(
    nlp: Language,
    ontology: Ontology,
    encoder: dict,
    synonyms: Sequence[tuple[str, str]] = (),
    **settings: Any,
) -> Language:
    shared = {
        "encoder": encoder,
        "index": {"@misc": "spacy-connorm.ExactIndex.v1"},
        "top_k": 1,
    }
    normalizer = nlp.add_pipe("concept_normalizer", config={**shared, **settings})
    normalizer.initialize(ontology=ontology, synonyms=synonyms)
    return nlp


class ExactReader:
    """The baseline: names are found lower-cased, the longest first. Of several concepts with a
    name, the one that prefers it leads, then the first id.
    """

    def __init__(self, ontology: Ontology) -> None:
        """ontology (Ontology): Has the names."""
        self._nlp = blank_english()
        self._matcher = PhraseMatcher(self._nlp.vocab, attr="LOWER")
        claims: dict[str, tuple[bool, str]] = {}
        for concept in ontology:
            for name in concept.names:
                claim = name != concept.canonical_name, concept.concept_id
                claims[name.lower()] = min(claim, claims.get(name.lower(), claim))
        self._ids = {name: concept_id for name, (_, concept_id) in claims.items()}
        self._matcher.add("NAME", list(self._nlp.tokenizer.pipe(self._ids)))

    def __call__(self, texts: Iterable[str]) -> Iterator[Doc]:
        """YIELDS (Doc): The documents, with entities and their ids."""
        for doc in self._nlp.pipe(texts):
            spans = filter_spans(self._matcher(doc, as_spans=True))
            doc.ents = [self._linked(doc, span) for span in spans]
            yield doc

    def _linked(self, doc: Doc, span: Span) -> Span:
        # Names that tokenize alike may differ in spaces.
        concept_id = self._ids.get(span.text.lower(), "NIL")
        return Span(doc, span.start, span.end, label="NAME", kb_id=concept_id)


if __name__ == "__main__":
    main()
