"""What is done to mentions before and while they are looked up."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from _common.builders import build_lookup, make_hybrid
from _common.datasets import Data
from spacy_connorm.index.backends.protocol import Backend
from spacy_connorm.linker.lookup import ConceptLookup


@dataclass(frozen=True)
class Steps:
    """What is done to mentions.

    name (str): Of the row.
    abbreviations (bool): Whether long forms are looked up, and stand in D.
    composites (bool): Whether mentions are split where their parts link better.
    lexical_weight (float): Of n-grams beside the dense vectors.
    normalization (Tuple[str, ...]): Of names and mentions.
    """

    name: str
    abbreviations: bool = False
    composites: bool = False
    lexical_weight: float = 0.0
    normalization: tuple[str, ...] = ()

    def encoder(self, block: dict[str, Any]) -> dict[str, Any]:
        """RETURNS (Dict[str, Any]): The block of a dense encoder, or of a hybrid one around it."""
        return make_hybrid(block, self.lexical_weight) if self.lexical_weight else block

    def build(
        self,
        data: Data,
        block: dict[str, Any],
        *,
        search: str,
        work: Path,
        backend: Backend | None = None,
    ) -> ConceptLookup:
        """Index a data set the way these steps ask for it.

        data (Data): The data set.
        block (Dict[str, Any]): Of the encoder; the dense side if there are two.
        search (str): A search or a sieve to serve.
        work (Path): Keeps vectors of texts.
        backend (Optional[Backend]): How vectors are searched; exactly if not given.
        RETURNS (ConceptLookup): The lookup.
        """
        return build_lookup(
            self.encoder(block),
            data,
            searches=[search],
            work=work,
            backend=backend,
            synonyms=data.expanded_synonyms if self.abbreviations else data.synonyms,
            normalization=self.normalization,
        )
