"""The deep averaging network: trained in minutes, fast on a CPU."""

from .encoder import DanEncoder

__all__ = ["DanEncoder"]
