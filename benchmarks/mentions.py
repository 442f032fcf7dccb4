"""How often is the right id written for mentions that were annotated for this project, three of ten
of which have none in the ontology, with the defaults: no annotations, no settings?

Examples: python benchmarks/mentions.py
python benchmarks/mentions.py --encoder accurate --names-only
python benchmarks/mentions.py --weights
"""

from argparse import ArgumentParser, Namespace
from collections.abc import Iterator

import numpy as np
from _common.cli import begin, clear_errors, finish, make_parser
from _common.written_mentions import SETS, WrittenMention, read_mentions, read_pipeline
from _common.written_texts import SETS as TEXTS
from _common.written_texts import WrittenTexts

from spacy_connorm.concepts import NIL, Candidate
from spacy_connorm.evaluation.report import Row, percent
from spacy_connorm.evaluation.tuning import measure_reliability
from spacy_connorm.linker.calibration import Calibration
from spacy_connorm.linker.decision import written_id

ENCODERS = ("ngrams", "accurate")


def main() -> None:
    arguments = begin(add_options(make_parser(__doc__ or "")))
    with clear_errors():
        if arguments.weights:
            print_weights(arguments)
        rows = list(measure(arguments))
    finish(rows, arguments.json)


def add_options(parser: ArgumentParser) -> ArgumentParser:
    """RETURNS (ArgumentParser): The same, with the benchmark's options."""
    add = parser.add_argument
    add("--set", choices=SETS, nargs="+", default=[*SETS], help="[all of them]")
    add("--encoder", choices=ENCODERS, nargs="+", default=[*ENCODERS], help="[both]")
    add("--no-initials", action="store_true", help="`read_initials = false`")
    add("--names-only", action="store_true", help="leave out the synonyms of the ontologies")
    add(
        "--nil-threshold",
        type=float,
        nargs="+",
        default=(0.0, 0.02, 0.1, 0.2, 0.5),
        help="[%(default)s]",
    )
    add("--weights", action="store_true", help="print the usual calibration, for the package")
    return parser


def measure(arguments: Namespace) -> Iterator[Row]:
    """YIELDS (Dict[str, Any]): One row a set, encoder and threshold."""
    for encoder in arguments.encoder:
        for name in arguments.set:
            folder = arguments.work / "mentions" / f"{encoder}-{arguments.names_only}" / name
            nlp = read_pipeline(name, folder, encoder, names_only=arguments.names_only)
            mentions = list(read_mentions(name))
            normalizer = nlp.get_pipe("concept_normalizer")
            normalizer.cfg["read_initials"] = not arguments.no_initials
            for threshold in arguments.nil_threshold:
                # Of several ways to read a mention, one that is not NIL answers.
                normalizer.cfg["nil_threshold"] = threshold
                found = normalizer.candidates([mention.text for mention in mentions])
                yield {
                    "set": name,
                    "with": f"{encoder}{', names only' if arguments.names_only else ''}",
                    "initials": not arguments.no_initials,
                    "NIL below": f"{threshold:g}",
                    **score(mentions, found, threshold),
                }


def score(
    mentions: list[WrittenMention], found: list[list[Candidate]], threshold: float
) -> dict[str, str | float | None]:
    """RETURNS (Dict[str, Any]): How many mentions have the right id or are rightly NIL, how many of
    the ids that are written are right, how many of those that exist are written, and the expected
    calibration error.
    """
    written = [written_id(candidates, threshold) for candidates in found]
    gold = [mention.concept_id or NIL for mention in mentions]
    right = np.array([one == other for one, other in zip(written, gold, strict=True)])
    is_written = np.array([one != NIL for one in written])
    is_linked = np.array([one != NIL for one in gold])
    first = [candidates[0] for candidates in found if candidates]
    are_first = [
        candidates[0].concept_id == mention.concept_id
        for mention, candidates in zip(mentions, found, strict=True)
        if candidates
    ]
    probabilities = np.array([candidate.probability for candidate in first])
    reliability = measure_reliability(probabilities, np.array(are_first))
    return {
        "mentions": len(mentions),
        "right": percent(right.mean()),
        "ids: precision": percent((right & is_written).sum() / max(is_written.sum(), 1)),
        "ids: recall": percent((right & is_linked).sum() / is_linked.sum()),
        "NIL: recall": percent((right & ~is_linked).sum() / (~is_linked).sum()),
        "first": percent(sum(are_first) / is_linked.sum()),
        "ECE": percent(reliability[1]),
    }


def print_weights(arguments: Namespace) -> None:
    """Print the mean of the calibrations that are fitted to the names of the English ontologies of
    `texts.py`. No mention that is scored here has a part in it.
    """
    fitted = []
    for encoder in ENCODERS:
        for name, language in TEXTS.items():
            if language == "en":
                folder = arguments.work / "texts" / encoder / name
                nlp = WrittenTexts(name).finder(folder, encoder)
                fitted.append(nlp.get_pipe("concept_normalizer").calibration)
    for field, number in zip(Calibration._fields, np.mean(fitted, axis=0), strict=True):
        print(f"{field} = {number:.2f}")


if __name__ == "__main__":
    main()
