"""Graphs that are refused before ONNX Runtime reads them."""

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper

from spacy_connorm.encoders.onnx_graph import require_plain_graph

VALUE = helper.make_tensor_value_info("x", TensorProto.FLOAT, [1])


def model(nodes, *, tensors=(), functions=()):
    graph = helper.make_graph(nodes, "g", [VALUE], [VALUE], list(tensors))
    return helper.make_model(graph, functions=list(functions))


def function(name, calls):
    nodes = [helper.make_node(call, ["x"], ["x"], domain="own") for call in calls]
    opset = [helper.make_opsetid("own", 1)]
    return helper.make_function("own", name, ["x"], ["x"], nodes, opset)


def test_exported_graphs(exported_tiny):
    for folder in exported_tiny.values():
        require_plain_graph((folder / "model.onnx").read_bytes())


@pytest.mark.parametrize("operator", ["Loop", "If", "Scan"])
def test_nodes_that_contain_graphs(operator):
    inner = helper.make_graph([helper.make_node("Relu", ["x"], ["y"])], "inner", [VALUE], [VALUE])
    node = helper.make_node(operator, ["x"], ["y"], body=inner)
    with pytest.raises(ValueError, match="contains a graph"):
        require_plain_graph(model([node]).SerializeToString())
    nested = function("f", [])
    nested.node.append(node)
    with pytest.raises(ValueError, match="contains a graph"):
        require_plain_graph(model([], functions=[nested]).SerializeToString())
    default = function("f", [])
    default.attribute_proto.append(helper.make_attribute("body", inner))
    with pytest.raises(ValueError, match="contains a graph"):
        require_plain_graph(model([], functions=[default]).SerializeToString())


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


def test_functions_that_unfold_without_end():
    chain = [function(f"f{number}", [f"f{number + 1}"] * 10) for number in range(6)]
    require_plain_graph(model([], functions=chain).SerializeToString())
    first = helper.make_node("f0", ["x"], ["y"], domain="own")
    same_name = [function("f0", ["f0"]), function("f0", [])]
    for functions in (chain, [function("f0", ["f0"])], same_name):
        with pytest.raises(ValueError, match="more than 200,000 nodes"):
            require_plain_graph(model([first], functions=functions).SerializeToString())


@pytest.mark.parametrize("content", [b"x", b"\x3a\x7f", b"\x38\x01", b"\xff" * 20, b"\x3f"])
def test_no_model(content):
    with pytest.raises(ValueError, match="cut short|no ONNX model"):
        require_plain_graph(content)
