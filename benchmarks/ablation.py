"""What each step of processing mentions gains: abbreviations, composites, the lexical side and
every step of text normalization, each alone and together, lenient and strict, on mentions in D and
on others. The last row is the papers' protocol, which splits composites by the number of gold ids:
compare it with the papers, not with the other rows.

Example: python benchmarks/ablation.py --dataset ncbi --encoder minilm --data ../shared/data
"""

import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import lru_cache

from _common.builders import SIEVE, THRESHOLD, build_lookup, encoder_config, make_sieve
from _common.cli import begin, clear_errors, finish, make_parser
from _common.datasets import Data
from _common.options import add_datasets, add_encoder, add_lexical_weight, add_ontology, add_part
from _common.prepared import PREPARED_NAMES, answer_prepared
from _common.scoring import read_standard
from _common.searching import labels
from _common.variants import ABBREVIATIONS, AS_READ, AS_WRITTEN, Steps, lexical_weight_of, predict

from spacy_connorm.evaluation import score_predictions
from spacy_connorm.evaluation.report import Row, score_row
from spacy_connorm.linker.lookup import ConceptLookup
from spacy_connorm.text.normalization import STEPS

SHOWN = (
    *("dataset", "part", "encoder", "search", "steps", "mentions", "lenient@1", "lenient@5"),
    *("strict@1", "seen_lenient@1", "seen_strict@1", "unseen_lenient@1", "unseen_strict@1"),
)
PREPARED = Steps(
    "the papers' protocol (composites split by the number of gold ids)",
    abbreviations=True,
    normalization=PREPARED_NAMES,
)


def main() -> None:
    arguments = begin(add_options(make_parser(__doc__ or "")))
    with clear_errors():
        rows = measure(arguments)
    finish(rows, arguments.json, columns=SHOWN)


def add_options(parser: ArgumentParser) -> ArgumentParser:
    """RETURNS (ArgumentParser): The same, with the benchmark's options."""
    add_datasets(parser)
    add_encoder(parser)
    add_part(parser)
    parser.add_argument("--search", default=SIEVE, help="a search or a sieve [%(default)s]")
    parser.add_argument(
        "--threshold", type=float, default=THRESHOLD, help="of the sieve [%(default)s]"
    )
    add_lexical_weight(parser)
    parser.add_argument(
        "--normalization",
        nargs="*",
        choices=STEPS,
        default=(),
        metavar="STEP",
        help=f"in the last row: {', '.join(STEPS)}",
    )
    add_ontology(parser)
    return parser


def variants(weight: float, normalization: Sequence[str]) -> Iterator[Steps]:
    """YIELDS (Steps): One per row: none, each step alone, and together. Nothing lexical at weight
    0.
    """
    yield AS_WRITTEN
    yield Steps("composites", composites=True)
    yield ABBREVIATIONS
    together = AS_READ
    yield together
    if weight:
        yield Steps("lexical", lexical_weight=weight)
        together = replace(together, name=f"{together.name}, lexical", lexical_weight=weight)
        yield together
    if normalization:
        name = f"{together.name}, {', '.join(normalization)}"
        yield replace(together, name=name, normalization=tuple(normalization))
    for step in STEPS:
        yield Steps(f"normalization: {step}", normalization=(step,))


def measure(arguments: Namespace) -> list[Row]:
    """RETURNS (List[Dict[str, Any]]): One row a data set and variant."""
    return [
        row
        for dataset in arguments.dataset
        for row in _measure_one(Namespace(**{**vars(arguments), "dataset": dataset}))
    ]


def _measure_one(arguments: Namespace) -> Iterator[Row]:
    data = Data(arguments.dataset, arguments.data, ontology=arguments.ontology, part=arguments.part)
    block = encoder_config(arguments.encoder, data, train=arguments.train, work=arguments.work)
    row = {**labels(arguments), "search": arguments.search}
    gold = read_standard(data)
    weight = lexical_weight_of(arguments)

    # Consecutive variants often have the same index and differ only in how mentions are processed.
    @lru_cache(maxsize=1)
    def build(steps: Steps) -> ConceptLookup:
        lookup = build_lookup(
            steps.encoder(block),
            data,
            searches=[arguments.search],
            work=arguments.work,
            synonyms=data.expanded_synonyms if steps.abbreviations else data.synonyms,
            normalization=steps.normalization,
        )
        lookup.sieve = make_sieve(arguments.search, arguments.threshold)
        return lookup

    for steps in variants(weight, arguments.normalization):
        print(f"{arguments.dataset}: {steps.name}", file=sys.stderr)
        predictions = predict(steps, data, build(replace(steps, name="", composites=False)))
        yield {**row, "steps": steps.name, **score_row(score_predictions(gold, predictions))}
    gold, predictions = answer_prepared(data, build(PREPARED))
    yield {**row, "steps": PREPARED.name, **score_row(score_predictions(gold, predictions))}


if __name__ == "__main__":
    main()
