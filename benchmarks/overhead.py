"""Where a mention's microseconds go, from a document with its entities to the candidates on them:
to the encoder, to the search and to our own code, by phase.

Two pipelines take turns on the same documents: the default one, with a memo of known texts and a
cache that is empty when a turn starts, and one without either. Times are processor times of all
threads, which other work on the machine changes little. Not measured: finding entities, and the
definitions of short forms, which another component finds once per document. The garbage collector
ignores what existed before a turn.

Example: python benchmarks/overhead.py --dataset ncbi --encoder dan --data ../shared/data
"""

from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from typing import Any

import spacy
from _common.builders import encoder_config
from _common.cli import begin, clear_errors, finish_tables, make_parser
from _common.datasets import DATASETS, Data
from _common.options import INDEXES, add_encoder, add_pipeline_options, add_repeats
from _common.pipelines import add_normalizer
from _measure.interleaved import spread, take_turns
from _measure.profiler import Phases
from _measure.stopwatch import frozen

from spacy_connorm.evaluation.report import Row
from spacy_connorm.linker import retriever
from spacy_connorm.linker.interpretations import search_depth

# Seconds by phase.
Turn = dict[str, float]

# Phases whose names begin with one of the first two belong to it; the others are our own.
ENCODER, SEARCH, OWN = "encoder", "search", "our own"
PIPELINES: dict[str, dict[str, Any]] = {
    "shipped": {},
    "no memo, no cache": {"memo_size": 0, "cache_size": 0},
}


def main() -> None:
    arguments = begin(add_options(make_parser(__doc__ or "")))
    with clear_errors():
        tables = measure(arguments)
    finish_tables(tables, arguments.json, precise=("us", "lowest_us", "highest_us"))


def add_options(parser: ArgumentParser) -> ArgumentParser:
    """RETURNS (ArgumentParser): The same, with the benchmark's options."""
    parser.add_argument("--dataset", default="ncbi", choices=DATASETS, help="[%(default)s]")
    add_encoder(parser)
    add_pipeline_options(parser)
    add_repeats(parser)
    return parser


def measure(arguments: Namespace) -> dict[str, list[Row]]:
    """RETURNS (Dict[str, List[Dict[str, Any]]]): One row per pipeline and phase, and their sums."""
    data = Data(arguments.dataset, arguments.data)
    phases = Phases()
    phases.watch(retriever, "run_sieve", "search: what neighbours denote")
    phases.watch(retriever, "name_candidates", "names of hits")
    phases.watch(retriever.Retriever, "ask", "look-ups")
    pipelines = [
        TimedPipeline(settings, data, arguments, phases) for settings in PIPELINES.values()
    ]
    turns = take_turns([each.run for each in pipelines], arguments.repeats, warm_up=1)
    by_name = dict(zip(PIPELINES, turns, strict=True))
    count = len(data.mentions)
    facts = {"dataset": arguments.dataset, "encoder": arguments.encoder, "index": arguments.index}
    return {
        "Microseconds a mention": [
            {"pipeline": name, **row}
            for name, own in by_name.items()
            for row in phase_rows(own, count)
        ],
        "Sums": [
            {**facts, "pipeline": name, **row}
            for name, own in by_name.items()
            for row in sum_rows(own, count)
        ],
    }


class TimedPipeline:
    """A pipeline whose phases are timed."""

    def __init__(
        self, settings: dict[str, Any], data: Data, arguments: Namespace, phases: Phases
    ) -> None:
        """settings (Dict[str, Any]): Of the component.
        data (Data): What it indexes and reads.
        arguments (Namespace): The options.
        phases (Phases): The clocks.
        """
        self._phases = phases
        self._batch = arguments.batch
        block = encoder_config(arguments.encoder, data, train=arguments.train, work=arguments.work)
        nlp = spacy.blank("en", vocab=data.scored_docs[0].vocab)
        resolver = nlp.add_pipe("abbreviation_resolver")
        self._docs = [resolver(doc.copy()) for doc in data.scored_docs]
        config = {"encoder": block, "index": {"@misc": INDEXES[arguments.index]}, **settings}
        normalizer = add_normalizer(
            nlp, config, data, work=arguments.work, synonyms=data.expanded_synonyms
        )
        self._normalizer, self._lookup = normalizer, normalizer.lookup
        depth = search_depth(normalizer.cfg["top_k"])
        self._lookup.memoize(size=normalizer.cfg["memo_size"], top_k=depth)
        self._watch()

    def _watch(self) -> None:
        watch, normalizer, lookup = self._phases.watch, self._normalizer, self._lookup
        watch(normalizer, "predict", "mentions and long forms")
        watch(normalizer, "candidates", "readings")
        watch(normalizer, "set_annotations", "answers onto spans")
        watch(lookup.normalized_encoder, "forms", f"{ENCODER}: forms")
        watch(lookup.normalized_encoder, "inputs", f"{ENCODER}: tokens")
        watch(lookup.encoder.shims[0], "encode", f"{ENCODER}: vectors")
        if lookup.retriever.memo is not None:
            for method in ("find", "find_rows", "candidates"):
                watch(lookup.retriever.memo, method, "memo")
        for search in lookup.sieve.searches:
            watch(lookup.index.searcher(search), "nearest", f"{SEARCH}: neighbours")

    def run(self, repeat: int) -> Turn:
        """RETURNS (Dict[str, float]): Seconds of each phase of one pass over all documents."""
        self._lookup.tune({})  # empties the cache
        self._phases.reset()
        docs = [doc.copy() for doc in self._docs]
        with frozen():
            for _ in self._normalizer.pipe(docs, batch_size=self._batch):
                pass
        return dict(self._phases.seconds)


def phase_rows(turns: Sequence[Turn], mentions: int) -> list[Row]:
    """RETURNS (List[Dict[str, Any]]): One row a phase, the longest first."""
    names = list(dict.fromkeys(name for turn in turns for name in turn))
    rows = [
        {"phase": name, **micro_columns([turn.get(name, 0.0) for turn in turns], mentions)}
        for name in names
    ]
    return sorted(rows, key=lambda row: -row["us"])


def sum_rows(turns: Sequence[Turn], mentions: int) -> list[Row]:
    """RETURNS (List[Dict[str, Any]]): The encoder (tokenizing included), the search (reading what
    the neighbours denote included), our own code, and all.
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
    return [{"part": name, **micro_columns(each, mentions)} for name, each in by_part.items()]


def micro_columns(seconds: Sequence[float], mentions: int) -> Row:
    """RETURNS (Dict[str, Any]): Median, lowest and highest, in microseconds per mention."""
    micros = spread([1e6 * each / mentions for each in seconds])
    return {"us": micros.median, "lowest_us": micros.lowest, "highest_us": micros.highest}


if __name__ == "__main__":
    main()
