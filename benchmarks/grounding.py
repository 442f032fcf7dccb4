"""Conceptual grounding (Fivez et al. 2021, Tables 3 to 5): how high the names of a concept rank
when one of them is asked for, by plain word vectors, with CCA, with a network, with both, and by
BNE, the paper's reference. Below, the first ten names for two phrases, by all encoders (Tables 6
and 7).

The sets stand in for the paper's, and so do the word vectors and the size of the network: the page
in the docs says how they differ. Published numbers are those of the set that is stood in for.

Example: python benchmarks/grounding.py --set corpora --data ../shared/data --json grounding.json
"""

import sys
from argparse import ArgumentParser, ArgumentTypeError, Namespace
from collections.abc import Iterator, Sequence

import numpy as np
from _common.builders import load_encoder
from _common.cli import begin, finish_tables, make_parser
from _common.grounding_encoders import (
    BNE,
    VARIANTS,
    Encode,
    Size,
    grounded_encoder,
    word_vector_block,
)
from _common.options import at_least
from _common.synonym_sets import SETS, Split, flat, places_of, split_set

from spacy_connorm.evaluation.metrics import RetrievalScores, score_retrieval
from spacy_connorm.evaluation.report import Row

SHOWN = 10
# Of split and training.
SEED = 0
ALL = (*VARIANTS, BNE)
# Test names whose train names have other words.
PHRASES = {
    "medic": ("mud fever", "visual amnesia"),
    "icd10": ("breakbone fever", "west african sleeping sickness"),
    "corpora": ("immune cells", "muscle cells"),
}
# In percent: mAP, accuracy and MRR of train, test and zero-shot names.
PUBLISHED = {
    "medic": {
        "vectors": ((59, 55, 64), (56, 68, 76), (71, 75, 82)),
        "cca": ((62, 57, 67), (59, 70, 78), (73, 76, 83)),
        "dan": ((94, 91, 94), (78, 78, 83), (79, 84, 88)),
        "cca-dan": ((99, 99, 99), (84, 81, 85), (81, 85, 89)),
        "bne": ((68, 63, 72), (63, 73, 80), (75, 80, 85)),
    },
    "icd10": {
        "vectors": ((38, 56, 65), (43, 66, 74), (56, 83, 87)),
        "cca": ((42, 59, 68), (47, 70, 76), (61, 85, 89)),
        "dan": ((98, 97, 98), (76, 75, 79), (65, 86, 89)),
        "cca-dan": ((99, 99, 99), (79, 77, 80), (67, 87, 90)),
        "bne": ((77, 81, 86), (63, 75, 80), (65, 87, 90)),
    },
    "corpora": {
        "vectors": ((41, 51, 61), (51, 70, 76), (43, 61, 68)),
        "cca": ((44, 53, 63), (53, 72, 77), (45, 62, 70)),
        "dan": ((83, 85, 90), (67, 71, 76), (43, 59, 67)),
        "cca-dan": ((88, 89, 93), (70, 73, 77), (45, 60, 67)),
        "bne": ((71, 74, 81), (64, 72, 77), (45, 62, 70)),
    },
}


def main() -> None:
    arguments = begin(add_options(make_parser(__doc__ or "")))
    split = split_set(arguments.set, arguments.data, seed=SEED)
    rows: list[Row] = []
    found: dict[str, list[list[str]]] = {}
    # While it lives, the vectors are read once.
    words = load_encoder(word_vector_block(arguments.data, arguments.work))
    print(f"Word vectors: {words.get_dim('nO')} dimensions", file=sys.stderr)
    pairs = [len(own) * (len(own) - 1) for own in split.train.values()]
    drawn = [min(count, arguments.max_pairs or count) for count in pairs]
    print(f"Pairs of train: {sum(pairs):,}; in an epoch: {sum(drawn):,}", file=sys.stderr)
    phrases = arguments.phrase or PHRASES[arguments.set]
    for variant in arguments.variant:
        encoded, facts = make_encoder(variant, split, arguments)
        rows += [{**facts, **row} for row in score_parts(encoded, split, facts)]
        found[variant] = nearest(encoded, phrases, split)
    finish_tables(
        {
            "Synonym retrieval": rows,
            **{
                f"'{phrase}'": [
                    {"rank": rank + 1, **{name: own[place][rank] for name, own in found.items()}}
                    for rank in range(len(found[arguments.variant[0]][place]))
                ]
                for place, phrase in enumerate(phrases)
            },
        },
        arguments.json,
    )


def add_options(parser: ArgumentParser) -> ArgumentParser:
    """RETURNS (ArgumentParser): The same, with the benchmark's options."""
    add = parser.add_argument
    add("--set", required=True, choices=SETS)
    add("--variant", choices=ALL, nargs="+", default=ALL, help="[all of them]")
    add("--hidden", type=at_least(1), default=1600, help="units [%(default)s]")
    add("--bne-units", type=even, default=256, help="of its LSTM, both directions [%(default)s]")
    add(
        "--max-pairs",
        type=at_least(0),
        default=20,
        help="pairs of a concept in an epoch; 0 for all [%(default)s]",
    )
    add("--epochs", type=at_least(1), default=20, help="at most [%(default)s]")
    add("--phrase", action="append", help="to show the nearest names of; repeatable")
    return parser


def even(text: str) -> int:
    """RETURNS (int): An even number of at least 2."""
    number = at_least(2)(text)
    if number % 2:
        raise ArgumentTypeError(f"both directions have as many units: expected no odd {text}")
    return number


def make_encoder(variant: str, split: Split, arguments: Namespace) -> tuple[Encode, Row]:
    """RETURNS (Tuple[Callable, Dict[str, Any]]): The encoder, and the first columns of its rows."""
    hidden = arguments.bne_units if variant == BNE else arguments.hidden
    made = grounded_encoder(
        variant,
        arguments.set,
        split,
        size=Size(hidden, arguments.max_pairs or None, arguments.epochs),
        seed=SEED,
        data=arguments.data,
        work=arguments.work,
    )
    facts = {
        "set": arguments.set,
        "variant": variant,
        "hidden": hidden if made.epochs is not None else None,
        "epochs": made.epochs,
        "seconds": made.seconds,
    }
    return made.encode, facts


def score_parts(encoded: Encode, split: Split, facts: Row) -> Iterator[Row]:
    """Score train, test and zero-shot names. Test names are looked for among all train names, the
    others among their own, each without itself.

    encoded (Callable): The encoder.
    split (Split): The names.
    facts (Dict[str, Any]): Names set and variant.
    YIELDS (Dict[str, Any]): One row a part, in percent.
    """
    published_parts = PUBLISHED[facts["set"]][facts["variant"]]
    published = dict(zip(("train", "test", "zero-shot"), published_parts, strict=True))
    names = encoded(flat(split.train))
    places = dict(zip(split.train, places_of(split.train), strict=True))
    asked = encoded([name for name, _ in split.test])
    relevant = [places[concept] for _, concept in split.test]
    parts = {
        "train": score_within(names, list(places.values())),
        "test": (len(asked), score_retrieval(asked, names, relevant)),
        "zero-shot": score_within(encoded(flat(split.zero_shot)), places_of(split.zero_shot)),
    }
    for part, (mentions, scores) in parts.items():
        row = {"part": part, "mentions": mentions}
        row |= {name: round(100 * each, 1) for name, each in scores._asdict().items()}
        columns = (f"published_{name}" for name in scores._fields)
        yield row | dict(zip(columns, published[part], strict=True))


def score_within(vectors: np.ndarray, members: Sequence[np.ndarray]) -> tuple[int, RetrievalScores]:
    """RETURNS (Tuple[int, RetrievalScores]): How many names have a synonym, and the scores when
    each of these is asked for in turn.
    """
    pairs = [(row, own[own != row]) for own in members if len(own) > 1 for row in own]
    itself = np.asarray([row for row, _ in pairs])
    relevant = [others for _, others in pairs]
    return len(pairs), score_retrieval(vectors[itself], vectors, relevant, itself=itself)


def nearest(encoded: Encode, phrases: Sequence[str], split: Split) -> list[list[str]]:
    """RETURNS (List[List[str]]): The nearest train names of each phrase, nearest first; * if they
    are of the concept that the phrase names.
    """
    names = flat(split.train)
    concepts = [concept for concept, own in split.train.items() for _ in own]
    known = {
        **dict(zip(names, concepts, strict=True)),
        **dict(split.validation),
        **dict(split.test),
    }
    vectors, points = encoded(list(phrases)), encoded(names)
    lengths = np.maximum(np.linalg.norm(points, axis=1), 1e-12)
    found = []
    for phrase, vector in zip(phrases, vectors, strict=True):
        cosines = points @ vector / lengths
        # A phrase is not its own neighbour.
        cosines[[row for row, name in enumerate(names) if name == phrase]] = -np.inf
        rows = np.argsort(-cosines, kind="stable")[:SHOWN].tolist()
        own = known.get(phrase)
        found.append([f"{names[row]}{' *' * (concepts[row] == own)}" for row in rows])
    return found


if __name__ == "__main__":
    main()
