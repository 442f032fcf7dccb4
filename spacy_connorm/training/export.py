"""Write a pretrained transformer to a folder, as it is or for ONNX Runtime."""

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from spacy.util import registry
from thinc.api import Config

from ..encoders import trainable
from ..encoders.onnx import OnnxEncoder
from ..encoders.protocol import Encoder
from ..encoders.storage import CONFIG, ONNX
from ..encoders.transformer import TransformerEncoder
from ..errors import ConnormError, Errors, require_choice, require_installed
from ..files.atomic import require_apart
from ..files.configs import config_errors
from ..files.folders import read_object, replaced, require_replaceable
from ..files.progress import progress_bar
from .checkpoints import CONFIG as TRAINING_CONFIG
from .encoder_folder import PROBE, is_encoder

PRECISIONS = ("int8", "fp32")
_LIBRARIES = ("torch", "transformers", "onnx", "onnxscript")
_TRANSFORMER = "spacy-connorm.TransformerEncoder.v1"
_PROBES = (
    "heart attack",
    "acute myocardial infarction of the left side",
    "fever",
    "type 2 diabetes mellitus",
    "Duchenne muscular dystrophy",
    "non-small cell lung carcinoma",
)
# Trained weights reach 0.99 in eight bits; a lower cosine means that something went wrong.
_LEAST_COSINE = 0.8


class SavedEncoder(NamedTuple):
    """A pretrained transformer that was saved.

    path (Path): Its folder, the `name` of a `TransformerEncoder.v1`.
    width (int): The width of its vectors.
    """

    path: Path
    width: int


class ExportedEncoder(NamedTuple):
    """An encoder that was exported.

    path (Path): Its folder, the `name` of an `OnnxEncoder.v1`.
    cosine (float): The mean cosine between its vectors and the transformer's, for a few texts.
    """

    path: Path
    cosine: float


def save_encoder(name: str | Path, output_path: str | Path) -> SavedEncoder:
    """Save a pretrained transformer and its tokenizer, and check that they can be used: `connorm
    encoder`.

    name (Union[str, Path]): A name on the Hugging Face hub, or a folder.
    output_path (Union[str, Path]): The folder to create or replace.
    RETURNS (SavedEncoder): The folder, and the width of the vectors.
    RAISES (ConnormError): CN121 if the output would replace the transformer, CN303, CN304 or
        CN306 if it cannot be loaded, CN308 if its vectors are not finite, CN705 if something else
        is at the path.
    """
    TransformerEncoder(name=str(name))  # raises if a library is missing, before importing any
    from ..encoders.pretrained import load_pretrained

    path = Path(output_path)
    require_apart(path, name)
    pretrained = load_pretrained(str(name))
    with replaced(path, is_ours=is_encoder) as folder:
        pretrained.tokenizer.save_pretrained(folder)
        pretrained.transformer.save_pretrained(folder)
        encoder = TransformerEncoder(name=str(folder))
        encoder.initialize()
        width = encoder.predict([PROBE]).shape[1]
    return SavedEncoder(path, width)


def export_encoder(
    name: str | Path,
    output_path: str | Path,
    *,
    precision: str = PRECISIONS[0],
    pooling: str | None = None,
    max_length: int | None = None,
) -> ExportedEncoder:
    """Export a transformer to a folder for `OnnxEncoder.v1`, and check that its vectors are nearly
    the same: `connorm export`.

    name (Union[str, Path]): A folder written by `train`, whose settings apply, another folder, or a
        name on the Hugging Face hub.
    output_path (Union[str, Path]): The folder to create or replace.
    precision (str): "int8" or "fp32".
    pooling (Optional[str]): "mean", "cls" or "max"; if None, as it was trained, or "mean".
    max_length (Optional[int]): Tokens kept of a text; if None, as it was trained, or 64.
    RETURNS (ExportedEncoder): The folder, and how close its vectors are.
    RAISES (ConnormError): CN121 if the output would replace the transformer, CN303 to CN308 if the
        transformer cannot be loaded, CN126 if a library is missing, CN324 if it cannot be
        exported, CN705 if something else is at the path, CN711 for an invalid setting, CN832 for
        another kind of encoder, CN118 for an unknown precision, CN834 if its vectors differ too
        much.
    """
    path = Path(output_path)
    require_choice("precision", precision, PRECISIONS)
    require_installed("Exporting an encoder", "onnx-export", *_LIBRARIES)
    require_apart(path, name)
    require_replaceable(path, is_ours=_is_exported)
    settings = {"pooling": pooling, "max_length": max_length}
    given = {key: value for key, value in settings.items() if value is not None}
    with progress_bar(unit="steps", description="Loading", total=3) as bar:
        encoder = _load(str(name), given)
        from ..encoders.onnx.export import export_transformer
        from ..encoders.transformer_module import TransformerModule

        module = trainable(encoder)
        if not isinstance(module, TransformerModule):
            raise ConnormError(Errors.CN832.format(name=name))
        expected = encoder.predict(list(_PROBES))
        _next(bar, "Exporting")
        with replaced(path, is_ours=_is_exported) as folder:
            export_transformer(module, precision=precision).save(folder)
            _next(bar, "Checking")
            exported = OnnxEncoder(name=str(folder))
            exported.initialize()
            cosine = _mean_cosine(exported.predict(list(_PROBES)), expected)
            if cosine < _LEAST_COSINE:
                count = len(_PROBES)
                raise ConnormError(Errors.CN834.format(name=name, cosine=cosine, count=count))
    return ExportedEncoder(path, cosine)


def _next(bar: Any, description: str) -> None:
    bar.set_description(description, refresh=False)
    bar.update()


def _load(name: str, settings: dict[str, Any]) -> Encoder:
    block = {"@architectures": _TRANSFORMER}
    trained = Path(name) / TRAINING_CONFIG
    with config_errors():
        if trained.is_file():
            block = Config().from_disk(trained)["encoder"]
        encoder = registry.resolve({"encoder": {**block, **settings, "name": name}})["encoder"]
    encoder.initialize()
    return encoder


def _mean_cosine(vectors: np.ndarray, expected: np.ndarray) -> float:
    lengths = np.linalg.norm(vectors, axis=1) * np.linalg.norm(expected, axis=1)
    return float(np.mean(np.sum(vectors * expected, axis=1) / lengths))


def _is_exported(folder: Path) -> bool:
    return read_object(folder / CONFIG).get("model_type") == ONNX
