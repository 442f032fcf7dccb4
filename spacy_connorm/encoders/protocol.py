"""The interface of encoders. Other packages use encoders only through these functions.

An encoder is a thinc `Model[List[str], Floats2d]`; sparse encoders return a SciPy CSR matrix
instead, hybrid ones a `HybridArray`. Row i is the vector of text i: float32, finite, not
normalized; no texts give shape (0, nO). Any `str` is valid: empty, of any length, with lone
surrogates. Creating an encoder loads nothing: `model.initialize(X=texts)` does, or
`model.from_bytes` and `model.from_disk`, which need neither a network nor the original files.
From then on the dim `nO` is set.

A new encoder is one file with an `EncoderShim` (see `shim.py`) and a function that passes it to
`make_encoder`, an entry point for this function in the group `spacy_architectures`, and a test.
"""

from collections.abc import Callable, Mapping, Sequence
from copy import copy
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

import numpy as np
import srsly
from thinc.api import Model, require_gpu
from thinc.types import Floats2d

from ..errors import ConnormError, Errors
from ..files.arrays import open_array
from ..files.folders import damaged
from .shim import EncoderShim
from .storage import DTYPES
from .vectors import Raw

if TYPE_CHECKING:
    import torch

Encoder = Model[list[str], Floats2d]


class TrainableModule(Protocol):
    """A `torch.nn.Module` that computes an encoder's vectors with gradients. Train it, `save` it,
    and set the encoder's `name` to that folder.
    """

    def rows(self, texts: list[str]) -> list[list[int]]:
        """RETURNS (List[List[int]]): What is read of each text, e.g. token ids."""

    def collate(self, rows: list[list[int]]) -> "dict[str, torch.Tensor]":
        """RETURNS (Dict[str, torch.Tensor]): The rows as arguments of `forward`."""

    def forward(self, **inputs: "torch.Tensor") -> "torch.Tensor":
        """RETURNS (torch.Tensor): Shape (rows, width), float32."""

    def save(self, folder: Path) -> None:
        """Save the module for the encoder's architecture.

        folder (Path): An empty folder.
        """


@runtime_checkable
class GroundedModule(TrainableModule, Protocol):
    """A module of which a part is fitted to names and concepts before gradients train the rest.

    prototypes (torch.Tensor): float32 (concepts, width): what the vectors of a concept's names are
        grounded in, once it is fitted.
    """

    prototypes: "torch.Tensor"

    def fit(self, texts: Sequence[str], members: Sequence[np.ndarray]) -> None:
        """Fit it.

        texts (Sequence[str]): The names to train on.
        members (Sequence[Ints1d]): Of each concept: the positions of its names.
        """


def make_encoder(name: str, shim: EncoderShim) -> Encoder:
    """Create an encoder.

    name (str): The name of the thinc model.
    shim (EncoderShim): Loads, encodes and saves.
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


def encoder_inputs(model: Encoder, texts: Sequence[str]) -> list[bytes]:
    """Get what the encoder reads of each text, e.g. its token ids. Texts with equal inputs have
    equal vectors, so they share a row of the index.

    model (Model[List[str], Floats2d]): The encoder.
    texts (Sequence[str]): The texts.
    RETURNS (List[bytes]): One input per text.
    RAISES (ConnormError): CN300 for a model that is not an encoder, CN301 for one not initialized.
    """
    return _loaded(model).inputs(_encodable(texts))


def encoder_forms(model: Encoder, texts: Sequence[str]) -> list[str]:
    """Get a cheap substitute for the inputs: texts with equal forms have equal inputs, but not the
    other way round.

    model (Model[List[str], Floats2d]): The encoder.
    texts (Sequence[str]): The texts.
    RETURNS (List[str]): One form per text; the text itself if the encoder has no forms.
    RAISES (ConnormError): CN300 for a model that is not an encoder, CN301 for one not initialized.
    """
    return _loaded(model).forms(_encodable(texts))


def fingerprint(model: Encoder) -> str:
    """Identify a vector space: the fingerprint changes with the weights, the vocabulary and every
    setting that changes vectors. It is the same after saving and loading, and in any process.

    model (Model[List[str], Floats2d]): The encoder.
    RETURNS (str): 32 hexadecimal digits.
    RAISES (ConnormError): CN300 for a model that is not an encoder, CN301 for one not initialized.
    """
    return _loaded(model).fingerprint()


def encode(model: Encoder, texts: Sequence[str]) -> Raw:
    """Encode texts, with the vectors in main memory.

    model (Model[List[str], Floats2d]): The encoder.
    texts (Sequence[str]): The texts.
    RETURNS (Union[np.ndarray, csr_matrix, HybridArray]): Shape (texts, nO), float32.
    RAISES (ConnormError): CN300 for a model that is not an encoder, CN301 for one not initialized.
    """
    shim = _loaded(model)
    return shim.encode(shim.inputs(_encodable(texts)))


def encode_inputs(model: Encoder, inputs: Sequence[bytes]) -> Raw:
    """Encode texts that are already tokenized; see `encode`.

    model (Model[List[str], Floats2d]): The encoder.
    inputs (Sequence[bytes]): From `encoder_inputs`.
    RETURNS (Union[np.ndarray, csr_matrix, HybridArray]): Shape (inputs, nO), float32.
    RAISES (ConnormError): CN300 for a model that is not an encoder, CN301 for one not initialized.
    """
    return _loaded(model).encode(list(inputs))


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
    shim: Any = _loaded(model)
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
    """RETURNS (str): The extra of spacy-connorm that the encoder needs; empty if none."""
    return _shim(model).extra


def saved_parts(parts: Mapping[str, Encoder]) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """Get what several encoders save, as the contents of one that is made of them.

    parts (Mapping[str, Model[List[str], Floats2d]]): The encoders by name.
    RETURNS (Tuple[Dict[str, Any], Dict[str, np.ndarray]]): See `EncoderShim.contents`.
    RAISES (ConnormError): CN301 for one that is not initialized.
    """
    values: dict[str, Any] = {}
    arrays: dict[str, np.ndarray] = {}
    for name, part in parts.items():
        values[name], own = _loaded(part).saved()
        arrays |= {f"{name}.{each}": array for each, array in own.items()}
    return values, arrays


def restored_parts(
    parts: Mapping[str, Encoder], values: Mapping[str, Any], arrays: Mapping[str, np.ndarray]
) -> dict[str, Encoder]:
    """Restore what `saved_parts` gave.

    parts (Mapping[str, Model[List[str], Floats2d]]): Encoders of the same settings, which stay as
        they are.
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
    """Write what `open_encoder` reads. Large arrays are in files of their own, to be mapped.

    model (Model[List[str], Floats2d]): The encoder.
    path (Path): The file to write; those of arrays are `NAME.ARRAY.npy`.
    RAISES (ConnormError): CN301 for one that is not initialized.
    """
    saved, arrays = _loaded(model).saved()
    shapes = {name: list(array.shape) for name, array in arrays.items()}
    path.write_bytes(srsly.msgpack_dumps({**saved, "shapes": shapes}))
    for name, array in arrays.items():
        np.save(_array_file(path, name), array)


def open_encoder(model: Encoder, path: Path) -> Encoder:
    """Read an encoder; its large arrays are mapped, and shared by all processes that open them.

    model (Model[List[str], Floats2d]): One of the same settings, which stays as it is.
    path (Path): The file.
    RETURNS (Model[List[str], Floats2d]): The encoder.
    RAISES (ConnormError): CN402 if a file is missing or holds no such array, CN305 if the encoder
        is damaged.
    """
    if not path.is_file():
        raise damaged(path, "it is missing")
    try:
        saved = srsly.msgpack_loads(path.read_bytes())
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
    except Exception as error:  # CuPy raises its own without a driver or for a missing device
        raise ConnormError(Errors.CN713.format(gpu_id=gpu_id, reason=error)) from error


def _init(model: Encoder, X: Sequence[str] | None = None, Y: Any = None) -> None:
    shim = _shim(model)
    shim.load(None if X is None else _encodable(X))
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


def _loaded(model: Encoder) -> EncoderShim:
    shim = _shim(model)
    if not shim.width:
        raise ConnormError(Errors.CN301.format(name=model.name))
    return shim


def _encodable(texts: Sequence[str]) -> list[str]:
    return [text if _is_encodable(text) else _mend(text) for text in texts]


def _is_encodable(text: str) -> bool:
    # `isprintable` is fast, and surrogates are not printable.
    if text.isprintable():
        return True
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _mend(text: str) -> str:
    """Join surrogate pairs, and replace lone surrogates by U+FFFD."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
