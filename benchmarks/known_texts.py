"""How many texts that an index knows are looked up a second, and whether their answers are those
of a search: every name of the ontology, and the mentions of a test part in document order.

Three ways take turns on the same texts: a search, with the vectors that stand in the index; a memo
of all texts of the index; and a cache that has seen the texts before. Each look-up gives ten
candidates. Answers are compared with those of the search, candidate by candidate; and the search's
with those of texts that are encoded anew, whose vectors are not bit by bit the index's where what
else is in a batch changes the last digits. Python's garbage collector leaves alone what stood
before a turn, as it does after gc.freeze() in a service.

Example: python benchmarks/known_texts.py --encoder dan --data ../shared/data
"""

from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from statistics import median
from time import perf_counter

import numpy as np
from _common.builders import build_lookup, encoder_config, make_sieve
from _common.cli import at_least, begin, fail, finish_tables, make_parser
from _common.datasets import DATASETS, Data
from _common.vector_cache import forget
from _measure.stopwatch import frozen
from accuracy import add_encoder
from throughput import LEAST_REPEATS, SIEVE

from spacy_connorm.concepts import Candidate
from spacy_connorm.errors import ConnormError
from spacy_connorm.evaluation.report import Row
from spacy_connorm.index.query import Query
from spacy_connorm.index.vectors.base import from_raw
from spacy_connorm.linker.lookup import ConceptLookup
from spacy_connorm.linker.sieve import name_candidates, run_sieve

TOP_K = 10
BATCH = 512
WAYS = ("search", "memo", "cache")
RATIOS = ("ratio", "lowest_ratio", "highest_ratio", "same_answers", "same_first_concept")


def main() -> None:
    arguments = begin(add_options(make_parser(__doc__ or "")))
    try:
        tables = measure(arguments)
    except ConnormError as error:
        fail(str(error))
    finish_tables(tables, arguments.json, precise=RATIOS)


def add_options(parser: ArgumentParser) -> ArgumentParser:
    """RETURNS (ArgumentParser): The same, with what is measured."""
    parser.add_argument("--dataset", default="ncbi", choices=DATASETS, help="[%(default)s]")
    add_encoder(parser)
    parser.add_argument("--texts", type=at_least(1), help="of the ontology, at most [all]")
    parser.add_argument(
        "--repeats", type=at_least(LEAST_REPEATS), default=LEAST_REPEATS, help="[%(default)s]"
    )
    return parser


def measure(arguments: Namespace) -> dict[str, list[Row]]:
    """RETURNS (Dict[str, List[Dict[str, Any]]]): Look-ups a second, and how often answers agree."""
    data = Data(arguments.dataset, arguments.data)
    lookups = make_lookups(data, arguments)
    names = list(dict.fromkeys(name for concept in data.ontology for name in concept.names))
    streams = {
        "names of the ontology": names[: arguments.texts],
        "mentions": [mention.text for mention in data.mentions],
    }
    facts = {"dataset": arguments.dataset, "encoder": arguments.encoder}
    speeds, agreements = [], []
    for name, texts in streams.items():
        answers = [look_up(lookup, texts) for lookup in lookups]
        anew = encode_and_search(lookups[0], texts)
        for way, other in zip((*WAYS[1:], "encoded anew"), (*answers[1:], anew), strict=True):
            agreements.append({"texts": name, "way": way, **agreement(answers[0], other)})
        for way, row in zip(WAYS, race(lookups, texts, arguments.repeats), strict=True):
            speeds.append({**facts, "texts": name, "way": way, "look_ups": len(texts), **row})
    return {"Look-ups a second": speeds, "Answers like those of a search, in percent": agreements}


def make_lookups(data: Data, arguments: Namespace) -> list[ConceptLookup]:
    """RETURNS (List[ConceptLookup]): One for each of `WAYS`, all with the same index."""
    block = encoder_config(arguments.encoder, data, train=arguments.train, work=arguments.work)
    built = build_lookup(block, data, searches=[SIEVE], work=arguments.work)
    lookups = []
    for way in WAYS:
        lookup = ConceptLookup(built.encoder, make_sieve(SIEVE), built.backend)
        lookup.use(forget(built.encoder), built.index)
        lookup.memoize(size=len(built.index.vectors) if way == "memo" else 0, top_k=TOP_K)
        lookup.cache_size = 4 * len(built.index.vectors) if way == "cache" else 0
        lookups.append(lookup)
    return lookups


def look_up(lookup: ConceptLookup, texts: Sequence[str]) -> list[list[Candidate]]:
    """RETURNS (List[List[Candidate]]): The answers to all texts."""
    return [found for batch in batches(texts) for found in lookup.candidates(batch, top_k=TOP_K)]


def encode_and_search(lookup: ConceptLookup, texts: Sequence[str]) -> list[list[Candidate]]:
    """RETURNS (List[List[Candidate]]): The same, every text encoded."""
    answers: list[list[Candidate]] = []
    for batch in batches(texts):
        vectors = from_raw(lookup.prepared.encode(batch))
        some = np.flatnonzero(vectors.norms)
        query = Query(vectors.unit[some], TOP_K)
        hits = run_sieve(lookup.sieve, lookup.index, lookup.overlay, query)
        own = name_candidates(hits, lookup.index, [batch[place] for place in some])
        found = dict(zip(some.tolist(), own, strict=True))
        answers += [found.get(place, []) for place in range(len(batch))]
    return answers


def batches(texts: Sequence[str]) -> list[list[str]]:
    """RETURNS (List[List[str]]): The texts, some at a time."""
    return [list(texts[start : start + BATCH]) for start in range(0, len(texts), BATCH)]


def race(lookups: Sequence[ConceptLookup], texts: Sequence[str], repeats: int) -> list[Row]:
    """Let look-ups take turns, which each has had once.

    lookups (Sequence[ConceptLookup]): The look-ups; the first is what others are compared with.
    texts (Sequence[str]): What they look up.
    repeats (int): Turns of each.
    RETURNS (List[Dict[str, Any]]): A row each: texts a second, and how many times those of the
        first, turn by turn.
    """
    seconds: list[list[float]] = [[] for _ in lookups]
    for repeat in range(repeats):
        first = repeat % len(lookups)
        for place in [*range(first, len(lookups)), *range(first)]:
            with frozen():
                start = perf_counter()
                for batch in batches(texts):
                    lookups[place].candidates(batch, top_k=TOP_K)
                seconds[place].append(perf_counter() - start)
    return [speed_row(own, seconds[0], len(texts)) for own in seconds]


def speed_row(seconds: Sequence[float], plain: Sequence[float], texts: int) -> Row:
    """RETURNS (Dict[str, Any]): Texts a second: median, slowest and fastest turn; and ratios."""
    ratios = [one / own for one, own in zip(plain, seconds, strict=True)]
    return {
        "repeats": len(seconds),
        "per_s": round(texts / median(seconds)),
        "slowest": round(texts / max(seconds)),
        "fastest": round(texts / min(seconds)),
        "ratio": median(ratios),
        "lowest_ratio": min(ratios),
        "highest_ratio": max(ratios),
    }


def agreement(answers: Sequence[Sequence[Candidate]], others: Sequence[Sequence[Candidate]]) -> Row:
    """RETURNS (Dict[str, Any]): How many texts have the same candidates, scores included, and how
    many the same first concept, in percent.
    """
    pairs = list(zip(answers, others, strict=True))
    same = sum(list(one) == list(other) for one, other in pairs)
    first = sum(_first(one) == _first(other) for one, other in pairs)
    return {
        "look_ups": len(pairs),
        "same_answers": 100 * same / len(pairs),
        "same_first_concept": 100 * first / len(pairs),
    }


def _first(candidates: Sequence[Candidate]) -> str:
    return candidates[0].concept_id if candidates else ""


if __name__ == "__main__":
    main()
