"""What searching many names costs in accuracy: Acc@1 of test mentions whose concepts are planted
among the names of other ontologies and variants of them (see `many_names.py`), in percent.

The index holds MEDIC 2012, D (train and dev of the data set) and as many other names as make
`--names` in all, each a concept of its own. A name that the encoder cannot tell from one of MEDIC
or D is left out, so that what could be found still can. The others may well mean the same as a
concept of MEDIC, and count as wrong all the same: look at the difference to exact search of float32
vectors among the same names, more than at Acc@1. Every search answers what the default sieve asks
it, for as many candidates as a pipeline wants; nothing is timed.

Example: python benchmarks/planted.py --names 1000000 --data ../shared/data
"""

from argparse import ArgumentParser, Namespace
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice
from typing import NamedTuple

import numpy as np
from _common.builders import encoder_config, make_sieve
from _common.cli import at_least, begin, fail, finish_tables, make_parser
from _common.datasets import Data
from _common.synthetic_names import chunks, distinct, many_names
from _common.vector_cache import keep, remember
from accuracy import predict, read_standard
from spacy import registry
from thinc.api import Model

from spacy_connorm.concepts import Candidate, Concept
from spacy_connorm.errors import ConnormError
from spacy_connorm.evaluation import score_predictions
from spacy_connorm.evaluation.report import Row, comparison_row, percent, score_row
from spacy_connorm.index.backends.annoy import AnnoyIndex
from spacy_connorm.index.backends.exact import ExactIndex
from spacy_connorm.index.backends.ivf import IvfIndex
from spacy_connorm.index.backends.protocol import Backend
from spacy_connorm.index.concept_index import ConceptIndex
from spacy_connorm.linker.lookup import ConceptLookup

DATASETS = ("ncbi", "bc5cdr-d")
SIEVE = "D-T+OD-T"
# Candidates that a pipeline asks for unless told otherwise.
TOP_K = 10
BASELINE = "exact"
INDEXES: dict[str, Backend] = {
    BASELINE: ExactIndex(),
    "exact-float16": ExactIndex(dtype="float16"),
    "exact-int8": ExactIndex(dtype="int8"),
    "ivf": IvfIndex(),
    "ivf-int8": IvfIndex(dtype="int8"),
    "annoy": AnnoyIndex(),
}
DEFAULT = tuple(name for name in INDEXES if name != "annoy")
# Exact search without any other names.
ALONE = "exact, none planted"
PRECISE = (
    *("lenient@1", "lenient@1_difference", "lenient@1_difference_low", "lenient@1_difference_high"),
    *("strict@1", "strict@1_difference", "strict@1_difference_low", "strict@1_difference_high"),
    "same_first_concept",
)
Found = list[list[Candidate]]


class World(NamedTuple):
    """What is searched for, and among what.

    datasets (List[Data]): Each with its mentions and its D; all have one O.
    others (List[str]): The names that are planted.
    encoder (Model[List[str], Floats2d]): Remembers the vectors of all texts.
    """

    datasets: list[Data]
    others: list[str]
    encoder: Model


def main() -> None:
    arguments = begin(add_options(make_parser(__doc__ or "")))
    try:
        rows = measure(arguments)
    except ConnormError as error:
        fail(str(error))
    title = f"Acc@1 in percent among {arguments.names:,} names"
    finish_tables({title: rows}, arguments.json, precise=PRECISE)


def add_options(parser: ArgumentParser) -> ArgumentParser:
    """RETURNS (ArgumentParser): The same, with what is measured."""
    parser.add_argument("--names", type=at_least(1), default=1_000_000, help="[%(default)s]")
    parser.add_argument("--encoder", default="dan", help="minilm, dan or a FOLDER [%(default)s]")
    parser.add_argument("--dataset", nargs="+", choices=DATASETS, default=DATASETS)
    parser.add_argument(
        "--index",
        nargs="+",
        choices=INDEXES,
        default=DEFAULT,
        help=f"compared with {BASELINE} [all but annoy]",
    )
    return parser


def measure(arguments: Namespace) -> list[Row]:
    """RETURNS (List[Dict[str, Any]]): By data set one row an index."""
    world = make_world(arguments)
    names = list(dict.fromkeys([BASELINE, *arguments.index]))
    found: dict[str, dict[str, Found]] = {data.name: {} for data in world.datasets}
    for data, _, candidates in search([BASELINE], world._replace(others=[])):
        found[data.name][ALONE] = candidates
    for build in share_builds(names):
        for data, name, candidates in search(build, world):
            found[data.name][name] = candidates
    return [
        row
        for data in world.datasets
        for row in score(data, {name: found[data.name][name] for name in (ALONE, *names)})
    ]


def make_world(arguments: Namespace) -> World:
    """RETURNS (World): With everything encoded, now or by an earlier run."""
    if arguments.encoder == "ngram":
        fail("Sparse vectors are searched exactly: give minilm, dan or the folder of a model.")
    datasets = [Data(name, arguments.data) for name in arguments.dataset]
    block = encoder_config(arguments.encoder, datasets[0], work=arguments.work)
    # A folder of its own: the other benchmarks need not read a million vectors.
    folder = arguments.work / "planted"
    folder.mkdir(exist_ok=True)
    encoder = remember(registry.resolve({"encoder": block})["encoder"], folder)
    encoder.initialize()
    own = own_texts(datasets)
    others = plant(own, many_names(arguments.data), encoder, arguments.names)
    mentions = (mention.text for data in datasets for mention in data.mentions)
    for texts in chunks(chain(own, others, mentions)):
        encoder.predict(texts)
    keep(encoder)
    return World(datasets, others, encoder)


def own_texts(datasets: Sequence[Data]) -> list[str]:
    """RETURNS (List[str]): The names of O, and the texts of D of all data sets."""
    names = (name for concept in datasets[0].ontology for name in concept.names)
    synonyms = (text for data in datasets for text, _ in data.synonyms)
    return list(dict.fromkeys(chain(names, synonyms)))


def plant(own: Sequence[str], names: Iterator[str], encoder: Model, wanted: int) -> list[str]:
    """Choose names to plant.

    own (Sequence[str]): Texts of O and D.
    names (Iterator[str]): Others, and some of these again.
    encoder (Model[List[str], Floats2d]): Tells names apart.
    wanted (int): How many names there are to be with those of O and D.
    RETURNS (List[str]): Names that the encoder tells from each other and from O's and D's.
    """
    count = sum(1 for _ in distinct(iter(own), encoder, len(own)))
    if wanted < count:
        fail(f"There are {count} names before any is planted: give at least as many --names.")
    return list(islice(distinct(chain(own, names), encoder, wanted), count, None))


def share_builds(names: Sequence[str]) -> list[list[str]]:
    """Let an exact search read the vectors of another index, if one of its dtype is built.

    names (Sequence[str]): Of indexes.
    RETURNS (List[List[str]]): Names that share an index, the one that it is built for first.
    """
    builds: dict[str, list[str]] = {}
    by_dtype: dict[str, str] = {}
    # Exact ones last: by then all others are there.
    for name in sorted(names, key=lambda name: isinstance(INDEXES[name], ExactIndex)):
        backend = INDEXES[name]
        first = by_dtype.setdefault(backend.dtype, name)
        builds.setdefault(first if isinstance(backend, ExactIndex) else name, []).append(name)
    return list(builds.values())


def search(build: Sequence[str], world: World) -> Iterator[tuple[Data, str, Found]]:
    """Answer all mentions.

    build (Sequence[str]): Names that share an index.
    world (World): What is searched for.
    YIELDS (Tuple[Data, str, List[List[Candidate]]]): What each finds for each data set.
    """
    lookup = ConceptLookup(world.encoder, make_sieve(SIEVE), INDEXES[build[0]])
    for data in world.datasets:
        lookup.build(chain(data.ontology, as_concepts(world.others)), data.synonyms)
        # Kept, as its files go with it.
        built = lookup.index
        mentions = [mention.text for mention in data.mentions]
        for name in build:
            lookup.use(lookup.encoder, ConceptIndex(built.folder, INDEXES[name]))
            yield data, name, lookup.candidates(mentions, top_k=TOP_K)


def as_concepts(names: Iterable[str]) -> Iterator[Concept]:
    """YIELDS (Concept): One a name."""
    return (Concept(f"PLANTED:{number}", name) for number, name in enumerate(names))


def score(data: Data, found: dict[str, Found]) -> Iterator[Row]:
    """YIELDS (Dict[str, Any]): A row for what each index finds; differences are those to exact
    search among the same names, with intervals of 95 %.
    """
    gold = read_standard(data)
    runs = {
        name: score_predictions(gold, predict(candidates)) for name, candidates in found.items()
    }
    for name, run in runs.items():
        scores, difference = score_row(run), comparison_row(run, runs[BASELINE])
        yield {
            "dataset": data.name,
            "index": name,
            "mentions": scores["mentions"],
            **{key: (scores | difference)[key] for key in PRECISE[:-1]},
            "same_first_concept": percent(share_alike(found[name], found[BASELINE])),
        }


def share_alike(one: Found, other: Found) -> float:
    """RETURNS (float): The share of mentions with the same first concept, or with none in both."""
    first, second = ([_first_concept(each) for each in found] for found in (one, other))
    return float(np.mean([a == b for a, b in zip(first, second, strict=True)]))


def _first_concept(candidates: Sequence[Candidate]) -> str | None:
    return candidates[0].concept_id if candidates else None


if __name__ == "__main__":
    main()
