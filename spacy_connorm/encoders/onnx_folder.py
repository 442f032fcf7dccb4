"""An exported encoder, and its folder on disk."""

import hashlib
import json
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

from ..errors import ConnormError, Errors
from .model_types import ONNX
from .onnx_graph import require_plain_graph

FORMAT_VERSION = 1
CONFIG = "config.json"
_TOKENIZER, _GRAPH = "tokenizer.json", "model.onnx"


@dataclass(frozen=True, slots=True)
class OnnxSettings:
    """The settings of an exported encoder.

    pooling (str): How token vectors are pooled: "mean", "cls" or "max".
    max_length (int): Texts are cut after this many tokens, including special tokens.
    precision (str): Of weights and activations of linear layers: "fp32" or "int8".
    width (int): The width of the vectors.
    padding (int): The id of the padding token.
    """

    pooling: str
    max_length: int
    precision: str
    width: int
    padding: int

    @classmethod
    def read(cls, config: dict[str, Any]) -> "OnnxSettings":
        """config (Dict[str, Any]): The settings by name; other keys are ignored.
        RETURNS (OnnxSettings): The settings.
        """
        return cls(**{field.name: config[field.name] for field in fields(cls)})


@dataclass(frozen=True, slots=True)
class OnnxModel:
    """An exported encoder.

    settings (OnnxSettings): The settings.
    tokenizer (str): JSON of the library tokenizers, with truncation and without padding.
    graph (bytes): A serialized ONNX model. Inputs: `input_ids`, int64, and `mask`, bool, both of
        shape (texts, tokens); output: `vectors`, float32, of shape (texts, width).
    """

    settings: OnnxSettings
    tokenizer: str
    graph: bytes

    def digest(self) -> str:
        """RETURNS (str): A checksum of everything, 32 hexadecimal digits."""
        content = hashlib.blake2b(digest_size=16)
        for part in (json.dumps(asdict(self.settings), sort_keys=True), self.tokenizer):
            content.update(f"{len(part)}\n{part}".encode())
        content.update(self.graph)
        return content.hexdigest()

    def check(self) -> None:
        """RAISES (ValueError): If the settings are impossible, or the graph is not one that
        `require_plain_graph` lets through.
        """
        numbers = (self.settings.max_length, self.settings.width, self.settings.padding)
        if not all(type(number) is int for number in numbers) or min(numbers) < 0:
            raise ValueError("its settings are no numbers")
        if not isinstance(self.tokenizer, str) or not isinstance(self.graph, bytes):
            raise ValueError("it lacks a tokenizer or a graph")
        require_plain_graph(self.graph)

    def save(self, folder: Path) -> None:
        """folder (Path): The folder for `config.json`, `tokenizer.json` and `model.onnx`."""
        folder.mkdir(parents=True, exist_ok=True)
        config = {
            "model_type": ONNX,
            "format_version": FORMAT_VERSION,
            "digest": self.digest(),
            **asdict(self.settings),
        }
        (folder / CONFIG).write_text(json.dumps(config, indent=2) + "\n", encoding="utf8")
        (folder / _TOKENIZER).write_text(self.tokenizer, encoding="utf8")
        (folder / _GRAPH).write_bytes(self.graph)


def load_onnx(path: Path, asked: dict[str, Any]) -> OnnxModel:
    """Load an exported encoder.

    path (Path): A folder written by `OnnxModel.save`.
    asked (Dict[str, Any]): Fields of `OnnxSettings`; None for those not given.
    RETURNS (OnnxModel): The encoder.
    RAISES (ConnormError): CN306 if the folder holds something else or is damaged, CN322 if it was
        exported with different settings.
    """
    try:
        config = json.loads((path / CONFIG).read_text(encoding="utf8"))
        if not isinstance(config, dict) or config.get("model_type") != ONNX:
            raise ValueError(f"its '{CONFIG}' is not one that `connorm export` wrote")
        if config["format_version"] != FORMAT_VERSION:
            raise ValueError(f"its format version is {config['format_version']}")
        tokenizer = (path / _TOKENIZER).read_text(encoding="utf8")
        model = OnnxModel(OnnxSettings.read(config), tokenizer, (path / _GRAPH).read_bytes())
        model.check()
        if config["digest"] != model.digest():
            raise ValueError("its checksum differs")
    except Exception as error:
        raise ConnormError(Errors.CN306.format(path=path, reason=error)) from error
    for setting, value in asked.items():
        if value is not None and value != config[setting]:
            raise ConnormError(
                Errors.CN322.format(path=path, setting=setting, found=config[setting], asked=value)
            )
    return model
