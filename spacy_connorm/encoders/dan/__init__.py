"""The deep averaging network: trained in minutes, fast on a CPU."""

from .encoder import DanEncoder as DanEncoder
