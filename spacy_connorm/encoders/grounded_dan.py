"""A deep averaging network over frozen vectors, grounded in concepts."""

from typing import Any

from thinc.api import Model
from thinc.types import Floats2d

from ..errors import refuse, require_installed
from .hybrid import is_hybrid
from .protocol import is_sparse, make_encoder


def GroundedDanEncoder(
    *,
    input: Any,
    name: str | None = None,
    hidden: int | None = None,
    cca: bool | None = None,
    dropout: float = 0.5,
) -> Model[list[str], Floats2d]:
    """Build the encoder of Fivez et al. 2021, section 3.1. With u the vector of a text by another
    encoder, which stays as it is, at unit length, it is

        output(dropout(ReLU(hidden(CCA(u)))))

    as wide as u. `python -m spacy connorm train` fits CCA to the names and their concepts and
    trains the two layers; before that the vectors mean little. Encoding needs no torch unless the
    input encoder does.

    input (Model[List[str], Floats2d]): The encoder of the input vectors: `WordVectorEncoder`, as in
        the paper, or another one of dense vectors.
    name (Optional[str]): A trained encoder's folder. It holds what was trained, not the input
        vectors; a saved pipeline holds both.
    hidden (Optional[int]): Units of the hidden layer; 38,400 in the paper, for 300 dimensions. None
        means the folder's, or else 4,800.
    cca (Optional[bool]): Whether input vectors are projected by canonical correlation analysis
        first. None means the folder's, or else true.
    dropout (float): The share of hidden units dropped in each training step.
    RETURNS (Model[List[str], Floats2d]): The encoder.
    RAISES (ConnormError): CN300 if the input is no encoder, CN006 for an invalid setting, CN126 if
        an optional library is not installed.
    """
    if not isinstance(input, Model) or is_sparse(input) or is_hybrid(input):
        expected = "an encoder of dense vectors, e.g. spacy-connorm.WordVectorEncoder.v1"
        refuse("input", getattr(input, "name", input), expected)
    if hidden is not None and hidden < 1:
        refuse("hidden", hidden, "at least 1")
    if not 0 <= dropout < 1:
        refuse("dropout", dropout, "a share, from 0 to less than 1")
    require_installed("GroundedDanEncoder", "dan", "safetensors")
    from .grounded_shim import GroundedDanShim

    shim = GroundedDanShim(input, name=name, hidden=hidden, cca=cca, dropout=dropout)
    return make_encoder("grounded_dan_encoder", shim)
