"""Encoders that have not seen the mentions, for comparisons of what training them gains."""

from pathlib import Path
from typing import Any

from thinc.api import Config

from _common.builders import DAN, encoder_config
from _common.datasets import Data

# What training a DAN needs besides: whole batches, since each part of one would need a gradient as
# large as all embeddings, and no clipping, which would read all of them.
_ARGUMENTS = {"optim": "adamw_torch_fused", "max_grad_norm": 0.0}
_TOKENS = 10_000_000
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


def fit_training(training: dict[str, Any], start: dict[str, Any], *, dan_rate: float) -> None:
    """Change a config's training to what its encoder needs.

    training (Dict[str, Any]): The block `training`, changed in place.
    start (Dict[str, Any]): From `start_block`.
    dan_rate (float): The learning rate of a DAN.
    """
    if start["@architectures"] == _DAN:
        training["micro_batch_tokens"] = _TOKENS
        training["arguments"] |= {**_ARGUMENTS, "learning_rate": dan_rate}
