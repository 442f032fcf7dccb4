"""The blocks of a training config, and the annotated mentions that they name. Imports nothing
heavy, since configs are resolved everywhere.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

from spacy.vocab import Vocab

from ..documents.docbin import read_docs
from ..documents.mentions import Mention, annotated_mentions, expanded_mentions
from ..errors import Errors, Warnings, quote_all, refuse, require_choice, require_range
from .adapters import LoraAdapter
from .batchers import Batcher
from .pool import PoolReport

# Dev scores, in percent, that can determine the best epoch.
LINKING_METRICS = ("lenient@1", "strict@1", "mrr", "unseen_lenient@1")
# Synonym retrieval: how high the names of a mention's concept rank among all names.
MEAN_AVERAGE_PRECISION = "map"
METRICS = (*LINKING_METRICS, MEAN_AVERAGE_PRECISION)

# Examples of items in the lists of the block [data].
_LISTS = {"corpora": "train.spacy", "dev": "dev.spacy", "labels": "Disease"}


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingData:
    """The block [data], `spacy-connorm.TrainingData.v1`: what to train on.

    ontology (str): O, in any known format.
    corpora (Sequence[str]): D: annotated documents, `.spacy`.
    dev (Sequence[str]): Annotated documents that determine the best epoch, `.spacy`; without any,
        the last epoch is kept.
    labels (Sequence[str]): Only mentions with these labels; all if empty.
    spans_key (Optional[str]): The key of the mentions in `doc.spans`; if None, where the corpus
        readers put them.
    expand_abbreviations (bool): Whether to train also on the long forms that documents define for
        mentions.
    use_ontology (bool): Whether to train on O: true for Train:O and Train:OD, false for fine-tuning
        on D alone.
    data_share (Optional[float]): D is repeated until |D| / |O| reaches this value; 1/3 in Xu and
        Bethard 2021. Not repeated if None. Batchers that draw each text once refuse it.
    """

    ontology: str
    corpora: Sequence[str] = ()
    dev: Sequence[str] = ()
    labels: Sequence[str] = ()
    spans_key: str | None = None
    expand_abbreviations: bool = False
    use_ontology: bool = True
    data_share: float | None = None

    def __post_init__(self) -> None:
        for setting, example in _LISTS.items():
            # A text is a list of its letters.
            if isinstance(value := getattr(self, setting), str):
                refuse(setting, value, f'a list, e.g. ["{example}"]')


class TrainingObserver:
    """Follows a training run. Its methods are called in the process that writes the encoder.
    Override the ones that you need.
    """

    def on_pool(self, report: PoolReport) -> None:
        """Called before training starts.

        report (PoolReport): Counts of the texts and concepts to learn from.
        """

    def on_epoch(self, epoch: float, loss: float) -> None:
        """Called after every epoch.

        epoch (float): The number of completed epochs.
        loss (float): The mean over its last batches.
        """

    def on_dev_score(self, epoch: float, scores: dict[str, float]) -> None:
        """Called after every dev score.

        epoch (float): The number of completed epochs.
        scores (Dict[str, float]): In percent; the one that determines the best epoch comes first.
        """


@runtime_checkable
class AnyObjective(Protocol):
    """The interface of objectives; see `objectives.objective`, which imports torch."""

    relations: Any
    metric: Any
    learning_rate: float

    def prepare(self, module: Any) -> None: ...

    def learned(self) -> dict[str, float]: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Training:
    """The block [training], `spacy-connorm.Training.v1`: how to train.

    batcher (Batcher): Draws batches; see `batchers`.
    objective (Objective): Computes the loss; see `objectives`.
    arguments (Dict[str, Any]): Arguments of `transformers.TrainingArguments`: epochs, learning
        rate, precision, accumulation, reporters and all others that are not set here.
    seed (int): The seed of all random draws.
    micro_batch_tokens (int): Tokens to encode at once, including padding. The texts of a batch are
        sorted by length for this.
    cache_gradients (bool): Whether to keep the activations of only one micro-batch in memory, for
        batches that do not fit. Gradients are the same, at two thirds of the speed.
    adapter (Optional[LoraAdapter]): Train an adapter instead of all weights.
    interpolation (float): The share of the trained weights in the final ones, which are averaged
        with the initial weights (Wortsman et al. 2022). A value below 1 preserves more of what a
        pretrained encoder knows about texts that it is not trained on.
    metric (str): The dev score that determines the best epoch: one of `METRICS`.
    patience (Optional[int]): Stop after this many dev scores without an improvement; never if None.
    RAISES (ConnormError): CN006 for an invalid setting, CN118 for an unknown metric, CN830 if the
        batcher and the objective do not match.
    """

    batcher: Batcher
    objective: AnyObjective
    arguments: dict[str, Any]
    seed: int = 0
    micro_batch_tokens: int = 4096
    cache_gradients: bool = False
    adapter: LoraAdapter | None = None
    interpolation: float = 1.0
    metric: str = "lenient@1"
    patience: int | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.batcher, Batcher):
            refuse("batcher", self.batcher, "a batcher (`@batchers`)")
        if not isinstance(self.objective, AnyObjective):
            refuse("objective", self.objective, "an objective of spacy-connorm (`@losses`)")
        require_range(least=0, below=2**32, seed=self.seed)  # the range that NumPy accepts
        require_range(least=1, micro_batch_tokens=self.micro_batch_tokens, patience=self.patience)
        require_range(above=0, most=1, interpolation=self.interpolation)
        require_choice("metric", self.metric, METRICS)
        if self.batcher.relations is not self.objective.relations:
            raise Errors.CN830()


def read_mentions(paths: Sequence[str], data: TrainingData) -> Iterator[Mention]:
    """Read annotated mentions.

    paths (Sequence[str]): `.spacy` files.
    data (TrainingData): The labels, spans key and abbreviation setting to apply.
    YIELDS (Mention): The mentions, including those without a gold id.
    RAISES (ConnormError): CN100, CN105 or CN220 for a file that cannot be read.
    WARNS (ConnormWarning): CNW811 for a file with no matching mentions.
    """
    vocab = Vocab()
    read = expanded_mentions if data.expand_abbreviations else annotated_mentions
    for path in paths:
        labels = set[str]()
        for doc in read_docs(path, vocab):
            for mention in read(doc, spans_key=data.spans_key):
                labels.add(mention.label)
                if not data.labels or mention.label in data.labels:
                    yield mention
        if not labels or (data.labels and labels.isdisjoint(data.labels)):
            wanted = ", ".join(data.labels) or "all"
            Warnings.CNW811.warn(path=path, found=quote_all(sorted(labels)), asked=wanted)


def warn_of_shared_files(data: TrainingData) -> None:
    """Warn about dev files that are also used for training.

    data (TrainingData): The block with the files.
    WARNS (ConnormWarning): CNW812 for each.
    """
    trained_on = {Path(path).resolve() for path in data.corpora}
    for path in data.dev:
        if Path(path).resolve() in trained_on:
            Warnings.CNW812.warn(path=path)
