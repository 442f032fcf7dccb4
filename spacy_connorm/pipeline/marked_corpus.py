"""A training corpus whose mentions are marked already, for pipelines without a NER."""

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from spacy.language import Language
from spacy.tokens import Doc, Span
from spacy.training import Corpus, Example
from spacy.util import filter_spans

from ..errors import ConnormError, Errors


def create_marked_reader(path: Path) -> Callable[[Language], Iterator[Example]]:
    """Registered as `spacy-connorm.MarkedCorpus.v1`: read a `.spacy` file so that the mentions of
    the annotated documents are known and their concept ids are not. A concept normalizer links
    them, and components after it can be trained and scored.

    path (Path): A file or a folder, as for `spacy.Corpus.v1`.
    RETURNS (Callable[[Language], Iterator[Example]]): Called with a pipeline, yields examples that
        `mark_mentions` has marked.
    RAISES (ConnormError): CN100 if it is not there, when it is read.
    """
    corpus = Corpus(path)

    def read_examples(nlp: Language) -> Iterator[Example]:
        if not Path(path).exists():
            raise ConnormError(Errors.CN100.format(path=path))
        for example in corpus(nlp):
            mark_mentions(example)
            yield example

    return read_examples


def mark_mentions(example: Example) -> None:
    """Give the predicted document of an example the entities and the groups of spans of its
    reference, without their ids.

    example (Example): The example, whose two documents have the same text.
    """
    marked, reference = example.predicted, example.reference
    # Another tokenizer may see two mentions in one token.
    marked.set_ents(filter_spans(_unlinked(marked, reference.ents)))
    for key, spans in reference.spans.items():
        marked.spans[key] = _unlinked(marked, spans)


def _unlinked(doc: Doc, spans: Iterable[Span]) -> list[Span]:
    copies = (
        doc.char_span(each.start_char, each.end_char, label=each.label_, alignment_mode="expand")
        for each in spans
    )
    return [each for each in copies if each is not None]
