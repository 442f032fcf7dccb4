"""Annotating the fragments of a corpus with processes of this machine."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import NamedTuple

from .corpus_annotator import CorpusAnnotator
from .corpus_input import CorpusFields, CorpusText, InputFragment, read_text_batches
from .fragment_files import AnnotatedBatch, FragmentCounts, make_batch, write_fragment
from .output_folder import OutputFolder
from .pool import map_in_processes


class _Question(NamedTuple):
    """Texts of a fragment, and whether they are its last ones."""

    texts: Sequence[CorpusText]
    is_last: bool


class _Answer(NamedTuple):
    """What became of them."""

    batch: AnnotatedBatch
    is_last: bool


def annotate_locally(
    annotator: CorpusAnnotator,
    fragments: Sequence[InputFragment],
    output: OutputFolder,
    *,
    processes: int,
    report: Callable[[FragmentCounts], None],
) -> None:
    """Annotate fragments one after the other. The processes share the batches of each, and go on to
    the next without waiting. This process reads and writes.

    annotator (CorpusAnnotator): Annotates.
    fragments (Sequence[InputFragment]): The fragments.
    output (OutputFolder): Where to write.
    processes (int): How many processes annotate; 1 for this one alone, -1 for one per core.
    report (Callable): Called with the counts of each batch.
    RAISES (ConnormError): CN108 if a file can't be written, CN716 if a process dies, CN719 if one
        can't start, and the errors of `read_text_batches` and of the annotator.
    """
    annotator.load()  # forked processes share it
    questions = (
        question for fragment in fragments for question in _read(fragment, annotator.fields)
    )
    work = _Work(annotator)
    if processes == 1:
        _write(map(work, questions), fragments, output, report)
        return
    with closing(map_in_processes(work, questions, processes=processes)) as answers:
        _write(answers, fragments, output, report)


def _read(fragment: InputFragment, fields: CorpusFields) -> Iterator[_Question]:
    batches = read_text_batches(fragment, fields)
    texts = next(batches)  # there is at least one
    for following in batches:
        yield _Question(texts, is_last=False)
        texts = following
    yield _Question(texts, is_last=True)


@dataclass(frozen=True, slots=True)
class _Work:
    """What a process does: it can be sent to one."""

    annotator: CorpusAnnotator

    def __call__(self, question: _Question) -> _Answer:
        return _Answer(make_batch(self.annotator.annotate(question.texts)), question.is_last)


def _write(
    answers: Iterable[_Answer],
    fragments: Sequence[InputFragment],
    output: OutputFolder,
    report: Callable[[FragmentCounts], None],
) -> None:
    waiting = iter(answers)

    def of_one_fragment() -> Iterator[AnnotatedBatch]:
        # A fragment is whole after its last batch, before the next one is annotated.
        for answer in waiting:
            yield answer.batch
            report(answer.batch.counts)
            if answer.is_last:
                return

    for fragment in fragments:
        write_fragment(output.target(fragment), of_one_fragment(), output.origin(fragment))
