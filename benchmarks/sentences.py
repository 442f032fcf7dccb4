"""What is found in plain sentences: nothing where there is no finding, in normal reports, other
trades or the words of a letter, and each finding of the others with its mark.

Examples: python benchmarks/sentences.py
python benchmarks/sentences.py --set sentences-hpo --show chosen
"""

from argparse import ArgumentParser, Namespace
from collections import defaultdict
from collections.abc import Iterator

from _common.cli import begin, clear_errors, finish, make_parser
from _common.sentences import HALVES, SETS, Asked, Sentence, ask, marked_spans

from spacy_connorm.evaluation.end_to_end import LinkedSpan
from spacy_connorm.evaluation.report import Row


def main() -> None:
    arguments = begin(add_options(make_parser(__doc__ or "")))
    with clear_errors():
        rows = list(measure(arguments))
    finish(rows, arguments.json)


def add_options(parser: ArgumentParser) -> ArgumentParser:
    """RETURNS (ArgumentParser): The same, with the benchmark's options."""
    add = parser.add_argument
    add("--set", choices=SETS, nargs="+", default=[*SETS], help="[all of them]")
    add("--show", choices=HALVES, help="print the failed sentences of a half")
    return parser


def measure(arguments: Namespace) -> Iterator[Row]:
    """YIELDS (Dict[str, Any]): One row a set, half and kind, with how many passed."""
    for name in arguments.set:
        asked = ask(name, arguments.data)
        passed = defaultdict[tuple[str, str], list[bool]](list)
        for sentence, spans in _read(asked):
            passes = is_right(asked.marked_ids(sentence), spans)
            passed[sentence.half, sentence.kind].append(passes)
            if not passes and sentence.half == arguments.show:
                print(f"{name}, {sentence.kind}: {sentence.text!r}: {_describe(asked, spans)}")
        for (half, kind), each in sorted(passed.items(), reverse=True):
            row = {"set": name, "half": half, "kind": kind}
            yield {**row, "passed": sum(each), "all": len(each)}


def _read(asked: Asked) -> Iterator[tuple[Sentence, list[LinkedSpan]]]:
    docs = asked.finder().pipe(sentence.text for sentence in asked.sentences)
    for sentence, doc in zip(asked.sentences, docs, strict=True):
        yield sentence, marked_spans(doc, asked.ontology)


def is_right(wanted: set[str], spans: list[LinkedSpan]) -> bool:
    """RETURNS (bool): Whether all findings of a sentence are found with their marks and no other
        ones, or nothing where there is none.

    wanted (Set[str]): The ids of its findings, with their marks.
    spans (List[LinkedSpan]): What was found.
    """
    found = {concept_id for span in spans for concept_id in span.concept_ids}
    wanted_ids = {marked.split()[0] for marked in wanted}
    marked_so = {marked for marked in found if marked.split()[0] in wanted_ids}
    return marked_so == wanted if wanted else not found


def _describe(asked: Asked, spans: list[LinkedSpan]) -> str:
    return "; ".join(
        f"[{span.text}] {asked.ontology[marked.split()[0]].canonical_name} {marked}"
        for span in spans
        for marked in sorted(span.concept_ids)
    )


if __name__ == "__main__":
    main()
