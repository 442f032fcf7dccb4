"""Transformers in ONNX Runtime: their export, and the encoder that runs them."""

from .encoder import OnnxEncoder

__all__ = ["OnnxEncoder"]
