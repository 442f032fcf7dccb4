"""Training configs with another start, share of D, length or seed than they have as shipped."""

from argparse import ArgumentParser, Namespace
from pathlib import Path

from thinc.api import Config

from _common.builders import DAN, is_trained_here
from _common.cli import fail
from _common.datasets import Data
from _common.options import at_least
from _common.trained_encoders import TRAINS, keep_config
from _common.training_starts import config_from, fit_two_cores, start_block, untrained


def add_variants(parser: ArgumentParser) -> None:
    """Add the options that `vary` reads."""
    add = parser.add_argument
    add(
        "--start",
        type=untrained,
        metavar="NAME",
        help="train the configs from dan (its embeddings before any training), minilm or a FOLDER "
        "instead of from their own encoder and its settings",
    )
    add(
        "--data-share",
        type=float,
        nargs="+",
        default=[],
        metavar="SHARE",
        help="|D| / |O| in training on O and D, one encoder each [the configs']",
    )
    add("--epochs", type=at_least(1), help="another number than the configs'")
    add("--learning-rate", type=float, help="another than the configs'")


def add_seeds(parser: ArgumentParser) -> None:
    """Add `--seeds`."""
    parser.add_argument(
        "--seeds",
        type=at_least(1),
        metavar="N",
        help="train dan or a config N times, with the seeds from 0: means, and half of their 95 %% "
        "interval [once, with the config's seed]",
    )


def per_seed(arguments: Namespace) -> list[Namespace]:
    """RETURNS (List[Namespace]): The arguments for each seed, with the config of that seed as
    `encoder`; just the arguments without `--seeds`.
    """
    if arguments.seeds is None:
        return [arguments]
    if not is_trained_here(arguments.encoder):
        fail(f"--seeds trains a config, which '{arguments.encoder}' is not.")
    path = DAN if arguments.encoder == "dan" else Path(arguments.encoder)
    config = Config().from_disk(path, interpolate=False)
    found = []
    for seed in range(arguments.seeds):
        config["training"]["seed"] = seed
        written = keep_config(config, f"{path.stem}-seed-{seed}", arguments.work)
        found.append(Namespace(**{**vars(arguments), "encoder": str(written)}))
    return found


def vary(name: str, train: str, data: Data, arguments: Namespace) -> list[str]:
    """Write the variants of a training config.

    name (str): "dan" or the path of a config.
    train (str): One of `TRAINS`: what it is trained on.
    data (Data): What it is trained on, for the start.
    arguments (Namespace): With the options of `add_variants`.
    RETURNS (List[str]): The paths of the variants, one a share of D; the name itself if the
        options change nothing.
    """
    shares = arguments.data_share if train == TRAINS[1] else []
    changed = (arguments.start, arguments.epochs, arguments.learning_rate, shares)
    if not any(changed):
        return [name]
    path = DAN if name == "dan" else Path(name)
    return [_write(path, share, data, arguments) for share in shares or [None]]


def _write(path: Path, share: float | None, data: Data, arguments: Namespace) -> str:
    stem = path.stem
    if arguments.start:
        stem += f"-from-{Path(arguments.start).name}"
        config = config_from(path, start_block(arguments.start, data, arguments.work))
        fit_two_cores(config)
    else:
        config = Config().from_disk(path, interpolate=False)
    training = config["training"]["arguments"]
    if arguments.epochs:
        stem += f"-{arguments.epochs}-epochs"
        training["num_train_epochs"] = arguments.epochs
    if arguments.learning_rate:
        stem += f"-rate-{arguments.learning_rate:g}"
        training["learning_rate"] = arguments.learning_rate
    if share is not None:
        stem += f"-share-{share:.3g}"
        config["data"]["data_share"] = share
    # The name tells all that differs, and is the row's label.
    written = arguments.work / f"{stem}.cfg"
    config.to_disk(written, interpolate=False)
    return str(written)
