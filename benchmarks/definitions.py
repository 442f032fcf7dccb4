"""Which short forms documents define: our finder beside that of the PyPI package `abbreviations`,
if it is installed. How many definitions, how fast, how many annotated mentions they expand, and a
sample to judge by eye.

Example: python benchmarks/definitions.py --data ../shared/data --sample 20 --seed 0
"""

import logging
import random
from argparse import ArgumentParser
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from _common.cli import begin, clear_errors, fail, finish, make_parser
from _common.datasets import blank_english
from _common.options import at_least
from _measure.stopwatch import time_call
from spacy.tokens import Doc

from spacy_connorm.documents import read_corpus
from spacy_connorm.documents.abbreviations import read_abbreviations, set_abbreviations
from spacy_connorm.documents.mentions import annotated_mentions
from spacy_connorm.evaluation.report import Row
from spacy_connorm.text.abbreviations import find_abbreviations
from spacy_connorm.text.expansion import expand

FILES = {
    "ncbi": "ncbi_disease/{}.pubtator.txt.gz",
    "bc5cdr": "bc5cdr/{}.pubtator.txt.gz",
    "nlmchem": "nlmchem_{}/test.pubtator.txt.gz",
    "craft": "craft/{}.jsonl.gz",
}
PARTS = ("train", "dev", "test")
OURS, PACKAGE = "spacy_connorm", "abbreviations"
# Gives the long forms by short form at an offset.
LongForms = Callable[[int], Mapping[str, str]]


class Found(NamedTuple):
    """The definitions of a document.

    pairs (Set[Tuple[str, str]]): Short and long forms.
    long_forms (Callable[[int], Mapping[str, str]]): Long forms by short form, at an offset.
    """

    pairs: set[tuple[str, str]]
    long_forms: LongForms


Finder = Callable[[Doc], Found]


def main() -> None:
    arguments = begin(add_options(make_parser(__doc__ or "")))
    finders = {OURS: find_here, **package_finder()}
    if PACKAGE not in finders:
        print(f"The package {PACKAGE} is not installed and was left out.\n")
    rows: list[Row] = []
    drawn: dict[str, list[tuple[str, str]]] = {}
    for corpus in arguments.corpus or FILES:
        docs = read(arguments.data, corpus)
        found = {}
        for name, finder in finders.items():
            found[name], seconds = find_all(finder, docs)
            rows.append({"corpus": corpus, "finder": name, **count(docs, found[name], seconds)})
        for title, pairs in compare(found).items():
            drawn.setdefault(title, []).extend(pairs)
    finish(rows, arguments.json)
    for title, pairs in drawn.items():
        print_sample(title, pairs, number=arguments.sample, seed=arguments.seed)


def add_options(parser: ArgumentParser) -> ArgumentParser:
    """RETURNS (ArgumentParser): The same, with the benchmark's options."""
    parser.add_argument("--corpus", choices=FILES, action="append", help="repeatable [all]")
    parser.add_argument(
        "--sample", type=at_least(0), default=20, help="definitions to print [%(default)s]"
    )
    parser.add_argument("--seed", type=int, default=0, help="of the sample [%(default)s]")
    return parser


def read(data: Path, corpus: str) -> list[Doc]:
    """RETURNS (List[Doc]): The documents of all parts of a corpus that exist."""
    paths = [data / FILES[corpus].format(part) for part in PARTS]
    present = [path for path in paths if path.is_file()]
    if not present:
        fail(f"No data: {paths[-1]} is not there. Name its folder with --data.")
    with clear_errors():
        return [doc for path in present for doc in read_corpus(path, nlp=blank_english())]


def find_all(finder: Finder, docs: Sequence[Doc]) -> tuple[list[Found], float]:
    """RETURNS (Tuple[List[Found], float]): What a finder finds in documents, and in how many
    seconds.
    """
    found: list[Found] = []
    return found, time_call(lambda: found.extend(map(finder, docs))).clock


def find_here(doc: Doc) -> Found:
    """RETURNS (Found): What our finder finds."""
    definitions = find_abbreviations(doc.text)
    set_abbreviations(doc, definitions)
    return Found({(each.short, each.long) for each in definitions}, read_abbreviations(doc).at)


def package_finder() -> dict[str, Finder]:
    """RETURNS (Dict[str, Callable[[Doc], Found]]): The package's finder by its name; empty if it is
    not installed.
    """
    # Importing it configures logging.
    logging.getLogger().addHandler(logging.NullHandler())
    try:
        from abbreviations.schwartz_hearst import extract_abbreviation_definition_pairs as extract
    except ImportError:
        return {}

    def find(doc: Doc) -> Found:
        pairs = extract(doc_text=doc.text)
        long_forms = {short: " ".join(long.split()) for short, long in pairs.items()}
        return Found(set(long_forms.items()), lambda offset: long_forms)

    return {PACKAGE: find}


def count(docs: Sequence[Doc], found: Sequence[Found], seconds: float) -> Row:
    """RETURNS (Dict[str, Any]): Counts of documents, definitions and mentions."""
    mentions = [
        (mention.text, each.long_forms(mention.extent[1] - 1))
        for doc, each in zip(docs, found, strict=True)
        for mention in annotated_mentions(doc)
    ]
    return {
        "documents": len(docs),
        "with definitions": sum(bool(each.pairs) for each in found),
        "definitions": sum(len(each.pairs) for each in found),
        "mentions": len(mentions),
        "expanded": sum(expand(text, known) != text for text, known in mentions),
        "ms/document": round(1000 * seconds / len(docs), 2),
    }


def compare(found: Mapping[str, Sequence[Found]]) -> dict[str, list[tuple[str, str]]]:
    """RETURNS (Dict[str, List[Tuple[str, str]]]): Our definitions, and those that only one finder
    found.
    """
    here = found[OURS]
    pairs = {"found here": [pair for each in here for pair in sorted(each.pairs)]}
    if PACKAGE in found:
        both = list(zip(here, found[PACKAGE], strict=True))
        pairs["found here only"] = [x for our, its in both for x in sorted(our.pairs - its.pairs)]
        pairs["package only"] = [x for our, its in both for x in sorted(its.pairs - our.pairs)]
    return pairs


def print_sample(title: str, pairs: list[tuple[str, str]], *, number: int, seed: int) -> None:
    """Print a random sample of definitions."""
    drawn = random.Random(seed).sample(pairs, min(number, len(pairs)))
    if drawn:
        print(f"\n{title}: {len(drawn)} of {len(pairs)}, drawn at random\n")
    for short, long in drawn:
        print(f"- {short}: {long}")


if __name__ == "__main__":
    main()
