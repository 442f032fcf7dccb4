"""A deep averaging network: its settings and weights, their initialization, its folder on disk."""

import json
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from ...errors import Errors
from ..ngram import is_ngram_range
from ..pretrained import fetch_folder, find_folder
from ..storage import (
    DAN,
    DTYPES,
    TOKENIZER,
    WEIGHTS,
    digest_weights,
    model_type,
    reading_folder,
    require_settings,
    write_folder,
)

if TYPE_CHECKING:
    from .features import FeatureReader

Precision = Literal["float32", "int8"]
EMBEDDINGS = "embeddings.weight"
# The step of each row, if its components are integer multiples of it.
STEPS = "embeddings.step"
_LEVELS = 127
_SEED = 0
# The ends of the names of input embeddings in common models.
_INPUT_EMBEDDINGS = (
    "embeddings.word_embeddings.weight",
    "embeddings.tok_embeddings.weight",
    "embed_tokens.weight",
    "wte.weight",
)


@dataclass(frozen=True, slots=True)
class DanSettings:
    """The settings that change vectors; see `DanEncoder`."""

    ngram_range: tuple[int, int] = (3, 4)
    buckets: int = 65_536
    dtype: Precision = "float32"

    @classmethod
    def read(cls, config: dict[str, Any]) -> "DanSettings":
        """Read the settings from a config.

        config (Dict[str, Any]): The settings by name; other keys are ignored.
        RETURNS (DanSettings): The settings.
        RAISES (ValueError): If one is invalid.
        """
        known = {field.name: config[field.name] for field in fields(cls)}
        settings = cls(**{**known, "ngram_range": tuple(known["ngram_range"])})
        buckets_fit = type(settings.buckets) is int and settings.buckets >= 0
        if not buckets_fit or not is_ngram_range(settings.ngram_range):
            raise ValueError("its n-gram settings are invalid")
        if settings.dtype not in DTYPES:
            raise ValueError(f"its dtype is {settings.dtype}")
        return settings


@dataclass(frozen=True, slots=True)
class Dan:
    """A deep averaging network.

    settings (DanSettings): The settings.
    tokenizer (str): JSON of the library tokenizers.
    weights (Dict[str, np.ndarray]): `embeddings.weight`, of the settings' dtype, shape (word pieces
        + buckets, width). In int8 a component is a multiple of 1/127 of the largest one of its row,
        and `embeddings.step` holds the length of these steps.
    """

    settings: DanSettings
    tokenizer: str
    weights: dict[str, np.ndarray]

    @property
    def width(self) -> int:
        """The width of the vectors.

        RETURNS (int): The number of components.
        """
        return self.weights[EMBEDDINGS].shape[1]

    def facts(self) -> dict[str, Any]:
        """List what a config may say of the network.

        RETURNS (Dict[str, Any]): The settings of `DanEncoder` that change vectors.
        """
        return {
            **asdict(self.settings),
            "ngram_range": list(self.settings.ngram_range),
            "principal_components": self.width,
        }

    def rounded(self, dtype: Precision | None) -> "Dan":
        """Store the vectors of features in fewer bits.

        dtype (Optional[str]): "int8"; or "float32" or None for no change.
        RETURNS (Dan): The network; unchanged if it is already rounded.
        """
        if dtype != "int8" or self.settings.dtype == "int8":
            return self
        embeddings = self.weights[EMBEDDINGS]
        steps = np.abs(embeddings).max(axis=1, initial=0) / np.float32(_LEVELS)
        shares = embeddings / np.where(steps > 0, steps, 1)[:, None]
        levels = {EMBEDDINGS: np.rint(shares).astype("int8"), STEPS: steps}
        return replace(self, settings=replace(self.settings, dtype=dtype), weights=levels)

    def restored(self) -> "Dan":
        """Convert all weights to float32, for further training.

        RETURNS (Dan): The network.
        """
        if self.settings.dtype == "float32":
            return self
        levels, steps = self.weights[EMBEDDINGS], self.weights[STEPS]
        weights = {EMBEDDINGS: levels.astype("float32") * steps[:, None]}
        return replace(self, settings=replace(self.settings, dtype="float32"), weights=weights)

    def vectors(self, ids: np.ndarray, bounds: np.ndarray) -> np.ndarray:
        """Compute the vectors of texts. Only the rows needed are read.

        ids (np.ndarray): Features, int32, text by text.
        bounds (np.ndarray): Shape (texts + 1,): text i has the features `ids[bounds[i] :
            bounds[i + 1]]`.
        RETURNS (np.ndarray): Shape (texts, width), float32; zeros for a text without features.
        """
        embeddings, steps = self.weights[EMBEDDINGS], self.weights.get(STEPS)
        means = np.zeros((len(bounds) - 1, self.width), dtype="float32")
        counts = np.diff(bounds)
        shares = np.repeat(1 / np.maximum(counts, 1).astype("float32"), counts)
        if steps is not None:
            shares *= steps[ids]
        # A product for each text reads less memory than one for all, since rows are converted one
        # by one, and a mean does not depend on the other texts.
        for text in np.flatnonzero(counts):
            places = slice(bounds[text], bounds[text + 1])
            means[text] = shares[places] @ embeddings[ids[places]].astype("float32", copy=False)
        return means

    def reader(self) -> "FeatureReader":
        """Create a reader for the features of texts.

        RETURNS (FeatureReader): The reader.
        """
        from .features import FeatureReader

        return FeatureReader(
            self.tokenizer,
            pieces=len(self.weights[EMBEDDINGS]) - self.settings.buckets,
            ngram_range=self.settings.ngram_range,
            buckets=self.settings.buckets,
        )

    def digest(self) -> str:
        """Compute a checksum of everything.

        RETURNS (str): 32 hexadecimal digits.
        """
        settings = asdict(self.settings)
        # Indexes recognize their encoder by this checksum.
        if settings["dtype"] == "float32":
            del settings["dtype"]
        parts = (json.dumps(settings, sort_keys=True), self.tokenizer)
        header = "".join(f"{len(part)}\n{part}" for part in parts)
        return digest_weights(header, self.weights)

    def __post_init__(self) -> None:
        """Check that settings and weights fit together. Word piece ids are checked when they are
        read.

        RAISES (ValueError): If they do not.
        """
        found = {name: (array.shape, array.dtype.str) for name, array in self.weights.items()}
        embeddings, _ = found.get(EMBEDDINGS, ((), ""))
        if len(embeddings) != 2 or not embeddings[1] or embeddings[0] < self.settings.buckets:
            raise ValueError(f"its embeddings have the shape {embeddings}")
        expected: dict[str, tuple[tuple[int, ...], str]] = {}
        expected[EMBEDDINGS] = (embeddings, np.dtype(self.settings.dtype).str)
        if self.settings.dtype == "int8":
            expected[STEPS] = (embeddings[:1], "<f4")
        if found != expected:
            raise ValueError(f"its weights are {found}, not {expected}")

    def save(self, folder: Path) -> None:
        """Write the network to a folder.

        folder (Path): The folder for `config.json`, `tokenizer.json` and `model.safetensors`.
        """
        write_folder(folder, DAN, asdict(self.settings), self.weights)
        (folder / TOKENIZER).write_text(self.tokenizer, encoding="utf8")


def load_dan(name: str, asked: dict[str, Any]) -> Dan:
    """Load a saved network, or initialize one from a transformer.

    name (str): A folder written by `Dan.save`; or a transformer, see `fetch_folder`.
    asked (Dict[str, Any]): Fields of `DanSettings`, and `principal_components`; None for those not
        given.
    RETURNS (Dan): The network, not yet rounded to the requested dtype unless it was saved so.
    RAISES (ConnormError): CN303 and CN304 as in `fetch_folder`; CN306 if the folder is damaged,
        CN322 if it was saved with different settings, CN314 and CN324 if the transformer can't be
        used.
    """
    folder = find_folder(name)
    if folder is not None and model_type(folder) == DAN:
        return _load_saved(folder, asked)
    tokenizer, embeddings = _read_start(name)
    chosen = {key: value for key, value in asked.items() if value is not None}
    kept = chosen.pop("principal_components", None)
    # It starts unrounded, and may be trained that way.
    chosen.pop("dtype", None)
    settings = DanSettings.read({**asdict(DanSettings()), **chosen})
    with Errors.CN324.instead_of(ValueError, name=name):
        if kept is not None:
            embeddings = _principal_components(embeddings, kept)
        random = np.random.default_rng(_SEED)
        shape = (settings.buckets, embeddings.shape[1])
        ngrams = random.standard_normal(shape, dtype="float32") * np.float32(embeddings.std())
        return Dan(settings, tokenizer, {EMBEDDINGS: np.concatenate([embeddings, ngrams])})


def _load_saved(folder: Path, asked: dict[str, Any]) -> Dan:
    with reading_folder(folder, DAN) as (config, weights):
        tokenizer = (folder / TOKENIZER).read_text(encoding="utf8")
        dan = Dan(DanSettings.read(config), tokenizer, weights)
        dan.reader()
    found = dan.facts()
    if found["dtype"] == "float32":
        del found["dtype"]  # It can be rounded to any other.
    require_settings(folder, found, asked)
    return dan


def _read_start(name: str) -> tuple[str, np.ndarray]:
    """Read a transformer's tokenizer and input embeddings, without torch.

    name (str): The transformer, see `fetch_folder`.
    RETURNS (Tuple[str, Floats2d]): JSON of the library tokenizers, and float32 (tokens, width).
    RAISES (ConnormError): CN303 and CN304 as in `fetch_folder`; CN314 if it has no safetensors,
        CN324 if it can't be used otherwise.
    """
    from tokenizers import Tokenizer

    folder = fetch_folder(name, (TOKENIZER, WEIGHTS))
    if not (folder / WEIGHTS).is_file():
        raise Errors.CN314(source=name)
    try:
        tokenizer = Tokenizer.from_file(str(folder / TOKENIZER)).to_str()
        return tokenizer, _read_input_embeddings(folder / WEIGHTS)
    except Exception as error:  # the library tokenizers has no class for its own
        reason = f"{error}; `connorm encoder {name} FOLDER` makes a folder that can be used"
        raise Errors.CN324(name=name, reason=reason) from error


def _read_input_embeddings(path: Path) -> np.ndarray:
    from safetensors import safe_open

    with safe_open(path, framework="np") as weights:
        keys = weights.keys()
        names = [name for name in keys if name.endswith(_INPUT_EMBEDDINGS)]
        # NumPy has no bfloat16.
        if len(names) != 1 or weights.get_slice(names[0]).get_dtype() not in ("F32", "F16"):
            raise ValueError(f"'{path.name}' has no input embeddings in float32 or float16")
        return weights.get_tensor(names[0]).astype("<f4", copy=False)


def _principal_components(embeddings: np.ndarray, count: int) -> np.ndarray:
    """Project embeddings onto the directions of largest variance.

    embeddings (Floats2d): float32 (tokens, width).
    count (int): The number of directions.
    RETURNS (Floats2d): float32 (tokens, count), with the variance of the embeddings.
    RAISES (ValueError): If there are too few directions, or all embeddings are equal.
    """
    if count > embeddings.shape[1]:
        raise ValueError(f"it has only {embeddings.shape[1]} principal components, not {count}")
    centred = embeddings - embeddings.mean(axis=0)
    _, directions = np.linalg.eigh(centred.T @ centred)
    kept = centred @ directions[:, ::-1][:, :count]
    if not kept.any():
        raise ValueError("all of its embeddings are equal")
    return kept * (embeddings.std() / kept.std())
