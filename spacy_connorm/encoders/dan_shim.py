"""The shim behind `DanEncoder`. Imports tokenizers and safetensors: import it in functions."""

from copy import copy
from dataclasses import asdict, replace
from itertools import pairwise
from multiprocessing.context import get_spawning_popen
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import srsly
from thinc.api import Ops
from thinc.shims import Shim
from thinc.types import Floats2d

from ..errors import ConnormError, Errors
from ..files.arrays import open_array
from ..files.atomic import TemporaryFolder
from ..files.folders import Stamp, replaced_since, stamp
from .dan_precision import PRECISIONS, mean_vectors
from .dan_weights import Dan, DanSettings, load_dan
from .verified import load_verified
from .weights import pack_weights, unpack_weights

if TYPE_CHECKING:
    from .dan_module import DanModule


class DanShim(Shim):
    """Holds a deep averaging network; computes with NumPy. Weights that are read from files of
    their own are mapped, and a spawned worker maps the same files.
    """

    sparse = False
    fits = False
    extra = "dan"

    def __init__(
        self, name: str, *, asked: dict[str, Any], dropout: float, batch_size: int
    ) -> None:
        """name (str): As `DanEncoder` takes it.
        asked (Dict[str, Any]): The settings that change vectors; None for those not given.
        dropout (float): The share of features that training drops.
        batch_size (int): Texts encoded at once.
        """
        super().__init__(None)
        self._name = name
        self._asked = asked
        self._dropout = dropout
        self._batch_size = batch_size
        self._reader: Any = None
        self._digest = ""
        self._is_saved = False
        self._files: dict[str, tuple[Path, Stamp]] = {}
        self._owner: TemporaryFolder | None = None

    def __getstate__(self) -> dict[str, Any]:
        state = {**vars(self), "_owner": None}
        if get_spawning_popen() is None or not self._files:
            return {**state, "_files": {}}
        return {**state, "_model": replace(self._model, weights={})}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        if self._files:
            self._model = replace(self._model, weights=_map(self._files))

    @property
    def width(self) -> int:
        """RETURNS (int): The width of the vectors; 0 before weights are loaded."""
        return 0 if self._model is None or self.is_detached else self._model.width

    @property
    def is_detached(self) -> bool:
        """RETURNS (bool): Whether its weights, saved beside it, are still missing."""
        return self._model is not None and not self._model.weights

    def load(self, texts: list[str] | None) -> None:
        """Load the weights, unless they are loaded.

        texts (Optional[List[str]]): Not used.
        RAISES (ConnormError): As `load_dan`.
        """
        if self._model is None:
            dan = load_dan(self._name, self._asked).rounded(self._asked["dtype"])
            self._set(dan, dan.digest())

    def encode(self, inputs: list[bytes], ops: Ops) -> Floats2d:
        """RETURNS (Floats2d): Shape (inputs, width), float32. A text without features (word pieces
        or n-grams) has the zero vector.
        """
        vectors = np.zeros((len(inputs), self.width), dtype=np.float32)
        for start in range(0, len(inputs), self._batch_size):
            batch = inputs[start : start + self._batch_size]
            vectors[start : start + len(batch)] = self._encode(batch)
        if not np.isfinite(vectors).all():
            raise ConnormError(Errors.CN308.format(name=self._name))
        return ops.asarray2f(cast(Floats2d, vectors))

    def inputs(self, texts: list[str]) -> list[bytes]:
        """RETURNS (List[bytes]): The features, ascending."""
        ids, bounds = self._reader.read(texts)
        raw = ids.tobytes()
        ends = (bounds * ids.itemsize).tolist()
        return [raw[start:end] for start, end in pairwise(ends)]

    def forms(self, texts: list[str]) -> list[str]:
        """RETURNS (List[str]): The characters that are read, lower-cased if the tokenizer does."""
        return self._reader.forms(texts)

    def fingerprint(self) -> str:
        """RETURNS (str): The checksum of weights, tokenizer and settings."""
        return self._digest

    def trainable(self) -> "DanModule":
        """RETURNS (DanModule): A torch module with a copy of the weights, as they were before they
        were rounded where that is known.
        """
        from .dan_module import DanModule

        dan, dtype = self._model, self._model.settings.dtype
        if dtype != "float32" and not self._is_saved:
            dan = load_dan(self._name, self._asked)
        return DanModule(dan.restored(), dropout=self._dropout, dtype=dtype)

    def to_bytes(self) -> bytes:
        """RETURNS (bytes): Settings, tokenizer, weights and a checksum; empty before weights are
        loaded.
        """
        if self._model is None:
            return b""
        saved = {
            "settings": asdict(self._model.settings),
            "tokenizer": self._model.tokenizer,
            "digest": self._digest,
        }
        if not self.is_detached:
            saved["weights"] = pack_weights(self._model.weights)
        return srsly.msgpack_dumps(saved)

    def from_bytes(self, bytes_data: bytes) -> "DanShim":
        """Restore what `to_bytes` saved. The saved settings replace those of the config.

        bytes_data (bytes): From `to_bytes`.
        RETURNS (DanShim): This shim.
        RAISES (ConnormError): CN305 if the data is damaged.
        """
        self._files, self._owner = {}, None
        if not bytes_data:
            self._model, self._reader, self._digest = None, None, ""
            return self
        self._set(*load_verified(bytes_data, _restore))
        self._is_saved = True
        return self

    def detached(self) -> "tuple[DanShim, dict[str, np.ndarray]]":
        """RETURNS (Tuple[DanShim, Dict[str, np.ndarray]]): A copy without weights, to be saved
        beside them; and the weights.
        """
        light = copy(self)
        light._model = replace(self._model, weights={})
        return light, self._model.weights

    def attach(self, files: dict[str, Path], owner: TemporaryFolder | None) -> None:
        """Map the weights that `detached` separated.

        files (Dict[str, Path]): The files of all weights, by name.
        owner (Optional[TemporaryFolder]): Kept as long as the weights, if the files are its.
        RAISES (ConnormError): CN402 for a file without weights, CN305 if they are not the ones.
        """
        self._files = {name: (path, stamp(path)) for name, path in files.items()}
        dan = replace(self._model, weights=_map(self._files))
        try:
            dan.check_weights()
        except ValueError as error:
            raise ConnormError(Errors.CN305.format(reason=error)) from error
        if dan.digest() != self._digest:
            raise ConnormError(Errors.CN305.format(reason="its checksum differs"))
        self._set(dan, self._digest)
        self._owner = owner

    def _set(self, dan: Dan, digest: str) -> None:
        self._model, self._digest = dan, digest
        self._reader = dan.reader() if dan.weights else None

    def _encode(self, inputs: list[bytes]) -> np.ndarray:
        weights = self._model.weights
        ids = np.frombuffer(b"".join(inputs), dtype=np.int32)
        counts = np.asarray([len(each) for each in inputs]) // ids.itemsize
        means = mean_vectors(weights, ids, np.concatenate([[0], np.cumsum(counts)]))
        if not self._model.settings.hidden:
            return means
        hidden = np.maximum(means @ weights["hidden.weight"].T + weights["hidden.bias"], 0)
        vectors = hidden @ weights["output.weight"].T + weights["output.bias"]
        vectors[counts == 0] = 0
        return vectors


def _restore(saved: dict[str, Any]) -> tuple[Dan, str]:
    beside = "weights" not in saved
    weights = {} if beside else unpack_weights(saved["weights"], PRECISIONS)
    dan = Dan(DanSettings.read(saved["settings"]), saved["tokenizer"], weights)
    if beside:
        return dan, saved["digest"]  # `attach` compares it
    # `FeatureReader` checks the ids of the tokenizer; reading it twice would take long.
    dan.check_weights()
    return dan, dan.digest()


def _map(files: dict[str, tuple[Path, Stamp]]) -> dict[str, np.ndarray]:
    weights = {}
    for name, (path, seen) in files.items():
        if not path.is_file() or stamp(path) != seen:
            raise replaced_since(path)
        shape = (None, None) if name.endswith(".weight") else (None,)
        weights[name] = open_array(path, PRECISIONS, shape)
    return weights
