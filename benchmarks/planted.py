"""What very many names cost in accuracy: Acc@1 of test mentions, in percent, if other names are
planted among those of their ontology.

The index has MEDIC 2012, D (train and dev of the data set) and other names up to `--names`: those
of other ontologies and variants of all names, each a concept of its own. A name that the encoder
cannot tell from one of MEDIC or D is left out, so that what could be found still can. Others may
mean the same as a concept of MEDIC and still count as wrong: look at the difference to exact search
among the same names rather than at Acc@1. All use the default sieve and a pipeline's default number
of candidates. Nothing is timed. Memory holds a hash of each name, some hundred bytes; ten million
names take 16 GB of disk in float32, 5 in eight bits.

Example: python benchmarks/planted.py --names 1000000 --data ../shared/data
"""

from argparse import ArgumentParser, Namespace
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from _common.builders import SIEVE, encoder_config, load_encoder, make_sieve
from _common.cli import begin, clear_errors, fail, finish_tables, make_parser
from _common.datasets import DISEASES, Data
from _common.options import at_least
from _common.scoring import predict, read_standard, same_first_concept
from _common.synthetic_names import distinct, many_names
from thinc.api import Model

from spacy_connorm.concepts import Candidate, Concept, read_concepts, write_concepts
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
INDEXES: dict[str, Backend] = {
    "exact": ExactIndex(),
    "exact-float16": ExactIndex(dtype="float16"),
    "exact-int8": ExactIndex(dtype="int8"),
    "ivf": IvfIndex(),
    "ivf-int8": IvfIndex(dtype="int8"),
    "annoy": AnnoyIndex(),
}
BASELINES = tuple(name for name, index in INDEXES.items() if isinstance(index, ExactIndex))
DEFAULT = tuple(name for name in INDEXES if name != "annoy")
PRECISE = (
    *("lenient@1", "lenient@1_difference", "lenient@1_difference_low", "lenient@1_difference_high"),
    *("strict@1", "strict@1_difference", "strict@1_difference_low", "strict@1_difference_high"),
    "same_first_concept",
)
Found = list[list[Candidate]]


class World(NamedTuple):
    """What to search, and among what.

    datasets (List[Data]): With their mentions and their D; all have the same O.
    encoder (Model[List[str], Floats2d]): Loaded.
    others (Optional[Path]): The file of the concepts to plant, if any.
    """

    datasets: list[Data]
    encoder: Model
    others: Path | None = None


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
        help="[all but annoy]",
    )
    parser.add_argument(
        "--baseline",
        choices=BASELINES,
        default=BASELINES[0],
        help="what all are compared with [%(default)s]",
    )
    return parser


def measure(arguments: Namespace) -> list[Row]:
    """RETURNS (List[Dict[str, Any]]): One row a data set and index."""
    if arguments.encoder == "ngram":
        fail("Sparse vectors are searched exactly: give minilm, dan or the folder of a model.")
    datasets = [Data(name, arguments.data) for name in arguments.dataset]
    block = encoder_config(arguments.encoder, datasets[0], work=arguments.work)
    alone = World(datasets, load_encoder(block))
    builds = share_builds(list(dict.fromkeys([arguments.baseline, *arguments.index])))
    # The baseline comes first in the table, with and without other names.
    found: dict[str, dict[str, Found]] = {data.name: {} for data in datasets}
    for data, name, candidates in search([arguments.baseline], alone):
        found[data.name] |= {f"{name}, none planted": candidates, name: []}
    with TemporaryDirectory(dir=arguments.work) as folder:
        others = Path(folder, "others.jsonl")
        planted = plant(
            own_texts(datasets), many_names(arguments.data), alone.encoder, arguments.names
        )
        write_concepts(as_concepts(planted), others)
        for build in builds:
            for data, name, candidates in search(build, alone._replace(others=others)):
                found[data.name][name] = candidates
    return [row for data in datasets for row in score(data, found[data.name], arguments.baseline)]


def own_texts(datasets: Sequence[Data]) -> list[str]:
    """RETURNS (List[str]): The names of O, and the texts of D of all data sets."""
    names = (name for concept in datasets[0].ontology for name in concept.names)
    synonyms = (text for data in datasets for text, _ in data.synonyms)
    return list(dict.fromkeys(chain(names, synonyms)))


def plant(own: Sequence[str], names: Iterator[str], encoder: Model, wanted: int) -> Iterator[str]:
    """Choose names to plant.

    own (Sequence[str]): Texts of O and D.
    names (Iterator[str]): Other names; some may be in O or D.
    encoder (Model[List[str], Floats2d]): Tells names apart.
    wanted (int): Names in all, with those of O and D.
    RETURNS (Iterator[str]): Names that differ for the encoder, from each other and from those of O
        and D.
    """
    count = sum(1 for _ in distinct(iter(own), encoder, len(own)))
    if wanted < count:
        fail(f"There are {count} names before any is planted: give at least as many --names.")
    return islice(distinct(chain(own, names), encoder, wanted), count, None)


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
    """Search all mentions. The index of the second data set has the vectors of the first one's.

    build (Sequence[str]): Names of indexes that share files.
    world (World): What to search.
    YIELDS (Tuple[Data, str, List[List[Candidate]]]): What each index finds for each data set.
    """
    lookup = ConceptLookup(world.encoder, make_sieve(SIEVE), INDEXES[build[0]])
    for data in world.datasets:
        others = read_concepts(world.others) if world.others else ()
        lookup.build(chain(data.ontology, others), data.synonyms)
        # Its files are deleted with it.
        built = lookup.index
        mentions = [mention.text for mention in data.mentions]
        for name in build:
            lookup.use(lookup.encoder, ConceptIndex(built.folder, INDEXES[name]))
            yield data, name, lookup.candidates(mentions, top_k=TOP_K)


def as_concepts(names: Iterable[str]) -> Iterator[Concept]:
    """YIELDS (Concept): One per name."""
    return (Concept(f"PLANTED:{number}", name) for number, name in enumerate(names))


def score(data: Data, found: dict[str, Found], baseline: str) -> Iterator[Row]:
    """YIELDS (Dict[str, Any]): A row for each index, with differences to an exact search among the
    same names and their 95 % intervals.
    """
    gold = read_standard(data)
    runs = {name: score_predictions(gold, predict(each)) for name, each in found.items()}
    for name, run in runs.items():
        scores, difference = score_row(run), comparison_row(run, runs[baseline])
        yield {
            "dataset": data.name,
            "index": name,
            "mentions": scores["mentions"],
            **{key: (scores | difference)[key] for key in PRECISE[:-1]},
            "same_first_concept": round(same_first_concept(found[name], found[baseline]), 2),
        }


if __name__ == "__main__":
    main()
