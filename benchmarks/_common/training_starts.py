"""Where trainings start that are compared, and what their encoder needs of a config."""

from argparse import ArgumentTypeError
from pathlib import Path
from typing import Any

from thinc.api import Config

from _common.builders import DAN, encoder_config
from _common.datasets import Data

_DAN = "spacy-connorm.DanEncoder.v1"


def start_block(name: str, data: Data, work: Path) -> dict[str, Any]:
    """Find where trainings start.

    name (str): "dan": its embeddings before any training; otherwise as `encoder_config` takes it,
        and a training config is trained on O and D.
    data (Data): The data set.
    work (Path): Keeps trained encoders.
    RETURNS (Dict[str, Any]): The encoder's block of a config.
    """
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


def fit_two_cores(config: Config) -> None:
    """Change what a config for a GPU says of precision and memory to what is fast without one.

    config (Config): From `config_from`; changed in place.
    """
    is_dan = _is_dan(config)
    training = config["training"]
    # Half precision does not make the few multiplications of a DAN faster.
    training["arguments"] |= {"bf16": not is_dan, "fp16": False}
    if not is_dan:
        # Texts of similar length in small pieces: without a GPU, padding costs most.
        training |= {"micro_batch_tokens": 2048, "cache_gradients": True}


def _is_dan(config: Config) -> bool:
    return config["encoder"]["@architectures"] == _DAN
