import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

onnx = pytest.importorskip("onnx")
pytest.importorskip("onnxruntime")

from onnx import TensorProto, helper, numpy_helper  # noqa: E402

from spacy_connorm.encoders.onnx.export import (  # noqa: E402
    OPSET,
    quantize,
    quantize_columns,
    quantize_rows,
)
from spacy_connorm.encoders.onnx.session import GraphSession  # noqa: E402

MATRICES = hnp.arrays(
    np.float32,
    hnp.array_shapes(min_dims=2, max_dims=2, min_side=1, max_side=9),
    elements=st.floats(-1000, 1000, width=32),
)


@given(MATRICES)
def test_columns_are_near_and_sums_fit_into_16_bits(weights):
    levels, scales = quantize_columns(weights)
    assert levels.dtype == np.int8 and scales.shape == weights.shape[1:]
    assert (np.abs(levels * scales - weights) <= scales * 0.5001).all()
    # What a processor without VNNI adds up: two products with an unsigned byte.
    wide = levels.astype(int)
    pairs = wide[: len(wide) // 2 * 2].reshape(-1, 2, wide.shape[1])
    assert (np.maximum(pairs, 0).sum(axis=1) * 255 < 2**15).all()
    assert (np.minimum(pairs, 0).sum(axis=1) * 255 >= -(2**15)).all()


@given(MATRICES)
def test_rows_are_near(table):
    levels, scales = quantize_rows(table)
    assert levels.dtype == np.int8 and scales.shape == (len(table), 1)
    assert (np.abs(levels * scales - table) <= scales * 0.5001).all()


def random(*shape, seed=0):
    return np.random.default_rng(seed).standard_normal(shape, dtype=np.float32)


@pytest.fixture
def model():
    """Embeddings of ids, two layers of the same input, and the sum of what they give."""
    weights = {
        "table": random(1000, 6),
        "first": random(6, 4, seed=1),
        "other": random(6, 4, seed=2),
    }
    nodes = [
        helper.make_node("Gather", ["table", "input_ids"], ["tokens"]),
        helper.make_node("MatMul", ["tokens", "first"], ["one"]),
        helper.make_node("MatMul", ["tokens", "other"], ["two"]),
        helper.make_node("Add", ["one", "two"], ["sum"]),
        helper.make_node("Cast", ["mask"], ["kept"], to=TensorProto.FLOAT),
        helper.make_node("Unsqueeze", ["kept", "last"], ["column"]),
        helper.make_node("Mul", ["sum", "column"], ["vectors"]),
    ]
    inputs = [
        helper.make_tensor_value_info("input_ids", TensorProto.INT64, ["texts", "tokens"]),
        helper.make_tensor_value_info("mask", TensorProto.BOOL, ["texts", "tokens"]),
    ]
    outputs = [helper.make_tensor_value_info("vectors", TensorProto.FLOAT, ["texts", "tokens", 4])]
    tensors = [numpy_helper.from_array(array, name) for name, array in weights.items()]
    tensors.append(numpy_helper.from_array(np.array([-1]), "last"))
    graph = helper.make_graph(nodes, "small", inputs, outputs, tensors)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=10)


IDS = np.array([[3, 999, 0], [7, 7, 1]])


def compute(model):
    return GraphSession(model.SerializeToString()).run(IDS, np.ones_like(IDS, dtype=bool))


def near(levels_and_scales):
    levels, scales = levels_and_scales
    return levels * scales


def test_each_token_has_a_scale_of_its_own(model):
    table = near(quantize_rows(random(1000, 6)))
    layers = [near(quantize_columns(random(6, 4, seed=seed))) for seed in (1, 2)]
    tokens = table[IDS]
    scales = np.abs(tokens).max(axis=-1, keepdims=True) / 127
    tokens = np.rint(tokens / scales) * scales
    expected = tokens @ layers[0] + tokens @ layers[1]
    quantize(model)
    assert np.allclose(compute(model), expected, atol=1e-4)


def test_the_result_is_near_that_of_full_precision(model):
    expected = compute(model)
    quantize(model)
    assert not np.array_equal(compute(model), expected)
    assert np.allclose(compute(model), expected, atol=0.1)


def test_layers_share_the_levels_of_their_input(model):
    quantize(model)
    kinds = [node.op_type for node in model.graph.node]
    assert kinds.count("QuantizeLinear") == 1
    assert kinds.count("MatMulInteger") == 2
    assert kinds.count("Gather") == 2
    types = {each.name: each.data_type for each in model.graph.initializer}
    assert "first" not in types and types["first.levels"] == TensorProto.INT8


def test_a_small_table_is_left_alone(model):
    small = numpy_helper.from_array(random(999, 6), "table")
    table = next(each for each in model.graph.initializer if each.name == "table")
    table.CopyFrom(small)
    quantize(model)
    assert "Gather" in [node.op_type for node in model.graph.node]
    assert "table" in [each.name for each in model.graph.initializer]
