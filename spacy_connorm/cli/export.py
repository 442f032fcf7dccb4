"""`connorm export`: a transformer encoder to a folder for ONNX Runtime."""

from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import typer
from spacy.util import registry
from thinc.api import Config
from wasabi import msg

from ..encoders import trainable
from ..encoders.onnx import OnnxEncoder
from ..encoders.onnx_folder import CONFIG, MODEL_TYPE
from ..encoders.protocol import Encoder
from ..errors import ConnormError, Errors
from ..files.configs import config_errors
from ..files.folders import read_object, replaced, require_replaceable
from .app import command

PRECISIONS = ("int8", "fp32")
_LIBRARIES = ("torch", "transformers", "onnx", "onnxscript")
_TRAINING_CONFIG = "training.cfg"
_TRANSFORMER = "spacy-connorm.TransformerEncoder.v1"
_PROBES = (
    "heart attack",
    "acute myocardial infarction of the left side",
    "fever",
    "type 2 diabetes mellitus",
    "Duchenne muscular dystrophy",
    "non-small cell lung carcinoma",
)
# Eight bits come to 0.99 with trained weights: under this, something went wrong.
_LEAST_COSINE = 0.8


@command("export")
def export_cli(
    name: str = typer.Argument(
        ..., metavar="MODEL", help="What `connorm train` wrote, a folder, or a name on the hub."
    ),
    output_path: Path = typer.Argument(..., metavar="OUT", help="The folder to write."),
    precision: str = typer.Option(
        PRECISIONS[0], "--precision", "-p", help=f"One of: {', '.join(PRECISIONS)}."
    ),
    pooling: str | None = typer.Option(
        None, "--pooling", help="mean, cls or max. [as it was trained, or mean]"
    ),
    max_length: int | None = typer.Option(
        None, "--max-length", help="Tokens kept of a text. [as it was trained, or 64]"
    ),
) -> None:
    """Write a transformer for ONNX Runtime: the encoder OnnxEncoder.v1 with OUT as its `name` runs
    without torch and transformers, and in eight bits (int8) several times as fast on processors.
    Its vectors are others than before, so indexes are built anew with it.

    Example: python -m spacy connorm export training/encoder training/encoder-int8
    """
    asked = {"pooling": pooling, "max_length": max_length}
    settings = {key: value for key, value in asked.items() if value is not None}
    cosine = export(name, output_path, precision=precision, settings=settings)
    msg.good(f"Wrote the encoder: {output_path}")
    msg.info(f"Mean cosine of its vectors and those of '{name}': {cosine:.4f}")


def export(name: str, path: Path, *, precision: str, settings: dict[str, Any]) -> float:
    """Export a transformer, and see that what was written can be used.

    name (str): A folder that training wrote, whose settings count; or what `TransformerEncoder`
        takes as its `name`.
    path (Path): The folder to make or replace.
    precision (str): One of `PRECISIONS`.
    settings (Dict[str, Any]): Settings of `TransformerEncoder`, in the place of those of training.
    RETURNS (float): The mean cosine of its vectors and the transformer's, on a few texts.
    RAISES (ConnormError): CN303 to CN309 as `TransformerEncoder`, CN330 and CN335 if a library is
        missing, CN336 if the transformer can't be exported, CN705 if something else is at the path,
        CN711 for settings that will not do, CN832 for another encoder, CN833, CN834.
    """
    if precision not in PRECISIONS:
        raise ConnormError(Errors.CN833.format(precision=precision, known=", ".join(PRECISIONS)))
    for library in _LIBRARIES:
        if find_spec(library) is None:
            raise ConnormError(Errors.CN335.format(library=library))
    require_replaceable(path, is_ours=_is_exported)
    encoder = _load(name, settings)
    from ..encoders.hf_module import TransformerModule
    from ..encoders.onnx_export import export_transformer

    module = trainable(encoder)
    if not isinstance(module, TransformerModule):
        raise ConnormError(Errors.CN832.format(name=name))
    expected = encoder.predict(list(_PROBES))
    msg.text("Making the graph ...")
    with replaced(path, is_ours=_is_exported) as folder:
        export_transformer(module, precision=precision).save(folder)
        exported = OnnxEncoder(name=str(folder))
        exported.initialize()
        cosine = _mean_cosine(exported.predict(list(_PROBES)), expected)
        if cosine < _LEAST_COSINE:
            count = len(_PROBES)
            raise ConnormError(Errors.CN834.format(name=name, cosine=cosine, count=count))
    return cosine


def _load(name: str, settings: dict[str, Any]) -> Encoder:
    block = {"@architectures": _TRANSFORMER}
    trained = Path(name) / _TRAINING_CONFIG
    with config_errors():
        if trained.is_file():
            block = Config().from_disk(trained)["encoder"]
        encoder = registry.resolve({"encoder": {**block, **settings, "name": name}})["encoder"]
    encoder.initialize()
    return encoder


def _mean_cosine(found: np.ndarray, expected: np.ndarray) -> float:
    lengths = np.linalg.norm(found, axis=1) * np.linalg.norm(expected, axis=1)
    return float(np.mean(np.sum(found * expected, axis=1) / lengths))


def _is_exported(folder: Path) -> bool:
    return read_object(folder / CONFIG).get("model_type") == MODEL_TYPE
