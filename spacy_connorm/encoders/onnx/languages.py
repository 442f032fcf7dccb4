"""Vectors that do not tell which language a text is in, so that a text is near its translation.

A multilingual transformer puts the texts of one language side by side (Yang et al. 2021, "A Simple
and Effective Method To Eliminate the Self Language Bias in Multilingual Representations"). Here the
mean vector of a language's function words shows where; what these means span is taken out. Imports
onnx, so import this module only inside functions.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import onnx
from onnx import helper, numpy_helper

from ..raw import unit_rows
from .model import OnnxModel

_OUTPUT, _BIASED, _PROJECTION = "vectors", "vectors_with_language", "projection"


def without_languages(model: OnnxModel, samples: Sequence[np.ndarray]) -> OnnxModel:
    """Take the directions of languages out of vectors.

    model (OnnxModel): A transformer as a graph.
    samples (Sequence[np.ndarray]): For each language, the vectors of its function words: shape
        (words, width), float32.
    RETURNS (OnnxModel): The transformer with one more node.
    """
    means = np.stack([unit_rows(vectors).mean(axis=0) for vectors in samples])
    directions = np.linalg.svd(means.astype("float64"), full_matrices=False)[2]
    projection = np.eye(model.width) - directions.T @ directions
    return replace(model, graph=_multiplied(model.graph, projection.astype("float32")))


def _multiplied(graph: bytes, matrix: np.ndarray) -> bytes:
    """Add a node that multiplies the vectors by a matrix."""
    written = onnx.load_model_from_string(graph)
    last = next(node for node in written.graph.node if _OUTPUT in node.output)
    last.output[:] = [_BIASED]
    written.graph.initializer.append(numpy_helper.from_array(matrix, _PROJECTION))
    written.graph.node.append(helper.make_node("MatMul", [_BIASED, _PROJECTION], [_OUTPUT]))
    return written.SerializeToString(deterministic=True)
