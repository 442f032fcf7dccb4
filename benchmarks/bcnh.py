"""The tables of BCNH (Yan et al. 2021, Tables 1 and 3): BioSyn's marginal likelihood and the
list-wise cross entropy, each with and without the norm loss, compared with the encoder that
training starts from. Accuracy of OD-T with the learned weight of n-grams, beside the same n-grams
as in training: the mean over seeds and its 95 % interval, also of what a loss gains over BioSyn's
with the same seed. Then, like Table 2, what an example mention finds before and after training.

What the norm loss does is shown beside it: `length_ratio`, how much longer the vectors of concepts
with children are than those of others, and `hypernym@1`, how often the first answer is wrong
because it is an ancestor.

As in the papers, vectors are compared by inner product, n-grams (characters and pairs of them)
choose half of the candidates, their weight is learned from 0, and mentions and names are prepared
as BioSyn does. With several of `--temperature` each loss has the one that is best on dev, seed 0.
Training starts from an encoder that has not seen the mentions: the DAN's embeddings before any
training, or MiniLM as published. The ontology is CTD's of 2017, which has a hierarchy; candidates
are names of O, mentions are D.

Each trained encoder is kept in the work folder: a run that was stopped goes on when it is started
again, and one with more seeds trains only these.

Example: python benchmarks/bcnh.py --encoder dan --seeds 3 --data ../shared/data --json bcnh.json
"""

from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from itertools import cycle
from pathlib import Path
from statistics import mean
from typing import Any

import numpy as np
import srsly
from _common.builders import ask_lookup, build_lookup, cached_encoder, make_hybrid
from _common.cli import begin, clear_errors, finish_tables, make_parser
from _common.config_variants import config_from, fit_processor, start_block
from _common.datasets import DATASETS, PARTS
from _common.options import at_least
from _common.prepared import PreparedData, read_prepared
from _common.scoring import DEPTH
from _common.seeds import by_seed, mean_columns
from _common.trained_encoders import keep_config, train_once
from thinc.api import Config, Model

from spacy_connorm.concepts import Candidate, Ontology
from spacy_connorm.evaluation import Gold, Prediction, score_predictions
from spacy_connorm.evaluation.metrics import lenient_rank
from spacy_connorm.evaluation.mistakes import ConceptFacts, concept_facts, is_ancestor
from spacy_connorm.evaluation.queries import biosyn_texts
from spacy_connorm.evaluation.report import Row, score_row
from spacy_connorm.index.backends.exact import ExactIndex

CONFIG = Path(__file__).parents[1] / "assets" / "bcnh.cfg"
ONTOLOGY = "ctd_diseases_2017/CTD_diseases.tsv.gz"
SEARCH = "OD-T"
SCORES = ("lenient@1", "lenient@5")
# BioSyn's n-grams, as in the config.
LEXICAL = {
    "@architectures": "spacy-connorm.NgramEncoder.v1",
    "analyzer": "char",
    "ngram_range": [1, 2],
}
# Their weight in the search before training.
START_WEIGHT = 0.3
# Lower than in `assets/dan.cfg`; 5e-3 was worse on dev.
DAN_ENCODER, DAN_RATE = "spacy-connorm.DanEncoder.v1", 1e-3
# The paper's example (Table 2), and its concept.
EXAMPLE, EXAMPLE_ID = "B-cell non-Hodgkins lymphomas", "D016393"
SHOWN = 10


@dataclass(frozen=True)
class Variant:
    """A row of the ablation.

    name (str): The paper's.
    objective (str): The registered name.
    norm_weight (float): Of the norm loss.
    published (Tuple[float, float]): Its Acc@1 and Acc@5 on NCBI test, with BioBERT and MEDIC of
        2021.
    """

    name: str
    objective: str
    norm_weight: float
    published: tuple[float, float]

    @property
    def slug(self) -> str:
        """RETURNS (str): Its name in files and options."""
        letters = "".join(c if c.isalnum() else " " for c in self.name.lower())
        return "-".join(letters.split())


VARIANTS = (
    Variant("BioSyn", "spacy-connorm.BioSyn.v1", 0.0, (89.88, 93.82)),
    Variant("BioSyn (+ norm)", "spacy-connorm.BioSyn.v1", 1.0, (90.07, 94.18)),
    Variant("BCNH (+ list-wise)", "spacy-connorm.Bcnh.v1", 0.0, (90.55, 94.81)),
    Variant("BCNH (both)", "spacy-connorm.Bcnh.v1", 1.0, (90.61, 95.00)),
)
BASELINE = VARIANTS[0]


@dataclass(frozen=True)
class Outcome:
    """The scores of an encoder.

    lexical_weight (float): Of n-grams in the search.
    scores (Dict[str, float]): In percent.
    length_ratio (float): From `length_ratio`.
    example (List[Candidate]): Of the example mention.
    """

    lexical_weight: float
    scores: Row
    length_ratio: float
    example: list[Candidate]

    def __str__(self) -> str:
        return str(self.scores)


def main() -> None:
    arguments = begin(add_options(make_parser(__doc__ or "")))
    with clear_errors():
        tables = measure(arguments)
    finish_tables(tables, arguments.json, precise=("length_ratio",))


def add_options(parser: ArgumentParser) -> ArgumentParser:
    """RETURNS (ArgumentParser): The same, with the benchmark's options."""
    add = parser.add_argument
    add(
        "--encoder",
        default="dan",
        help="where training starts: dan (before any training), minilm, a FOLDER, or a training "
        "config (.cfg), which is trained on O and D first [%(default)s]",
    )
    slugs = [variant.slug for variant in VARIANTS]
    chosen = {"choices": slugs, "nargs": "+", "default": slugs}
    add("--model", **chosen, help="beside BioSyn's loss [all]")
    add("--seeds", type=at_least(1), default=3, help="[%(default)s]")
    temperatures = {"type": float, "nargs": "+", "default": [None], "metavar": "T"}
    add(
        "--temperature",
        **temperatures,
        help="other than the config's; of several, each loss's best on dev",
    )
    add("--dataset", default="ncbi", choices=DATASETS, help="[%(default)s]")
    add("--part", default="dev", choices=PARTS, help="[%(default)s]")
    add("--ontology", type=Path, metavar="PATH", help="another than CTD's of 2017")
    add("--epochs", type=at_least(1), help="another number than the config's")
    return parser


def measure(arguments: Namespace) -> dict[str, list[Row]]:
    """RETURNS (Dict[str, List[Dict[str, Any]]]): The two tables by title."""
    data = read_data(arguments, arguments.part)
    temperatures, tried = choose_temperatures(arguments)
    start = start_block(arguments.encoder, data, arguments.work)
    searched = partial(search, data=data, work=arguments.work)
    outcomes = {
        "start, without n-grams": [searched(start, 0.0)],
        "start": [searched(start, START_WEIGHT)],
    }
    variants = {variant.name: variant for variant in chosen_variants(arguments)}

    def train_and_search(name: str, seed: int) -> Outcome:
        temperature = temperatures[name]
        return searched(*train(variants[name], start, data, arguments, temperature, seed=seed))

    outcomes |= by_seed(variants, arguments.seeds, train_and_search)
    head = {"dataset": arguments.dataset, "part": arguments.part, "mentions": len(data.mentions)}
    published = {variant.name: variant.published for variant in VARIANTS}
    shown = [name for name in ("start", BASELINE.name, VARIANTS[-1].name) if name in outcomes]
    return {
        **({"Temperatures, dev, one seed": tried} if tried else {}),
        "Accuracy": [
            head
            | {"temperature": temperatures.get(name)}
            | summary(name, each)
            | gains(each, outcomes[BASELINE.name])
            | dict(zip(("paper@1", "paper@5"), published.get(name, (None, None)), strict=True))
            for name, each in outcomes.items()
        ],
        f"'{EXAMPLE}'": example_rows(
            {name: outcomes[name][0].example for name in shown}, data.ontology
        ),
    }


def read_data(arguments: Namespace, part: str) -> PreparedData:
    """RETURNS (PreparedData): A part of the data set, and the ontology."""
    ontology = arguments.ontology or arguments.data / ONTOLOGY
    data = PreparedData(arguments.dataset, arguments.data, ontology=ontology, part=part)
    data.require_hierarchy()
    return data


def chosen_variants(arguments: Namespace) -> list[Variant]:
    """RETURNS (List[Variant]): BioSyn's loss, which the others are compared with, and those asked
    for.
    """
    asked = {BASELINE.slug, *arguments.model}
    return [variant for variant in VARIANTS if variant.slug in asked]


def choose_temperatures(arguments: Namespace) -> tuple[dict[str, float | None], list[Row]]:
    """Train each loss with each temperature, with seed 0, if there are several.

    arguments (Namespace): The options.
    RETURNS (Tuple[Dict[str, Optional[float]], List[Dict[str, Any]]]): By loss the temperature with
        the highest Acc@1 on dev, the first of equals; and what each has.
    """
    variants = chosen_variants(arguments)
    if len(arguments.temperature) == 1:
        return {variant.name: arguments.temperature[0] for variant in variants}, []
    data = read_data(arguments, "dev")
    start = start_block(arguments.encoder, data, arguments.work)
    rows, best = [], {}
    for variant in variants:
        scores = {}
        for temperature in arguments.temperature:
            trained = train(variant, start, data, arguments, temperature, seed=0)
            found = search(*trained, data=data, work=arguments.work).scores
            scores[temperature] = found[SCORES[0]]
            own = {score: round(found[score], 1) for score in SCORES}
            rows.append({"model": variant.name, "temperature": temperature, **own})
        best[variant.name] = max(arguments.temperature, key=scores.__getitem__)
    return best, rows


def train(
    variant: Variant,
    start: dict[str, Any],
    data: PreparedData,
    arguments: Namespace,
    temperature: float | None,
    *,
    seed: int,
) -> tuple[dict[str, Any], float]:
    """RETURNS (Tuple[Dict[str, Any], float]): The trained encoder's block, and the learned weight
    of n-grams.
    """
    config = make_config(variant, start, arguments, temperature, seed=seed)
    path = keep_config(config, f"{variant.slug}-{seed}", arguments.work)
    block = train_once(path, data, on="OD", work=arguments.work)
    return block, srsly.read_json(Path(block["name"], "learned.json"))["lexical_weight"]


def make_config(
    variant: Variant,
    start: dict[str, Any],
    arguments: Namespace,
    temperature: float | None,
    *,
    seed: int,
) -> Config:
    """RETURNS (Config): What a variant is trained with.

    variant (Variant): Its objective.
    start (Dict[str, Any]): The block of the encoder to start from.
    arguments (Namespace): The options.
    temperature (Optional[float]): Of the objective; the config's if None.
    seed (int): Of the training.
    """
    config = config_from(CONFIG, start)
    training = config["training"]
    training["seed"] = seed
    training["objective"] |= {"@losses": variant.objective, "norm_weight": variant.norm_weight}
    if temperature is not None:
        training["objective"]["temperature"] = temperature
    if start["@architectures"] == DAN_ENCODER:
        training["arguments"]["learning_rate"] = DAN_RATE
    if not variant.norm_weight:
        training["batcher"]["hypernyms"] = 0
    if arguments.epochs is not None:
        training["arguments"]["num_train_epochs"] = arguments.epochs
    fit_processor(config)
    return config


def search(block: dict[str, Any], weight: float, *, data: PreparedData, work: Path) -> Outcome:
    """RETURNS (Outcome): The scores of an encoder with n-grams."""
    searched = make_hybrid(block, weight, LEXICAL) if weight else block
    backend = ExactIndex(metric="dot")
    lookup = build_lookup(searched, data, searches=[SEARCH], work=work, backend=backend)
    (example,) = ask_lookup(lookup, biosyn_texts(EXAMPLE, (), {}, "en"), top_k=SHOWN)
    mentions = read_prepared(data)
    gold = mentions.gold
    predictions = mentions.predict(ask_lookup(lookup, mentions.texts, top_k=DEPTH))
    row = score_row(score_predictions(gold, predictions))
    scores = {score: row[score] for score in SCORES}
    scores["hypernym@1"] = hypernym_share(gold, predictions, concept_facts(lookup))
    # Built from the kept vectors of the same names.
    dense = cached_encoder(block, work)
    dense.initialize()
    return Outcome(weight, scores, length_ratio(dense, data.ontology), example)


def length_ratio(encoder: Model, ontology: Ontology) -> float:
    """RETURNS (float): The mean length of the vectors of concepts with children, by their first
    names, divided by that of the others.
    """
    above = {ontology.primary_id(parent) for concept in ontology for parent in concept.parents}
    vectors = np.asarray(encoder.predict([concept.names[0] for concept in ontology]))
    lengths = np.linalg.norm(vectors, axis=1)
    has_children = np.array([concept.concept_id in above for concept in ontology])
    return float(lengths[has_children].mean() / lengths[~has_children].mean())


def hypernym_share(
    gold: Sequence[Gold], predictions: Sequence[Prediction], facts: ConceptFacts
) -> float:
    """RETURNS (float): The percentage of mentions whose first answer is wrong and an ancestor."""
    hypernyms = [
        lenient_rank(prediction.candidates, own) != 1 and is_ancestor(own, prediction, facts)
        for own, prediction in zip(gold, predictions, strict=True)
    ]
    return 100 * mean(hypernyms)


def summary(name: str, outcomes: Sequence[Outcome]) -> Row:
    """RETURNS (Dict[str, Any]): The means of a model's scores over the seeds."""
    return {
        "model": name,
        "seeds": len(outcomes),
        "lexical_weight": round(mean(outcome.lexical_weight for outcome in outcomes), 3),
        **mean_columns([outcome.scores for outcome in outcomes], SCORES),
        "hypernym@1": round(mean(outcome.scores["hypernym@1"] for outcome in outcomes), 2),
        "length_ratio": round(mean(outcome.length_ratio for outcome in outcomes), 2),
    }


def gains(outcomes: Sequence[Outcome], over: Sequence[Outcome]) -> Row:
    """RETURNS (Dict[str, Any]): What a model gains over another with the same seed, the mean and
    its interval; what was not trained is the same with each seed.
    """
    differences = [
        {f"{score} gain": own.scores[score] - other.scores[score] for score in SCORES}
        for own, other in zip(cycle(outcomes), over, strict=False)
    ]
    return mean_columns(differences, [f"{score} gain" for score in SCORES])


def example_rows(found: dict[str, list[Candidate]], ontology: Ontology) -> list[Row]:
    """RETURNS (List[Dict[str, Any]]): The texts found, by rank. * right, + a hypernym."""
    parents = ontology[EXAMPLE_ID].parents if EXAMPLE_ID in ontology else ()
    above = map(ontology.primary_id, parents)
    signs = {**dict.fromkeys(above, "+"), EXAMPLE_ID: "*"}
    return [
        {"rank": rank + 1}
        | {
            name: f"{candidates[rank].text} {signs.get(candidates[rank].concept_id, '')}".strip()
            for name, candidates in found.items()
        }
        for rank in range(min(map(len, found.values())))
    ]


if __name__ == "__main__":
    main()
