"""How many known texts are searched per second, and whether memo and cache give the answers of a
search: for every name of the ontology, and for the mentions of a test part in document order.

Three ways take turns on the same texts: a search, with the vectors of the index; a memo of all
texts of the index; and a cache that has seen the texts before. Each gives ten candidates. Answers
are compared with those of the search, candidate by candidate; those of the search with those for
texts encoded anew, whose vectors can differ from the index's in the last digits, depending on the
batch. The garbage collector ignores what existed before a turn, as after gc.freeze() in a service.

Example: python benchmarks/known_texts.py --encoder dan --data ../shared/data
"""

from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from functools import partial

import numpy as np
from _common.builders import SIEVE, build_lookup, encoder_config, make_sieve
from _common.cli import begin, clear_errors, finish_tables, make_parser
from _common.datasets import DATASETS, Data
from _common.options import add_encoder, add_repeats, at_least
from _common.scoring import same_first_concept
from _common.vector_cache import remove_cache
from _measure.interleaved import ratios, speed_columns, spread, take_turns
from _measure.stopwatch import frozen, time_call

from spacy_connorm.concepts import Candidate
from spacy_connorm.evaluation.report import Row
from spacy_connorm.index.query import Query
from spacy_connorm.index.vectors.base import from_raw
from spacy_connorm.linker.lookup import ConceptLookup
from spacy_connorm.linker.sieve import name_candidates, run_sieve

TOP_K = 10
BATCH = 512
WAYS = ("search", "memo", "cache")
RATIOS = ("ratio", "lowest_ratio", "highest_ratio", "same_answers", "same_first_concept")
Found = list[list[Candidate]]


def main() -> None:
    arguments = begin(add_options(make_parser(__doc__ or "")))
    with clear_errors():
        tables = measure(arguments)
    finish_tables(tables, arguments.json, precise=RATIOS)


def add_options(parser: ArgumentParser) -> ArgumentParser:
    """RETURNS (ArgumentParser): The same, with the benchmark's options."""
    parser.add_argument("--dataset", default="ncbi", choices=DATASETS, help="[%(default)s]")
    add_encoder(parser)
    parser.add_argument("--texts", type=at_least(1), help="of the ontology, at most [all]")
    add_repeats(parser)
    return parser


def measure(arguments: Namespace) -> dict[str, list[Row]]:
    """RETURNS (Dict[str, List[Dict[str, Any]]]): Speeds, and how often answers agree."""
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
        answers = [search_all(lookup, texts) for lookup in lookups]
        anew = encode_and_search(lookups[0], texts)
        for way, other in zip((*WAYS[1:], "encoded anew"), (*answers[1:], anew), strict=True):
            agreements.append({"texts": name, "way": way, **agreement(answers[0], other)})
        turns = take_turns(
            [partial(time_search, lookup, texts) for lookup in lookups], arguments.repeats
        )
        for way, own in zip(WAYS, turns, strict=True):
            row = speed_row(own, turns[0], len(texts))
            speeds.append({**facts, "texts": name, "way": way, "look_ups": len(texts), **row})
    return {"Look-ups a second": speeds, "Answers like those of a search, in percent": agreements}


def make_lookups(data: Data, arguments: Namespace) -> list[ConceptLookup]:
    """RETURNS (List[ConceptLookup]): One for each of `WAYS`, all with the same index."""
    block = encoder_config(arguments.encoder, data, train=arguments.train, work=arguments.work)
    built = build_lookup(block, data, searches=[SIEVE], work=arguments.work)
    lookups = []
    for way in WAYS:
        lookup = ConceptLookup(built.encoder, make_sieve(SIEVE), built.backend)
        lookup.use(remove_cache(built.encoder), built.index)
        lookup.memoize(size=len(built.index.vectors) if way == "memo" else 0, top_k=TOP_K)
        lookup.tune({"cache_size": 4 * len(built.index.vectors) if way == "cache" else 0})
        lookups.append(lookup)
    return lookups


def search_all(lookup: ConceptLookup, texts: Sequence[str]) -> Found:
    """RETURNS (List[List[Candidate]]): The answers to all texts."""
    return [found for batch in batches(texts) for found in lookup.candidates(batch, top_k=TOP_K)]


def time_search(lookup: ConceptLookup, texts: Sequence[str], repeat: int) -> float:
    """RETURNS (float): Seconds to search all texts."""
    with frozen():
        return time_call(lambda: search_all(lookup, texts)).clock


def encode_and_search(lookup: ConceptLookup, texts: Sequence[str]) -> Found:
    """RETURNS (List[List[Candidate]]): The answers to all texts if every text is encoded."""
    answers: Found = []
    for batch in batches(texts):
        vectors = from_raw(lookup.normalized_encoder.encode(batch))
        some = np.flatnonzero(vectors.norms)
        query = Query(vectors.unit[some], TOP_K)
        hits = run_sieve(lookup.sieve, lookup.index, lookup.overlay, query)
        own = name_candidates(hits, lookup.index, [batch[place] for place in some])
        found = dict(zip(some.tolist(), own, strict=True))
        answers += [found.get(place, []) for place in range(len(batch))]
    return answers


def batches(texts: Sequence[str]) -> list[list[str]]:
    """RETURNS (List[List[str]]): The texts in batches."""
    return [list(texts[start : start + BATCH]) for start in range(0, len(texts), BATCH)]


def speed_row(seconds: Sequence[float], plain: Sequence[float], texts: int) -> Row:
    """Describe the speed of a way.

    seconds (Sequence[float]): Of its turns.
    plain (Sequence[float]): Those of the search.
    texts (int): Texts of a turn.
    RETURNS (Dict[str, Any]): Texts per second, and how many times as many as the search.
    """
    found = spread(ratios(seconds, plain))
    return {
        "repeats": len(seconds),
        **speed_columns([texts / each for each in seconds], "per_s"),
        "ratio": found.median,
        "lowest_ratio": found.lowest,
        "highest_ratio": found.highest,
    }


def agreement(answers: Found, others: Found) -> Row:
    """RETURNS (Dict[str, Any]): How many texts have the same candidates, scores included, and how
    many the same first concept, in percent.
    """
    pairs = list(zip(answers, others, strict=True))
    same = sum(list(one) == list(other) for one, other in pairs)
    return {
        "look_ups": len(pairs),
        "same_answers": 100 * same / len(pairs),
        "same_first_concept": same_first_concept(answers, others),
    }


if __name__ == "__main__":
    main()
