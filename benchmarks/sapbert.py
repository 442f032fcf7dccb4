"""SapBERT's comparisons (Liu et al. 2021): seven losses, all on pairs from online mining (Table 6);
the last of them also without mining (Table 2); what mining leaves of a batch (Figure 2); and the
names of some concepts in the plane, before and after training with that loss (Figure 1).

Training starts from an encoder that has seen neither names nor mentions: the DAN's embeddings
before any training, or MiniLM as published. It sees the names of the ontology alone, drawn as pairs
of synonyms, for the same number of steps with each loss; settings of losses and mining are the
paper's (Table 9). With several of `--learning-rate` and `--steps` each loss has those that are best
on dev, seed 0, over all data sets. `--adapter-rank` trains low-rank adapters instead of all
weights. Mentions are looked for among the same names. The mean over seeds and its 95 % interval;
`kept_positives` and `kept_negatives` are the shares of the pairs of a batch that mining would keep
after training, in percent. The paper trains PubMedBERT on UMLS and scores COMETA.

Each trained encoder is kept in the work folder: a run that was stopped goes on when it is started
again, and one with more seeds trains only these.

Example: python benchmarks/sapbert.py --data ../shared/data --learning-rate 1e-3 3e-3 1e-2
"""

from argparse import ArgumentParser, Namespace
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import product
from pathlib import Path
from statistics import mean
from typing import Any, NamedTuple

import numpy as np
from _common.builders import ask_lookup, build_lookup, load_encoder
from _common.cli import begin, clear_errors, fail, finish_tables, make_parser
from _common.config_variants import config_from, fit_processor, start_block, untrained
from _common.datasets import DISEASES, Data
from _common.name_map import choose_names, draw_names, separation
from _common.options import at_least
from _common.scoring import DEPTH, predict, read_standard
from _common.seeds import by_seed, mean_columns
from _common.trained_encoders import keep_config, train_once
from thinc.api import Config

from spacy_connorm.encoders import encoder_inputs
from spacy_connorm.evaluation import score_predictions
from spacy_connorm.evaluation.report import Row, score_row
from spacy_connorm.training.batchers import SynonymPairBatcher
from spacy_connorm.training.pool import build_pool

CONFIG = Path(__file__).parents[1] / "assets" / "sapbert.cfg"
PART, SEARCH = "dev", "O-T"
SCORES = ("lenient@1", "lenient@5")
MARGIN = 0.2
# As told in `assets/sapbert.cfg`.
ADAPTER, ALPHA_PER_RANK = "spacy-connorm.LoraAdapter.v1", 2
MINED = {"mining_margin": MARGIN}
BINS = 40
PRECISE = ("mean_positive", "mean_negative", "overlap", "silhouette")
KEPT = ("kept_positives", "kept_negatives")


class Length(NamedTuple):
    """How far a training goes.

    rate (Optional[float]): The learning rate; the config's if None.
    steps (int): How many.
    """

    rate: float | None
    steps: int


@dataclass(frozen=True)
class Loss:
    """A row of the comparison.

    name (str): The paper's.
    objective (str): The registered name.
    settings (Dict[str, Any]): The paper's, of the objective.
    published (Tuple[float, float]): Acc@1 and Acc@5 on COMETA (zero-shot general).
    mining (str): Whether it is trained on the pairs that mining keeps: "on" or "off".
    """

    name: str
    objective: str
    settings: dict[str, Any]
    published: tuple[float, float]
    mining: str = "on"

    @property
    def slug(self) -> str:
        """RETURNS (str): Its name in files and options."""
        return f"{self.objective.split('.')[1].lower()}-mining-{self.mining}"


MULTI_SIMILARITY = "spacy-connorm.MultiSimilarity.v1"
# The max-margin triplet loss counts only hard triplets itself.
LOSSES = (
    Loss("cosine", "sapbert.Cosine.v1", MINED, (55.1, 64.6)),
    Loss("max-margin triplet", "sapbert.MaxMarginTriplet.v1", {"margin": MARGIN}, (64.6, 74.6)),
    Loss("NCA", "sapbert.Nca.v1", {"scale": 20.0, **MINED}, (65.2, 77.0)),
    Loss("lifted structure", "sapbert.LiftedStructure.v1", {"margin": 0.5, **MINED}, (62.0, 72.1)),
    Loss("InfoNCE", "spacy-connorm.InfoNce.v1", {"temperature": 0.07, **MINED}, (63.3, 74.2)),
    Loss("circle", "sapbert.Circle.v1", {"m": 0.25, "gamma": 256.0, **MINED}, (66.7, 78.7)),
    Loss("multi-similarity", MULTI_SIMILARITY, MINED, (67.2, 80.3)),
    Loss("multi-similarity", MULTI_SIMILARITY, {"mining_margin": None}, (52.3, 76.1), "off"),
)
SLUGS = [loss.slug for loss in LOSSES]
# SapBERT's own: the loss whose names are drawn.
SAPBERT = LOSSES[-2]


def main() -> None:
    arguments = begin(add_options(make_parser(__doc__ or "")))
    if arguments.map is not None and SAPBERT.slug not in arguments.loss:
        fail(f"--map draws what {SAPBERT.slug} learns: name it with --loss.")
    with clear_errors():
        chosen, tried = choose_lengths(arguments)
        tables = {
            **({"Learning rates and steps, dev, one seed": tried} if tried else {}),
            "Losses": list(measure(arguments, chosen)),
            "Pairs of a batch": compare_pairs(arguments),
        }
        if arguments.map is not None:
            tables["Names of some concepts"] = map_names(arguments, chosen)
    finish_tables(tables, arguments.json, precise=PRECISE)


def add_options(parser: ArgumentParser) -> ArgumentParser:
    """RETURNS (ArgumentParser): The same, with the benchmark's options."""
    add = parser.add_argument
    add("--dataset", choices=DISEASES, nargs="+", default=DISEASES, help="[both]")
    add(
        "--encoder",
        type=untrained,
        default="dan",
        help="where training starts: dan (before any training), minilm or a FOLDER [%(default)s]",
    )
    add("--loss", choices=SLUGS, nargs="+", default=SLUGS, help="[all]")
    add("--seeds", type=at_least(1), default=3, help="[%(default)s]")
    steps = {"type": at_least(1), "nargs": "+", "default": [300], "metavar": "N"}
    add("--steps", **steps, help="of each training; of several, each loss's best on dev [300]")
    rates = {"type": float, "nargs": "+", "default": [None], "metavar": "RATE"}
    add("--learning-rate", **rates, help="other than the config's; of several as for --steps")
    add(
        "--adapter-rank",
        type=at_least(1),
        help="train low-rank adapters of this rank instead of all weights",
    )
    add("--picture", type=Path, metavar="FILE", help="of the pairs, .svg or .png (matplotlib)")
    add("--map", type=Path, metavar="FILE", help="of names, before and after SapBERT's training")
    return parser


def choose_lengths(arguments: Namespace) -> tuple[dict[str, Length], list[Row]]:
    """Train each loss with each learning rate and number of steps, with seed 0, if there are
    several.

    arguments (Namespace): The options.
    RETURNS (Tuple[Dict[str, Length], List[Dict[str, Any]]]): By loss what is best on dev, by the
        mean of Acc@1 over the data sets, the first of equals; and what each has.
    """
    lengths = [Length(*each) for each in product(arguments.learning_rate, arguments.steps)]
    if len(lengths) == 1:
        return dict.fromkeys(arguments.loss, lengths[0]), []
    dev = [Data(dataset, arguments.data, part=PART) for dataset in arguments.dataset]
    start = start_block(arguments.encoder, dev[0], arguments.work)
    rows, best = [], {}
    for loss in (loss for loss in LOSSES if loss.slug in arguments.loss):
        means = {}
        for length in lengths:
            block = train_loss(loss, start, dev[0], arguments, length=length, seed=0)
            own = {data.name: score(block, data, arguments.work)[SCORES[0]] for data in dev}
            means[length] = mean(own.values())
            row = {"loss": loss.name, "mining": loss.mining, **length._asdict(), **own}
            rows.append({**row, "mean": round(means[length], 2)})
        best[loss.slug] = max(lengths, key=means.__getitem__)
    return best, rows


def measure(arguments: Namespace, lengths: Mapping[str, Length]) -> Iterator[Row]:
    """YIELDS (Dict[str, Any]): The start and each loss, by data set."""
    for dataset in arguments.dataset:
        data = Data(dataset, arguments.data, part=PART)
        for row in measure_losses(data, arguments, lengths):
            yield {"dataset": dataset, "part": PART, **row}


def measure_losses(
    data: Data, arguments: Namespace, lengths: Mapping[str, Length]
) -> Iterator[Row]:
    """YIELDS (Dict[str, Any]): The start and each loss."""
    start = start_block(arguments.encoder, data, arguments.work)
    batch = first_batch(data, arguments)
    no_length = Length(None, 0)
    first = score(start, data, arguments.work) | kept_shares(start, batch)
    yield loss_row("start", None, no_length, [first], (None, None))
    losses = {loss.slug: loss for loss in LOSSES if loss.slug in arguments.loss}

    def train_and_score(name: str, seed: int) -> Row:
        length = lengths[name]
        block = train_loss(losses[name], start, data, arguments, length=length, seed=seed)
        return score(block, data, arguments.work) | kept_shares(block, batch)

    for name, rows in by_seed(losses, arguments.seeds, train_and_score).items():
        loss = losses[name]
        yield loss_row(loss.name, loss.mining, lengths[name], rows, loss.published)


def train_loss(
    loss: Loss,
    start: dict[str, Any],
    data: Data,
    arguments: Namespace,
    *,
    length: Length,
    seed: int,
) -> dict[str, Any]:
    """RETURNS (Dict[str, Any]): The block of an encoder that is trained with a loss on O."""
    import _common.comparison_losses  # noqa: F401  # registers them

    config = make_config(loss, start, arguments, length=length, seed=seed)
    path = keep_config(config, f"sapbert-{loss.slug}-{seed}", arguments.work)
    return train_once(path, data, on="O", work=arguments.work)


def loss_row(
    name: str,
    mining: str | None,
    length: Length,
    rows: Sequence[Row],
    published: Sequence[float | None],
) -> Row:
    """RETURNS (Dict[str, Any]): The means of a loss over its seeds, and the published numbers."""
    return {
        "mentions": rows[0]["mentions"],
        "loss": name,
        "mining": mining,
        **length._asdict(),
        "seeds": len(rows),
        **mean_columns(rows, SCORES),
        **{key: round(mean(row[key] for row in rows), 1) for key in KEPT},
        **dict(zip(("paper@1", "paper@5"), published, strict=True)),
    }


def make_config(
    loss: Loss, start: dict[str, Any], arguments: Namespace, *, length: Length, seed: int
) -> Config:
    """RETURNS (Config): What a loss is trained with.

    loss (Loss): The loss.
    start (Dict[str, Any]): The block of the encoder to start from.
    arguments (Namespace): The options.
    length (Length): How far the training goes.
    seed (int): Of the training.
    """
    config = config_from(CONFIG, start)
    training = config["training"]
    training["seed"] = seed
    training["objective"] = {"@losses": loss.objective, **loss.settings}
    # Checkpoints are for trainings of hours.
    training["arguments"] |= {"max_steps": length.steps, "save_strategy": "no"}
    fit_processor(config)
    if length.rate is not None:
        training["arguments"]["learning_rate"] = length.rate
    if arguments.adapter_rank is not None:
        rank = arguments.adapter_rank
        training["adapter"] = {"@misc": ADAPTER, "rank": rank, "alpha": ALPHA_PER_RANK * rank}
    return config


def score(block: dict[str, Any], data: Data, work: Path) -> Row:
    """RETURNS (Dict[str, Any]): The scores of an encoder, in percent."""
    lookup = build_lookup(block, data, searches=[SEARCH], work=work, synonyms=())
    found = ask_lookup(lookup, [mention.text for mention in data.mentions], top_k=DEPTH)
    row = score_row(score_predictions(read_standard(data), predict(found)))
    return {name: row[name] for name in ("mentions", *SCORES)}


class FirstBatch(NamedTuple):
    """The first batch of an epoch.

    texts (List[str]): Its texts.
    memberships (Memberships): Their concepts.
    """

    texts: list[str]
    memberships: Any


def first_batch(data: Data, arguments: Namespace) -> FirstBatch:
    """RETURNS (FirstBatch): The batch that training with seed 0 begins with."""
    import torch

    from spacy_connorm.training.batches import Memberships

    encoder = load_encoder(start_block(arguments.encoder, data, arguments.work))
    inputs = partial(encoder_inputs, encoder)
    pool, _ = build_pool(data.ontology, inputs=inputs, use_ontology=True, data_share=None)
    settings = Config().from_disk(CONFIG, interpolate=False)["training"]["batcher"]
    batcher = SynonymPairBatcher(size=settings["size"], max_pairs=settings["max_pairs"])
    rows, memberships = batcher.batches(pool, seed=0, epoch=0)[0]
    texts = [pool.texts[row] for row in rows]
    return FirstBatch(texts, Memberships(*map(torch.from_numpy, memberships)))


def kept_shares(block: dict[str, Any], batch: FirstBatch) -> Row:
    """RETURNS (Dict[str, Any]): The shares of the positive and of the negative pairs of a batch
    that mining keeps, in percent.
    """
    every, kept = batch_cosines(block, batch).values()
    return {
        name: round(100 * len(some) / max(len(whole), 1), 1)
        for name, some, whole in zip(KEPT, kept, every, strict=True)
    }


def compare_pairs(arguments: Namespace) -> list[Row]:
    """Compare the pairs of the first batch with those that mining leaves, by the encoder that
    training starts from, and draw both.

    arguments (Namespace): The options.
    RETURNS (List[Dict[str, Any]]): A row without and one with mining.
    """
    data = Data(arguments.dataset[0], arguments.data, part=PART)
    start = start_block(arguments.encoder, data, arguments.work)
    sides = batch_cosines(start, first_batch(data, arguments))
    if arguments.picture is not None:
        draw(sides, arguments.picture)
    return [
        {
            "mining": mining,
            "positives": len(positives),
            "negatives": len(negatives),
            "mean_positive": mean_cosine(positives),
            "mean_negative": mean_cosine(negatives),
            "overlap": round(overlap(positives, negatives), 3),
        }
        for mining, (positives, negatives) in sides.items()
    ]


def map_names(arguments: Namespace, lengths: Mapping[str, Length]) -> list[Row]:
    """Draw the names of some concepts before and after training with SapBERT's loss, seed 0.

    arguments (Namespace): The options.
    lengths (Mapping[str, Length]): By loss, how far a training goes.
    RETURNS (List[Dict[str, Any]]): A row before and one after, with how well concepts are apart.
    """
    data = Data(arguments.dataset[0], arguments.data, part=PART)
    start = start_block(arguments.encoder, data, arguments.work)
    trained = train_loss(SAPBERT, start, data, arguments, length=lengths[SAPBERT.slug], seed=0)
    names, concepts = choose_names(data.ontology)
    sides = {
        label: np.asarray(load_encoder(block).predict(names))
        for label, block in (("start", start), (SAPBERT.name, trained))
    }
    draw_names(sides, concepts, arguments.map)
    return [
        {
            "encoder": label,
            "concepts": len(set(concepts)),
            "names": len(names),
            "silhouette": separation(vectors, concepts),
        }
        for label, vectors in sides.items()
    ]


def batch_cosines(
    block: dict[str, Any], batch: FirstBatch
) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """RETURNS (Dict[str, Tuple[Floats1d, Floats1d]]): The cosines of positive and of negative pairs
    of a batch by an encoder, each pair in both orders, with mining "off" and "on".
    """
    import torch

    from spacy_connorm.training.objectives.pairs import hard_pairs, pair_up

    vectors = torch.from_numpy(np.asarray(load_encoder(block).predict(batch.texts)))
    unit = torch.nn.functional.normalize(vectors)
    # Rounding puts some above 1, outside the histograms.
    cosines = (unit @ unit.T).clamp(-1, 1)
    pairs = pair_up(batch.memberships, len(batch.texts))
    return {
        mining: (cosines[kept.positives].numpy(), cosines[kept.negatives].numpy())
        for mining, kept in (
            ("off", pairs),
            ("on", hard_pairs(cosines, pairs, margin=MARGIN)),
        )
    }


def mean_cosine(cosines: np.ndarray) -> float | None:
    """RETURNS (Optional[float]): Their mean; None if there are none."""
    return round(float(cosines.mean()), 3) if len(cosines) else None


def overlap(positives: np.ndarray, negatives: np.ndarray) -> float:
    """RETURNS (float): The share that the histograms of two samples have in common."""
    shares = [
        np.histogram(each, BINS, (-1, 1))[0] / max(len(each), 1) for each in (positives, negatives)
    ]
    return float(np.minimum(*shares).sum())


def draw(sides: dict[str, tuple[np.ndarray, np.ndarray]], path: Path) -> None:
    """Draw the cosines of positive and negative pairs, without and with mining.

    sides (Dict[str, Tuple[Floats1d, Floats1d]]): From `batch_cosines`.
    path (Path): The file to write.
    """
    from matplotlib.figure import Figure

    figure = Figure(figsize=(10, 4), facecolor="white", layout="constrained")
    for axis, (mining, pairs) in zip(figure.subplots(1, 2), sides.items(), strict=True):
        for label, colour, cosines in zip("+-", ("#117733", "#CC6677"), pairs, strict=True):
            weights = np.full(len(cosines), 1 / max(len(cosines), 1))
            axis.hist(
                cosines,
                BINS,
                range=(-1, 1),
                weights=weights,
                alpha=0.6,
                color=colour,
                label=f"{label} ({len(cosines):,} pairs)",
            )
        axis.set_title(f"mining {mining}")
        axis.set_xlabel("cosine")
        axis.set_ylabel("share of the pairs")
        axis.legend(frameon=False, loc="upper left")
    figure.savefig(path, dpi=150)


if __name__ == "__main__":
    main()
