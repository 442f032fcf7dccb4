"""The interface of encoders. Other packages use encoders only through these functions.

An encoder is a thinc `Model[List[str], Floats2d]`; sparse encoders return a SciPy CSR matrix
instead, hybrid ones a `HybridArray`. Row i is the vector of text i: float32, finite, not
normalized; no texts give shape (0, nO). Any `str` is valid: empty, of any length, with lone
surrogates. Creating an encoder loads nothing: `model.initialize(X=texts)` does, or
`model.from_bytes` and `model.from_disk`, which need neither a network nor the original files.
From then on the dim `nO` is set.

A new encoder is one file with an `EncoderShim` and a function that passes it to `make_encoder`, an
entry point for this function in the group `spacy_architectures`, and a test.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, runtime_checkable

import numpy as np
import srsly
from thinc.api import Model, require_gpu
from thinc.shims import Shim
from thinc.types import Floats2d

from ..errors import ConnormError, Errors
from ..files.arrays import open_array
from ..files.folders import damaged
from .storage import DTYPES

if TYPE_CHECKING:
    import torch
    from scipy.sparse import csr_matrix

# The output of an encoder: an array, a CSR matrix or a `HybridArray`.
Raw: TypeAlias = Any


@dataclass(frozen=True, eq=False)
class HybridArray:
    """A dense and a lexical vector per text. They are kept apart, since the weight of the lexical
    cosine belongs to the query, not to the vectors that it is compared with.

    dense (Floats2d): float32 (b, dense width).
    lexical (csr_matrix): float32 (b, lexical width).
    weight (float): The weight of the lexical cosine relative to the dense one, at least 0.
    """

    dense: np.ndarray
    lexical: "csr_matrix"
    weight: float = 1.0

    @property
    def shape(self) -> tuple[int, int]:
        """The shape of the concatenated vectors.

        RETURNS (Tuple[int, int]): The number of rows, and the sum of both widths.
        """
        return self.dense.shape[0], self.dense.shape[1] + self.lexical.shape[1]

    def __getitem__(self, rows: Any) -> "HybridArray":
        """Select rows.

        RETURNS (HybridArray): These rows.

        rows (Union[slice, Sequence[int]]): The rows to select.
        """
        return HybridArray(self.dense[rows], self.lexical[rows], self.weight)

    def __add__(self, other: "HybridArray") -> "HybridArray":
        return HybridArray(self.dense + other.dense, self.lexical + other.lexical, self.weight)

    def __truediv__(self, number: float) -> "HybridArray":
        return HybridArray(self.dense / number, self.lexical / number, self.weight)


def _stack_hybrid(batches: Sequence[HybridArray]) -> HybridArray:
    """Concatenate one or more batches.

    RETURNS (HybridArray): All rows, with the weight of the first batch.
    """
    from scipy import sparse

    return HybridArray(
        np.vstack([batch.dense for batch in batches]),
        sparse.vstack([batch.lexical for batch in batches], format="csr"),
        batches[0].weight,
    )


def stack(raws: Iterable[Raw]) -> Raw:
    """Concatenate encoded batches.

    raws (Iterable[Union[Floats2d, csr_matrix, HybridArray]]): One or more batches, each (b, width).
    RETURNS (Union[Floats2d, csr_matrix, HybridArray]): All rows.
    """
    batches = list(raws)
    if len(batches) == 1:
        return batches[0]
    if isinstance(batches[0], HybridArray):
        return _stack_hybrid(batches)
    if isinstance(batches[0], np.ndarray):
        return np.vstack(batches)
    from scipy import sparse

    return sparse.vstack(batches, format="csr")


def make_csr(parts: Sequence[np.ndarray], width: int) -> "csr_matrix":
    """Make a CSR matrix from three arrays, without copying or checking them.

    parts (Sequence[np.ndarray]): Its `data`, `indices` and `indptr`.
    width (int): The number of columns.
    RETURNS (csr_matrix): float32 (n, width).
    """
    from scipy.sparse import csr_matrix

    data, indices, pointers = parts
    matrix = csr_matrix((len(pointers) - 1, width), dtype="float32")
    matrix.data, matrix.indices, matrix.indptr = data, indices, pointers
    return matrix


def unit_rows(vectors: np.ndarray) -> np.ndarray:
    """Scale rows to length 1.

    vectors (Floats2d): (n, width).
    RETURNS (Floats2d): (n, width); zero rows do not change.
    """
    return vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-12)


class EncoderShim(Shim, ABC):
    """The base class of encoders. Settings are not saved, since they come from the config. The
    loaded or fitted object is `_model`, which has a checksum. It is replaced and never changed: see
    `replica`. Texts are always valid UTF-8, and only `load` is called before `load`.

    sparse (bool): Whether `encode` returns SciPy CSR matrices.
    fits (bool): Whether loading uses the texts: if not, they need not be kept in memory to build an
        index.
    extra (str): The extra of spacy-connorm that it needs; empty if none.
    lexical_weight (float): The weight of the lexical cosine, for an encoder that has both.
    """

    sparse = False
    fits = False
    extra = ""
    lexical_weight = 1.0

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
        try:
            model, digest = self.restored(saved, arrays)
            if saved["digest"] != digest:
                raise ValueError("its checksum differs")
            self.hold(model, digest)
        except ConnormError:
            raise
        except Exception as error:
            raise ConnormError(Errors.CN305.format(reason=error)) from error

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
        try:
            saved = srsly.msgpack_loads(data)
            arrays = saved["arrays"]
            for array in arrays.values():
                if array.dtype not in DTYPES:
                    raise ValueError(f"its weights are {array.dtype}")
            # Of how an array is packed, not everything is needed to read it.
            if srsly.msgpack_dumps(saved) != data:
                raise ValueError("its bytes have changed")
        except Exception as error:
            raise ConnormError(Errors.CN305.format(reason=error)) from error
        self.restore(saved, arrays)
        return self


class PretrainedShim(EncoderShim):
    """An encoder that is read from its `name`, and encodes texts in batches."""

    def __init__(self, name: str = "", *, batch_size: int = 512) -> None:
        """Store the name and the size of batches.

        name (str): The source to load the encoder from.
        batch_size (int): Texts to encode at once.
        """
        super().__init__(name)
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
            raise ConnormError(Errors.CN308.format(name=self.name))
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


Encoder = Model[list[str], Floats2d]


class TrainableModule(Protocol):
    """A `torch.nn.Module` that computes an encoder's vectors with gradients. Train it, `save` it,
    and use the folder as the encoder's `name`.
    """

    def rows(self, texts: list[str]) -> list[list[int]]:
        """Tokenize texts.

        RETURNS (List[List[int]]): What the module reads of each text, e.g. token ids.
        """

    def collate(self, rows: list[list[int]]) -> "dict[str, torch.Tensor]":
        """Convert rows to the arguments of `forward`.

        RETURNS (Dict[str, torch.Tensor]): The arguments by name.
        """

    def forward(self, **inputs: "torch.Tensor") -> "torch.Tensor":
        """Compute vectors.

        RETURNS (torch.Tensor): Shape (rows, width), float32.
        """

    def save(self, folder: Path) -> None:
        """Save the module for the encoder's architecture.

        folder (Path): An empty folder.
        """


@runtime_checkable
class GroundedModule(TrainableModule, Protocol):
    """A module with a part that is fitted to names and concepts before the rest is trained by
    gradients.

    prototypes (torch.Tensor): float32 (concepts, width): what the vectors of a concept's names are
        grounded in, after fitting.
    """

    prototypes: "torch.Tensor"

    def fit(self, texts: Sequence[str], members: Sequence[np.ndarray]) -> None:
        """Fit the module to names and concepts.

        texts (Sequence[str]): The names to train on.
        members (Sequence[Ints1d]): For each concept, the positions of its names.
        """


def make_encoder(name: str, shim: EncoderShim) -> Encoder:
    """Create an encoder.

    name (str): The name of the thinc model.
    shim (EncoderShim): The shim that loads, encodes and saves.
    RETURNS (Model[List[str], Floats2d]): The encoder, not loaded.
    """
    return Model(name, _forward, init=_init, dims={"nO": None}, shims=[shim])


def replica(model: Encoder) -> Encoder:
    """Copy an encoder, to load or fit the copy and replace the original only if that succeeds.

    model (Model[List[str], Floats2d]): The encoder.
    RETURNS (Model[List[str], Floats2d]): An encoder with the same settings and weights. Loading it
        does not change the original.
    RAISES (ConnormError): CN300 for a model that is not an encoder.
    """
    return make_encoder(model.name, copy(_shim(model)))


def fitted(model: Encoder, texts: list[str] | None = None) -> Encoder:
    """Load or fit an encoder with the same settings.

    model (Model[List[str], Floats2d]): The encoder, which does not change.
    texts (Optional[List[str]]): All texts to encode, for an encoder that `fits`.
    RETURNS (Model[List[str], Floats2d]): A new encoder.
    RAISES (ConnormError): CN300 for a model that is not an encoder.
    """
    found = replica(model)
    found.initialize(X=texts)
    return found


def encoder_inputs(model: Encoder, texts: Sequence[str]) -> list[bytes]:
    """Get what the encoder reads of each text, e.g. its token ids. Texts with equal inputs have
    equal vectors, so they share a row of the index.

    model (Model[List[str], Floats2d]): The encoder.
    texts (Sequence[str]): The texts.
    RETURNS (List[bytes]): One input per text.
    RAISES (ConnormError): CN300 for a model that is not an encoder, CN301 for one not initialized.
    """
    return loaded_shim(model).inputs(encodable(texts))


def fingerprint(model: Encoder) -> str:
    """Identify a vector space: the fingerprint changes with the weights, the vocabulary and every
    setting that changes vectors. It is the same after saving and loading, and in any process.

    model (Model[List[str], Floats2d]): The encoder.
    RETURNS (str): 32 hexadecimal digits.
    RAISES (ConnormError): CN300 for a model that is not an encoder, CN301 for one not initialized.
    """
    return loaded_shim(model).fingerprint()


def encode(model: Encoder, texts: Sequence[str]) -> Raw:
    """Encode texts, with the vectors in main memory.

    model (Model[List[str], Floats2d]): The encoder.
    texts (Sequence[str]): The texts.
    RETURNS (Union[np.ndarray, csr_matrix, HybridArray]): Shape (texts, nO), float32.
    RAISES (ConnormError): CN300 for a model that is not an encoder, CN301 for one not initialized.
    """
    shim = loaded_shim(model)
    return shim.encode(shim.inputs(encodable(texts)))


def encode_inputs(model: Encoder, inputs: Sequence[bytes]) -> Raw:
    """Encode texts that are already tokenized; see `encode`.

    model (Model[List[str], Floats2d]): The encoder.
    inputs (Sequence[bytes]): From `encoder_inputs`.
    RETURNS (Union[np.ndarray, csr_matrix, HybridArray]): Shape (inputs, nO), float32.
    RAISES (ConnormError): CN300 for a model that is not an encoder, CN301 for one not initialized.
    """
    return loaded_shim(model).encode(list(inputs))


def require_trainable(model: Encoder) -> None:
    """Refuse an encoder that can't be trained. It need not be initialized.

    model (Model[List[str], Floats2d]): The encoder.
    RAISES (ConnormError): CN300 for a model that is not an encoder, CN311 for one that can't be
        trained.
    """
    if not hasattr(_shim(model), "trainable"):
        raise ConnormError(Errors.CN311.format(name=model.name))


def trainable(model: Encoder) -> TrainableModule:
    """Get the torch module to train.

    model (Model[List[str], Floats2d]): The encoder. Do not use it after training: the module may
        share its weights.
    RETURNS (TrainableModule): The module.
    RAISES (ConnormError): CN300 for a model that is not an encoder, CN301 for one not initialized,
        CN311 for one that can't be trained.
    """
    require_trainable(model)
    shim: Any = loaded_shim(model)
    return shim.trainable()


def is_sparse(model: Encoder) -> bool:
    """Check whether an encoder is sparse. It need not be initialized.

    model (Model[List[str], Floats2d]): The encoder.
    RETURNS (bool): True if it returns SciPy CSR matrices, False for arrays and `HybridArray`.
    RAISES (ConnormError): CN300 for a model that is not an encoder.
    """
    return _shim(model).sparse


def fits(model: Encoder) -> bool:
    """Check whether an encoder is fitted to texts. It need not be initialized.

    model (Model[List[str], Floats2d]): The encoder.
    RETURNS (bool): False if the encoder is the same for any texts.
    RAISES (ConnormError): CN300 for a model that is not an encoder.
    """
    return _shim(model).fits


def required_extra(model: Encoder) -> str:
    """Find the extra that an encoder needs.

    RETURNS (str): An extra of spacy-connorm; empty if none.
    """
    return _shim(model).extra


def saved_parts(parts: Mapping[str, Encoder]) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """Collect what several encoders save, as the contents of an encoder made of them.

    parts (Mapping[str, Model[List[str], Floats2d]]): The encoders by name.
    RETURNS (Tuple[Dict[str, Any], Dict[str, np.ndarray]]): See `EncoderShim.contents`.
    RAISES (ConnormError): CN301 for one that is not initialized.
    """
    values: dict[str, Any] = {}
    arrays: dict[str, np.ndarray] = {}
    for name, part in parts.items():
        values[name], own = loaded_shim(part).saved()
        arrays |= {f"{name}.{each}": array for each, array in own.items()}
    return values, arrays


def restored_parts(
    parts: Mapping[str, Encoder], values: Mapping[str, Any], arrays: Mapping[str, np.ndarray]
) -> dict[str, Encoder]:
    """Restore encoders from the result of `saved_parts`.

    parts (Mapping[str, Model[List[str], Floats2d]]): Encoders with the same settings, which do not
        change.
    values (Mapping[str, Any]): The values.
    arrays (Mapping[str, np.ndarray]): The arrays.
    RETURNS (Dict[str, Model[List[str], Floats2d]]): The encoders by name.
    RAISES (ConnormError): CN305 if one is damaged.
    """
    restored = {}
    for name, part in parts.items():
        own = {
            each.removeprefix(f"{name}."): array
            for each, array in arrays.items()
            if each.startswith(f"{name}.")
        }
        restored[name] = _restored(part, values[name], own)
    return restored


def store_encoder(model: Encoder, path: Path) -> None:
    """Write the files that `open_encoder` reads. Large arrays are in separate files, to be mapped.

    model (Model[List[str], Floats2d]): The encoder.
    path (Path): The file to write; arrays are in `NAME.ARRAY.npy`.
    RAISES (ConnormError): CN301 for one that is not initialized.
    """
    saved, arrays = loaded_shim(model).saved()
    shapes = {name: list(array.shape) for name, array in arrays.items()}
    path.write_bytes(srsly.msgpack_dumps({**saved, "kind": model.name, "shapes": shapes}))
    for name, array in arrays.items():
        np.save(_array_file(path, name), array)


def open_encoder(model: Encoder, path: Path) -> Encoder:
    """Read an encoder; its large arrays are mapped, and shared by all processes that open them.

    model (Model[List[str], Floats2d]): An encoder with the same settings, which does not change.
    path (Path): The file.
    RETURNS (Model[List[str], Floats2d]): The encoder.
    RAISES (ConnormError): CN402 if a file is missing or does not contain such an array, CN305 if
        the encoder is damaged, CN318 if it is of another kind.
    """
    if not path.is_file():
        raise damaged(path, "it is missing")
    try:
        saved = srsly.msgpack_loads(path.read_bytes())
        kind = saved.get("kind", model.name)  # older files have none
        if kind != model.name:
            raise ConnormError(Errors.CN318.format(found=kind, expected=model.name))
        arrays = {
            name: open_array(_array_file(path, name), DTYPES, tuple(shape))
            for name, shape in saved["shapes"].items()
        }
    except ConnormError:
        raise
    except Exception as error:
        raise ConnormError(Errors.CN305.format(reason=repr(error))) from error
    return _restored(model, saved, arrays)


def _array_file(path: Path, name: str) -> Path:
    return path.with_name(f"{path.name}.{name}.npy")


def _restored(model: Encoder, saved: Mapping[str, Any], arrays: dict[str, np.ndarray]) -> Encoder:
    found = replica(model)
    shim = _shim(found)
    shim.restore(saved, arrays)
    found.set_dim("nO", shim.width, force=True)
    return found


def choose_device(gpu_id: int) -> None:
    """Choose the device of all encoders that are loaded afterwards.

    gpu_id (int): The GPU, or -1 to change nothing.
    RAISES (ConnormError): CN713 if the GPU or a library for it is missing.
    """
    if gpu_id < 0:
        return
    try:
        require_gpu(gpu_id)
    except Exception as error:  # CuPy has its own errors if the driver or the device is missing
        raise ConnormError(Errors.CN713.format(gpu_id=gpu_id, reason=error)) from error


def _init(model: Encoder, X: Sequence[str] | None = None, Y: Any = None) -> None:
    shim = _shim(model)
    shim.load(None if X is None else encodable(X))
    model.set_dim("nO", shim.width, force=True)


def _forward(model: Encoder, texts: Sequence[str], is_train: bool) -> tuple[Any, Callable]:
    vectors: Any = encode(model, texts)
    is_dense = isinstance(vectors, np.ndarray)
    return (model.ops.asarray2f(vectors) if is_dense else vectors), _refuse_backprop


def _refuse_backprop(gradient: Any) -> Any:
    raise ConnormError(Errors.CN302)


def _shim(model: Encoder) -> EncoderShim:
    shim = model.shims[0] if model.shims else None
    if not isinstance(shim, EncoderShim):
        raise ConnormError(Errors.CN300.format(name=model.name))
    return shim


def loaded_shim(model: Encoder) -> EncoderShim:
    """Get what encodes, for those who ask it for each mention.

    model (Model[List[str], Floats2d]): The encoder.
    RETURNS (EncoderShim): Its `inputs` takes `encodable` texts.
    RAISES (ConnormError): CN300 for a model that is not an encoder, CN301 for one not initialized.
    """
    shim = _shim(model)
    if not shim.width:
        raise ConnormError(Errors.CN301.format(name=model.name))
    return shim


def encodable(texts: Sequence[str]) -> list[str]:
    """Join surrogate pairs in texts, and replace lone surrogates by U+FFFD.

    texts (Sequence[str]): Any texts.
    RETURNS (List[str]): Texts that every encoder can read.
    """
    # `isprintable` is fast, and surrogates are not printable.
    return [text if text.isprintable() else _mend(text) for text in texts]


def _mend(text: str) -> str:
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
