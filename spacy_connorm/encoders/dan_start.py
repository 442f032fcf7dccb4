"""What a deep averaging network starts from: a transformer's tokenizer and input embeddings.

Imports the libraries tokenizers and safetensors: import it in functions.
"""

from pathlib import Path

import numpy as np
from safetensors import safe_open
from tokenizers import Tokenizer

from ..errors import ConnormError, Errors, require_installed
from .pretrained import load_pretrained

# How the names of input embeddings end in the usual models.
_INPUT_EMBEDDINGS = (
    "embeddings.word_embeddings.weight",
    "embeddings.tok_embeddings.weight",
    "embed_tokens.weight",
    "wte.weight",
)


def read_start(name: str, folder: Path | None) -> tuple[str, np.ndarray]:
    """Read a transformer's tokenizer and input embeddings. That needs torch only if its folder
    lacks `tokenizer.json` or usable `model.safetensors`.

    name (str): The transformer, see `load_pretrained`.
    folder (Optional[Path]): Its folder, if it has one here.
    RETURNS (Tuple[str, Floats2d]): JSON of the library tokenizers, and float32 (tokens, width).
    RAISES (ConnormError): CN303, CN304, CN306 as in `load_pretrained`; CN324 and CN126 if the
        transformer can't be used.
    """
    if folder is not None and (folder / "tokenizer.json").is_file():
        embeddings = _read_input_embeddings(folder / "model.safetensors")
        if embeddings is not None:
            return _read_tokenizer(folder / "tokenizer.json"), embeddings
    require_installed(
        f"Starting a DAN encoder from '{name}'",
        "transformers",
        *("torch", "transformers"),
        instead=", or name a folder with a `tokenizer.json` and a `model.safetensors`",
    )
    tokenizer, transformer = load_pretrained(name, tokenizer_config={}, transformer_config={})
    if not tokenizer.is_fast:
        reason = "its tokenizer is not one of the library tokenizers (a fast one)"
        raise ConnormError(Errors.CN324.format(name=name, reason=reason))
    embeddings = transformer.get_input_embeddings().weight.detach().cpu().float().numpy()
    return tokenizer.backend_tokenizer.to_str(), embeddings


def _read_tokenizer(path: Path) -> str:
    try:
        return Tokenizer.from_file(str(path)).to_str()
    except Exception as error:
        raise ConnormError(Errors.CN324.format(name=path.parent, reason=error)) from error


def _read_input_embeddings(path: Path) -> np.ndarray | None:
    if not path.is_file():
        return None
    try:
        with safe_open(path, framework="np") as weights:
            found = weights.keys()
            names = [name for name in found if name.endswith(_INPUT_EMBEDDINGS)]
            # NumPy has no bfloat16.
            if len(names) != 1 or weights.get_slice(names[0]).get_dtype() not in ("F32", "F16"):
                return None
            return weights.get_tensor(names[0]).astype("<f4", copy=False)
    except Exception as error:
        raise ConnormError(Errors.CN324.format(name=path.parent, reason=error)) from error


def principal_components(embeddings: np.ndarray, count: int) -> np.ndarray:
    """Project embeddings on their directions of largest variance.

    embeddings (Floats2d): float32 (tokens, width).
    count (int): How many directions.
    RETURNS (Floats2d): float32 (tokens, count), with the variance of the embeddings.
    RAISES (ValueError): If there are not so many, or all embeddings are equal.
    """
    if count > embeddings.shape[1]:
        raise ValueError(f"it has only {embeddings.shape[1]} principal components, not {count}")
    centred = embeddings - embeddings.mean(axis=0)
    _, directions = np.linalg.eigh(centred.T @ centred)
    kept = centred @ directions[:, ::-1][:, :count]
    if not kept.any():
        raise ValueError("all of its embeddings are equal")
    return kept * (embeddings.std() / kept.std())
