"""What every encoder offers, and the only functions through which the house asks for it.

An encoder is a thinc `Model[List[str], Floats2d]`; a sparse one gives a SciPy CSR matrix instead,
a hybrid one a `HybridArray` of both. Row i is the vector of text i: float32, finite, not scaled to
unit length; no texts give shape (0, nO). Every `str` is taken: empty, of any length, with lone
surrogates. Building an encoder loads nothing: `model.initialize(X=texts)` does, or
`model.from_bytes` and `model.from_disk`, which need neither a network nor the files it was first
loaded from. From then on the dim `nO` is known.

A new encoder is one file with an `EncoderShim` and a function that hands it to `make_encoder`, one
entry point in the group `spacy_architectures` that names this function, and one test.
"""

from collections.abc import Callable, Sequence
from copy import copy
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from thinc.api import Model, Ops
from thinc.types import Floats2d

from ..errors import ConnormError, Errors

if TYPE_CHECKING:
    import torch

Encoder = Model[list[str], Floats2d]


class TrainableModule(Protocol):
    """The torch module that computes an encoder's vectors, with gradients; a `torch.nn.Module`.
    What it learns the encoder itself sees only after `save`, under its setting `name`.
    """

    def rows(self, texts: list[str]) -> list[list[int]]:
        """RETURNS (List[List[int]]): What is read of each text, such as its token ids."""

    def collate(self, rows: list[list[int]]) -> "dict[str, torch.Tensor]":
        """RETURNS (Dict[str, torch.Tensor]): Rows as arguments of `forward`."""

    def forward(self, **inputs: "torch.Tensor") -> "torch.Tensor":
        """RETURNS (torch.Tensor): Shape (rows, width), float32."""

    def save(self, folder: Path) -> None:
        """Write what the encoder's architecture loads.

        folder (Path): An empty folder.
        """


class EncoderShim(Protocol):
    """The part that one encoder writes itself, beside thinc's `Shim`, which it extends: that one's
    `to_bytes` and `from_bytes` save what was loaded or fitted. It holds the encoder's settings,
    which are not saved: the config that builds the model gives them. It is handed only strings
    that can be written as UTF-8, and is asked for nothing before it is loaded. Loading and fitting
    put new objects in the place of old ones and change none: see `replica`.

    One whose `inputs` take a while may also have `forms(texts: List[str]) -> List[str]`, for
    `encoder_forms`.

    One that does not look at the texts that it is loaded with says so with `fits = False`: they
    need not be held to build an index.

    sparse (bool): Whether `encode` gives SciPy CSR matrices.
    extra (str): The extra of spacy-connorm that installs what it imports; empty if none.
    """

    sparse: bool
    extra: str

    @property
    def width(self) -> int:
        """RETURNS (int): The width of the vectors; 0 before anything is loaded."""

    def load(self, texts: list[str] | None) -> None:
        """Load or fit whatever the encoder needs.

        texts (Optional[List[str]]): What `model.initialize` was given as `X`.
        """

    def inputs(self, texts: list[str]) -> list[bytes]:
        """RETURNS (List[bytes]): As `encoder_inputs`."""

    def encode(self, inputs: list[bytes], ops: Ops) -> Any:
        """RETURNS (Floats2d): Shape (inputs, width), float32, an array of these ops or CSR."""

    def fingerprint(self) -> str:
        """RETURNS (str): As `fingerprint`."""


def make_encoder(name: str, shim: EncoderShim) -> Encoder:
    """Put an encoder together.

    name (str): The name of the thinc model.
    shim (EncoderShim): What does the work.
    RETURNS (Model[List[str], Floats2d]): The encoder, not loaded.
    """
    return Model(name, _forward, init=_init, dims={"nO": None}, shims=[shim])  # type: ignore[list-item]


def replica(model: Encoder) -> Encoder:
    """Make a second encoder of the same settings, to load or fit it and then, if all goes well, put
    it in the place of the first, which stays as it is.

    model (Model[List[str], Floats2d]): The encoder.
    RETURNS (Model[List[str], Floats2d]): It starts with what the first has loaded.
    RAISES (ConnormError): CN300 for a model that is no encoder.
    """
    return make_encoder(model.name, copy(_shim(model)))


def encoder_inputs(model: Encoder, texts: Sequence[str]) -> list[bytes]:
    """Get what the encoder really sees of each text. Texts with equal inputs have equal vectors,
    so one row serves them all.

    model (Model[List[str], Floats2d]): The encoder.
    texts (Sequence[str]): The texts.
    RETURNS (List[bytes]): One key a text, in the same order.
    RAISES (ConnormError): CN300 for a model that is no encoder, CN301 for one not initialized.
    """
    return _loaded(model).inputs(_encodable(texts))


def encoder_forms(model: Encoder, texts: Sequence[str]) -> list[str]:
    """Get a cheap stand-in for what the encoder sees of each text: texts with equal forms have
    equal inputs. Others may have them too.

    model (Model[List[str], Floats2d]): The encoder.
    texts (Sequence[str]): The texts.
    RETURNS (List[str]): One form a text, in the same order; the text itself if the encoder knows
        nothing better.
    RAISES (ConnormError): CN300 for a model that is no encoder, CN301 for one not initialized.
    """
    forms = getattr(_loaded(model), "forms", list)
    return forms(_encodable(texts))


def fingerprint(model: Encoder) -> str:
    """Tell vector spaces apart. The fingerprint changes with the weights, the vocabulary and every
    setting that changes vectors; it survives saving, loading and a new process.

    model (Model[List[str], Floats2d]): The encoder.
    RETURNS (str): 32 hexadecimal digits.
    RAISES (ConnormError): CN300 for a model that is no encoder, CN301 for one not initialized.
    """
    return _loaded(model).fingerprint()


def encode(model: Encoder, texts: Sequence[str]) -> Any:
    """Encode texts and bring their vectors to main memory.

    model (Model[List[str], Floats2d]): The encoder.
    texts (Sequence[str]): The texts.
    RETURNS (Union[np.ndarray, csr_matrix, HybridArray]): Shape (texts, nO), float32.
    RAISES (ConnormError): CN300 for a model that is no encoder, CN301 for one not initialized.
    """
    return _to_main_memory(model, model.predict(list(texts)))


def encode_inputs(model: Encoder, inputs: Sequence[bytes]) -> Any:
    """As `encode`, of texts that are tokenized already.

    model (Model[List[str], Floats2d]): The encoder.
    inputs (Sequence[bytes]): From `encoder_inputs`.
    RETURNS (Union[np.ndarray, csr_matrix, HybridArray]): Shape (inputs, nO), float32.
    RAISES (ConnormError): CN300 for a model that is no encoder, CN301 for one not initialized.
    """
    return _to_main_memory(model, _loaded(model).encode(list(inputs), model.ops))


def require_trainable(model: Encoder) -> None:
    """Refuse an encoder that has nothing to train; known before `initialize`.

    model (Model[List[str], Floats2d]): The encoder.
    RAISES (ConnormError): CN300 for a model that is no encoder, CN311.
    """
    if not hasattr(_shim(model), "trainable"):
        raise ConnormError(Errors.CN311.format(name=model.name))


def trainable(model: Encoder) -> TrainableModule:
    """Get what a trainer trains.

    model (Model[List[str], Floats2d]): The encoder.
    RETURNS (TrainableModule): Its weights may be the encoder's own, so train and forget this one.
    RAISES (ConnormError): CN300 for a model that is no encoder, CN301 for one not initialized,
        CN311 for one that has nothing to train.
    """
    require_trainable(model)
    shim: Any = _loaded(model)
    return shim.trainable()


def is_sparse(model: Encoder) -> bool:
    """Tell which kind of matrix the encoder gives; known before `initialize`.

    model (Model[List[str], Floats2d]): The encoder.
    RETURNS (bool): True for SciPy CSR matrices, False for arrays of the model's ops and for a
        `HybridArray`, which is both.
    RAISES (ConnormError): CN300 for a model that is no encoder.
    """
    return _shim(model).sparse


def fits(model: Encoder) -> bool:
    """Tell whether loading the encoder looks at the texts; known before `initialize`.

    model (Model[List[str], Floats2d]): The encoder.
    RETURNS (bool): False for one that is the same whatever there is to encode.
    RAISES (ConnormError): CN300 for a model that is no encoder.
    """
    return getattr(_shim(model), "fits", True)


def required_extra(model: Encoder) -> str:
    """RETURNS (str): The extra of spacy-connorm that a package of this encoder needs, if any."""
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
    # `isprintable` is one fast pass in C, and no surrogate is printable.
    if text.isprintable():
        return True
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _mend(text: str) -> str:
    """Join surrogate pairs; a lone one becomes U+FFFD."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
