"""A transformer in ONNX Runtime as an encoder: fast without a GPU, and without PyTorch."""

from importlib.util import find_spec
from typing import Literal

from thinc.api import Model
from thinc.types import Floats2d

from ..errors import ConnormError, Errors
from .protocol import make_encoder


def OnnxEncoder(
    *,
    name: str = "",
    pooling: Literal["mean", "cls", "max"] | None = None,
    max_length: int | None = None,
    batch_tokens: int = 512,
) -> Model[list[str], Floats2d]:
    """Build an encoder from a folder that `python -m spacy connorm export` wrote: a transformer as
    an ONNX graph, its linear layers in eight bits or in full precision. It needs neither torch nor
    transformers. Everything is saved with the model.

    A vector does not depend on what is encoded at the same time, up to the rounding of float32: in
    eight bits each token has a scale of its own. The threads it computes with are OMP_NUM_THREADS,
    or else the cores; in a worker of `nlp.pipe(n_process=2)` one.

    A setting of None is what the folder was exported with; a folder that was exported with another
    value is refused.

    name (str): The folder.
    pooling (Optional[Literal["mean", "cls", "max"]]): How the vectors of the tokens become one.
    max_length (Optional[int]): Tokens kept of a text, special ones included.
    batch_tokens (int): Tokens encoded at once, with padding. Texts of about one length go together.
    RETURNS (Model[List[str], Floats2d]): The encoder.
    RAISES (ConnormError): CN309 for an empty batch, CN330 if an optional library is not installed.
    """
    if batch_tokens < 1:
        raise ConnormError(Errors.CN309.format(setting="batch_tokens", expected="at least 1"))
    for library in ("onnxruntime", "tokenizers"):
        if find_spec(library) is None:
            raise ConnormError(Errors.CN330.format(library=library))
    from .onnx_shim import OnnxShim

    asked = {"pooling": pooling, "max_length": max_length}
    return make_encoder("onnx_encoder", OnnxShim(name, asked=asked, batch_tokens=batch_tokens))
