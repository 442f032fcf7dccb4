"""A deep averaging network: its settings and weights, their initialization, its folder on disk.

Imports the libraries tokenizers and safetensors: import it in functions.
"""

import json
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import Any

import numpy as np
from safetensors.numpy import load_file, save_file
from tokenizers import Tokenizer

from ..errors import ConnormError, Errors
from .dan_features import FeatureReader
from .dan_precision import EMBEDDINGS, PRECISIONS, STEPS, Precision, restore_weights, round_weights
from .dan_start import principal_components, read_start
from .model_types import DAN
from .ngram_range import is_ngram_range
from .pretrained import find_folder
from .weights import digest_weights

FORMAT_VERSION = 1
_SEED = 0


@dataclass(frozen=True, slots=True)
class DanSettings:
    """The settings that change vectors; see `DanEncoder`."""

    ngram_range: tuple[int, int] = (3, 4)
    buckets: int = 65_536
    hidden: int = 0
    lowercase: bool = True
    max_length: int = 512
    dtype: Precision = "float32"

    @classmethod
    def read(cls, config: dict[str, Any]) -> "DanSettings":
        """config (Dict[str, Any]): The settings by name; other keys are ignored.
        RETURNS (DanSettings): The settings.
        RAISES (ValueError): If one is invalid.
        """
        # Networks that older versions saved have no dtype.
        config = {"dtype": "float32", **config}
        known = {field.name: config[field.name] for field in fields(cls)}
        settings = cls(**{**known, "ngram_range": tuple(known["ngram_range"])})
        sizes = (settings.buckets, settings.hidden, settings.max_length)
        if not all(type(size) is int and size >= 0 for size in sizes):
            raise ValueError(f"its sizes are {sizes}")
        if type(settings.lowercase) is not bool or not is_ngram_range(settings.ngram_range):
            raise ValueError("its settings are not those of n-grams")
        if settings.dtype not in PRECISIONS:
            raise ValueError(f"its dtype is {settings.dtype}")
        return settings


@dataclass(frozen=True, slots=True)
class Dan:
    """A deep averaging network.

    settings (DanSettings): The settings.
    tokenizer (str): JSON of the library tokenizers.
    weights (Dict[str, np.ndarray]): `embeddings.weight`, of the settings' dtype, shape (word pieces
        + buckets, width), with `embeddings.step` for int8, see `dan_precision`. With a hidden layer
        also, in float32, `hidden.weight`, shape (hidden, width), `hidden.bias`, `output.weight`,
        shape (width, hidden), and `output.bias`.
    """

    settings: DanSettings
    tokenizer: str
    weights: dict[str, np.ndarray]

    @property
    def width(self) -> int:
        """RETURNS (int): The width of the vectors."""
        return self.weights[EMBEDDINGS].shape[1]

    def rounded(self, dtype: Precision | None) -> "Dan":
        """Store the vectors of features in fewer bits.

        dtype (Optional[str]): How; None for no change.
        RETURNS (Dan): The network. One that is rounded already is returned as it is.
        """
        if dtype is None or self.settings.dtype != "float32":
            return self
        return replace(
            self,
            settings=replace(self.settings, dtype=dtype),
            weights=round_weights(self.weights, dtype),
        )

    def restored(self) -> "Dan":
        """RETURNS (Dan): The network with all weights in float32."""
        settings = replace(self.settings, dtype="float32")
        return replace(self, settings=settings, weights=restore_weights(self.weights))

    def reader(self) -> FeatureReader:
        """RETURNS (FeatureReader): Reads the features of texts for this network."""
        return FeatureReader(
            self.tokenizer,
            pieces=len(self.weights[EMBEDDINGS]) - self.settings.buckets,
            ngram_range=self.settings.ngram_range,
            buckets=self.settings.buckets,
            lowercase=self.settings.lowercase,
            max_length=self.settings.max_length,
        )

    def digest(self) -> str:
        """RETURNS (str): A checksum of everything, 32 hexadecimal digits."""
        settings = asdict(self.settings)
        # As it was before there was a choice: indexes know their encoder by this checksum.
        if settings["dtype"] == "float32":
            del settings["dtype"]
        parts = (json.dumps(settings, sort_keys=True), self.tokenizer)
        header = "".join(f"{len(part)}\n{part}" for part in parts)
        return digest_weights(header, self.weights)

    def check(self) -> None:
        """RAISES (ValueError): If tokenizer, settings and weights do not fit together."""
        self.check_weights()
        rows = Tokenizer.from_str(self.tokenizer).get_vocab_size() + self.settings.buckets
        if self.weights[EMBEDDINGS].shape[0] < rows:
            raise ValueError(f"there are vectors for fewer than {rows:,} features")

    def check_weights(self) -> None:
        """RAISES (ValueError): If settings and weights do not fit together."""
        found = {name: (array.shape, array.dtype.str) for name, array in self.weights.items()}
        embeddings, _ = found.get(EMBEDDINGS, ((), ""))
        if len(embeddings) != 2 or not embeddings[1] or embeddings[0] < self.settings.buckets:
            raise ValueError(f"its embeddings have the shape {embeddings}")
        shapes = _shapes(embeddings, self.settings.hidden)
        expected = {name: (shape, "<f4") for name, shape in shapes.items()}
        expected[EMBEDDINGS] = (embeddings, np.dtype(self.settings.dtype).str)
        if self.settings.dtype == "int8":
            expected[STEPS] = (embeddings[:1], "<f4")
        if found != expected:
            raise ValueError(f"its weights are {found}, not {expected}")

    def save(self, folder: Path) -> None:
        """folder (Path): The folder for `config.json`, `tokenizer.json` and `model.safetensors`."""
        folder.mkdir(parents=True, exist_ok=True)
        config = {
            "model_type": DAN,
            "format_version": FORMAT_VERSION,
            "width": self.width,
            **asdict(self.settings),
        }
        (folder / "config.json").write_text(json.dumps(config, indent=2) + "\n", encoding="utf8")
        (folder / "tokenizer.json").write_text(self.tokenizer, encoding="utf8")
        save_file(self.weights, folder / "model.safetensors")


def load_dan(name: str, asked: dict[str, Any]) -> Dan:
    """Load a saved network, or initialize one from a transformer.

    name (str): A folder written by `Dan.save`; or a transformer, see `load_pretrained`.
    asked (Dict[str, Any]): Fields of `DanSettings`, `width` and `principal_components`; None for
        those not given.
    RETURNS (Dan): The network, not yet rounded to the dtype asked for unless it was saved so.
    RAISES (ConnormError): CN303, CN304, CN306 as in `load_pretrained`, CN306 too if the folder
        is damaged, CN322 if it was saved with different settings, CN324 and CN126 if the
        transformer can't be used.
    """
    folder = find_folder(name)
    if folder is not None and _is_saved(folder):
        return _load_saved(folder, asked)
    tokenizer, embeddings = read_start(name, folder)
    chosen = {key: value for key, value in asked.items() if value is not None}
    width, kept = chosen.pop("width", None), chosen.pop("principal_components", None)
    # It starts unrounded, and may be trained so.
    chosen.pop("dtype", None)
    settings = DanSettings.read({**asdict(DanSettings()), **chosen})
    try:
        if kept is not None:
            embeddings = principal_components(embeddings, kept)
        dan = Dan(settings, tokenizer, _start_weights(embeddings, width, settings))
        dan.check()
    except ValueError as error:
        raise ConnormError(Errors.CN324.format(name=name, reason=error)) from error
    return dan


def _is_saved(folder: Path) -> bool:
    try:
        config = json.loads((folder / "config.json").read_text(encoding="utf8"))
    except (OSError, ValueError):
        return False
    return isinstance(config, dict) and config.get("model_type") == DAN


def _load_saved(folder: Path, asked: dict[str, Any]) -> Dan:
    try:
        config = json.loads((folder / "config.json").read_text(encoding="utf8"))
        if config["format_version"] != FORMAT_VERSION:
            raise ValueError(f"its format version is {config['format_version']}")
        tokenizer = (folder / "tokenizer.json").read_text(encoding="utf8")
        dan = Dan(DanSettings.read(config), tokenizer, load_file(folder / "model.safetensors"))
        dan.check()
    except Exception as error:
        raise ConnormError(Errors.CN306.format(path=folder, reason=error)) from error
    found = {
        **asdict(dan.settings),
        "ngram_range": list(dan.settings.ngram_range),
        "width": dan.width,
        "principal_components": dan.width,
    }
    if found["dtype"] == "float32":
        del found["dtype"]  # It can be rounded to any other.
    for setting, value in asked.items():
        if value is not None and value != found.get(setting, value):
            raise ConnormError(
                Errors.CN322.format(path=folder, setting=setting, found=found[setting], asked=value)
            )
    return dan


def _start_weights(
    embeddings: np.ndarray, width: int | None, settings: DanSettings
) -> dict[str, np.ndarray]:
    random = np.random.default_rng(_SEED)
    scale = float(embeddings.std())
    if width is not None:
        embeddings = _draw(random, (len(embeddings), width), scale)
    ngrams = _draw(random, (settings.buckets, embeddings.shape[1]), scale)
    weights = {EMBEDDINGS: np.concatenate([embeddings, ngrams])}
    for name, shape in _shapes(weights[EMBEDDINGS].shape, settings.hidden).items():
        if name not in weights:
            weights[name] = _draw(random, shape, np.sqrt(2 / shape[-1]) * name.endswith("weight"))
    return weights


def _draw(random: np.random.Generator, shape: tuple[int, ...], scale: float) -> np.ndarray:
    return random.standard_normal(shape, dtype=np.float32) * np.float32(scale)


def _shapes(embeddings: tuple[int, ...], hidden: int) -> dict[str, tuple[int, ...]]:
    width = embeddings[-1]
    layer = {
        "hidden.weight": (hidden, width),
        "hidden.bias": (hidden,),
        "output.weight": (width, hidden),
        "output.bias": (width,),
    }
    return {EMBEDDINGS: embeddings, **(layer if hidden else {})}
