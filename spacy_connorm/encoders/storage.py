"""How encoders are saved: weights by name, and the folders written by training."""

import hashlib
import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import Errors
from ..files.folders import read_object
from ..files.package_data import read_toml

# The types that weights may be stored as.
DTYPES = ("float32", "int8")
CONFIG, TOKENIZER, WEIGHTS = "config.json", "tokenizer.json", "model.safetensors"
TOKENIZER_CONFIG = "tokenizer_config.json"
# `model_type` in the `config.json` of encoders that are not from Hugging Face, and what loads them.
DAN, GROUNDED_DAN = "connorm-dan", "connorm-grounded-dan"
ARCHITECTURES = {DAN: "DanEncoder.v1", GROUNDED_DAN: "GroundedDanEncoder.v1"}
_FORMAT_VERSION = 1
# How a transformer was trained, beside its weights.
CARD = "spacy_connorm.json"
# How a transformer is used where neither says it: one of MEDIC's 67,000 names is longer.
_USUAL: dict[str, Any] = {
    "pooling": "mean",
    "max_length": 64,
    "prefix": "",
    "neutral_languages": [],
}
# The same for transformers that others trained.
_CARDS = read_toml(__package__, "cards.toml")


def digest_weights(header: str, weights: Mapping[str, np.ndarray]) -> str:
    """Compute a checksum of weights and everything that goes with them. Saved indexes recognize
    their encoder by it, so it must not change.

    header (str): Everything else that changes vectors.
    weights (Mapping[str, np.ndarray]): Arrays by name.
    RETURNS (str): 32 hexadecimal digits.
    """
    content = hashlib.blake2b(header.encode(), digest_size=16)
    for name, array in sorted(weights.items()):
        content.update(f"{name} {array.shape}\n".encode())
        content.update(np.ascontiguousarray(array).data)
    return content.hexdigest()


def digest_parts(*parts: str | bytes) -> str:
    """Compute a checksum of texts and bytes, including their lengths.

    RETURNS (str): 32 hexadecimal digits.
    """
    content = hashlib.blake2b(digest_size=16)
    for part in parts:
        raw = part.encode() if isinstance(part, str) else part
        content.update(len(raw).to_bytes(8, "little"))
        content.update(raw)
    return content.hexdigest()


def write_folder(
    folder: Path, model_type: str, settings: Mapping[str, Any], weights: dict[str, np.ndarray]
) -> None:
    """Write the `config.json` and the `model.safetensors` of a trained encoder.

    folder (Path): Its folder, which is created.
    model_type (str): A key of `ARCHITECTURES`.
    settings (Mapping[str, Any]): The settings.
    weights (Dict[str, np.ndarray]): Arrays by name.
    """
    from safetensors.numpy import save_file

    folder.mkdir(parents=True, exist_ok=True)
    config = {"model_type": model_type, "format_version": _FORMAT_VERSION, **settings}
    (folder / CONFIG).write_text(json.dumps(config, indent=2) + "\n", encoding="utf8")
    save_file(weights, folder / WEIGHTS)


def model_type(folder: Path) -> str:
    """Find out which kind of encoder a folder contains.

    RETURNS (str): The `model_type` in its `config.json`; empty if there is none.
    """
    return str(read_object(folder / CONFIG).get("model_type", ""))


def has_card(name: str) -> bool:
    """Check whether it is known how a transformer was trained.

    name (str): Its name on the hub, or the path of a folder. A copy of one from the hub is known by
        the name of its folder.
    RETURNS (bool): True if it is in `encoders/cards.toml`.
    """
    return _card(name) is not None


def read_card(name: str, folder: Path | None, asked: Mapping[str, Any]) -> dict[str, Any]:
    """Read how a transformer was trained, so that it is used in the same way.

    name (str): See `has_card`.
    folder (Optional[Path]): Its local folder, if any.
    asked (Mapping[str, Any]): The settings in the config; None for those not given.
    RETURNS (Dict[str, Any]): The same settings: as asked, or as it was trained, or else the usual
        ones.
    """
    stored = {} if folder is None else read_object(folder / CARD)
    given = {setting: value for setting, value in asked.items() if value is not None}
    found = {**_USUAL, **(_card(name) or {}), **stored, **given}
    return {setting: found[setting] for setting in asked}


def _card(name: str) -> dict[str, Any] | None:
    return next((card for hub, card in _CARDS.items() if Path(hub).name == Path(name).name), None)


@contextmanager
def reading_folder(
    folder: Path, model_type: str
) -> Iterator[tuple[dict[str, Any], dict[str, np.ndarray]]]:
    """Read the folder of a trained encoder. Any error of another library in the
    block is reported as an error of the folder.

    folder (Path): The folder.
    model_type (str): A key of `ARCHITECTURES`.
    YIELDS (Tuple[Dict[str, Any], Dict[str, np.ndarray]]): Its `config.json`, and its weights.
    RAISES (ConnormError): CN306 if it contains something else or is damaged.
    """
    from safetensors.numpy import load_file

    with Errors.CN306.instead_of(Exception, path=folder):
        config = json.loads((folder / CONFIG).read_text(encoding="utf8"))
        found = (config["model_type"], config["format_version"])
        if found != (model_type, _FORMAT_VERSION):
            raise ValueError("it holds a {} of version {}".format(*found))
        yield config, load_file(folder / WEIGHTS)


def require_settings(
    folder: Path | str, found: Mapping[str, Any], asked: Mapping[str, Any]
) -> None:
    """Refuse a folder whose encoder was saved with settings that differ from the config.

    folder (Union[Path, str]): The folder.
    found (Mapping[str, Any]): Its settings.
    asked (Mapping[str, Any]): The settings in the config; None for those not given.
    RAISES (ConnormError): CN322.
    """
    for setting, value in asked.items():
        if value is not None and value != found.get(setting, value):
            raise Errors.CN322(path=folder, setting=setting, found=found[setting], asked=value)
