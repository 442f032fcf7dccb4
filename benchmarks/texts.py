"""What is found in texts that were written for this project by people who knew neither its code nor
its tables: patients, nurses, radiologists, clinicians of seven languages.

Examples: python benchmarks/texts.py
python benchmarks/texts.py --set nursing reddit --encoder accurate --show
"""

from argparse import ArgumentParser, Namespace
from collections import Counter
from collections.abc import Iterator

from _common.cli import begin, clear_errors, finish, make_parser
from _common.written_texts import SETS, WrittenText, WrittenTexts, is_marked, marks_by_id

from spacy_connorm.evaluation.report import Row, percent


def main() -> None:
    arguments = begin(add_options(make_parser(__doc__ or "")))
    with clear_errors():
        rows = list(measure(arguments))
    finish(rows, arguments.json)


def add_options(parser: ArgumentParser) -> ArgumentParser:
    """RETURNS (ArgumentParser): The same, with the benchmark's options."""
    add = parser.add_argument
    add("--set", choices=SETS, nargs="+", default=[*SETS], help="[all of them]")
    add("--encoder", choices=("ngrams", "accurate"), default="ngrams", help="[%(default)s]")
    add("--min-paraphrase", type=float, default=0.5, help="1: no paraphrases [%(default)s]")
    add("--show", action="store_true", help="print what is missed, wrong, or marked wrongly")
    return parser


def measure(arguments: Namespace) -> Iterator[Row]:
    """YIELDS (Dict[str, Any]): One row a set, with the F1 of ids by text, and a last one of all."""
    total = Counter[str]()
    for name in arguments.set:
        counts = Counter[str]()
        for text, marks in _read(WrittenTexts(name), arguments):
            counts += _count(text, marks)
            if arguments.show:
                _show(text, marks)
        total += counts
        yield {**_row(name, counts), "with": _setting(arguments)}
    if len(arguments.set) > 1:
        yield {**_row("all", total), "with": _setting(arguments)}


def _setting(arguments: Namespace) -> str:
    return f"{arguments.encoder}, {arguments.min_paraphrase:g}"


def _read(
    texts: WrittenTexts, arguments: Namespace
) -> Iterator[tuple[WrittenText, dict[str, frozenset[str]]]]:
    nlp = texts.finder(arguments.work / "texts" / arguments.encoder / texts.name, arguments.encoder)
    nlp.get_pipe("mention_finder").cfg["min_paraphrase"] = arguments.min_paraphrase
    docs = nlp.pipe(text.text for text in texts.texts)
    return zip(texts.texts, map(marks_by_id, docs), strict=True)


def _count(text: WrittenText, marks: dict[str, frozenset[str]]) -> Counter[str]:
    right = text.statuses.keys() & marks.keys()
    marked = sum(is_marked(text.statuses[number], marks[number]) for number in right)
    return Counter(gold=len(text.statuses), found=len(marks), right=len(right), marked=marked)


def _row(name: str, counts: Counter[str]) -> Row:
    right, found, gold = counts["right"], counts["found"], counts["gold"]
    return {
        "set": name,
        "ids": gold,
        "precision": percent(right / found if found else None),
        "recall": percent(right / gold if gold else None),
        "f1": percent(2 * right / (found + gold) if found + gold else None),
        "marks right": percent(counts["marked"] / right if right else None),
    }


def _show(text: WrittenText, marks: dict[str, frozenset[str]]) -> None:
    print(text.text)
    for number in sorted(text.statuses.keys() | marks.keys()):
        status, found = text.statuses.get(number), marks.get(number)
        if status is None or found is None:
            print("   missed" if status else "   wrong", number)
        elif not is_marked(status, found):
            print("   marked", number, status, *sorted(found))


if __name__ == "__main__":
    main()
