"""What a query costs by the size of its batch: Annoy as shipped, an exact search of the same
vectors, and Annoy's forest alone, which is planted here at every size.

The items are names, as in `index_curve.py`: those of MEDIC 2012 first, then others and made-up
variants. The queries are test mentions of NCBI and BC5CDR diseases. All sides search the same
mentions in turns; ratios are to the exact search of the same turn, over 1: slower. Recall@10 is the
share of the ten nearest of the exact search.

Example: OMP_NUM_THREADS=1 python benchmarks/index_batches.py --names 76000 --data ../shared/data
"""

from argparse import Namespace
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
from _common.annoy_sides import forest_alone, shipped_index
from _common.builders import encoder_config, load_encoder
from _common.cli import begin, finish, make_parser
from _common.datasets import DISEASES, Data
from _common.options import add_repeats, at_least
from _common.synthetic_names import write_vectors
from _measure.interleaved import spread, take_turns
from _measure.stopwatch import time_call

from spacy_connorm.evaluation.report import Row
from spacy_connorm.index.backends.exact import ExactIndex
from spacy_connorm.index.backends.protocol import Searcher
from spacy_connorm.index.vectors.base import Vectors, from_raw
from spacy_connorm.text.cleaning import clean

BATCHES = (1, 2, 4, 8, 16, 32, 128)
# What a pipeline asks for first.
NEIGHBOURS = 40
RECALL_AT = 10
MENTIONS = 128
SEED = 13


def main() -> None:
    parser = make_parser(__doc__ or "")
    add = parser.add_argument
    add("--names", type=at_least(1000), nargs="+", default=[76_000], help="[76000]")
    add("--encoder", default="dan", help="minilm, dan or a FOLDER [%(default)s]")
    add("--batch", type=at_least(1), nargs="+", default=BATCHES, help="[1 to 128]")
    add_repeats(parser)
    arguments = begin(parser)
    finish(measure(arguments), arguments.json)


def measure(arguments: Namespace) -> list[Row]:
    """RETURNS (List[Dict[str, Any]]): One row a size, batch and side."""
    data = [Data(name, arguments.data) for name in DISEASES]
    encoder = load_encoder(encoder_config(arguments.encoder, data[0], work=arguments.work))
    texts = sorted({clean(mention.text) for each in data for mention in each.mentions})
    chosen = np.random.default_rng(SEED).choice(len(texts), min(MENTIONS, len(texts)), False)
    queries = from_raw(encoder.predict([texts[i] for i in chosen])).unit
    return [
        row
        for names in arguments.names
        for row in measure_size(
            write_vectors(encoder, arguments.data, names, work=arguments.work), queries, arguments
        )
    ]


def measure_size(path: Path, queries: np.ndarray, arguments: Namespace) -> Iterator[Row]:
    """YIELDS (Dict[str, Any]): The rows of one size.

    path (Path): The vectors.
    queries (Floats2d): The mentions'.
    arguments (Namespace): The options.
    """
    shipped = shipped_index()
    vectors = from_raw(np.load(path, mmap_mode="r"), dtype=shipped.dtype)
    sides = open_sides(vectors, path)
    expected = sides["exact"].nearest(queries, RECALL_AT).items
    recalls = {name: recall(side, queries, expected) for name, side in sides.items()}
    for batch in arguments.batch:
        calls = [partial(ms_a_query, side, queries, batch) for side in sides.values()]
        turns = dict(zip(sides, take_turns(calls, arguments.repeats, warm_up=1), strict=True))
        for name, own in turns.items():
            ratios = [ours / exact for ours, exact in zip(own, turns["exact"], strict=True)]
            ms, ratio = spread(own).rounded(2), spread(ratios).rounded(2)
            yield {
                **{"vectors": len(vectors), "dtype": shipped.dtype, "batch": batch, "index": name},
                **{"repeats": len(own), "ms": ms.median, "fastest_ms": ms.lowest},
                **{"slowest_ms": ms.highest, "ratio": ratio.median, "lowest_ratio": ratio.lowest},
                **{"highest_ratio": ratio.highest, "recall@10": recalls[name]},
            }


def open_sides(vectors: Vectors, path: Path) -> dict[str, Searcher]:
    """Build and open what is compared.

    vectors (Vectors): The items.
    path (Path): Indexes are kept beside it.
    RETURNS (Dict[str, Searcher]): By name: "shipped", "exact", "forest".
    """
    shipped = shipped_index()
    planted = replace(shipped, exact_below=0)
    forest = path.with_suffix(".forest")
    if not forest.is_file():
        planted.build(vectors, forest)
    few = len(vectors) < shipped.exact_below
    exact = ExactIndex().open(vectors, path)
    return {
        "shipped": exact if few else shipped.open(vectors, forest),
        "exact": exact,
        "forest": forest_alone(planted.open(vectors, forest)),
    }


def recall(side: Searcher, queries: np.ndarray, expected: np.ndarray) -> float:
    """RETURNS (float): Recall@10 in percent, of queries that are asked one by one."""
    found = [side.nearest(queries[i : i + 1], RECALL_AT).items[0] for i in range(len(queries))]
    shares = [np.isin(own, right).mean() for own, right in zip(expected, found, strict=True)]
    return 100 * float(np.mean(shares))


def ms_a_query(side: Searcher, queries: np.ndarray, batch: int, repeat: int) -> float:
    """RETURNS (float): Milliseconds per query of all queries, asked in batches."""

    def ask() -> None:
        for first in range(0, len(queries), batch):
            side.nearest(queries[first : first + batch], NEIGHBOURS)

    return 1000 * time_call(ask).clock / len(queries)


if __name__ == "__main__":
    main()
