"""The base classes of encoders: what loads, encodes and saves."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import srsly
from thinc.shims import Shim

from ..errors import Errors
from .raw import Raw
from .storage import DTYPES


class EncoderShim(Shim, ABC):
    """The base class of encoders. Settings are not saved, since they come from the config. The
    loaded or fitted object is `_model`, which has a checksum. It is replaced and never changed: see
    `replica`. Texts are always valid UTF-8, and only `load` is called before `load`.

    sparse (bool): Whether `encode` returns SciPy CSR matrices.
    fits (bool): Whether loading uses the texts: if not, they need not be kept in memory to build an
        index.
    extra (str): The extra of spacy-connorm that it needs; empty if none.
    lexical_weight (float): The weight of the lexical cosine, for an encoder that has both.
    weights (Optional[Floats1d]): float32 (width,), for an encoder of counts: its vectors are whole
        numbers times these.
    """

    sparse = False
    fits = False
    extra = ""
    lexical_weight = 1.0
    weights: np.ndarray | None = None

    def __init__(self, name: str = "") -> None:
        """Store the name.

        name (str): The source to load the encoder from.
        """
        super().__init__(None)
        self.name = name
        self._digest = ""

    @property
    def width(self) -> int:
        """The width of the vectors.

        RETURNS (int): 0 before anything is loaded.
        """
        return 0 if self._model is None else self._model.width

    @property
    def widths(self) -> dict[str, int]:
        """The numbers of components of the vectors.

        RETURNS (Dict[str, int]): By kind: "dense", "sparse", or both.
        """
        return {"sparse" if self.sparse else "dense": self.width}

    @abstractmethod
    def load(self, texts: list[str] | None) -> None:
        """Load or fit the encoder.

        texts (Optional[List[str]]): The argument `X` of `model.initialize`.
        """

    def attach(self, find: Callable[[str], Any]) -> None:
        """Get access to the other components of the pipeline. Most encoders need none.

        find (Callable[[str], Any]): `nlp.get_pipe`.
        """

    def hold(self, model: Any, digest: str) -> None:
        """Keep the object that was loaded or fitted.

        model (Any): The new object; None to empty the encoder.
        digest (str): Its checksum.
        """
        self._model, self._digest = model, digest

    @abstractmethod
    def inputs(self, texts: list[str]) -> list[bytes]:
        """Get what the encoder reads of texts.

        RETURNS (List[bytes]): See `encoder_inputs`.
        """

    @abstractmethod
    def encode(self, inputs: list[bytes]) -> Raw:
        """Encode texts.

        inputs (List[bytes]): From `inputs`.
        RETURNS (Raw): Shape (inputs, width), float32, in main memory.
        """

    def fingerprint(self) -> str:
        """Identify the vector space.

        RETURNS (str): See `fingerprint`.
        """
        return self._digest

    @abstractmethod
    def contents(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        """Collect what to save.

        RETURNS (Tuple[Dict[str, Any], Dict[str, np.ndarray]]): Values for msgpack, and large
            arrays, which may be saved in separate files.
        """

    @abstractmethod
    def restored(self, saved: Mapping[str, Any], arrays: dict[str, np.ndarray]) -> tuple[Any, str]:
        """Restore an object from its `contents`. Any error may be raised if they are damaged.

        saved (Mapping[str, Any]): The values.
        arrays (Dict[str, np.ndarray]): The arrays.
        RETURNS (Tuple[Any, str]): The new object and its checksum.
        """

    def saved(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        """Collect what to save, with its checksum.

        RETURNS (Tuple[Dict[str, Any], Dict[str, np.ndarray]]): The contents and a checksum; see
            `restore`.
        """
        values, arrays = self.contents()
        return {**values, "digest": self._digest}, arrays

    def restore(self, saved: Mapping[str, Any], arrays: dict[str, np.ndarray]) -> None:
        """Restore the encoder from what was saved.

        saved (Mapping[str, Any]): The values and the checksum.
        arrays (Dict[str, np.ndarray]): The arrays.
        RAISES (ConnormError): CN305 if they are damaged.
        """
        with Errors.CN305.instead_of(Exception):
            model, digest = self.restored(saved, arrays)
            if saved["digest"] != digest:
                raise ValueError("its checksum differs")
            self.hold(model, digest)

    def to_bytes(self) -> bytes:
        """Serialize the encoder.

        RETURNS (bytes): Everything that is saved; empty before anything is loaded.
        """
        if not self.width:
            return b""
        saved, arrays = self.saved()
        return srsly.msgpack_dumps({**saved, "arrays": arrays})

    def from_bytes(self, data: bytes) -> "EncoderShim":
        """Restore the encoder from bytes.

        data (bytes): The result of `to_bytes`.
        RETURNS (EncoderShim): This shim.
        RAISES (ConnormError): CN305 if the data is damaged.
        """
        if not data:
            self.hold(None, "")
            return self
        with Errors.CN305.instead_of(Exception):
            saved = srsly.msgpack_loads(data)
            arrays = saved["arrays"]
            for array in arrays.values():
                if array.dtype not in DTYPES:
                    raise ValueError(f"its weights are {array.dtype}")
            # Of how an array is packed, not everything is needed to read it.
            if srsly.msgpack_dumps(saved) != data:
                raise ValueError("its bytes have changed")
        self.restore(saved, arrays)
        return self


class PretrainedShim(EncoderShim):
    """An encoder that is read from its `name`, and encodes texts in batches."""

    def __init__(
        self, name: str = "", *, asked: dict[str, Any] | None = None, batch_size: int = 512
    ) -> None:
        """Store the settings.

        name (str): The source to load the encoder from.
        asked (Optional[Dict[str, Any]]): The settings that change vectors; None for those not
            given.
        batch_size (int): Texts to encode at once.
        """
        super().__init__(name)
        self._asked = asked or {}
        self.batch_size = batch_size

    def load(self, texts: list[str] | None) -> None:
        """Load the encoder, once.

        texts (Optional[List[str]]): Not used.
        """
        if self._model is None:
            model = self.read()
            self.hold(model, model.digest())

    @abstractmethod
    def read(self) -> Any:
        """Read the object that `name` stands for.

        RETURNS (Any): An object with a `width` and a `digest()`.
        """

    def encode(self, inputs: list[bytes]) -> Raw:
        """Encode texts in batches.

        inputs (List[bytes]): From `inputs`.
        RETURNS (Raw): Shape (inputs, width), float32, in main memory; zeros for texts that are in
            no batch.
        RAISES (ConnormError): CN308 if vectors are not finite.
        """
        vectors = np.zeros((len(inputs), self.width), dtype="float32")
        for rows in self.batches(inputs):
            vectors[rows] = self.encode_batch([inputs[row] for row in rows])
        if not np.isfinite(vectors).all():
            raise Errors.CN308(name=self.name)
        return vectors

    def batches(self, inputs: list[bytes]) -> Iterator[Sequence[int] | np.ndarray]:
        """Divide inputs into batches.

        YIELDS (Sequence[int]): The rows of each batch.
        """
        for start in range(0, len(inputs), self.batch_size):
            yield range(start, min(start + self.batch_size, len(inputs)))

    @abstractmethod
    def encode_batch(self, inputs: list[bytes]) -> np.ndarray:
        """Encode one batch.

        RETURNS (np.ndarray): Shape (inputs, width), float32.
        """
