"""scispaCy's side of `peers.py`: its candidate generator, in an environment of its own."""

import json
from pathlib import Path

from scispacy.candidate_generation import (
    CandidateGenerator,
    LinkerPaths,
    create_tfidf_ann_index,
)
from scispacy.linking_utils import KnowledgeBase

from _peers.child import both_seconds, calls, seconds, serve

# What scispaCy's EntityLinker asks for.
NEIGHBOURS = 30


class ScispaCy:
    """Answers as a candidate generator does, without the sorting that EntityLinker adds."""

    _generator: CandidateGenerator
    _by_document: list[list[str]]

    def build(self, folder: str, names: str) -> tuple[float, float]:
        """Index names.

        folder (str): Where to; not there yet.
        names (str): scispaCy's JSONL.
        RETURNS (Tuple[float, float]): Seconds by the clock, and of all threads.
        """
        Path(folder).mkdir(parents=True)
        return both_seconds(lambda: create_tfidf_ann_index(folder, KnowledgeBase(names)))

    def open(self, folder: str, names: str, stream: str) -> float:
        """Open an index.

        folder (str): What `build` wrote.
        names (str): What it was built from.
        stream (str): The mentions to read, by document.
        RETURNS (float): Seconds until it can answer.
        """
        self._by_document = json.loads(Path(stream).read_text(encoding="utf8"))
        return seconds(lambda: self._open(folder, names))

    def _open(self, folder: str, names: str) -> None:
        aliases, vectorizer, index = LinkerPaths.from_directory(folder).load()
        self._generator = CandidateGenerator(index, vectorizer, aliases, KnowledgeBase(names))

    def read(self, documents: int) -> float:
        """Look all mentions up.

        documents (int): Whose mentions share a call; 0 for one mention a call.
        RETURNS (float): Seconds.
        """
        batches = list(calls(self._by_document, documents))

        def work() -> None:
            for batch in batches:
                self._generator(batch, NEIGHBOURS)

        return seconds(work)

    def answer(self, mentions: list[str]) -> list[list[tuple[str, float]]]:
        """RETURNS (List[List[Tuple[str, float]]]): Of each mention the concepts found, each with
        its best similarity, in no order.
        """
        return [
            [(each.concept_id, float(max(each.similarities))) for each in found]
            for found in self._generator(mentions, NEIGHBOURS)
        ]


if __name__ == "__main__":
    side = ScispaCy()
    serve({"build": side.build, "open": side.open, "read": side.read, "answer": side.answer})
