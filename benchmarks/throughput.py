"""How many mentions a second a pipeline normalizes, by what is done to them: nothing but looking
them up; abbreviations; composites too; and everything, with text normalization and n-grams beside
dense vectors.

Each pipeline reads the documents of the test part, whose mentions are its entities; tokenizing and
finding entities are not measured. All encode the texts themselves: only the indexes are built from
vectors that earlier runs kept. Pipelines take turns, so that what else the machine does falls on
all of them alike, and each is compared with the first one turn by turn.

Example: python benchmarks/throughput.py --dataset ncbi --encoder minilm --data ../shared/data
"""

from argparse import ArgumentParser, Namespace
from collections.abc import Iterator, Sequence
from statistics import median
from time import perf_counter, process_time
from typing import Any, NamedTuple

import spacy
from _common.builders import encoder_config
from _common.cli import at_least, begin, fail, finish_tables, make_parser
from _common.datasets import DATASETS, Data
from _common.variants import Steps
from _common.vector_cache import forget
from _measure.stopwatch import Stopwatch
from accuracy import add_encoder
from spacy.tokens import Doc

from spacy_connorm.errors import ConnormError
from spacy_connorm.evaluation.report import Row
from spacy_connorm.pipeline.concept_normalizer import ConceptNormalizer
from spacy_connorm.text.normalization import STEPS

SIEVE = "D-T+OD-T"
INDEXES = {"exact": "spacy-connorm.ExactIndex.v1", "annoy": "spacy-connorm.AnnoyIndex.v1"}
NORMALIZATION = ("unicode", "dashes", "greek", "possessives")
LEAST_REPEATS = 5
RATIOS = ("ratio", "lowest_ratio", "highest_ratio", "processor_ratio")


class Turn(NamedTuple):
    """What one pass over all documents took, in seconds.

    clock (float): By the clock, from the first document to the last.
    processor (float): What all threads worked, added up.
    encoding (float): Of which computing the vectors of texts.
    searching (float): Of which comparing them with those of the index.
    """

    clock: float
    processor: float
    encoding: float
    searching: float

    @property
    def own(self) -> float:
        """RETURNS (float): The rest: reading mentions, looking names up, writing answers."""
        return self.processor - self.encoding - self.searching


def main() -> None:
    arguments = begin(add_options(make_parser(__doc__ or "")))
    try:
        rows = measure(arguments)
    except ConnormError as error:
        fail(str(error))
    finish_tables({"Mentions a second": rows}, arguments.json, precise=RATIOS)


def add_options(parser: ArgumentParser) -> ArgumentParser:
    """RETURNS (ArgumentParser): The same, with what is measured."""
    parser.add_argument("--dataset", required=True, choices=DATASETS, nargs="+")
    add_encoder(parser)
    parser.add_argument("--index", choices=INDEXES, default="exact", help="[%(default)s]")
    parser.add_argument(
        "--batch", type=at_least(1), default=128, help="documents of a batch [%(default)s]"
    )
    parser.add_argument(
        "--repeats", type=at_least(LEAST_REPEATS), default=LEAST_REPEATS, help="[%(default)s]"
    )
    parser.add_argument(
        "--lexical-weight",
        type=float,
        default=0.3,
        help="of the last row, if the encoder is dense [%(default)s]",
    )
    parser.add_argument(
        "--normalization",
        nargs="*",
        choices=STEPS,
        default=NORMALIZATION,
        metavar="STEP",
        help="of the last row [%(default)s]",
    )
    return parser


def variants(arguments: Namespace) -> Iterator[Steps]:
    """YIELDS (Steps): One a row, each with those before it."""
    yield Steps("none")
    yield Steps("abbreviations", abbreviations=True)
    yield Steps("abbreviations, composites", abbreviations=True, composites=True)
    yield Steps(
        "everything",
        abbreviations=True,
        composites=True,
        lexical_weight=0.0 if arguments.encoder == "ngram" else arguments.lexical_weight,
        normalization=tuple(arguments.normalization),
    )


def measure(arguments: Namespace) -> list[Row]:
    """RETURNS (List[Dict[str, Any]]): One row a data set and pipeline."""
    return [
        row
        for dataset in arguments.dataset
        for row in _measure_one(dataset, list(variants(arguments)), arguments)
    ]


def _measure_one(dataset: str, steps: Sequence[Steps], arguments: Namespace) -> Iterator[Row]:
    data = Data(dataset, arguments.data)
    block = encoder_config(arguments.encoder, data, train=arguments.train, work=arguments.work)
    racers = [Racer(each, block, data, arguments) for each in steps]
    turns = race(racers, data.scored_docs, repeats=arguments.repeats)
    mentions = sum(len(doc.ents) for doc in data.scored_docs)
    for each, own in zip(steps, turns, strict=True):
        yield {
            "dataset": dataset,
            "encoder": arguments.encoder,
            "index": arguments.index,
            "steps": each.name,
            "mentions": mentions,
            "batch": arguments.batch,
            **speed_row(own, turns[0], mentions),
        }


class Racer:
    """A pipeline that is timed."""

    def __init__(
        self, steps: Steps, block: dict[str, Any], data: Data, arguments: Namespace
    ) -> None:
        """Build a pipeline.

        steps (Steps): What it does to mentions.
        block (Dict[str, Any]): Of its encoder, without the lexical side.
        data (Data): What it indexes and reads.
        arguments (Namespace): The settings.
        """
        self._batch = arguments.batch
        # The documents' own vocabulary, as if this pipeline had tokenized them.
        self._nlp = spacy.blank("en", vocab=data.scored_docs[0].vocab)
        if steps.abbreviations:
            self._nlp.add_pipe("abbreviation_resolver")
        config = {
            "encoder": steps.encoder(block),
            "index": {"@misc": INDEXES[arguments.index]},
            "normalization": list(steps.normalization),
            "expand_abbreviations": steps.abbreviations,
            "split_composites": steps.composites,
        }
        normalizer = self._nlp.add_pipe("concept_normalizer", config=config)
        if not isinstance(normalizer, ConceptNormalizer):
            raise TypeError(normalizer)
        lookup = normalizer.lookup
        backend = lookup.backend
        built = steps.build(data, block, search=SIEVE, work=arguments.work, backend=backend)
        lookup.use(forget(built.encoder), built.index)
        self._encoding, self._searching = Stopwatch(), Stopwatch()
        self._encoding.watch(lookup.encoder.shims[0], "encode")
        for search in lookup.sieve.searches:
            self._searching.watch(lookup.index.searcher(search), "nearest")

    def run(self, docs: Sequence[Doc]) -> Turn:
        """Read documents.

        docs (Sequence[Doc]): The documents, which stay as they are.
        RETURNS (Turn): How long it took.
        """
        copies = [doc.copy() for doc in docs]
        encoding, searching = self._encoding.seconds, self._searching.seconds
        clock, processor = perf_counter(), process_time()
        for _ in self._nlp.pipe(copies, batch_size=self._batch):
            pass
        return Turn(
            clock=perf_counter() - clock,
            processor=process_time() - processor,
            encoding=self._encoding.seconds - encoding,
            searching=self._searching.seconds - searching,
        )


def race(racers: Sequence[Racer], docs: Sequence[Doc], *, repeats: int) -> list[list[Turn]]:
    """Let pipelines take turns on the same documents.

    racers (Sequence[Racer]): The pipelines.
    docs (Sequence[Doc]): The documents.
    repeats (int): Turns of each.
    RETURNS (List[List[Turn]]): Of each pipeline its turns.
    """
    turns: list[list[Turn]] = [[] for _ in racers]
    for racer in racers:
        racer.run(docs)  # the first fills caches
    for repeat in range(repeats):
        first = repeat % len(racers)
        for place in [*range(first, len(racers)), *range(first)]:
            turns[place].append(racers[place].run(docs))
    return turns


def speed_row(turns: Sequence[Turn], plain: Sequence[Turn], mentions: int) -> Row:
    """Describe how fast a pipeline is.

    turns (Sequence[Turn]): Its own.
    plain (Sequence[Turn]): Those of the pipeline that does nothing to mentions.
    mentions (int): Mentions of a turn.
    RETURNS (Dict[str, Any]): Mentions a second by the clock and their share of the plain
        pipeline's, medians, the slowest and the fastest turn; and medians of what other work on the
        machine does not change: the same share by processor time, and where that goes, in
        microseconds a mention.
    """
    speeds = [mentions / turn.clock for turn in turns]
    pairs = list(zip(plain, turns, strict=True))
    ratios = [one.clock / turn.clock for one, turn in pairs]
    micros = {
        f"{part}_us": round(1e6 * median(getattr(turn, part) for turn in turns) / mentions)
        for part in ("encoding", "searching", "own")
    }
    return {
        "repeats": len(turns),
        "mentions_per_s": round(median(speeds)),
        "slowest": round(min(speeds)),
        "fastest": round(max(speeds)),
        "ratio": round(median(ratios), 2),
        "lowest_ratio": round(min(ratios), 2),
        "highest_ratio": round(max(ratios), 2),
        "processor_ratio": round(median(one.processor / turn.processor for one, turn in pairs), 2),
        **micros,
    }


if __name__ == "__main__":
    main()
