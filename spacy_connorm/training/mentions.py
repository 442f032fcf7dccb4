"""The annotated mentions that a training config names."""

from collections.abc import Iterator, Sequence

from spacy.vocab import Vocab

from ..annotations.mentions import Mention, annotated_mentions
from ..annotations.synonyms import expanded_mentions
from ..files.docbin import read_docs
from .config import TrainingData


def read_mentions(paths: Sequence[str], data: TrainingData) -> Iterator[Mention]:
    """Read annotated mentions.

    paths (Sequence[str]): `.spacy` files.
    data (TrainingData): Its labels, spans key and abbreviation setting apply.
    YIELDS (Mention): The mentions, those without a gold id included.
    RAISES (ConnormError): CN100, CN105 or CN706 for a file that cannot be read.
    """
    vocab = Vocab()
    read = expanded_mentions if data.expand_abbreviations else annotated_mentions
    for path in paths:
        for doc in read_docs(path, vocab):
            for mention in read(doc, spans_key=data.spans_key):
                if not data.labels or mention.label in data.labels:
                    yield mention
