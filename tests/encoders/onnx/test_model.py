"""Graphs that are refused before ONNX Runtime reads them."""

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper

from spacy_connorm.encoders.onnx.model import require_plain_graph

VALUE = helper.make_tensor_value_info("x", TensorProto.FLOAT, [1])


def model(nodes, *, tensors=(), functions=()):
    graph = helper.make_graph(nodes, "g", [VALUE], [VALUE], list(tensors))
    return helper.make_model(graph, functions=list(functions))


def test_exported_graphs(exported_tiny):
    for folder in exported_tiny.values():
        require_plain_graph((folder / "model.onnx").read_bytes())


@pytest.mark.parametrize("operator", ["Loop", "If", "Scan"])
def test_nodes_that_contain_graphs(operator):
    inner = helper.make_graph([helper.make_node("Relu", ["x"], ["y"])], "inner", [VALUE], [VALUE])
    node = helper.make_node(operator, ["x"], ["y"], body=inner)
    with pytest.raises(ValueError, match="contains a graph"):
        require_plain_graph(model([node]).SerializeToString())
    several = helper.make_node("Own", ["x"], ["y"], bodies=[inner])
    with pytest.raises(ValueError, match="contains a graph"):
        require_plain_graph(model([several]).SerializeToString())


def test_weights_in_another_file():
    tensor = numpy_helper.from_array(np.ones(1, dtype="float32"), "w")
    assert require_plain_graph(model([], tensors=[tensor]).SerializeToString()) is None
    tensor.data_location = TensorProto.EXTERNAL
    tensor.external_data.add(key="location", value="/etc/passwd")
    constant = helper.make_node("Constant", [], ["y"], value=tensor)
    several = helper.make_node("Constant", [], ["y"], values=[tensor])
    for refused in (model([], tensors=[tensor]), model([constant]), model([several])):
        with pytest.raises(ValueError, match="another file"):
            require_plain_graph(refused.SerializeToString())


def test_functions_which_could_unfold_without_end():
    opset = [helper.make_opsetid("own", 1)]
    calls = [helper.make_node("f", ["x"], ["x"], domain="own")]
    own = helper.make_function("own", "f", ["x"], ["x"], calls, opset)
    with pytest.raises(ValueError, match="functions"):
        require_plain_graph(model([], functions=[own]).SerializeToString())


@pytest.mark.parametrize("content", [b"x", b"\x3a\x7f", b"\x38\x01", b"\xff" * 20, b"\x3f"])
def test_no_model(content):
    with pytest.raises(ValueError, match="cut short|no ONNX model"):
        require_plain_graph(content)
