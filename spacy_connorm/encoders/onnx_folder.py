"""What an exported encoder is made of, and its folder on disk."""

import hashlib
import json
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

from ..errors import ConnormError, Errors

MODEL_TYPE = "connorm-onnx"
FORMAT_VERSION = 1
CONFIG = "config.json"
_TOKENIZER, _GRAPH = "tokenizer.json", "model.onnx"


@dataclass(frozen=True, slots=True)
class OnnxSettings:
    """What an exported encoder was made with.

    pooling (str): How the vectors of the tokens become one: "mean", "cls" or "max".
    max_length (int): Tokens kept of a text, special ones included.
    precision (str): Of the weights and the activations of linear layers: "fp32" or "int8".
    width (int): The width of the vectors.
    padding (int): The token id that fills a batch up.
    """

    pooling: str
    max_length: int
    precision: str
    width: int
    padding: int

    @classmethod
    def read(cls, config: dict[str, Any]) -> "OnnxSettings":
        """config (Dict[str, Any]): As `asdict` or JSON has them, maybe with more.
        RETURNS (OnnxSettings): The settings.
        """
        return cls(**{field.name: config[field.name] for field in fields(cls)})


@dataclass(frozen=True, slots=True)
class OnnxModel:
    """An exported encoder.

    settings (OnnxSettings): The settings.
    tokenizer (str): As the library tokenizers writes it, JSON, with truncation and no padding.
    graph (bytes): As ONNX writes it. Inputs: `input_ids`, int64, and `mask`, bool, both of shape
        (texts, tokens); output: `vectors`, float32, of shape (texts, width).
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

    def save(self, folder: Path) -> None:
        """folder (Path): Where `config.json`, `tokenizer.json` and `model.onnx` go."""
        folder.mkdir(parents=True, exist_ok=True)
        config = {
            "model_type": MODEL_TYPE,
            "format_version": FORMAT_VERSION,
            "digest": self.digest(),
            **asdict(self.settings),
        }
        (folder / CONFIG).write_text(json.dumps(config, indent=2) + "\n", encoding="utf8")
        (folder / _TOKENIZER).write_text(self.tokenizer, encoding="utf8")
        (folder / _GRAPH).write_bytes(self.graph)


def load_onnx(path: Path, asked: dict[str, Any]) -> OnnxModel:
    """Load an exported encoder.

    path (Path): A folder that `OnnxModel.save` wrote.
    asked (Dict[str, Any]): Fields of `OnnxSettings`; None where nothing is asked for.
    RETURNS (OnnxModel): The encoder.
    RAISES (ConnormError): CN331 if the folder is another one or damaged, CN332 if it was exported
        with other settings.
    """
    try:
        config = json.loads((path / CONFIG).read_text(encoding="utf8"))
        if not isinstance(config, dict) or config.get("model_type") != MODEL_TYPE:
            raise ValueError(f"its '{CONFIG}' is not one that `connorm export` wrote")
        if config["format_version"] != FORMAT_VERSION:
            raise ValueError(f"its format version is {config['format_version']}")
        tokenizer = (path / _TOKENIZER).read_text(encoding="utf8")
        model = OnnxModel(OnnxSettings.read(config), tokenizer, (path / _GRAPH).read_bytes())
        if config["digest"] != model.digest():
            raise ValueError("its checksum differs")
    except Exception as error:
        raise ConnormError(Errors.CN331.format(path=path, reason=error)) from error
    for setting, value in asked.items():
        if value is not None and value != config[setting]:
            raise ConnormError(
                Errors.CN332.format(path=path, setting=setting, found=config[setting], asked=value)
            )
    return model
