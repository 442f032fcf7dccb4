"""Ways to process mentions, for `accuracy.py`, `ontology_alone.py` and `throughput.py`."""

from dataclasses import dataclass
from typing import Any

from _common.builders import make_hybrid
from _common.datasets import Data
from _common.scoring import DEPTH
from spacy_connorm.evaluation import Prediction
from spacy_connorm.linker.decision import written_id
from spacy_connorm.linker.linking import candidates_of
from spacy_connorm.linker.lookup import ConceptLookup
from spacy_connorm.linker.query import Query
from spacy_connorm.linker.rescoring import COMPARE_WORDS


@dataclass(frozen=True)
class Steps:
    """The steps that are switched on.

    name (str): In the table.
    abbreviations (bool): Whether long forms are searched, and added to D.
    composites (bool): Whether mentions are split if their parts link better.
    lexical_weight (float): Of n-grams beside the dense vectors.
    compare_words (bool): Whether scores rise and fall by the words of names and mentions.
    """

    name: str
    abbreviations: bool = False
    composites: bool = False
    lexical_weight: float = 0.0
    compare_words: bool = False

    def encoder(self, block: dict[str, Any]) -> dict[str, Any]:
        """RETURNS (Dict[str, Any]): The block of a dense encoder, made hybrid if there is a lexical
        weight.
        """
        return make_hybrid(block, self.lexical_weight) if self.lexical_weight else block


# Of n-grams beside a dense encoder's vectors.
LEXICAL_WEIGHT = 0.3
AS_WRITTEN = Steps("none")
ABBREVIATIONS = Steps("abbreviations", abbreviations=True)
AS_READ = Steps("abbreviations, composites", abbreviations=True, composites=True)


def predict(steps: Steps, data: Data, lookup: ConceptLookup) -> list[Prediction]:
    """RETURNS (List[Prediction]): The predictions of a pipeline with these steps."""
    query = Query(
        lookup.sieve,
        DEPTH,
        rescorers=COMPARE_WORDS if steps.compare_words else (),
        split_composites=steps.composites,
    )
    mentions = [mention.text for mention in data.mentions]
    long_forms = data.long_forms if steps.abbreviations else [""] * len(mentions)
    found = candidates_of(lookup.retriever, mentions, query, long_forms=long_forms)
    return [Prediction(candidates, written_id(candidates, None)) for candidates in found]
