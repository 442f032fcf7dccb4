"""Acc@1, Acc@5 and MRR of an encoder on one data set's test part (or, for tuning, its dev part), by
search, lenient and strict.

Example: python benchmarks/accuracy.py --dataset ncbi --encoder ngram --data ../shared/data
"""

from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Sequence

from _common.builders import THRESHOLD, build_lookup, encoder_config, is_trained_here, make_sieve
from _common.cli import begin, fail, finish, make_parser
from _common.datasets import DATASETS, PARTS, Data
from _common.exact_match import EXACT_SEARCHES, ExactMatcher
from _common.trained_encoders import TRAINS

from spacy_connorm.concepts import NIL, Candidate
from spacy_connorm.errors import ConnormError
from spacy_connorm.evaluation import Gold, Known, Prediction, read_gold, score_predictions
from spacy_connorm.evaluation.report import Row, score_row

SEARCHES = ("O-T", "OD-T", "D-T+OD-T")
# Candidates for a mention: MRR counts a right concept that comes later as none.
DEPTH = 20
SHOWN = (
    *(
        "dataset",
        "part",
        "encoder",
        "train",
        "search",
        "mentions",
        "lenient@1",
        "lenient@5",
        "mrr",
        "strict@1",
    ),
    *("strict@5", "in_ontology_lenient@1", "unseen_mentions", "unseen_lenient@1"),
)
Search = Callable[[str, Sequence[str]], list[list[Candidate]]]


def main() -> None:
    arguments = begin(add_options(make_parser(__doc__ or "")))
    try:
        rows = measure(arguments)
    except ConnormError as error:
        fail(str(error))
    finish(rows, arguments.json, columns=SHOWN)


def add_options(parser: ArgumentParser) -> ArgumentParser:
    """RETURNS (ArgumentParser): The same, with what is measured: data set, encoder, searches."""
    parser.add_argument("--dataset", required=True, choices=DATASETS)
    add_encoder(parser)
    add_part(parser)
    parser.add_argument(
        "--search", nargs="+", metavar="NAME", default=SEARCHES, help="e.g. OD-T or D-T+OD-T"
    )
    parser.add_argument(
        "--threshold",
        type=float,
        default=THRESHOLD,
        help="cosine that a search of a sieve must reach to answer, but for the last [%(default)s]",
    )
    parser.add_argument("--ontology", metavar="PATH", help="another ontology than the usual one")
    return parser


def add_encoder(parser: ArgumentParser) -> None:
    """Let the encoder be chosen."""
    parser.add_argument(
        "--encoder",
        required=True,
        help="exact, ngram, minilm, dan, the path of a training config (.cfg) or a FOLDER",
    )
    parser.add_argument(
        "--train", choices=TRAINS, default="O", help="what dan and configs train on [%(default)s]"
    )


def add_part(parser: ArgumentParser) -> None:
    """Let the part be chosen that is scored."""
    parser.add_argument(
        "--part", choices=PARTS, default="test", help="dev has train as its D [%(default)s]"
    )


def measure(arguments: Namespace) -> list[Row]:
    """RETURNS (List[Dict[str, Any]]): One row a search."""
    gold, found = look_up(arguments)
    return [
        {
            **labels(arguments),
            "search": name,
            **score_row(score_predictions(gold, predict(found[name]))),
        }
        for name in found
    ]


def labels(arguments: Namespace) -> Row:
    """RETURNS (Dict[str, Any]): What every row begins with; nothing for `train` if the encoder is
    not trained here.
    """
    train = arguments.train if is_trained_here(arguments.encoder) else None
    return {
        "dataset": arguments.dataset,
        "part": arguments.part,
        "encoder": arguments.encoder,
        "train": train,
    }


def look_up(arguments: Namespace) -> tuple[list[Gold], dict[str, list[list[Candidate]]]]:
    """RETURNS (Tuple[List[Gold], Dict[str, List[List[Candidate]]]]): What is right of the part's
    mentions, those without gold ids included, and what each search finds for them.
    """
    names = arguments.search
    for name in names:
        make_sieve(name, arguments.threshold)
    data = Data(arguments.dataset, arguments.data, ontology=arguments.ontology, part=arguments.part)
    if arguments.encoder == "exact":
        names = [name for name in names if name in EXACT_SEARCHES]
        if not names:
            fail(f"Exact matching knows only the searches {', '.join(EXACT_SEARCHES)}.")
        search: Search = ExactMatcher(data.ontology, data.synonyms).search
    else:
        search = _lookup_search(arguments, data)
    gold = read_standard(data)
    return gold, {name: search(name, [mention.text for mention in gold]) for name in names}


def _lookup_search(arguments: Namespace, data: Data) -> Search:
    block = encoder_config(arguments.encoder, data, train=arguments.train, work=arguments.work)
    lookup = build_lookup(block, data, searches=arguments.search, work=arguments.work)

    def search(name: str, mentions: Sequence[str]) -> list[list[Candidate]]:
        lookup.sieve = make_sieve(name, arguments.threshold)
        return lookup.candidates(mentions, top_k=DEPTH)

    return search


def read_standard(data: Data) -> list[Gold]:
    """RETURNS (List[Gold]): What is right of each mention to score."""
    gold_ids = {gold_id for mention in data.mentions for gold_id in mention.concept_ids}
    concepts = {gold_id: data.ontology[gold_id] for gold_id in gold_ids if gold_id in data.ontology}
    known = {
        gold_id: Known(concept.concept_id, concept.canonical_name, in_ontology=True)
        for gold_id, concept in concepts.items()
    }
    seen = {_key(text) for text, _ in data.synonyms}
    return [read_gold(mention, known, seen=_key(mention.text) in seen) for mention in data.mentions]


def _key(text: str) -> str:
    return " ".join(text.lower().split())


def predict(found: Sequence[Sequence[Candidate]]) -> list[Prediction]:
    """RETURNS (List[Prediction]): What a pipeline would say that finds these candidates."""
    return [
        Prediction(candidates, candidates[0].concept_id if candidates else NIL)
        for candidates in found
    ]


if __name__ == "__main__":
    main()
