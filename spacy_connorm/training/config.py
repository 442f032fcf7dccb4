"""What a training config says. Light: it is imported wherever a config is resolved."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from ..errors import ConnormError, Errors
from .adapters import LoraAdapter

# Scores on dev data, in percent, that can tell the best epoch.
METRICS = ("lenient@1", "strict@1", "mrr", "unseen_lenient@1")


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingData:
    """What to learn from: the block [data], registered as `spacy-connorm.TrainingData.v1`.

    ontology (str): O, in any known format.
    corpora (Sequence[str]): D: annotated documents, `.spacy`.
    dev (Sequence[str]): Annotated documents to choose the best epoch by, `.spacy`; if there are
        none, the last epoch is taken.
    labels (Sequence[str]): Only mentions with these labels; all if empty.
    spans_key (Optional[str]): Where mentions stand in `doc.spans`; if None, where the corpus
        readers put them.
    expand_abbreviations (bool): Whether the long forms that documents define for mentions are
        learned beside them.
    use_ontology (bool): Whether O is trained on: true for Train:O and Train:OD, false for
        fine-tuning on D alone.
    data_share (Optional[float]): D is repeated until |D| / |O| is this; 1/3 in Xu and Bethard 2021.
        As annotated if None.
    """

    ontology: str
    corpora: Sequence[str] = ()
    dev: Sequence[str] = ()
    labels: Sequence[str] = ()
    spans_key: str | None = None
    expand_abbreviations: bool = False
    use_ontology: bool = True
    data_share: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Training:
    """How to learn: the block [training], registered as `spacy-connorm.Training.v1`.

    batcher (Batcher): Draws batches; see `batchers`.
    objective (Objective): Scores them; see `objectives`.
    arguments (Dict[str, Any]): Arguments of `transformers.TrainingArguments`: epochs, learning
        rate, precision, accumulation, reporters and all else that does not stand here.
    seed (int): Of all draws.
    micro_batch_tokens (int): Tokens that pass through the encoder at once, padding included. Texts
        of a batch are sorted by length for this.
    cache_gradients (bool): Whether only one micro-batch's activations stand in memory: for batches
        larger than memory, at a third of the speed's cost; the gradients are the same.
    adapter (Optional[LoraAdapter]): Train an adapter instead of all weights.
    interpolation (float): The share of the trained weights in those that are kept, which are their
        average with the weights that training started from (Wortsman et al. 2022): 1 for nothing
        else, less to keep more of what a pretrained encoder knows of texts it is not trained on.
    metric (str): The dev score that tells the best epoch: one of `METRICS`.
    patience (Optional[int]): Stop after so many dev scores without a better one; never if None.
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
        _require(self.micro_batch_tokens >= 1, "micro_batch_tokens", "at least 1")
        _require(self.patience is None or self.patience >= 1, "patience", "at least 1, or null")
        _require(0 < self.interpolation <= 1, "interpolation", "over 0, at most 1")
        _require(self.metric in METRICS, "metric", f"one of {', '.join(METRICS)}")
        _require(hasattr(self.batcher, "batches"), "batcher", "a batcher (`@batchers`)")
        if getattr(self.batcher, "ranked", False) != getattr(self.objective, "ranked", False):
            raise ConnormError(Errors.CN830)


def _require(met: bool, setting: str, expected: str) -> None:
    if not met:
        raise ConnormError(Errors.CN823.format(setting=setting, expected=expected))
