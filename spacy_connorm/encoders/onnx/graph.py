"""Collect the nodes and tensors of an ONNX graph, with linear layers and embeddings in full
precision or in eight bits. Imports onnx, so import this module only inside functions.

ONNX Runtime's dynamic quantization has a single scale for all activations of a batch, so a text's
vector depends on the rest of its batch. Here, each token has its own scale: vectors are the same in
any batch and closer to full precision.
"""

from typing import Any

import numpy as np
from onnx import NodeProto, TensorProto, helper, numpy_helper

OPSET = 20
# ONNX Runtime's own operators, which pass over memory once where several of ONNX's pass often.
FUSED = "com.microsoft"
_IR_VERSION = 9
_TOP = 127
_MIDDLE = 128
_LEAST = 1e-12
# Processors without VNNI add pairs of products of an unsigned and a signed byte in 16 bits: 255
# times a larger value would overflow.
_PAIR_TOP = 128


class GraphWriter:
    """Collects the nodes and tensors of a graph in full precision."""

    def __init__(self) -> None:
        self._nodes: list[NodeProto] = []
        self._tensors: list[TensorProto] = []

    def add(self, operator: str, *inputs: str, output: str = "", **attributes: Any) -> str:
        """Add a node.

        operator (str): Its operator.
        inputs (str): The names of its inputs.
        output (str): The name of its output; a new one if empty.
        attributes (Any): The attributes of the operator, and its `domain` if it is not ONNX's.
        RETURNS (str): The name of its output.
        """
        output = output or f"{operator}_{len(self._nodes)}"
        self._nodes.append(helper.make_node(operator, inputs, [output], **attributes))
        return output

    def tensor(self, values: Any, dtype: str = "float32") -> str:
        """Add a constant.

        values (Any): Numbers, or an array of any shape.
        dtype (str): The type to store them as.
        RETURNS (str): Its name.
        """
        name = f"tensor_{len(self._tensors)}"
        array = np.asarray(values, dtype=dtype, order="C")
        self._tensors.append(numpy_helper.from_array(array, name))
        return name

    def product(self, rows: str, weights: np.ndarray) -> str:
        """Multiply rows by the weights of a linear layer.

        rows (str): Shape (tokens, inputs).
        weights (np.ndarray): Shape (inputs, outputs), float32.
        RETURNS (str): Shape (tokens, outputs).
        """
        return self.add("MatMul", rows, self.tensor(weights))

    def embed(self, ids: str, table: np.ndarray) -> str:
        """Look up embeddings.

        ids (str): Rows of the table, of any shape.
        table (np.ndarray): Shape (rows, width), float32.
        RETURNS (str): The shape of the ids, and the width.
        """
        return self.add("Gather", self.tensor(table), ids)

    def serialize(self, width: int) -> bytes:
        """Write the graph with the inputs and the output of `OnnxModel.graph`.

        width (int): The width of the vectors.
        RETURNS (bytes): The same bytes for the same nodes and tensors, in any process.
        """
        sizes = ["texts", "tokens"]
        inputs = [
            helper.make_tensor_value_info("input_ids", TensorProto.INT64, sizes),
            helper.make_tensor_value_info("mask", TensorProto.BOOL, sizes),
        ]
        vectors = helper.make_tensor_value_info("vectors", TensorProto.FLOAT, ["texts", width])
        graph = helper.make_graph(self._nodes, "encoder", inputs, [vectors], self._tensors)
        opsets = [helper.make_opsetid("", OPSET), helper.make_opsetid(FUSED, 1)]
        model = helper.make_model(graph, opset_imports=opsets, ir_version=_IR_VERSION)
        return model.SerializeToString(deterministic=True)


class QuantizedWriter(GraphWriter):
    """Collects the nodes and tensors of a graph whose linear layers and embeddings have eight bits.
    Everything else keeps full precision.
    """

    def __init__(self) -> None:
        super().__init__()
        self._levels: dict[str, tuple[str, str]] = {}
        self._middles = ""

    def product(self, rows: str, weights: np.ndarray) -> str:
        """Multiply rows, with a scale each, by weights, with a scale for each output."""
        levels, scales = self._quantized(rows)
        weight_levels, weight_scales = quantize_columns(weights)
        sums = self.add(
            "MatMulIntegerToFloat",
            levels,
            self.tensor(weight_levels, "int8"),
            self.tensor(1),
            self.tensor(weight_scales),
            self.tensor(_MIDDLE, "uint8"),
            domain=FUSED,
        )
        return self.add("Mul", sums, scales)

    def embed(self, ids: str, table: np.ndarray) -> str:
        """Look up embeddings, with a scale for each row."""
        levels, scales = quantize_rows(table)
        found = self.add("Gather", self.tensor(levels, "int8"), ids)
        numbers = self.add("Cast", found, to=TensorProto.FLOAT)
        return self.add("Mul", numbers, self.add("Gather", self.tensor(scales), ids))

    def _quantized(self, rows: str) -> tuple[str, str]:
        """Quantize rows, once for all layers that read them.

        rows (str): Shape (tokens, inputs).
        RETURNS (Tuple[str, str]): Levels, uint8, of the same shape, and scales, (tokens, 1).
        """
        if rows not in self._levels:
            last = self.tensor([-1], "int64")
            largest = self.add("ReduceMax", self.add("Abs", rows), last, keepdims=1)
            bounded = self.add("Max", largest, self.tensor(_LEAST))
            scales = self.add("Div", bounded, self.tensor(_TOP))
            if not self._middles:
                count = self.add("Shape", rows, end=1)
                self._middles = self.add("Expand", self.tensor([_MIDDLE], "uint8"), count)
            steps = self.add("Reshape", scales, last)
            levels = self.add("QuantizeLinear", rows, steps, self._middles, axis=0)
            self._levels[rows] = levels, scales
        return self._levels[rows]


WRITERS: dict[str, type[GraphWriter]] = {"int8": QuantizedWriter, "fp32": GraphWriter}


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
    # What is not finite has a scale that is not, either, which is found when it encodes.
    with np.errstate(invalid="ignore"):
        return np.rint(values / scales).astype(np.int8), scales
