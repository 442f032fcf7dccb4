"""A transformer in ONNX Runtime as an encoder: fast on a CPU, without PyTorch."""

from typing import Literal

from thinc.api import Model
from thinc.types import Floats2d

from ..errors import refuse, require_installed
from .protocol import make_encoder


def OnnxEncoder(
    *,
    name: str = "",
    pooling: Literal["mean", "cls", "max"] | None = None,
    max_length: int | None = None,
    batch_tokens: int = 512,
) -> Model[list[str], Floats2d]:
    """Build an encoder from a folder written by `python -m spacy connorm export`: a transformer as
    an ONNX graph, quantized to eight bits or in full precision. It needs neither torch nor
    transformers, and is saved whole with the model.

    A text's vector does not depend on the other texts of its batch (up to float32 rounding): when
    quantized, each token has its own scale. It uses OMP_NUM_THREADS threads, by default one per
    core, and one in a worker of `nlp.pipe(n_process=2)`.

    A setting of None means the value that the folder was exported with. A folder that was exported
    with a different value is refused.

    name (str): The folder.
    pooling (Optional[Literal["mean", "cls", "max"]]): How token vectors are pooled.
    max_length (Optional[int]): Texts are cut after this many tokens, including special tokens.
    batch_tokens (int): Tokens per batch, including padding. Texts are sorted by length.
    RETURNS (Model[List[str], Floats2d]): The encoder.
    RAISES (ConnormError): CN006 for an empty batch, CN126 if an optional library is not installed.
    """
    if batch_tokens < 1:
        refuse("batch_tokens", batch_tokens, "at least 1")
    require_installed("OnnxEncoder", "onnx", "onnxruntime", "tokenizers")
    from .onnx_shim import OnnxShim

    asked = {"pooling": pooling, "max_length": max_length}
    return make_encoder("onnx_encoder", OnnxShim(name, asked=asked, batch_tokens=batch_tokens))
