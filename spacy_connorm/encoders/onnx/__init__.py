"""Transformers in ONNX Runtime: exporting them, and the encoder that runs them."""

from .encoder import OnnxEncoder

__all__ = ["OnnxEncoder"]
