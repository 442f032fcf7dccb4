"""scispaCy's side of `peers.py`: its candidate generator, in an environment of its own."""

import json
from pathlib import Path

from _measure.stopwatch import time_call
from scispacy.candidate_generation import (
    CandidateGenerator,
    LinkerPaths,
    create_tfidf_ann_index,
)
from scispacy.linking_utils import KnowledgeBase

from _peers.child import calls, serve

# EntityLinker's default.
NEIGHBOURS = 30


class ScispaCy:
    """Answers as a candidate generator, without the sorting that EntityLinker adds."""

    _generator: CandidateGenerator
    _by_document: list[list[str]]

    def build(self, folder: str, names: str) -> None:
        """Index names.

        folder (str): Where to; a new folder.
        names (str): scispaCy's JSONL.
        """
        Path(folder).mkdir(parents=True)
        create_tfidf_ann_index(folder, KnowledgeBase(names))

    def open(self, folder: str, names: str, stream: str) -> None:
        """Open an index.

        folder (str): From `build`.
        names (str): The names that were indexed.
        stream (str): The mentions to read, by document.
        """
        self._by_document = json.loads(Path(stream).read_text(encoding="utf8"))
        aliases, vectorizer, index = LinkerPaths.from_directory(folder).load()
        self._generator = CandidateGenerator(index, vectorizer, aliases, KnowledgeBase(names))

    def read(self, documents: int) -> float:
        """Search all mentions.

        documents (int): Documents per call; 0 for one mention per call.
        RETURNS (float): Seconds.
        """
        batches = list(calls(self._by_document, documents))
        return time_call(lambda: self._generate(batches)).clock

    def _generate(self, batches: list[list[str]]) -> None:
        for batch in batches:
            self._generator(batch, NEIGHBOURS)

    def answer(self, mentions: list[str]) -> list[list[tuple[str, float]]]:
        """RETURNS (List[List[Tuple[str, float]]]): The concepts of each mention with their best
        similarities, unordered.
        """
        return [
            [(candidate.concept_id, float(max(candidate.similarities))) for candidate in found]
            for found in self._generator(mentions, NEIGHBOURS)
        ]


if __name__ == "__main__":
    side = ScispaCy()
    serve({"build": side.build, "open": side.open, "read": side.read, "answer": side.answer})
