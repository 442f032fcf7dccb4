"""How often the first concept is right: Acc@1, Acc@5 and MRR of an encoder on a data set's test
part (or on dev, to tune settings), by search, lenient and strict. With `--protocol belb` as BELB
and BELHD count, beside their numbers.

Example: python benchmarks/accuracy.py --dataset ncbi --encoder ngram --data ../shared/data
"""

from argparse import Namespace

import numpy as np
from _common.belb import BELB, COLUMNS, belb_ontology, published_rows, score_belb
from _common.belb import SCORES as BELB_SCORES
from _common.belb import SEARCHES as BELB_SEARCHES
from _common.cli import begin, clear_errors, fail, finish, make_parser
from _common.config_variants import add_seeds
from _common.options import AGAINST_COLUMNS, add_against
from _common.scoring import compare_with_published, predict
from _common.searching import Found, Searched, add_search_options, labels, search_mentions
from _common.seeds import over_seeds

from spacy_connorm.evaluation import score_predictions
from spacy_connorm.evaluation.metrics import ALL, hits
from spacy_connorm.evaluation.report import Row, score_row

AS_WRITTEN = "as-written"
# What can be compared with a published number.
SCORES = ("lenient@1", "strict@1")
SEED_COLUMNS = ("seeds", *(f"{score} +-" for score in SCORES))
SHOWN = (
    *("dataset", "part", "encoder", "train", "objective", "data_share", "interpolation", "dtype"),
    *("search", "mentions", "lenient@1", "lenient@5", "mrr", "strict@1", "strict@5"),
    *("in_ontology_lenient@1", "unseen_mentions", "unseen_lenient@1"),
)


def main() -> None:
    parser = add_search_options(make_parser(__doc__ or ""))
    parser.add_argument(
        "--protocol",
        choices=(AS_WRITTEN, BELB),
        default=AS_WRITTEN,
        help="belb: names of CTD, O-T alone unless --search says more, mentions with a gold id in "
        "the ontology [%(default)s]",
    )
    add_against(parser)
    add_seeds(parser)
    arguments = begin(parser)
    if arguments.seeds and (arguments.against or arguments.protocol == BELB):
        fail("--seeds does not go with --against or --protocol belb.")
    with clear_errors():
        rows = over_seeds(measure, arguments, SCORES)
    columns = COLUMNS if arguments.protocol == BELB else SHOWN
    columns += AGAINST_COLUMNS if arguments.against else ()
    columns += SEED_COLUMNS if arguments.seeds else ()
    finish(rows, arguments.json, columns=columns)


def measure(arguments: Namespace) -> list[Row]:
    """RETURNS (List[Dict[str, Any]]): One row per search, then published ones."""
    is_belb = arguments.protocol == BELB
    scores_of = BELB_SCORES if is_belb else SCORES
    if arguments.against is not None and arguments.against[0] not in scores_of:
        fail(f"--against: compare one of {', '.join(scores_of)}, not '{arguments.against[0]}'.")
    if is_belb:
        arguments.search = arguments.search or BELB_SEARCHES
        arguments.ontology = arguments.ontology or belb_ontology(arguments.dataset, arguments.data)
    searched = search_mentions(arguments)
    head = {**labels(arguments), "dtype": arguments.dtype, **searched.training}
    rows = []
    for name, found in searched.found.items():
        if is_belb:
            scores, right = score_belb(searched.gold, found, searched.data.ontology)
        else:
            scores, right = score(searched, found)
        rows.append({**head, "search": name, **scores, **compare(right, arguments)})
    if is_belb and arguments.part == "test":
        rows += published_rows(arguments.dataset, rows[0])
    return rows


def score(searched: Searched, found: Found) -> tuple[Row, dict[str, np.ndarray]]:
    """RETURNS (Tuple[Dict[str, Any], Dict[str, Floats1d]]): The scores, and by protocol 1.0 for a
    right mention and 0.0 for others.
    """
    evaluation = score_predictions(searched.gold, predict(found))
    right = {f"{name}@1": hits(ranks, 1) for name, ranks in evaluation.ranks[ALL]._asdict().items()}
    return score_row(evaluation), right


def compare(right: dict[str, np.ndarray], arguments: Namespace) -> Row:
    """RETURNS (Dict[str, Any]): The difference to the number that `--against` names."""
    if arguments.against is None:
        return {}
    name, published = arguments.against
    return compare_with_published(right[name], name, published)


if __name__ == "__main__":
    main()
