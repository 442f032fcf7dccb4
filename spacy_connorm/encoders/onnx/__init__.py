"""Transformers in ONNX Runtime: their graphs, written from their weights, and the encoder that runs
them.
"""

from .encoder import OnnxEncoder

__all__ = ["OnnxEncoder"]
