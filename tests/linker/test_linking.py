"""The way of a mention: what answers, and how many files it passes."""

import gc
import sys
from pathlib import Path

import pytest
from spacy.tokens import Span

import spacy_connorm
from spacy_connorm.linker.calibration import Calibration
from spacy_connorm.linker.linking import candidates_of, link

PACKAGE = Path(spacy_connorm.__file__).parent
CALIBRATION = "calibration.py"


class CallTrace:
    """The files, functions and depth of the calls of our functions inside a call."""

    def __init__(self):
        self.files, self.functions = set(), set()
        self.depth = self._open = 0

    def __enter__(self):
        # What is collected meanwhile may call functions of its own.
        self._was_collecting = gc.isenabled()
        gc.disable()
        sys.setprofile(self._record)
        return self

    def __exit__(self, *error):
        sys.setprofile(None)
        if self._was_collecting:
            gc.enable()

    def _record(self, frame, event, argument):
        code = frame.f_code
        if event not in ("call", "return") or not code.co_filename.startswith(str(PACKAGE)):
            return
        self._open += 1 if event == "call" else -1
        self.depth = max(self.depth, self._open)
        self.files.add(code.co_filename)
        if not code.co_name.startswith("<"):
            self.functions.add((code.co_filename, code.co_qualname))


def test_an_unknown_mention_passes_few_files_and_functions(make_pipeline):
    nlp = make_pipeline()
    normalizer = nlp.get_pipe("concept_normalizer")
    # The first one reads all words, so that it does not matter which ones other tests have read.
    first, doc = (nlp.make_doc(text) for text in ("a cold, severe", "a severe cold"))
    for each in (first, doc):
        each.set_ents([Span(each, 0, len(each), label="Disease")])
    normalizer(first)
    with CallTrace() as trace:
        normalizer(doc)
    assert doc.ents[0].kb_id_
    assert len(trace.files) <= 33
    # Probabilities, which larger indexes always had, are one file of the road.
    of_probabilities = {name for path, name in trace.functions if path.endswith(CALIBRATION)}
    assert len(of_probabilities) <= 8
    assert len(trace.functions) - len(of_probabilities) <= 88
    assert trace.depth <= 10


@pytest.fixture
def normalizer(make_normalizer):
    return make_normalizer()


def test_the_interpretation_that_answers_comes_first(normalizer):
    (read,) = link(normalizer.lookup.retriever, ["MI and colds"], normalizer.query())
    assert read[0].kind == "parts"
    assert read[0].candidates == normalizer.candidates(["MI and colds"])[0]


def test_queries_have_their_own_answers(normalizer):
    retriever, query = normalizer.lookup.retriever, normalizer.query()
    (plain,) = candidates_of(retriever, ["colds"], query)
    calibrated = query._replace(calibration=Calibration(intercept=-2, score=3, margin=1))
    (likely,) = candidates_of(retriever, ["colds"], calibrated)
    assert all(candidate.probability is not None for candidate in likely)
    assert candidates_of(retriever, ["colds"], query) == [plain]
    (alone,) = candidates_of(retriever, ["colds"], query.alone("O-T"))
    assert {candidate.search for candidate in alone} == {"O-T"}


def test_answers_are_kept_under_the_settings_that_they_depend_on(normalizer):
    retriever, query = normalizer.lookup.retriever, normalizer.query()
    mention = "severe colds"
    lowered, plain = query, query._replace(rescorers=())
    first = [candidates_of(retriever, [mention], way) for way in (lowered, plain)]
    assert first[0] != first[1]
    assert [candidates_of(retriever, [mention], way) for way in (lowered, plain)] == first
    assert len(retriever.answers) == 2
    candidates_of(retriever, [mention], query._replace(top_k=3))  # from the same ten
    assert len(retriever.answers) == 2
    candidates_of(retriever, [mention], query._replace(cache_size=0))
    assert len(retriever.answers) == 0
