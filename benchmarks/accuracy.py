"""How often the first concept is right: Acc@1, Acc@5 and MRR of encoders on data sets' test parts
(or on dev, to tune settings), by search, lenient and strict. With `--as-read` mentions are read as
by a pipeline. With `--protocol belb` as BELB and BELHD count, beside their numbers.

Example: python benchmarks/accuracy.py --dataset ncbi --encoder ngram --data ../shared/data
"""

from argparse import ArgumentParser, Namespace
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from _common.belb import BELB, COLUMNS, belb_ontology, published_rows, score_belb
from _common.belb import SCORES as BELB_SCORES
from _common.belb import SEARCHES as BELB_SEARCHES
from _common.builders import (
    SIEVE,
    THRESHOLD,
    ask_lookup,
    build_lookup,
    encoder_config,
    is_trained_here,
    make_sieve,
)
from _common.cli import begin, clear_errors, fail, finish, make_parser
from _common.config_variants import add_seeds
from _common.datasets import Data
from _common.exact_match import EXACT_SEARCHES, ExactMatcher
from _common.options import AGAINST_COLUMNS, add_against, add_datasets, add_part
from _common.scoring import DEPTH, compare_with_published, predict, read_standard
from _common.seeds import over_seeds
from _common.trained_encoders import TRAINS, training_facts
from _common.variants import AS_READ
from _common.variants import predict as predict_as_read

from spacy_connorm.evaluation import Gold, Prediction, score_predictions
from spacy_connorm.evaluation.metrics import ALL, hits
from spacy_connorm.evaluation.report import Row, score_row
from spacy_connorm.index.backends.exact import ExactIndex
from spacy_connorm.linker.sieve import Sieve

AS_WRITTEN = "as-written"
SEARCHES = ("O-T", "OD-T", SIEVE)
# What can be compared with a published number.
SCORES = ("lenient@1", "strict@1")
SEED_COLUMNS = ("seeds", *(f"{score} +-" for score in SCORES))
SHOWN = (
    "dataset",
    "part",
    "encoder",
    "train",
    "objective",
    "data_share",
    "interpolation",
    "dtype",
    "read",
    "search",
    "mentions",
    "lenient@1",
    "lenient@5",
    "mrr",
    "strict@1",
    "strict@5",
    "in_ontology_lenient@1",
    "unseen_mentions",
    "unseen_lenient@1",
)


def main() -> None:
    arguments = begin(add_options(make_parser(__doc__ or "")))
    if arguments.seeds and (arguments.against or arguments.protocol == BELB):
        fail("--seeds does not go with --against or --protocol belb.")
    if arguments.as_read and (arguments.protocol == BELB or "exact" in arguments.encoder):
        fail("--as-read does not go with --protocol belb or the encoder exact.")
    with clear_errors():
        rows = [row for turn in one_by_one(arguments) for row in over_seeds(measure, turn, SCORES)]
    columns = COLUMNS if arguments.protocol == BELB else SHOWN
    columns += AGAINST_COLUMNS if arguments.against else ()
    columns += SEED_COLUMNS if arguments.seeds else ()
    finish(rows, arguments.json, columns=columns)


def add_options(parser: ArgumentParser) -> ArgumentParser:
    """RETURNS (ArgumentParser): The same, with the benchmark's options."""
    add = parser.add_argument
    add_datasets(parser)
    add(
        "--encoder",
        required=True,
        nargs="+",
        help="exact, ngram, minilm, minilm-int8, dan, paths of training configs (.cfg), or FOLDERs",
    )
    add("--train", choices=TRAINS, default="O", help="what dan and configs train on [%(default)s]")
    add_part(parser)
    add("--search", nargs="+", metavar="NAME", help=f"e.g. OD-C or D-T+O-T [{' '.join(SEARCHES)}]")
    add(
        "--threshold",
        type=float,
        default=THRESHOLD,
        help="cosine at which a search of a sieve answers; the last always does [%(default)s]",
    )
    add(
        "--dtype",
        choices=("float32", "int8"),
        default="float32",
        help="how the index stores vectors [%(default)s]",
    )
    add(
        "--as-read",
        action="store_true",
        help="abbreviations are expanded and composites split, as by a pipeline, and D has the "
        "long forms of its abbreviations",
    )
    add(
        "--protocol",
        choices=(AS_WRITTEN, BELB),
        default=AS_WRITTEN,
        help="belb: names of CTD, O-T alone unless --search says more, mentions with a gold id in "
        "the ontology [%(default)s]",
    )
    add_against(parser)
    add_seeds(parser)
    return parser


def one_by_one(arguments: Namespace) -> Iterator[Namespace]:
    """YIELDS (Namespace): The options, for each data set and encoder."""
    for dataset in arguments.dataset:
        for encoder in arguments.encoder:
            yield Namespace(**{**vars(arguments), "dataset": dataset, "encoder": encoder})


def measure(arguments: Namespace) -> list[Row]:
    """RETURNS (List[Dict[str, Any]]): One row per search, then published ones."""
    is_belb = arguments.protocol == BELB
    scores_of = BELB_SCORES if is_belb else SCORES
    if arguments.against is not None and arguments.against[0] not in scores_of:
        fail(f"--against: compare one of {', '.join(scores_of)}, not '{arguments.against[0]}'.")
    names = arguments.search or (BELB_SEARCHES if is_belb else SEARCHES)
    sieves = {name: make_sieve(name, arguments.threshold) for name in names}
    ontology = belb_ontology(arguments.dataset, arguments.data) if is_belb else None
    data = Data(arguments.dataset, arguments.data, ontology=ontology, part=arguments.part)
    block: dict[str, Any] = {}
    if arguments.encoder == "exact":
        answers = match_exactly(names, data)
    else:
        block = encoder_config(arguments.encoder, data, train=arguments.train, work=arguments.work)
        answers = search_mentions(block, sieves, data, arguments)
    head = {
        **{key: getattr(arguments, key) for key in ("dataset", "part", "encoder")},
        "train": arguments.train if is_trained_here(arguments.encoder) else None,
        "dtype": arguments.dtype,
        "read": "as by a pipeline" if arguments.as_read else "as written",
        **training_facts(block),
    }
    gold = read_standard(data)
    rows = []
    for name, predictions in answers.items():
        if is_belb:
            found = [prediction.candidates for prediction in predictions]
            row, right = score_belb(gold, found, data.ontology)
        else:
            row, right = score(gold, predictions)
        if arguments.against is not None:
            compared, published = arguments.against
            row |= compare_with_published(right[compared], compared, published)
        rows.append({**head, "search": name, **row})
    if is_belb and arguments.part == "test":
        rows += published_rows(arguments.dataset, rows[0])
    return rows


def match_exactly(names: Sequence[str], data: Data) -> dict[str, list[Prediction]]:
    """RETURNS (Dict[str, List[Prediction]]): What exact matching answers, by search."""
    names = [name for name in names if name in EXACT_SEARCHES]
    if not names:
        fail(f"Exact matching knows only the searches {', '.join(EXACT_SEARCHES)}.")
    matcher = ExactMatcher(data.ontology, data.synonyms)
    texts = [mention.text for mention in data.mentions]
    return {name: predict(matcher.search(name, texts)) for name in names}


def search_mentions(
    block: dict[str, Any], sieves: dict[str, Sieve], data: Data, arguments: Namespace
) -> dict[str, list[Prediction]]:
    """RETURNS (Dict[str, List[Prediction]]): What an index with an encoder answers, by search."""
    lookup = build_lookup(
        block,
        data,
        searches=sieves,
        work=arguments.work,
        backend=ExactIndex(dtype=arguments.dtype),
        synonyms=data.expanded_synonyms if arguments.as_read else None,
    )
    answers = {}
    for name, sieve in sieves.items():
        lookup.sieve = sieve
        if arguments.as_read:
            answers[name] = predict_as_read(AS_READ, data, lookup)
        else:
            texts = [mention.text for mention in data.mentions]
            answers[name] = predict(ask_lookup(lookup, texts, top_k=DEPTH))
    return answers


def score(
    gold: Sequence[Gold], predictions: Sequence[Prediction]
) -> tuple[Row, dict[str, np.ndarray]]:
    """RETURNS (Tuple[Dict[str, Any], Dict[str, Floats1d]]): The scores, and by protocol 1.0 for a
    right mention and 0.0 for others.
    """
    evaluation = score_predictions(gold, predictions)
    right = {f"{name}@1": hits(ranks, 1) for name, ranks in evaluation.ranks[ALL]._asdict().items()}
    return score_row(evaluation), right


if __name__ == "__main__":
    main()
