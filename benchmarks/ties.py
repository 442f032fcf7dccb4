"""What ties on the first place are worth: Acc@1 with ties broken for the worst, at random, as the
index breaks them, and for the best. In percent of all mentions, also those without gold ids.

Example: python benchmarks/ties.py --dataset ncbi --encoder ngram --data ../shared/data
"""

from collections.abc import Sequence

from _common.cli import begin, clear_errors, finish, make_parser
from _common.searching import add_search_options, labels, search_mentions

from spacy_connorm.concepts import Candidate
from spacy_connorm.evaluation import Gold
from spacy_connorm.evaluation.report import Row


def main() -> None:
    arguments = begin(add_search_options(make_parser(__doc__ or "")))
    with clear_errors():
        searched = search_mentions(arguments)
    rows = [
        {**labels(arguments), "search": name, **score(searched.gold, found)}
        for name, found in searched.found.items()
    ]
    finish(rows, arguments.json)


def score(gold: Sequence[Gold], found: Sequence[Sequence[Candidate]]) -> Row:
    """RETURNS (Dict[str, Any]): Four accuracies in percent."""
    right = [
        [candidate.concept_id in mention.concept_ids for candidate in _tied(candidates)]
        for mention, candidates in zip(gold, found, strict=True)
    ]
    ways = {
        "worst": [bool(tied) and all(tied) for tied in right],
        "random": [sum(tied) / len(tied) if tied else 0 for tied in right],
        "first": [bool(tied) and tied[0] for tied in right],
        "best": [any(tied) for tied in right],
    }
    shares = {way: round(100 * sum(each) / len(gold), 1) for way, each in ways.items()}
    return {"mentions": len(gold), **shares}


def _tied(candidates: Sequence[Candidate]) -> list[Candidate]:
    return [each for each in candidates if each.score == candidates[0].score]


if __name__ == "__main__":
    main()
