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

import numpy as np
from thinc.api import Model
from thinc.types import Floats2d

from ..errors import Errors
from ..text.cleaning import encodable
from .raw import Raw
from .shims import EncoderShim

if TYPE_CHECKING:
    import torch


Encoder = Model[list[str], Floats2d]


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
    return make_encoder(model.name, copy(shim_of(model)))


def fitted(model: Encoder, texts: list[str] | None = None) -> Encoder:
    """Load or fit an encoder with the same settings.

    model (Model[List[str], Floats2d]): The encoder, which does not change.
    texts (Optional[List[str]]): All texts to encode, for an encoder that `fits`.
    RETURNS (Model[List[str], Floats2d]): A new encoder.
    RAISES (ConnormError): CN300 for a model that is not an encoder.
    """
    encoder = replica(model)
    encoder.initialize(X=texts)
    return encoder


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


def is_sparse(model: Encoder) -> bool:
    """Check whether an encoder is sparse. It need not be initialized.

    model (Model[List[str], Floats2d]): The encoder.
    RETURNS (bool): True if it returns SciPy CSR matrices, False for arrays and `HybridArray`.
    RAISES (ConnormError): CN300 for a model that is not an encoder.
    """
    return shim_of(model).sparse


def fits(model: Encoder) -> bool:
    """Check whether an encoder is fitted to texts. It need not be initialized.

    model (Model[List[str], Floats2d]): The encoder.
    RETURNS (bool): False if the encoder is the same for any texts.
    RAISES (ConnormError): CN300 for a model that is not an encoder.
    """
    return shim_of(model).fits


def required_extra(model: Encoder) -> str:
    """Find the extra that an encoder needs.

    RETURNS (str): An extra of spacy-connorm; empty if none.
    """
    return shim_of(model).extra


def _init(model: Encoder, X: Sequence[str] | None = None, Y: Any = None) -> None:
    shim = shim_of(model)
    shim.load(None if X is None else encodable(X))
    model.set_dim("nO", shim.width, force=True)


def _forward(model: Encoder, texts: Sequence[str], is_train: bool) -> tuple[Any, Callable]:
    vectors: Any = encode(model, texts)
    is_dense = isinstance(vectors, np.ndarray)
    return (model.ops.asarray2f(vectors) if is_dense else vectors), _refuse_backprop


def _refuse_backprop(gradient: Any) -> Any:
    raise Errors.CN302()


def shim_of(model: Encoder) -> EncoderShim:
    shim = model.shims[0] if model.shims else None
    if not isinstance(shim, EncoderShim):
        raise Errors.CN300(name=model.name)
    return shim


def loaded_shim(model: Encoder) -> EncoderShim:
    """Get what encodes, for those who ask it for each mention.

    model (Model[List[str], Floats2d]): The encoder.
    RETURNS (EncoderShim): Its `inputs` takes `encodable` texts.
    RAISES (ConnormError): CN300 for a model that is not an encoder, CN301 for one not initialized.
    """
    shim = shim_of(model)
    if not shim.width:
        raise Errors.CN301(name=model.name)
    return shim


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


def require_trainable(model: Encoder) -> None:
    """Refuse an encoder that can't be trained. It need not be initialized.

    model (Model[List[str], Floats2d]): The encoder.
    RAISES (ConnormError): CN300 for a model that is not an encoder, CN311 for one that can't be
        trained.
    """
    if not hasattr(shim_of(model), "trainable"):
        raise Errors.CN311(name=model.name)


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
