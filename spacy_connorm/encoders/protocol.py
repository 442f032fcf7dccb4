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

from collections.abc import Callable, Sequence
from copy import copy
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from thinc.api import Model, Ops
from thinc.types import Floats2d

from ..errors import ConnormError, Errors

if TYPE_CHECKING:
    import numpy as np
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

    def fit(self, texts: Sequence[str], members: Sequence["np.ndarray"]) -> None:
        """Fit it.

        texts (Sequence[str]): The names to train on.
        members (Sequence[Ints1d]): Of each concept: the positions of its names.
        """


class EncoderShim(Protocol):
    """What each encoder implements, as a subclass of thinc's `Shim`, whose `to_bytes` and
    `from_bytes` save what was loaded or fitted. Settings are not saved: they come from the config.
    Texts are always valid UTF-8, and no method but `load` is called before `load`. Loading and
    fitting create new objects and modify none: see `replica`.

    A shim can also have:

    - `forms(texts: List[str]) -> List[str]`, if `inputs` is slow, for `encoder_forms`.
    - `fits = False`, if it ignores the texts it is loaded with: then they need not be held in
      memory to build an index.
    - `trainable() -> TrainableModule`, if it can be trained.
    - `detached() -> Tuple[EncoderShim, Dict[str, np.ndarray]]`, if it has large arrays, which
      `storage` keeps in files of their own: a copy without them, to be saved, and the arrays.
    - `is_detached`, beside it: whether it was loaded without them, and `attach(files: Dict[str,
      Path], owner: Optional[TemporaryFolder])`, which maps the files.

    sparse (bool): Whether `encode` returns SciPy CSR matrices.
    extra (str): The extra of spacy-connorm that it needs; empty if none.
    """

    sparse: bool
    extra: str

    @property
    def width(self) -> int:
        """RETURNS (int): The width of the vectors; 0 before anything is loaded."""

    def load(self, texts: list[str] | None) -> None:
        """Load or fit the encoder.

        texts (Optional[List[str]]): The argument `X` of `model.initialize`.
        """

    def inputs(self, texts: list[str]) -> list[bytes]:
        """RETURNS (List[bytes]): See `encoder_inputs`."""

    def encode(self, inputs: list[bytes], ops: Ops) -> Any:
        """RETURNS (Floats2d): Shape (inputs, width), float32; an array of `ops`, or CSR."""

    def fingerprint(self) -> str:
        """RETURNS (str): See `fingerprint`."""


def make_encoder(name: str, shim: EncoderShim) -> Encoder:
    """Create an encoder.

    name (str): The name of the thinc model.
    shim (EncoderShim): Loads, encodes and saves.
    RETURNS (Model[List[str], Floats2d]): The encoder, not loaded.
    """
    return Model(name, _forward, init=_init, dims={"nO": None}, shims=[shim])  # type: ignore[list-item]


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
    forms = getattr(_loaded(model), "forms", list)
    return forms(_encodable(texts))


def fingerprint(model: Encoder) -> str:
    """Identify a vector space: the fingerprint changes with the weights, the vocabulary and every
    setting that changes vectors. It is the same after saving and loading, and in any process.

    model (Model[List[str], Floats2d]): The encoder.
    RETURNS (str): 32 hexadecimal digits.
    RAISES (ConnormError): CN300 for a model that is not an encoder, CN301 for one not initialized.
    """
    return _loaded(model).fingerprint()


def encode(model: Encoder, texts: Sequence[str]) -> Any:
    """Encode texts, with the vectors in main memory.

    model (Model[List[str], Floats2d]): The encoder.
    texts (Sequence[str]): The texts.
    RETURNS (Union[np.ndarray, csr_matrix, HybridArray]): Shape (texts, nO), float32.
    RAISES (ConnormError): CN300 for a model that is not an encoder, CN301 for one not initialized.
    """
    return _to_main_memory(model, model.predict(list(texts)))


def encode_inputs(model: Encoder, inputs: Sequence[bytes]) -> Any:
    """Encode texts that are already tokenized; see `encode`.

    model (Model[List[str], Floats2d]): The encoder.
    inputs (Sequence[bytes]): From `encoder_inputs`.
    RETURNS (Union[np.ndarray, csr_matrix, HybridArray]): Shape (inputs, nO), float32.
    RAISES (ConnormError): CN300 for a model that is not an encoder, CN301 for one not initialized.
    """
    return _to_main_memory(model, _loaded(model).encode(list(inputs), model.ops))


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
    return getattr(_shim(model), "fits", True)


def required_extra(model: Encoder) -> str:
    """RETURNS (str): The extra of spacy-connorm that the encoder needs; empty if none."""
    return _shim(model).extra


def _init(model: Encoder, X: Sequence[str] | None = None, Y: Any = None) -> None:
    shim = _shim(model)
    shim.load(None if X is None else _encodable(X))
    model.set_dim("nO", shim.width, force=True)


def _forward(model: Encoder, texts: Sequence[str], is_train: bool) -> tuple[Any, Callable]:
    shim = _loaded(model)
    return shim.encode(shim.inputs(_encodable(texts)), model.ops), _refuse_backprop


def _to_main_memory(model: Encoder, vectors: Any) -> Any:
    return model.ops.to_numpy(vectors) if isinstance(vectors, model.ops.xp.ndarray) else vectors


def _refuse_backprop(gradient: Any) -> Any:
    raise ConnormError(Errors.CN302)


def _shim(model: Encoder) -> EncoderShim:
    shim: Any = model.shims[0] if model.shims else None
    if not hasattr(shim, "sparse"):
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
