import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

onnx = pytest.importorskip("onnx")
pytest.importorskip("onnxruntime")

from onnx import ModelProto, TensorProto  # noqa: E402

from spacy_connorm.encoders.onnx.graph import (  # noqa: E402
    WRITERS,
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


IDS = np.array([[3, 999, 0], [7, 7, 1]])


def write(precision):
    """Embeddings of ids, two layers of the same input, and the sum of what they give."""
    graph = WRITERS[precision]()
    tokens = graph.embed("input_ids", random(1000, 6))
    tokens = graph.add("Reshape", tokens, graph.tensor([-1, 6], "int64"))
    one, other = (graph.product(tokens, random(6, 4, seed=seed)) for seed in (1, 2))
    graph.add("Add", one, other, output="vectors")
    return graph.serialize(4)


def compute(precision):
    mask = np.ones_like(IDS, dtype=bool)
    return GraphSession(write(precision)).run(IDS, mask).reshape(*IDS.shape, 4)


def near(levels_and_scales):
    levels, scales = levels_and_scales
    return levels * scales


def test_each_token_has_a_scale_of_its_own():
    table = near(quantize_rows(random(1000, 6)))
    layers = [near(quantize_columns(random(6, 4, seed=seed))) for seed in (1, 2)]
    tokens = table[IDS]
    scales = np.abs(tokens).max(axis=-1, keepdims=True) / 127
    tokens = np.rint(tokens / scales) * scales
    expected = tokens @ layers[0] + tokens @ layers[1]
    assert np.allclose(compute("int8"), expected, atol=1e-4)


def test_the_result_is_near_that_of_full_precision():
    expected = compute("fp32")
    exact = random(1000, 6)[IDS] @ (random(6, 4, seed=1) + random(6, 4, seed=2))
    assert np.allclose(expected, exact, atol=1e-5)
    assert not np.array_equal(compute("int8"), expected)
    assert np.allclose(compute("int8"), expected, atol=0.1)


def test_layers_share_the_levels_of_their_input():
    model = ModelProto.FromString(write("int8"))
    kinds = [node.op_type for node in model.graph.node]
    assert kinds.count("QuantizeLinear") == 1
    assert kinds.count("MatMulIntegerToFloat") == 2
    types = [tensor.data_type for tensor in model.graph.initializer if len(tensor.dims) == 2]
    assert types.count(TensorProto.INT8) == 3


def test_the_same_graph_has_the_same_bytes():
    assert write("int8") == write("int8")
