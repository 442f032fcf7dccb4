"""Ways to process mentions, for `ablation.py` and `throughput.py`."""

from dataclasses import dataclass
from typing import Any

from _common.builders import make_hybrid


@dataclass(frozen=True)
class Steps:
    """The steps that are switched on.

    name (str): In the table.
    abbreviations (bool): Whether long forms are searched, and added to D.
    composites (bool): Whether mentions are split if their parts link better.
    lexical_weight (float): Of n-grams beside the dense vectors.
    normalization (Tuple[str, ...]): Of names and mentions.
    """

    name: str
    abbreviations: bool = False
    composites: bool = False
    lexical_weight: float = 0.0
    normalization: tuple[str, ...] = ()

    def encoder(self, block: dict[str, Any]) -> dict[str, Any]:
        """RETURNS (Dict[str, Any]): The block of a dense encoder, made hybrid if there is a lexical
        weight.
        """
        return make_hybrid(block, self.lexical_weight) if self.lexical_weight else block
