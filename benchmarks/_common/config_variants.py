"""Training configs with another start, share of D, length or seed than they have as shipped."""

from argparse import ArgumentParser, ArgumentTypeError, Namespace
from pathlib import Path
from typing import Any

from thinc.api import Config

from _common.builders import DAN, encoder_config, is_trained_here
from _common.cli import chosen_gpu, fail
from _common.datasets import Data
from _common.options import at_least
from _common.trained_encoders import TRAINS, keep_config

_DAN = "spacy-connorm.DanEncoder.v1"


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
        metavar="SHARE",
        help="|D| / |O| in training on O and D [the configs']",
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


def vary(
    name: str, train: str, data: Data, arguments: Namespace, *, seed: int | None = None
) -> str:
    """Write the variant of a training config that the options ask for.

    name (str): "dan" or the path of a config.
    train (str): One of `TRAINS`: what it is trained on.
    data (Data): What it is trained on, for the start.
    arguments (Namespace): With the options of `add_variants`.
    seed (Optional[int]): Another than the config's.
    RETURNS (str): The path of the variant; the name itself if the options change nothing.
    """
    share = arguments.data_share if train == TRAINS[1] else None
    changes = (arguments.start, arguments.epochs, arguments.learning_rate, share, seed)
    if all(change is None for change in changes):
        return name
    path = DAN if name == "dan" else Path(name)
    stem = path.stem
    if arguments.start:
        stem += f"-from-{Path(arguments.start).name}"
        config = config_from(path, start_block(arguments.start, data, arguments.work))
        fit_processor(config)
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
    folder = arguments.work
    if seed is not None:
        config["training"]["seed"] = seed
        folder /= f"seed-{seed}"
        folder.mkdir(exist_ok=True)
    # The name tells all that differs but the seed, and is the row's label.
    written = folder / f"{stem}.cfg"
    config.to_disk(written, interpolate=False)
    return str(written)


def start_block(name: str, data: Data, work: Path) -> dict[str, Any]:
    """Find where trainings start.

    name (str): "dan": its embeddings before any training; otherwise as `encoder_config` takes it,
        and a training config is trained on O and D.
    data (Data): The data set.
    work (Path): Keeps trained encoders.
    RETURNS (Dict[str, Any]): The encoder's block of a config. MiniLM computes in half precision, as
        in training.
    """
    if name == "minilm":
        return {**encoder_config(name, data, work=work), "mixed_precision": True}
    if name != "dan":
        return encoder_config(name, data, train="OD", work=work)
    # Eight bits would round the lengths of vectors, too.
    return {**Config().from_disk(DAN, interpolate=False)["encoder"], "dtype": "float32"}


def untrained(text: str) -> str:
    """RETURNS (str): The name of a start that has seen no mentions: no training config, which would
    be trained on D, too.
    """
    if text.endswith(".cfg"):
        raise ArgumentTypeError(f"expected dan, minilm or a FOLDER, not '{text}'")
    return text


def config_from(path: Path, start: dict[str, Any]) -> Config:
    """Read a training config, and change its encoder and what that needs: for a DAN whole batches,
    the optimizer and the learning rate of `assets/dan.cfg`, which tells why.

    path (Path): The config.
    start (Dict[str, Any]): From `start_block`.
    RETURNS (Config): The changed config.
    """
    config = Config().from_disk(path, interpolate=False)
    config["encoder"] = start
    training = config["training"]
    if _is_dan(config):
        own = Config().from_disk(DAN, interpolate=False)["training"]
        training["micro_batch_tokens"] = own["micro_batch_tokens"]
        kept = ("optim", "max_grad_norm", "learning_rate")
        training["arguments"] |= {name: own["arguments"][name] for name in kept}
    return config


def fit_processor(config: Config) -> None:
    """Change what a config says of precision and memory to what is fast on the GPU that trains, or
    without one.

    config (Config): From `config_from`; changed in place.
    """
    is_dan = _is_dan(config)
    training = config["training"]
    # Half precision does not make the few multiplications of a DAN faster.
    training["arguments"] |= {"bf16": not is_dan, "fp16": False}
    if not is_dan:
        training["cache_gradients"] = False
        if chosen_gpu() < 0:
            # Texts of similar length in small pieces: without a GPU, padding costs most.
            training["micro_batch_tokens"] = 2048


def _is_dan(config: Config) -> bool:
    return config["encoder"]["@architectures"] == _DAN
