"""How certain is it that a short form stands for the names that begin with its letters? Asks an
index of some of the long forms of clinical notes for their short forms, and for as many others.

Example: python benchmarks/initials.py
"""

import random
from argparse import ArgumentParser, Namespace
from collections import defaultdict
from collections.abc import Iterator

from _common.cli import begin, clear_errors, finish, make_parser

from spacy_connorm.concepts import Concept, Ontology
from spacy_connorm.evaluation.report import Row, percent
from spacy_connorm.lang import load_language
from spacy_connorm.linker.initials import Initials
from spacy_connorm.pipeline.loading import load_pipeline
from spacy_connorm.text.short_forms import is_short_form
from spacy_connorm.workflows.indexing import build_index

# Expansions are counted by their certainty, in steps of this size.
_STEP = 0.2


def main() -> None:
    arguments = begin(add_options(make_parser(__doc__ or "")))
    with clear_errors():
        rows = list(measure(arguments))
    finish(rows, arguments.json)


def add_options(parser: ArgumentParser) -> ArgumentParser:
    """RETURNS (ArgumentParser): The same, with the benchmark's options."""
    add = parser.add_argument
    add("--names", type=int, nargs="+", default=[300, 600], help="in the index [%(default)s]")
    add("--draws", type=int, default=5, help="the number of indexes [%(default)s]")
    return parser


def measure(arguments: Namespace) -> Iterator[Row]:
    """YIELDS (Dict[str, Any]): One row a size and step of certainty."""
    pairs = [
        (row.short, row.long)
        for row in load_language("en").short_form_meanings
        if is_short_form(row.short) and len(row.long) > len(row.short)
    ]
    for size in arguments.names:
        counts = defaultdict[int, list[tuple[float, bool]]](list)
        asked, found = 0, 0
        for draw in range(arguments.draws):
            random.Random(draw).shuffle(pairs)
            known, others = pairs[:size], pairs[size : 2 * size]
            names = dict.fromkeys(long for _, long in known)
            folder = arguments.work / "initials" / f"{size}-{draw}"
            build_index(Ontology(Concept(name, name) for name in names), folder, encoder="ngrams")
            initials = Initials(load_pipeline(folder).get_pipe("concept_normalizer").lookup.index)
            for short, long in (*known, *others):
                expansions = initials.expand(short)
                asked += long in names
                found += long in names and any(text == long for text, _ in expansions)
                for text, certainty in expansions:
                    counts[int(certainty / _STEP)].append((certainty, text == long))
        for step, outcomes in sorted(counts.items()):
            certainties, are_right = zip(*outcomes, strict=True)
            yield {
                "names": size,
                "certainty": f"{step * _STEP:.1f} to {(step + 1) * _STEP:.1f}",
                "expansions": len(outcomes),
                "mean certainty": percent(sum(certainties) / len(outcomes)),
                "right": percent(sum(are_right) / len(outcomes)),
                "short forms with theirs": percent(found / asked),
            }


if __name__ == "__main__":
    main()
