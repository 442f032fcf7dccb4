"""What very many names cost in accuracy: Acc@1 of test mentions, in percent, if other names are
planted among those of their ontology.

The index has MEDIC 2012, D (train and dev of the data set) and other names up to `--names`: those
of other ontologies and variants of all names, each a concept of its own. A name that the encoder
cannot tell from one of MEDIC or D is left out, so that what could be found still can. Others may
mean the same as a concept of MEDIC and still count as wrong: look at the difference to exact
float32 search among the same names rather than at Acc@1. All use the default sieve and a pipeline's
default number of candidates. Nothing is timed.

Example: python benchmarks/planted.py --names 1000000 --data ../shared/data
"""

from argparse import ArgumentParser, Namespace
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice
from typing import NamedTuple

from _common.builders import SIEVE, encoder_config, make_sieve
from _common.cli import begin, clear_errors, fail, finish_tables, make_parser
from _common.datasets import DISEASES, Data
from _common.options import at_least
from _common.scoring import predict, read_standard, same_first_concept
from _common.synthetic_names import chunks, distinct, many_names
from _common.vector_cache import add_cache, save_cache
from spacy import registry
from thinc.api import Model

from spacy_connorm.concepts import Candidate, Concept
from spacy_connorm.evaluation import score_predictions
from spacy_connorm.evaluation.report import Row, comparison_row, score_row
from spacy_connorm.index.backends.annoy import AnnoyIndex
from spacy_connorm.index.backends.exact import ExactIndex
from spacy_connorm.index.backends.ivf import IvfIndex
from spacy_connorm.index.backends.protocol import Backend
from spacy_connorm.index.concept_index import ConceptIndex
from spacy_connorm.linker.lookup import ConceptLookup

# A pipeline's default.
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
# Exact search without other names.
ALONE = "exact, none planted"
PRECISE = (
    *("lenient@1", "lenient@1_difference", "lenient@1_difference_low", "lenient@1_difference_high"),
    *("strict@1", "strict@1_difference", "strict@1_difference_low", "strict@1_difference_high"),
    "same_first_concept",
)
Found = list[list[Candidate]]


class World(NamedTuple):
    """What to search, and among what.

    datasets (List[Data]): With their mentions and their D; all have the same O.
    others (List[str]): The names to plant.
    encoder (Model[List[str], Floats2d]): Caches the vectors of all texts.
    """

    datasets: list[Data]
    others: list[str]
    encoder: Model


def main() -> None:
    arguments = begin(add_options(make_parser(__doc__ or "")))
    with clear_errors():
        rows = measure(arguments)
    title = f"Acc@1 in percent among {arguments.names:,} names"
    finish_tables({title: rows}, arguments.json, precise=PRECISE)


def add_options(parser: ArgumentParser) -> ArgumentParser:
    """RETURNS (ArgumentParser): The same, with the benchmark's options."""
    parser.add_argument("--names", type=at_least(1), default=1_000_000, help="[%(default)s]")
    parser.add_argument("--encoder", default="dan", help="minilm, dan or a FOLDER [%(default)s]")
    parser.add_argument("--dataset", nargs="+", choices=DISEASES, default=DISEASES)
    parser.add_argument(
        "--index",
        nargs="+",
        choices=INDEXES,
        default=DEFAULT,
        help=f"compared with {BASELINE} [all but annoy]",
    )
    return parser


def measure(arguments: Namespace) -> list[Row]:
    """RETURNS (List[Dict[str, Any]]): One row a data set and index."""
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
    """RETURNS (World): With all texts encoded, now or by an earlier run."""
    if arguments.encoder == "ngram":
        fail("Sparse vectors are searched exactly: give minilm, dan or the folder of a model.")
    datasets = [Data(name, arguments.data) for name in arguments.dataset]
    block = encoder_config(arguments.encoder, datasets[0], work=arguments.work)
    # In a folder of its own: other benchmarks should not read a million vectors.
    folder = arguments.work / "planted"
    folder.mkdir(exist_ok=True)
    encoder = add_cache(registry.resolve({"encoder": block})["encoder"], folder)
    encoder.initialize()
    own = own_texts(datasets)
    others = plant(own, many_names(arguments.data), encoder, arguments.names)
    mentions = (mention.text for data in datasets for mention in data.mentions)
    for texts in chunks(chain(own, others, mentions)):
        encoder.predict(texts)
    save_cache(encoder)
    return World(datasets, others, encoder)


def own_texts(datasets: Sequence[Data]) -> list[str]:
    """RETURNS (List[str]): The names of O, and the texts of D of all data sets."""
    names = (name for concept in datasets[0].ontology for name in concept.names)
    synonyms = (text for data in datasets for text, _ in data.synonyms)
    return list(dict.fromkeys(chain(names, synonyms)))


def plant(own: Sequence[str], names: Iterator[str], encoder: Model, wanted: int) -> list[str]:
    """Choose names to plant.

    own (Sequence[str]): Texts of O and D.
    names (Iterator[str]): Other names; some may be in O or D.
    encoder (Model[List[str], Floats2d]): Tells names apart.
    wanted (int): Names in all, with those of O and D.
    RETURNS (List[str]): Names that differ for the encoder, from each other and from those of O and
        D.
    """
    count = sum(1 for _ in distinct(iter(own), encoder, len(own)))
    if wanted < count:
        fail(f"There are {count} names before any is planted: give at least as many --names.")
    return list(islice(distinct(chain(own, names), encoder, wanted), count, None))


def share_builds(names: Sequence[str]) -> list[list[str]]:
    """Let exact search read the vectors of another index of its dtype, if one is built.

    names (Sequence[str]): Of indexes.
    RETURNS (List[List[str]]): Names that share an index; the first is the one it is built for.
    """
    builds: dict[str, list[str]] = {}
    by_dtype: dict[str, str] = {}
    # Exact indexes last, when all others are known.
    for name in sorted(names, key=lambda name: isinstance(INDEXES[name], ExactIndex)):
        backend = INDEXES[name]
        first = by_dtype.setdefault(backend.dtype, name)
        builds.setdefault(first if isinstance(backend, ExactIndex) else name, []).append(name)
    return list(builds.values())


def search(build: Sequence[str], world: World) -> Iterator[tuple[Data, str, Found]]:
    """Search all mentions.

    build (Sequence[str]): Names of indexes that share files.
    world (World): What to search.
    YIELDS (Tuple[Data, str, List[List[Candidate]]]): What each index finds for each data set.
    """
    lookup = ConceptLookup(world.encoder, make_sieve(SIEVE), INDEXES[build[0]])
    for data in world.datasets:
        lookup.build(chain(data.ontology, as_concepts(world.others)), data.synonyms)
        # Its files are deleted with it.
        built = lookup.index
        mentions = [mention.text for mention in data.mentions]
        for name in build:
            lookup.use(lookup.encoder, ConceptIndex(built.folder, INDEXES[name]))
            yield data, name, lookup.candidates(mentions, top_k=TOP_K)


def as_concepts(names: Iterable[str]) -> Iterator[Concept]:
    """YIELDS (Concept): One per name."""
    return (Concept(f"PLANTED:{number}", name) for number, name in enumerate(names))


def score(data: Data, found: dict[str, Found]) -> Iterator[Row]:
    """YIELDS (Dict[str, Any]): A row for each index, with differences to exact search among the
    same names and their 95 % intervals.
    """
    gold = read_standard(data)
    runs = {name: score_predictions(gold, predict(each)) for name, each in found.items()}
    for name, run in runs.items():
        scores, difference = score_row(run), comparison_row(run, runs[BASELINE])
        yield {
            "dataset": data.name,
            "index": name,
            "mentions": scores["mentions"],
            **{key: (scores | difference)[key] for key in PRECISE[:-1]},
            "same_first_concept": round(same_first_concept(found[name], found[BASELINE]), 2),
        }


if __name__ == "__main__":
    main()
