"""Any Hugging Face transformer as an encoder."""

from typing import Any, Literal

from spacy.util import SimpleFrozenDict
from thinc.api import Model
from thinc.types import Floats2d

from ..errors import refuse, require_installed
from .model_packages import MINILM
from .protocol import make_encoder


def TransformerEncoder(
    *,
    name: str = MINILM,
    pooling: Literal["mean", "cls", "max"] = "mean",
    max_length: int = 64,
    batch_size: int = 128,
    mixed_precision: bool = False,
    tokenizer_config: dict[str, Any] = SimpleFrozenDict(),
    transformer_config: dict[str, Any] = SimpleFrozenDict(),
) -> Model[list[str], Floats2d]:
    """Build an encoder from a pretrained transformer. `initialize` loads it; its weights, tokenizer
    and configuration are saved with the model.

    name (str): A name on the Hugging Face hub, or a folder. all-MiniLM-L6-v2 is taken from the
        extra `[minilm]` if installed.
    pooling (Literal["mean", "cls", "max"]): How token vectors are pooled.
    max_length (int): Texts are cut after this many tokens, including special tokens, or earlier if
        the transformer reads fewer. One of MEDIC's 67,000 names is longer than 64.
    batch_size (int): Texts per batch.
    mixed_precision (bool): Whether to use half precision where possible, which is faster on a GPU.
    tokenizer_config (Dict[str, Any]): Settings of `AutoTokenizer.from_pretrained`. Those that run
        code of the model, such as `trust_remote_code`, need `allow_remote_code`.
    transformer_config (Dict[str, Any]): The same of `AutoModel.from_pretrained`.
    RETURNS (Model[List[str], Floats2d]): The encoder.
    RAISES (ConnormError): CN126 if an optional library is not installed, CN006 for an empty batch
        or a length that leaves no room for text.
    """
    if max_length < 3:
        expected = "at least 3, as two tokens are taken by the special ones"
        refuse("max_length", max_length, expected)
    if batch_size < 1:
        refuse("batch_size", batch_size, "at least 1")
    require_installed(
        "TransformerEncoder",
        "transformers",
        *("torch", "transformers", "spacy_transformers"),
        instead=", or `[minilm]` for its default weights too",
    )
    from .hf_shim import TransformerSettings, TransformerShim

    settings = TransformerSettings(
        name=name,
        pooling=pooling,
        max_length=max_length,
        batch_size=batch_size,
        tokenizer_config=dict(tokenizer_config),
        transformer_config=dict(transformer_config),
    )
    return make_encoder(
        "transformer_encoder", TransformerShim(settings, mixed_precision=mixed_precision)
    )
