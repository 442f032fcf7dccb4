"""Export a transformer to ONNX, and quantize its linear layers and embeddings. Imports torch and
onnx, so import this module only inside functions.

ONNX Runtime's dynamic quantization has a single scale for all activations of a batch, so a text's
vector depends on the rest of its batch. Here, each token has its own scale: vectors are the same in
any batch and closer to full precision, and encoding takes 10 % longer.
"""

import logging
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import numpy as np
import onnx
import torch
from onnx import ModelProto, NodeProto, TensorProto, helper, numpy_helper, parser
from onnx.inliner import inline_local_functions
from tokenizers import Tokenizer

from ...errors import ConnormError, Errors
from ..transformer_module import TransformerModule
from .encoder import OnnxModel, OnnxSettings

OPSET = 20
_DOMAIN = "spacy_connorm"
_TOP = 127
_LEAST = 1e-12
# Processors without VNNI add pairs of products of an unsigned and a signed byte in 16 bits: 255
# times a larger value would overflow.
_PAIR_TOP = 128
# Smaller tables, such as the position embeddings, are not worth quantizing.
_TABLE_ROWS = 1_000
_HEAD = f'<domain: "{_DOMAIN}", opset_import: ["": {OPSET}]>'
_FUNCTIONS = (
    f"""{_HEAD}
    QuantizeTokens (tokens) => (levels, scales) {{
        last = Constant <value_ints = [-1]> ()
        top = Constant <value_float = {_TOP}.0> ()
        least = Constant <value_float = {_LEAST}> ()
        one = Constant <value_float = 1.0> ()
        middle = Constant <value = uint8 {{128}}> ()
        sizes = Abs (tokens)
        largest = ReduceMax <keepdims = 1> (sizes, last)
        bounded = Max (largest, least)
        scales = Div (bounded, top)
        factors = Div (top, bounded)
        scaled = Mul (tokens, factors)
        levels = QuantizeLinear (scaled, one, middle)
    }}""",
    f"""{_HEAD}
    MultiplyLevels (levels, scales, weights, weight_scales) => (products) {{
        middle = Constant <value = uint8 {{128}}> ()
        sums = MatMulInteger (levels, weights, middle)
        floats = Cast <to = {TensorProto.FLOAT}> (sums)
        columns = Mul (floats, weight_scales)
        products = Mul (columns, scales)
    }}""",
    f"""{_HEAD}
    Embed (levels, scales, ids) => (vectors) {{
        found = Gather (levels, ids)
        found_scales = Gather (scales, ids)
        floats = Cast <to = {TensorProto.FLOAT}> (found)
        vectors = Mul (floats, found_scales)
    }}""",
)


def quantize(model: ModelProto) -> None:
    """Quantize the weights of linear layers and large embedding tables to eight bits. Everything
    else keeps full precision.

    model (ModelProto): A graph of opset `OPSET`; modified in place.
    """
    graph = model.graph
    matrices = {tensor.name: tensor for tensor in graph.initializer if _is_matrix(tensor)}
    nodes: dict[str, NodeProto] = {}
    methods: dict[str, Callable] = {}
    for node in graph.node:
        if node.op_type == "MatMul" and node.input[1] in matrices:
            methods[node.input[1]] = quantize_columns
            replaced = _linear(node)
        elif node.op_type == "Gather" and _is_table(matrices.get(node.input[0])):
            methods[node.input[0]] = quantize_rows
            replaced = [_embedding(node)]
        else:
            replaced = [node]
        # The shared input of several layers is quantized once.
        nodes |= {tensor.output[0]: tensor for tensor in replaced if tensor.output[0] not in nodes}
    used = {name for node in nodes.values() for name in node.input}
    tensors = [tensor for tensor in graph.initializer if tensor.name in used]
    for name, method in methods.items():
        levels, scales = method(numpy_helper.to_array(matrices[name]))
        tensors.append(numpy_helper.from_array(levels, f"{name}.levels"))
        tensors.append(numpy_helper.from_array(scales, f"{name}.scales"))
    del graph.node[:], graph.initializer[:]
    graph.node.extend(nodes.values())
    graph.initializer.extend(tensors)
    model.functions.extend(map(parser.parse_function, _FUNCTIONS))
    model.opset_import.append(helper.make_opsetid(_DOMAIN, 1))
    # Without functions, nothing can expand: see `require_plain_graph`.
    model.CopyFrom(inline_local_functions(model))
    onnx.checker.check_model(model)


def quantize_columns(weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Quantize the weights of a linear layer so that no processor overflows.

    weights (np.ndarray): Shape (inputs, outputs), float32.
    RETURNS (Tuple[np.ndarray, np.ndarray]): Levels, int8, of the same shape, and scales, float32,
        of shape (outputs,). Their product approximates the weights.
    """
    largest = np.abs(weights).max(axis=0) / _TOP
    even = weights[0 : len(weights) // 2 * 2 : 2]
    odd = weights[1::2]
    for sign in (1, -1):
        pairs = np.maximum(sign * even, 0) + np.maximum(sign * odd, 0)
        # Rounding can add up to one half to each of the two.
        largest = np.maximum(largest, pairs.max(axis=0, initial=0) / (_PAIR_TOP - 1))
    return _round(weights, largest)


def quantize_rows(table: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Quantize embeddings.

    table (np.ndarray): Shape (rows, width), float32.
    RETURNS (Tuple[np.ndarray, np.ndarray]): Levels, int8, of the same shape, and scales, float32,
        of shape (rows, 1). Their product approximates the table.
    """
    return _round(table, np.abs(table).max(axis=1, keepdims=True) / _TOP)


def _round(values: np.ndarray, scales: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    scales = np.maximum(scales, _LEAST).astype(np.float32)
    return np.rint(values / scales).astype(np.int8), scales


def _is_matrix(tensor: TensorProto) -> bool:
    return len(tensor.dims) == 2 and tensor.data_type == TensorProto.FLOAT


def _is_table(tensor: TensorProto | None) -> bool:
    return tensor is not None and tensor.dims[0] >= _TABLE_ROWS


def _linear(node: NodeProto) -> list[NodeProto]:
    tokens, weights = node.input
    quantized = [f"{tokens}.levels", f"{tokens}.scales"]
    inputs = [*quantized, f"{weights}.levels", f"{weights}.scales"]
    return [
        helper.make_node("QuantizeTokens", [tokens], quantized, domain=_DOMAIN),
        helper.make_node("MultiplyLevels", inputs, node.output, domain=_DOMAIN),
    ]


def _embedding(node: NodeProto) -> NodeProto:
    table, ids = node.input
    inputs = [f"{table}.levels", f"{table}.scales", ids]
    return helper.make_node("Embed", inputs, node.output, domain=_DOMAIN)


# Several texts of different lengths, so that the exporter does not treat either size as a constant.
_EXAMPLES = ("heart attack", "acute myocardial infarction of the left side", "fever")


def export_transformer(module: TransformerModule, *, precision: str) -> OnnxModel:
    """Export a transformer and its pooling.

    module (TransformerModule): On the CPU; its weights are cast to float32.
    precision (str): "fp32", or "int8" to quantize linear layers and embeddings.
    RETURNS (OnnxModel): The graph, the tokenizer and the settings.
    RAISES (ConnormError): CN324 if it has a slow tokenizer or PyTorch can't export the transformer.
    """
    source = module.transformer.config.name_or_path
    if not module.tokenizer.is_fast:
        reason = "its tokenizer is not one of the library tokenizers (a fast one)"
        raise ConnormError(Errors.CN324.format(name=source, reason=reason))
    try:
        graph = _trace(module.eval().float())
        if precision == "int8":
            quantize(graph)
        serialized = graph.SerializeToString(deterministic=True)
    except Exception as error:
        raise ConnormError(Errors.CN324.format(name=source, reason=error)) from error
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
        raise ValueError("PyTorch did not create a graph")
    graph = program.model_proto
    # The metadata name the lines of code that a node comes from, with paths on this machine.
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
