"""Dev scores of an encoder in training, by the search that a pipeline would do."""

import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from spacy.util import registry

from ..concepts import NIL, Ontology
from ..documents.mentions import Mention
from ..encoders.protocol import TrainableModule
from ..errors import ConnormError, ConnormWarning, Errors
from ..evaluation import Prediction, score_predictions
from ..evaluation.gold import read_all_gold, warn_of_unknown_ids
from ..evaluation.queries import DEPTH
from ..evaluation.report import score_row
from ..files.atomic import TemporaryFolder
from ..index.backends.exact import ExactIndex
from ..index.metrics import COSINE, Metric
from ..linker.lookup import ConceptLookup
from ..linker.sieve import Sieve
from .config import LINKING_METRICS, MEAN_AVERAGE_PRECISION, TrainingData
from .mentions import read_mentions

if TYPE_CHECKING:
    from .dev_retrieval import DevRetrieval

# The config block of a trained encoder to that of the encoder that a pipeline searches with.
ToSearch = Callable[[dict[str, Any]], dict[str, Any]]


class DevScore:
    """Indexes O and the train data, D, with an encoder, and links the dev mentions."""

    def __init__(
        self,
        encoder_config: dict[str, Any],
        ontology: Ontology,
        synonyms: Sequence[tuple[str, str]],
        mentions: Sequence[Mention],
        *,
        to_search: ToSearch = dict,
        metric: Metric = COSINE,
    ) -> None:
        """encoder_config (Dict[str, Any]): The config block of the encoder; its `name` is replaced.
        ontology (Ontology): O.
        synonyms (Sequence[Tuple[str, str]]): D: texts and concept ids.
        mentions (Sequence[Mention]): The dev mentions; those without gold ids are left out.
        to_search (Callable): Turns the block into that of the encoder that searches.
        metric (str): How vectors are compared; inner products are searched by OD-T alone.
        """
        self._backend = ExactIndex(metric=metric)
        self._sieve = Sieve() if metric == COSINE else Sieve(["OD-T"], [])
        self._encoder_config = encoder_config
        self._ontology = ontology
        self._synonyms = synonyms
        self._to_search = to_search
        self._mentions = [mention for mention in mentions if mention.concept_ids]

    def __call__(self, module: TrainableModule) -> dict[str, float]:
        """RETURNS (Dict[str, float]): The scores of the sieve, in percent, and the number of
        mentions.
        """
        # Warnings about O and D were issued before the training.
        folder = TemporaryFolder()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConnormWarning)
            module.save(folder.path)
            block = self._to_search({**self._encoder_config, "name": str(folder.path)})
            encoder = registry.resolve({"encoder": block})["encoder"]
            lookup = ConceptLookup(encoder, self._sieve, self._backend)
            lookup.build(self._ontology, self._synonyms)
            texts = [mention.text for mention in self._mentions]
            found = lookup.candidates(texts, top_k=DEPTH)
            gold = read_all_gold(lookup, self._mentions)
        predictions = [
            Prediction(candidates, candidates[0].concept_id if candidates else NIL)
            for candidates in found
        ]
        row = score_row(score_predictions(gold, predictions))
        return {key: row[key] for key in (*LINKING_METRICS, "mentions") if row.get(key) is not None}


def make_dev_score(
    encoder_config: dict[str, Any],
    data: TrainingData,
    ontology: Ontology,
    mentions: Sequence[Mention],
    *,
    metric: str,
    to_search: ToSearch,
    searched_by: Metric = COSINE,
) -> "DevScore | DevRetrieval | None":
    """Read the dev data of a training config, to choose the best epoch by.

    encoder_config (Dict[str, Any]): The block of the encoder.
    data (TrainingData): Names the dev data.
    ontology (Ontology): O.
    mentions (Sequence[Mention]): The annotated mentions that are learned from.
    metric (str): What chooses the epoch: one of `METRICS`.
    to_search (Callable): Gives the block of the encoder that searches.
    searched_by (str): The metric of the index: how the objective compares vectors.
    RETURNS (Optional[Union[DevScore, DevRetrieval]]): Scores an encoder; None without dev data.
    RAISES (ConnormError): CN600 if no dev mention has a gold id, CN810 if none can be ranked, and
        the errors of `read_docs`.
    WARNS (ConnormWarning): CNW600 if no gold id of the dev data is known.
    """
    if not data.dev:
        return None
    gold = list(read_mentions(data.dev, data))
    if not any(mention.concept_ids for mention in gold):
        paths = ", ".join(data.dev)
        raise ConnormError(Errors.CN600.format(count=len(gold), path=paths, chosen=""))
    synonyms = [
        (mention.text, concept_id) for mention in mentions for concept_id in mention.concept_ids
    ]
    in_data = {concept_id for _, concept_id in synonyms}
    if not any(each in ontology or each in in_data for m in gold for each in m.concept_ids):
        example = next(iter(ontology)).concept_id
        warn_of_unknown_ids(gold, Path(data.dev[0]), example=example)
    if metric == MEAN_AVERAGE_PRECISION:
        from .dev_retrieval import DevRetrieval

        return DevRetrieval(ontology, synonyms, gold)
    return DevScore(
        encoder_config, ontology, synonyms, gold, to_search=to_search, metric=searched_by
    )
