"""Dev scores by synonym retrieval: how high the names of a mention's concept rank among all names.
Imports torch: import it in functions."""

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch

from ..concepts import Ontology
from ..documents.mentions import Mention
from ..encoders.padding import batches_by_length
from ..encoders.protocol import TrainableModule
from ..errors import ConnormError, Errors
from ..evaluation.metrics import score_retrieval
from ..text.cleaning import clean
from .micro_batches import TokenTable

_TOKENS_AT_ONCE = 16_384


class DevRetrieval:
    """Ranks all names of O and D for each dev mention (Fivez et al. 2021, section 5.1)."""

    def __init__(
        self,
        ontology: Ontology,
        synonyms: Sequence[tuple[str, str]],
        mentions: Sequence[Mention],
    ) -> None:
        """ontology (Ontology): O.
        synonyms (Sequence[Tuple[str, str]]): D: texts and concept ids.
        mentions (Sequence[Mention]): The dev mentions; those whose concepts have no name are left
            out.
        RAISES (ConnormError): CN810 if there are no others.
        """
        rows: dict[str, int] = {}
        by_concept: dict[str, set[int]] = defaultdict(set)
        for concept in ontology:
            for name in concept.names:
                by_concept[concept.concept_id].add(rows.setdefault(clean(name), len(rows)))
        for text, concept_id in synonyms:
            own = by_concept[ontology.primary_id(concept_id)]
            own.add(rows.setdefault(clean(text), len(rows)))
        self._names = list(rows)
        self._texts: list[str] = []
        self._relevant: list[np.ndarray] = []
        for mention in mentions:
            ids = map(ontology.primary_id, mention.concept_ids)
            if relevant := sorted(set().union(*(by_concept.get(each, ()) for each in ids))):
                self._texts.append(clean(mention.text))
                self._relevant.append(np.asarray(relevant))
        if not self._texts:
            reason = "no dev mention has a concept with a name in the training data"
            mend = "dev documents with the ontology's ids, or another `metric` than `map`"
            raise ConnormError(Errors.CN810.format(reason=reason, mend=mend))
        self._tokens: TokenTable | None = None

    def __call__(self, module: TrainableModule) -> dict[str, float]:
        """RETURNS (Dict[str, float]): "map", "accuracy" and "mrr", in percent, and the number of
        mentions.
        """
        if self._tokens is None:
            self._tokens = TokenTable(module, [*self._names, *self._texts])
        vectors = _encode(module, self._tokens)
        count = len(self._names)
        scores = score_retrieval(vectors[count:], vectors[:count], self._relevant)
        percents = {name: round(100 * value, 2) for name, value in scores._asdict().items()}
        return {**percents, "mentions": len(self._texts)}


@torch.no_grad()
def _encode(module: Any, tokens: TokenTable) -> np.ndarray:
    """The vectors of all texts, float32."""
    device = next(module.parameters()).device
    parts, vectors = list(batches_by_length(tokens.lengths, _TOKENS_AT_ONCE)), []
    for part in parts:
        inputs = module.collate([tokens[row] for row in part])
        vectors.append(module(**{name: each.to(device) for name, each in inputs.items()}).float())
    order = np.argsort(np.concatenate(parts))
    return torch.cat(vectors).cpu().numpy()[order]
