"""The blocks of a training config. Imports nothing heavy, as configs are resolved everywhere."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from ..errors import ConnormError, Errors, refuse, require_choice, require_positive
from .adapters import LoraAdapter

# Dev scores, in percent, that can choose the best epoch.
LINKING_METRICS = ("lenient@1", "strict@1", "mrr", "unseen_lenient@1")
# Synonym retrieval: how high the names of a mention's concept rank among all names.
MEAN_AVERAGE_PRECISION = "map"
METRICS = (*LINKING_METRICS, MEAN_AVERAGE_PRECISION)

# Examples of what is in the lists of the block [data].
_LISTS = {"corpora": "train.spacy", "dev": "dev.spacy", "labels": "Disease"}


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingData:
    """The block [data], `spacy-connorm.TrainingData.v1`: what to train on.

    ontology (str): O, in any known format.
    corpora (Sequence[str]): D: annotated documents, `.spacy`.
    dev (Sequence[str]): Annotated documents to choose the best epoch by, `.spacy`; without any, the
        last epoch is kept.
    labels (Sequence[str]): Only mentions with these labels; all if empty.
    spans_key (Optional[str]): The key of the mentions in `doc.spans`; if None, where the corpus
        readers put them.
    expand_abbreviations (bool): Whether to train on the long forms that documents define for
        mentions too.
    use_ontology (bool): Whether to train on O: true for Train:O and Train:OD, false for fine-tuning
        on D alone.
    data_share (Optional[float]): D is repeated until |D| / |O| is this; 1/3 in Xu and Bethard 2021.
        Not repeated if None. Batchers that draw each text once refuse it.
    substitutions (Optional[str]): A table from `connorm substitutions`; if given, concepts get more
        names to train on, in other words.
    paraphrases (int): At most how many each concept gets.
    RAISES (ConnormError): CN006 for no paraphrase.
    """

    ontology: str
    corpora: Sequence[str] = ()
    dev: Sequence[str] = ()
    labels: Sequence[str] = ()
    spans_key: str | None = None
    expand_abbreviations: bool = False
    use_ontology: bool = True
    data_share: float | None = None
    substitutions: str | None = None
    paraphrases: int = 4

    def __post_init__(self) -> None:
        for setting, example in _LISTS.items():
            # A text is a list of its letters.
            if isinstance(value := getattr(self, setting), str):
                refuse(setting, value, f'a list, e.g. ["{example}"]')
        require_positive("paraphrases", self.paraphrases)

    @property
    def sources(self) -> dict[str, Sequence[str]]:
        """RETURNS (Dict[str, Sequence[str]]): The files that are read besides the ontology, by what
        they are.
        """
        tables = () if self.substitutions is None else (self.substitutions,)
        return {"Corpus": self.corpora, "Dev corpus": self.dev, "Substitutions": tables}


@dataclass(frozen=True, slots=True, kw_only=True)
class Training:
    """The block [training], `spacy-connorm.Training.v1`: how to train.

    batcher (Batcher): Draws batches; see `batchers`.
    objective (Objective): Computes the loss; see `objectives`.
    arguments (Dict[str, Any]): Arguments of `transformers.TrainingArguments`: epochs, learning
        rate, precision, accumulation, reporters and all others that are not set here.
    seed (int): Of all random draws.
    micro_batch_tokens (int): Tokens that are encoded at once, padding included. Texts of a batch
        are sorted by length for this.
    cache_gradients (bool): Whether to keep the activations of only one micro-batch in memory, for
        batches that do not fit. Gradients are the same, at two thirds of the speed.
    adapter (Optional[LoraAdapter]): Train an adapter instead of all weights.
    interpolation (float): The share of the trained weights in the final ones, which are averaged
        with the initial weights (Wortsman et al. 2022). Below 1, more is kept of what a pretrained
        encoder knows of texts that it is not trained on.
    metric (str): The dev score that chooses the best epoch: one of `METRICS`.
    patience (Optional[int]): Stop after this many dev scores without a better one; never if None.
    RAISES (ConnormError): CN006 for an invalid setting, CN118 for an unknown metric, CN830 if the
        batcher and the objective do not match.
    """

    batcher: Any
    objective: Callable
    arguments: dict[str, Any]
    seed: int = 0
    micro_batch_tokens: int = 4096
    cache_gradients: bool = False
    adapter: LoraAdapter | None = None
    interpolation: float = 1.0
    metric: str = "lenient@1"
    patience: int | None = None

    def __post_init__(self) -> None:
        # What NumPy takes.
        _require(0 <= self.seed < 2**32, "seed", self.seed, "0 to 2**32 - 1")
        _require(
            self.micro_batch_tokens >= 1,
            "micro_batch_tokens",
            self.micro_batch_tokens,
            "at least 1",
        )
        _require(
            self.patience is None or self.patience >= 1,
            "patience",
            self.patience,
            "at least 1, or null",
        )
        _require(
            0 < self.interpolation <= 1, "interpolation", self.interpolation, "over 0, at most 1"
        )
        require_choice("metric", self.metric, METRICS)
        _require(
            hasattr(self.batcher, "batches"), "batcher", self.batcher, "a batcher (`@batchers`)"
        )
        for kind in ("ranked", "grounded"):
            if getattr(self.batcher, kind, False) != getattr(self.objective, kind, False):
                raise ConnormError(Errors.CN830)


def _require(met: bool, setting: str, value: Any, expected: str) -> None:
    if not met:
        refuse(setting, value, expected)
