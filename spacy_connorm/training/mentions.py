"""The annotated mentions that a training config names."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from spacy.tokens import Doc
from spacy.vocab import Vocab

from ..documents.docbin import read_docs
from ..documents.mentions import Mention, annotated_mentions, expanded_mentions
from ..errors import Warnings, quote_all, warn
from .config import TrainingData


def read_mentions(paths: Sequence[str], data: TrainingData) -> Iterator[Mention]:
    """Read annotated mentions.

    paths (Sequence[str]): `.spacy` files.
    data (TrainingData): Its labels, spans key and abbreviation setting apply.
    YIELDS (Mention): The mentions, those without a gold id included.
    RAISES (ConnormError): CN100, CN105 or CN220 for a file that cannot be read.
    WARNS (ConnormWarning): CNW811 for a file none of whose mentions is taken.
    """
    vocab = Vocab()
    for path in paths:
        yield from _mentions_of_file(path, read_docs(path, vocab), data)


def warn_of_shared_files(data: TrainingData) -> None:
    """Warn of a dev file that is trained on as well.

    data (TrainingData): Names the files.
    WARNS (ConnormWarning): CNW812 for each.
    """
    trained_on = {Path(path).resolve() for path in data.corpora}
    for path in data.dev:
        if Path(path).resolve() in trained_on:
            warn(Warnings.CNW812.format(path=path))


def _mentions_of_file(path: str, docs: Iterator[Doc], data: TrainingData) -> Iterator[Mention]:
    read = expanded_mentions if data.expand_abbreviations else annotated_mentions
    labels = set[str]()
    for doc in docs:
        for mention in read(doc, spans_key=data.spans_key):
            labels.add(mention.label)
            if not data.labels or mention.label in data.labels:
                yield mention
    if not labels or (data.labels and labels.isdisjoint(data.labels)):
        asked = ", ".join(data.labels) or "all"
        warn(Warnings.CNW811.format(path=path, found=quote_all(sorted(labels)), asked=asked))
