"""Where a mention's microseconds go, from a document with its entities to the candidates on them:
the encoder's, the search's and our own, by phase.

Two pipelines take turns on the same documents: one as it is shipped, with a memo of known texts and
a cache that each turn begins empty, and one without either. Times are those of the processor, all
threads added up, so that other work on the machine changes them little. Finding entities is not
measured, nor are the definitions of short forms, which another component does once a document.
Python's garbage collector leaves alone what stood before a turn.

Example: python benchmarks/overhead.py --dataset ncbi --encoder dan --data ../shared/data
"""

from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from statistics import median
from typing import Any

import spacy
from _common.builders import build_lookup, encoder_config
from _common.cli import at_least, begin, fail, finish_tables, make_parser
from _common.datasets import DATASETS, Data
from _common.vector_cache import forget
from _measure.profiler import Phases
from _measure.stopwatch import frozen
from accuracy import add_encoder
from throughput import INDEXES, LEAST_REPEATS, SIEVE

from spacy_connorm.errors import ConnormError
from spacy_connorm.evaluation.report import Row
from spacy_connorm.linker import retriever as answers
from spacy_connorm.linker.interpretations import MentionInterpreter
from spacy_connorm.pipeline.concept_normalizer import ConceptNormalizer

# Seconds by phase.
Turn = dict[str, float]

# Phases whose names begin with the first two are theirs, the others our own.
ENCODER, SEARCH, OWN = "encoder", "search", "our own"
PIPELINES: dict[str, dict[str, Any]] = {
    "shipped": {},
    "no memo, no cache": {"memo_size": 0, "cache_size": 0},
}


def main() -> None:
    arguments = begin(add_options(make_parser(__doc__ or "")))
    try:
        tables = measure(arguments)
    except ConnormError as error:
        fail(str(error))
    finish_tables(tables, arguments.json, precise=("us", "lowest_us", "highest_us"))


def add_options(parser: ArgumentParser) -> ArgumentParser:
    """RETURNS (ArgumentParser): The same, with what is measured."""
    parser.add_argument("--dataset", default="ncbi", choices=DATASETS, help="[%(default)s]")
    add_encoder(parser)
    parser.add_argument("--index", choices=INDEXES, default="exact", help="[%(default)s]")
    parser.add_argument(
        "--batch", type=at_least(1), default=128, help="documents of a batch [%(default)s]"
    )
    parser.add_argument(
        "--repeats", type=at_least(LEAST_REPEATS), default=LEAST_REPEATS, help="[%(default)s]"
    )
    return parser


def measure(arguments: Namespace) -> dict[str, list[Row]]:
    """RETURNS (Dict[str, List[Dict[str, Any]]]): A row a phase and pipeline, and their sums."""
    data = Data(arguments.dataset, arguments.data)
    phases = Phases()
    for function, phase in (
        ("run_sieve", "search: what neighbours denote"),
        ("name_candidates", "names of hits"),
    ):
        phases.watch(answers, function, phase)
    runners = [
        Runner(name, settings, data, arguments, phases) for name, settings in PIPELINES.items()
    ]
    turns: dict[str, list[Turn]] = {name: [] for name in PIPELINES}
    for repeat in range(arguments.repeats + 1):
        for runner in runners[:: 1 if repeat % 2 else -1]:
            turn = runner.run()
            if repeat:  # the one before fills what a fresh process must fill once
                turns[runner.name].append(turn)
    count = len(data.mentions)
    facts = {"dataset": arguments.dataset, "encoder": arguments.encoder, "index": arguments.index}
    return {
        "Microseconds a mention": [
            {"pipeline": name, **row} for name in turns for row in phase_rows(turns[name], count)
        ],
        "Sums": [
            {**facts, "pipeline": name, **row}
            for name in turns
            for row in sum_rows(turns[name], count)
        ],
    }


class Runner:
    """A pipeline whose phases are timed."""

    def __init__(
        self,
        name: str,
        settings: dict[str, Any],
        data: Data,
        arguments: Namespace,
        phases: Phases,
    ) -> None:
        """name (str): Its name.
        settings (Dict[str, Any]): Of the component.
        data (Data): What it indexes and reads.
        arguments (Namespace): The settings of the benchmark.
        phases (Phases): The clocks.
        """
        self.name = name
        self._phases = phases
        self._batch = arguments.batch
        block = encoder_config(arguments.encoder, data, train=arguments.train, work=arguments.work)
        nlp = spacy.blank("en", vocab=data.scored_docs[0].vocab)
        resolver = nlp.add_pipe("abbreviation_resolver")
        config = {"encoder": block, "index": {"@misc": INDEXES[arguments.index]}, **settings}
        normalizer = nlp.add_pipe("concept_normalizer", config=config)
        if not isinstance(normalizer, ConceptNormalizer):
            raise TypeError(normalizer)
        self._docs = [resolver(doc.copy()) for doc in data.scored_docs]
        self._normalizer, self._lookup = normalizer, normalizer.lookup
        built = build_lookup(
            block,
            data,
            searches=[SIEVE],
            work=arguments.work,
            backend=self._lookup.backend,
            synonyms=data.expanded_synonyms,
        )
        self._lookup.use(forget(built.encoder), built.index)
        MentionInterpreter(self._lookup, top_k=normalizer.cfg["top_k"]).memoize(
            normalizer.cfg["memo_size"]
        )
        self._watch()

    def _watch(self) -> None:
        watch, normalizer, lookup = self._phases.watch, self._normalizer, self._lookup
        watch(normalizer, "predict", "mentions and long forms")
        watch(normalizer, "candidates", "readings")
        watch(normalizer, "set_annotations", "answers onto spans")
        watch(lookup, "candidates", "look-ups")
        watch(lookup.prepared, "forms", f"{ENCODER}: forms")
        watch(lookup.prepared, "inputs", f"{ENCODER}: tokens")
        watch(lookup.prepared.model.shims[0], "encode", f"{ENCODER}: vectors")
        if lookup.retriever.memo is not None:
            for method in ("find", "find_rows", "candidates"):
                watch(lookup.retriever.memo, method, "memo")
        for search in lookup.sieve.searches:
            watch(lookup.index.searcher(search), "nearest", f"{SEARCH}: neighbours")

    def run(self) -> Turn:
        """RETURNS (Dict[str, float]): Seconds of each phase of one pass over all documents."""
        self._lookup.retriever.forget()
        self._phases.reset()
        docs = [doc.copy() for doc in self._docs]
        with frozen():
            for _ in self._normalizer.pipe(docs, batch_size=self._batch):
                pass
        return dict(self._phases.seconds)


def phase_rows(turns: Sequence[Turn], mentions: int) -> list[Row]:
    """RETURNS (List[Dict[str, Any]]): One row a phase, the longest first: the median of the turns,
    the lowest and the highest.
    """
    names = list(dict.fromkeys(name for turn in turns for name in turn))
    rows = [
        {"phase": name, **spread([turn.get(name, 0.0) for turn in turns], mentions)}
        for name in names
    ]
    return sorted(rows, key=lambda row: -row["us"])


def sum_rows(turns: Sequence[Turn], mentions: int) -> list[Row]:
    """RETURNS (List[Dict[str, Any]]): The encoder's part (tokenizing included), the search's (what
    its neighbours denote included), our own and all.
    """
    by_part: dict[str, list[float]] = {ENCODER: [], SEARCH: [], OWN: [], "all": []}
    for turn in turns:
        sums = dict.fromkeys(by_part, 0.0)
        for phase, seconds in turn.items():
            part = phase.partition(":")[0]
            sums[part if part in (ENCODER, SEARCH) else OWN] += seconds
        sums["all"] = sum(turn.values())
        for part, seconds in sums.items():
            by_part[part].append(seconds)
    return [{"part": name, **spread(each, mentions)} for name, each in by_part.items()]


def spread(seconds: Sequence[float], mentions: int) -> Row:
    """RETURNS (Dict[str, Any]): Median, lowest and highest, in microseconds a mention."""
    micros = [1e6 * each / mentions for each in seconds]
    return {"us": median(micros), "lowest_us": min(micros), "highest_us": max(micros)}


if __name__ == "__main__":
    main()
