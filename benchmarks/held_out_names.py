"""Names that no table, rule or setting was chosen on: one exact synonym of two fifths of an
ontology's concepts is taken out before it is indexed, and the finder is asked for each as a text.

Example: python benchmarks/held_out_names.py --ontology held-out-hpo held-out-uberon
"""

from argparse import Namespace
from collections import Counter
from pathlib import Path

from _common.builders import NGRAMS
from _common.cli import begin, clear_errors, finish, make_parser
from _common.held_out import HELD_OUT, gold_of, hold_out, whole_spans
from _common.ontology_finder import build_finder

from spacy_connorm.evaluation.report import Row, percent

RIGHT, WRONG, MISSED = "right", "wrong", "missed"


def main() -> None:
    parser = make_parser(__doc__ or "")
    parser.add_argument(
        "--ontology", choices=HELD_OUT, nargs="+", default=[*HELD_OUT], help="[all of them]"
    )
    arguments = begin(parser)
    with clear_errors():
        rows = measure(arguments)
    finish(rows, arguments.json)


def measure(arguments: Namespace) -> list[Row]:
    """RETURNS (List[Dict[str, Any]]): One row an ontology."""
    return [_measure_one(name, arguments.data) for name in arguments.ontology]


def _measure_one(name: str, folder: Path) -> Row:
    """RETURNS (Dict[str, Any]): The names, and the shares in percent of those that are a mention
    with the right id, a mention with another one, and no mention as a whole.
    """
    ontology, names = hold_out(name, folder)
    gold = gold_of(names)
    docs = build_finder(ontology, NGRAMS).pipe(doc.text for doc in gold)
    outcomes = Counter(
        _outcome([span.concept_ids for span in whole_spans(doc, ontology)], mention.concept_ids)
        for doc, (mention,) in zip(docs, gold.values(), strict=True)
    )
    shares = {outcome: percent(outcomes[outcome] / len(gold)) for outcome in (RIGHT, WRONG, MISSED)}
    return {"ontology": name, "names": len(gold), **shares}


def _outcome(found: list[frozenset[str]], gold: frozenset[str]) -> str:
    if not found:
        return MISSED
    return RIGHT if found == [gold] else WRONG


if __name__ == "__main__":
    main()
