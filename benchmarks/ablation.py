"""What each step of reading mentions gains: abbreviations, composites, the lexical side, and every
step of text normalization, each switched on alone and all together, lenient and strict, on mentions
that D has and on those it has not.

Example: python benchmarks/ablation.py --dataset ncbi --encoder minilm --data ../shared/data
"""

from argparse import ArgumentParser, Namespace
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from accuracy import DEPTH, add_encoder, add_part, labels, read_standard
from catalog import DATASETS, Data
from lookups import THRESHOLD, build_lookup, encoder_config, make_hybrid, make_sieve
from options import begin, fail, finish, make_parser

from spacy_connorm.errors import ConnormError
from spacy_connorm.evaluation import Prediction, evaluate
from spacy_connorm.evaluation.report import Row, score_row
from spacy_connorm.readings import MentionReader
from spacy_connorm.spans import written_id
from spacy_connorm.text.normalization import STEPS

SHOWN = (
    *("dataset", "part", "encoder", "search", "steps", "mentions", "lenient@1", "lenient@5"),
    *("strict@1", "seen_lenient@1", "seen_strict@1", "unseen_lenient@1", "unseen_strict@1"),
)


@dataclass(frozen=True)
class Steps:
    """What is done to mentions.

    name (str): Of the row.
    abbreviations (bool): Whether long forms are looked up, and stand in D.
    composites (bool): Whether mentions are split where their parts link better.
    lexical_weight (float): Of n-grams beside the dense vectors.
    normalization (Tuple[str, ...]): Of names and mentions.
    """

    name: str
    abbreviations: bool = False
    composites: bool = False
    lexical_weight: float = 0.0
    normalization: tuple[str, ...] = ()


def main() -> None:
    arguments = begin(add_options(make_parser(__doc__ or "")))
    try:
        finish(measure(arguments), arguments.json, columns=SHOWN)
    except ConnormError as error:
        fail(str(error))


def add_options(parser: ArgumentParser) -> ArgumentParser:
    """RETURNS (ArgumentParser): The same, with what is measured."""
    parser.add_argument("--dataset", required=True, choices=DATASETS, nargs="+")
    add_encoder(parser)
    add_part(parser)
    parser.add_argument("--search", default="D-T+OD-T", help="a search or a sieve [%(default)s]")
    parser.add_argument(
        "--threshold", type=float, default=THRESHOLD, help="of the sieve [%(default)s]"
    )
    parser.add_argument(
        "--lexical-weight", type=float, default=0.3, help="of the hybrid rows [%(default)s]"
    )
    parser.add_argument(
        "--normalization",
        nargs="*",
        choices=STEPS,
        default=(),
        metavar="STEP",
        help=f"in the last row: {', '.join(STEPS)}",
    )
    parser.add_argument("--ontology", metavar="PATH", help="another ontology than the usual one")
    return parser


def variants(weight: float, normalization: Sequence[str]) -> Iterator[Steps]:
    """YIELDS (Steps): One a row: none, each alone, and together."""
    yield Steps("none")
    yield Steps("abbreviations", abbreviations=True)
    yield Steps("composites", composites=True)
    yield Steps("lexical", lexical_weight=weight)
    for step in STEPS:
        yield Steps(f"normalization: {step}", normalization=(step,))
    both = Steps("abbreviations, composites", abbreviations=True, composites=True)
    yield both
    hybrid = replace(both, name=f"{both.name}, lexical", lexical_weight=weight)
    yield hybrid
    if normalization:
        name = f"{hybrid.name}, {', '.join(normalization)}"
        yield replace(hybrid, name=name, normalization=tuple(normalization))


def measure(arguments: Namespace) -> list[Row]:
    """RETURNS (List[Dict[str, Any]]): One row a data set and way to read mentions."""
    return [
        row
        for dataset in arguments.dataset
        for row in _measure_one(Namespace(**{**vars(arguments), "dataset": dataset}))
    ]


def _measure_one(arguments: Namespace) -> Iterator[Row]:
    data = Data(arguments.dataset, arguments.data, ontology=arguments.ontology, part=arguments.part)
    block = encoder_config(arguments.encoder, data, train=arguments.train, work=arguments.work)
    gold = read_standard(data)
    for steps in variants(arguments.lexical_weight, arguments.normalization):
        predictions = predict(steps, data, block, arguments)
        scores = score_row(evaluate(gold, predictions))
        yield {**labels(arguments), "search": arguments.search, "steps": steps.name, **scores}


def predict(steps: Steps, data: Data, block: dict, arguments: Namespace) -> list[Prediction]:
    """RETURNS (List[Prediction]): What a pipeline with these steps says of each mention."""
    lookup = build_lookup(
        make_hybrid(block, steps.lexical_weight) if steps.lexical_weight else block,
        data,
        synonyms=data.expanded_synonyms if steps.abbreviations else data.synonyms,
        normalization=steps.normalization,
        searches=[arguments.search],
        work=arguments.work,
    )
    lookup.sieve = make_sieve(arguments.search, arguments.threshold)
    reader = MentionReader(lookup, top_k=DEPTH, split_composites=steps.composites)
    mentions = [mention.text for mention in data.mentions]
    long_forms = data.long_forms if steps.abbreviations else [""] * len(mentions)
    found = reader.candidates(mentions, long_forms)
    return [Prediction(candidates, written_id(candidates, None)) for candidates in found]


if __name__ == "__main__":
    main()
