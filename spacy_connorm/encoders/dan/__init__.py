"""The deep averaging network: trained in minutes, and fast on a CPU."""

from .encoder import DanEncoder

__all__ = ["DanEncoder"]
