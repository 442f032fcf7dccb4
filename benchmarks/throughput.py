"""How many mentions per second a pipeline normalizes, by what it does to them: search alone; also
abbreviations; also composites; and, for a dense encoder, also n-grams beside its vectors.

Each pipeline reads the documents of the test part, whose mentions are the entities. Tokenizing and
finding entities are not measured. Texts are encoded in the pipeline; only the index is built from
cached vectors. The pipelines take turns, and each is compared with the first one turn by turn.

Example: python benchmarks/throughput.py --dataset ncbi --encoder minilm --data ../shared/data
"""

from argparse import Namespace
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from statistics import median
from typing import Any

import spacy
from _common.builders import encoder_config
from _common.cli import begin, clear_errors, finish_tables, make_parser
from _common.datasets import Data
from _common.options import add_datasets, add_encoder, add_repeats
from _common.pipelines import add_normalizer
from _common.variants import ABBREVIATIONS, AS_READ, AS_WRITTEN, LEXICAL_WEIGHT, Steps
from _measure.interleaved import ratio_columns, ratios, speed_columns, take_turns
from _measure.stopwatch import Seconds, time_call

from spacy_connorm.evaluation.report import Row

BATCH = 128
RATIOS = ("ratio", "lowest_ratio", "highest_ratio", "processor_ratio")


def main() -> None:
    parser = make_parser(__doc__ or "")
    add_datasets(parser)
    add_encoder(parser)
    add_repeats(parser)
    arguments = begin(parser)
    with clear_errors():
        rows = measure(arguments)
    finish_tables({"Mentions a second": rows}, arguments.json, precise=RATIOS)


def variants(encoder: str) -> Iterator[Steps]:
    """YIELDS (Steps): One per row, each with those before it."""
    yield AS_WRITTEN
    yield ABBREVIATIONS
    yield AS_READ
    if encoder != "ngram":
        yield replace(AS_READ, name=f"{AS_READ.name}, lexical", lexical_weight=LEXICAL_WEIGHT)


def measure(arguments: Namespace) -> list[Row]:
    """RETURNS (List[Dict[str, Any]]): One row a data set and pipeline."""
    return [row for dataset in arguments.dataset for row in _measure_one(dataset, arguments)]


def _measure_one(dataset: str, arguments: Namespace) -> Iterator[Row]:
    data = Data(dataset, arguments.data)
    block = encoder_config(arguments.encoder, data, work=arguments.work)
    steps = list(variants(arguments.encoder))
    pipelines = [TimedPipeline(step, block, data, arguments.work) for step in steps]
    turns = take_turns([pipeline.run for pipeline in pipelines], arguments.repeats, warm_up=1)
    mentions = sum(len(doc.ents) for doc in data.scored_docs)
    for each, own in zip(steps, turns, strict=True):
        yield {
            "dataset": dataset,
            "encoder": arguments.encoder,
            "steps": each.name,
            "mentions": mentions,
            **speed_row(own, turns[0], mentions),
        }


class TimedPipeline:
    """A pipeline that is timed."""

    def __init__(self, steps: Steps, block: dict[str, Any], data: Data, work: Path) -> None:
        """Build a pipeline.

        steps (Steps): What it does to mentions.
        block (Dict[str, Any]): Of its dense encoder.
        data (Data): What it indexes and reads.
        work (Path): Keeps the vectors of names.
        """
        self._docs = data.scored_docs
        # With the documents' vocabulary, as if the pipeline had tokenized them.
        self._nlp = spacy.blank("en", vocab=self._docs[0].vocab)
        if steps.abbreviations:
            self._nlp.add_pipe("abbreviation_resolver")
        config = {
            "encoder": steps.encoder(block),
            "index": {"@misc": "spacy-connorm.ExactIndex.v1"},
            "split_composites": steps.composites,
            # Each turn reads the same documents.
            "cache_size": 0,
        }
        synonyms = data.expanded_synonyms if steps.abbreviations else data.synonyms
        add_normalizer(self._nlp, config, data, work=work, synonyms=synonyms)

    def run(self, repeat: int) -> Seconds:
        """RETURNS (Seconds): How long it takes to read all documents."""
        docs = [doc.copy() for doc in self._docs]
        return time_call(lambda: self._read(docs))

    def _read(self, docs: list) -> None:
        for _ in self._nlp.pipe(docs, batch_size=BATCH):
            pass


def speed_row(turns: Sequence[Seconds], plain: Sequence[Seconds], mentions: int) -> Row:
    """Describe the speed of a pipeline.

    turns (Sequence[Seconds]): Its turns.
    plain (Sequence[Seconds]): Those of the pipeline that only searches.
    mentions (int): Mentions of a turn.
    RETURNS (Dict[str, Any]): Mentions per second and their ratio to the plain pipeline's; and the
        median of the ratios by processor time, which other work on the machine does not change.
    """
    processor = ([turn.processor for turn in each] for each in (turns, plain))
    return {
        "repeats": len(turns),
        **speed_columns([mentions / turn.clock for turn in turns], "mentions_per_s"),
        **ratio_columns([turn.clock for turn in turns], [turn.clock for turn in plain]),
        "processor_ratio": round(median(ratios(*processor)), 2),
    }


if __name__ == "__main__":
    main()
