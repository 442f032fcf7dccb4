"""Export of a transformer to ONNX. Imports torch and onnx: import it in functions."""

import logging
import warnings
from collections.abc import Iterator
from contextlib import contextmanager

import torch
from onnx import ModelProto
from tokenizers import Tokenizer

from ...errors import ConnormError, Errors
from ..transformer_module import TransformerModule
from .model import OnnxModel, OnnxSettings
from .quantization import OPSET, quantize

# Several texts of different lengths, so that the exporter takes neither size for a constant.
_EXAMPLES = ("heart attack", "acute myocardial infarction of the left side", "fever")


def export_transformer(module: TransformerModule, *, precision: str) -> OnnxModel:
    """Export a transformer and its pooling.

    module (TransformerModule): On the CPU; its weights are cast to float32.
    precision (str): "fp32", or "int8" to quantize linear layers and embeddings.
    RETURNS (OnnxModel): The graph, the tokenizer and the settings.
    RAISES (ConnormError): CN336 if the tokenizer is a slow one or PyTorch can't export the
        transformer.
    """
    source = module.transformer.config.name_or_path
    if not module.tokenizer.is_fast:
        reason = "its tokenizer is not one of the library tokenizers (a fast one)"
        raise ConnormError(Errors.CN336.format(name=source, reason=reason))
    try:
        graph = _trace(module.eval().float())
        if precision == "int8":
            quantize(graph)
        serialized = graph.SerializeToString(deterministic=True)
    except Exception as error:
        raise ConnormError(Errors.CN336.format(name=source, reason=error)) from error
    settings = OnnxSettings(
        pooling=module.pooling,
        max_length=module.max_length,
        precision=precision,
        width=module.transformer.config.hidden_size,
        padding=module.tokenizer.pad_token_id or 0,
    )
    return OnnxModel(settings, _tokenizer(module), serialized)


def _trace(module: TransformerModule) -> ModelProto:
    inputs = module.collate(module.rows(list(_EXAMPLES)))
    sizes = {0: torch.export.Dim.DYNAMIC, 1: torch.export.Dim.DYNAMIC}
    with _quiet(), torch.inference_mode():
        program = torch.onnx.export(
            module,
            kwargs=inputs,
            dynamo=True,
            opset_version=OPSET,
            output_names=["vectors"],
            dynamic_shapes=dict.fromkeys(inputs, sizes),
            verbose=False,
        )
    if program is None:
        raise ValueError("PyTorch made no graph")
    graph = program.model_proto
    # The metadata say which lines of code a node comes from, with paths of this machine.
    for node in graph.graph.node:
        del node.metadata_props[:]
    return graph


def _tokenizer(module: TransformerModule) -> str:
    tokenizer = Tokenizer.from_str(module.tokenizer.backend_tokenizer.to_str())
    tokenizer.no_padding()
    tokenizer.enable_truncation(module.max_length, direction=module.tokenizer.truncation_side)
    return tokenizer.to_str()


@contextmanager
def _quiet() -> Iterator[None]:
    # The exporter warns about libraries that other models need.
    logger = logging.getLogger("torch.onnx")
    level = logger.level
    logger.setLevel(logging.ERROR)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        logger.setLevel(level)
