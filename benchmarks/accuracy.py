"""How often the first concept is right: Acc@1, Acc@5 and MRR of an encoder on a data set's test
part (or on dev, to tune settings), by search, lenient and strict.

Example: python benchmarks/accuracy.py --dataset ncbi --encoder ngram --data ../shared/data
"""

from argparse import Namespace

from _common.cli import begin, clear_errors, finish, make_parser
from _common.scoring import predict
from _common.searching import add_search_options, labels, search_mentions

from spacy_connorm.evaluation import score_predictions
from spacy_connorm.evaluation.report import Row, score_row

SHOWN = (
    *("dataset", "part", "encoder", "train", "dtype", "search", "mentions"),
    *("lenient@1", "lenient@5", "mrr", "strict@1", "strict@5"),
    *("in_ontology_lenient@1", "unseen_mentions", "unseen_lenient@1"),
)


def main() -> None:
    arguments = begin(add_search_options(make_parser(__doc__ or "")))
    with clear_errors():
        rows = measure(arguments)
    finish(rows, arguments.json, columns=SHOWN)


def measure(arguments: Namespace) -> list[Row]:
    """RETURNS (List[Dict[str, Any]]): One row a search."""
    gold, found = search_mentions(arguments)
    row = {**labels(arguments), "dtype": arguments.dtype}
    return [
        {**row, "search": name, **score_row(score_predictions(gold, predict(each)))}
        for name, each in found.items()
    ]


if __name__ == "__main__":
    main()
