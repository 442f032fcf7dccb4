"""What each step of reading mentions gains: abbreviations, composites, the lexical side, and every
step of text normalization, each switched on alone and all together, lenient and strict, on mentions
that D has and on those it has not. The last row is the papers' protocol, which looks at the number
of gold ids to split composites: to compare with their numbers, not with the other rows.

Example: python benchmarks/ablation.py --dataset ncbi --encoder minilm --data ../shared/data
"""

import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import lru_cache

from _common.builders import THRESHOLD, encoder_config, make_sieve
from _common.cli import begin, fail, finish, make_parser
from _common.datasets import DATASETS, Data
from _common.variants import Steps
from accuracy import DEPTH, add_encoder, add_part, labels, read_standard

from spacy_connorm.annotations.spans import written_id
from spacy_connorm.errors import ConnormError
from spacy_connorm.evaluation import Gold, Prediction, score_predictions
from spacy_connorm.evaluation.biosyn import biosyn_ids, biosyn_texts
from spacy_connorm.evaluation.pipelines.queries import join_parts
from spacy_connorm.evaluation.report import Row, score_row
from spacy_connorm.linker.interpretations import MentionInterpreter
from spacy_connorm.linker.lookup import ConceptLookup
from spacy_connorm.text.normalization import STEPS

SHOWN = (
    *("dataset", "part", "encoder", "search", "steps", "mentions", "lenient@1", "lenient@5"),
    *("strict@1", "seen_lenient@1", "seen_strict@1", "unseen_lenient@1", "unseen_strict@1"),
)
PREPARED = Steps(
    "the papers' protocol (composites split by the number of gold ids)",
    abbreviations=True,
    normalization=("punctuation", "case"),
)


def main() -> None:
    arguments = begin(add_options(make_parser(__doc__ or "")))
    try:
        finish(measure(arguments), arguments.json, columns=SHOWN)
    except ConnormError as error:
        fail(str(error))


def add_options(parser: ArgumentParser) -> ArgumentParser:
    """RETURNS (ArgumentParser): The same, with what is measured."""
    parser.add_argument("--dataset", required=True, choices=DATASETS, nargs="+")
    add_encoder(parser)
    add_part(parser)
    parser.add_argument("--search", default="D-T+OD-T", help="a search or a sieve [%(default)s]")
    parser.add_argument(
        "--threshold", type=float, default=THRESHOLD, help="of the sieve [%(default)s]"
    )
    parser.add_argument(
        "--lexical-weight", type=float, default=0.3, help="of the hybrid rows [%(default)s]"
    )
    parser.add_argument(
        "--normalization",
        nargs="*",
        choices=STEPS,
        default=(),
        metavar="STEP",
        help=f"in the last row: {', '.join(STEPS)}",
    )
    parser.add_argument("--ontology", metavar="PATH", help="another ontology than the usual one")
    return parser


def variants(weight: float, normalization: Sequence[str]) -> Iterator[Steps]:
    """YIELDS (Steps): One a row: none, each alone, and together; nothing lexical at weight 0."""
    yield Steps("none")
    yield Steps("composites", composites=True)
    yield Steps("abbreviations", abbreviations=True)
    together = Steps("abbreviations, composites", abbreviations=True, composites=True)
    yield together
    if weight:
        yield Steps("lexical", lexical_weight=weight)
        together = replace(together, name=f"{together.name}, lexical", lexical_weight=weight)
        yield together
    if normalization:
        name = f"{together.name}, {', '.join(normalization)}"
        yield replace(together, name=name, normalization=tuple(normalization))
    for step in STEPS:
        yield Steps(f"normalization: {step}", normalization=(step,))


def measure(arguments: Namespace) -> list[Row]:
    """RETURNS (List[Dict[str, Any]]): One row a data set and way to read mentions."""
    return [
        row
        for dataset in arguments.dataset
        for row in _measure_one(Namespace(**{**vars(arguments), "dataset": dataset}))
    ]


def _measure_one(arguments: Namespace) -> Iterator[Row]:
    data = Data(arguments.dataset, arguments.data, ontology=arguments.ontology, part=arguments.part)
    block = encoder_config(arguments.encoder, data, train=arguments.train, work=arguments.work)
    row = {**labels(arguments), "search": arguments.search}
    gold = read_standard(data)
    weight = 0.0 if arguments.encoder == "ngram" else arguments.lexical_weight

    # What follows one another differs only in how mentions are read, and asks the same index.
    @lru_cache(maxsize=1)
    def build(steps: Steps) -> ConceptLookup:
        lookup = steps.build(data, block, search=arguments.search, work=arguments.work)
        lookup.sieve = make_sieve(arguments.search, arguments.threshold)
        return lookup

    for steps in variants(weight, arguments.normalization):
        print(f"{arguments.dataset}: {steps.name}", file=sys.stderr)
        predictions = predict(steps, data, build(replace(steps, name="", composites=False)))
        yield {**row, "steps": steps.name, **score_row(score_predictions(gold, predictions))}
    gold, predictions = follow_papers(data, build(PREPARED))
    yield {**row, "steps": PREPARED.name, **score_row(score_predictions(gold, predictions))}


def follow_papers(data: Data, lookup: ConceptLookup) -> tuple[list[Gold], list[Prediction]]:
    """RETURNS (Tuple[List[Gold], List[Prediction]]): What is right, and what is found, if mentions
    are prepared as the papers prepare them; names are by the index.
    """
    ids = [biosyn_ids(mention.concept_ids) for mention in data.mentions]
    texts = [
        biosyn_texts(mention.text, gold_ids, {mention.text: long_form} if long_form else {})
        for mention, gold_ids, long_form in zip(data.mentions, ids, data.long_forms, strict=True)
    ]
    found = lookup.candidates([text for parts in texts for text in parts], top_k=DEPTH)
    answers = join_parts(found, map(len, texts))
    gold = [
        each._replace(concept_ids=frozenset(map(data.ontology.primary_id, gold_ids)))
        for each, gold_ids in zip(read_standard(data), ids, strict=True)
    ]
    return gold, [Prediction(each, written_id(each, None)) for each in answers]


def predict(steps: Steps, data: Data, lookup: ConceptLookup) -> list[Prediction]:
    """RETURNS (List[Prediction]): What a pipeline with these steps says of each mention."""
    reader = MentionInterpreter(lookup, top_k=DEPTH, split_composites=steps.composites)
    mentions = [mention.text for mention in data.mentions]
    long_forms = data.long_forms if steps.abbreviations else [""] * len(mentions)
    found = reader.candidates(mentions, long_forms)
    return [Prediction(candidates, written_id(candidates, None)) for candidates in found]


if __name__ == "__main__":
    main()
