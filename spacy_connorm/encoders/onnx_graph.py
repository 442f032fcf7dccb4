"""What an ONNX graph may not have: loops, files beside it, functions that unfold without end.

ONNX Runtime says nothing about a graph until it is ready to run it, and the library onnx is not
needed otherwise. So this reads the protocol buffers themselves: a message is a list of fields, each
with a number and a value.
"""

from collections.abc import Iterator
from typing import TypeAlias

# Field numbers of onnx.proto3.
_MODEL_GRAPH, _MODEL_FUNCTION = 7, 25
_GRAPH_NODE, _GRAPH_TENSOR, _GRAPH_SPARSE_TENSOR = 1, 5, 15
_NODE_OPERATOR, _NODE_ATTRIBUTE, _NODE_DOMAIN = 4, 5, 7
_ATTRIBUTE_TENSOR, _ATTRIBUTE_TENSORS, _ATTRIBUTE_GRAPH, _ATTRIBUTE_GRAPHS = 5, 10, 6, 11
_FUNCTION_NAME, _FUNCTION_NODE, _FUNCTION_DOMAIN, _FUNCTION_ATTRIBUTE = 1, 7, 10, 11
_TENSOR_EXTERNAL, _TENSOR_LOCATION = 13, 14
# Kinds of values.
_NUMBER, _EIGHT_BYTES, _BYTES, _FOUR_BYTES = 0, 1, 2, 5
_FIXED = {_EIGHT_BYTES: 8, _FOUR_BYTES: 4}
# A transformer of 24 layers has 3,000.
_MAX_NODES = 200_000


# The domain and the name of an operator or a function.
_Name: TypeAlias = tuple[bytes, bytes]


def require_plain_graph(model: bytes) -> None:
    """Refuse a graph that could run for ever, that reads other files, or that is far larger than
    its bytes.

    model (bytes): A serialized ONNX model.
    RAISES (ValueError): If it has nodes that contain graphs (Loop, Scan, If), tensors in other
        files, functions that call themselves, or too many nodes; and if it is no model.
    """
    functions: dict[_Name, list[_Name]] = {}
    main: list[_Name] = []
    for number, value in _fields(memoryview(model)):
        if number == _MODEL_GRAPH:
            main += _read_graph(_message(value))
        elif number == _MODEL_FUNCTION:
            name, operators = _read_function(_message(value))
            # Functions of one name, for other types, count together.
            functions[name] = functions.get(name, []) + operators
    if _count(main, functions, {}) > _MAX_NODES:
        raise ValueError(f"it has more than {_MAX_NODES:,} nodes")


def _read_graph(graph: memoryview) -> list[_Name]:
    operators = []
    for number, value in _fields(graph):
        if number == _GRAPH_NODE:
            operators.append(_read_node(_message(value)))
        elif number == _GRAPH_TENSOR:
            _require_own_data(_message(value))
        elif number == _GRAPH_SPARSE_TENSOR:
            raise ValueError("it has sparse tensors")
    return operators


def _read_function(function: memoryview) -> tuple[_Name, list[_Name]]:
    name = domain = b""
    operators = []
    for number, value in _fields(function):
        if number == _FUNCTION_NAME:
            name = bytes(_message(value))
        elif number == _FUNCTION_DOMAIN:
            domain = bytes(_message(value))
        elif number == _FUNCTION_NODE:
            operators.append(_read_node(_message(value)))
        elif number == _FUNCTION_ATTRIBUTE:  # a default that nodes may refer to
            _read_attribute(_message(value))
    return (domain, name), operators


def _read_node(node: memoryview) -> _Name:
    operator = domain = b""
    for number, value in _fields(node):
        if number == _NODE_OPERATOR:
            operator = bytes(_message(value))
        elif number == _NODE_DOMAIN:
            domain = bytes(_message(value))
        elif number == _NODE_ATTRIBUTE:
            _read_attribute(_message(value))
    return domain, operator


def _read_attribute(attribute: memoryview) -> None:
    for number, value in _fields(attribute):
        if number in (_ATTRIBUTE_GRAPH, _ATTRIBUTE_GRAPHS):
            raise ValueError("it has a node that contains a graph, such as Loop, Scan or If")
        if number in (_ATTRIBUTE_TENSOR, _ATTRIBUTE_TENSORS):
            _require_own_data(_message(value))


def _require_own_data(tensor: memoryview) -> None:
    for number, value in _fields(tensor):
        if number == _TENSOR_EXTERNAL or (number == _TENSOR_LOCATION and value != 0):
            raise ValueError("it has weights in another file")


def _count(
    operators: list[_Name],
    functions: dict[_Name, list[_Name]],
    known: dict[_Name, int],
) -> int:
    """RETURNS (int): How many nodes there are once functions are replaced by their nodes."""
    total = 0
    for name in operators:
        if name in functions and name not in known:
            # One that calls itself counts as too many.
            known[name] = _MAX_NODES + 1
            known[name] = _count(functions[name], functions, known)
        total += known.get(name, 1)
    return total


def _message(value: int | memoryview) -> memoryview:
    if isinstance(value, int):
        raise ValueError("it is no ONNX model")
    return value


def _fields(message: memoryview) -> Iterator[tuple[int, int | memoryview]]:
    """YIELDS (Tuple[int, Union[int, memoryview]]): The number and the value of each field."""
    place = 0
    while place < len(message):
        key, place = _number(message, place)
        number, kind = key >> 3, key & 7
        if kind == _NUMBER:
            value, place = _number(message, place)
            yield number, value
            continue
        if kind == _BYTES:
            size, place = _number(message, place)
        elif kind in _FIXED:
            size = _FIXED[kind]
        else:
            raise ValueError("it is no ONNX model")
        if place + size > len(message):
            raise ValueError("it is cut short")
        yield number, message[place : place + size]
        place += size


def _number(message: memoryview, place: int) -> tuple[int, int]:
    value = shift = 0
    while place < len(message) and shift < 64:
        byte = message[place]
        value |= (byte & 127) << shift
        place, shift = place + 1, shift + 7
        if byte < 128:
            return value, place
    raise ValueError("it is cut short")
