"""Networks that ground frozen vectors in concepts, and the mean of word vectors as an encoder."""

from .encoder import GroundedDanEncoder
from .words import WordVectorEncoder

__all__ = ["GroundedDanEncoder", "WordVectorEncoder"]
