"""Our side of `peers.py`: a pipeline with the concept normalizer, built and loaded as users do."""

import json
from pathlib import Path
from typing import Any

import spacy
from _measure.stopwatch import time_call
from spacy.language import Language
from spacy.tokens import Doc, DocBin

from _peers.child import serve
from spacy_connorm.concepts import Ontology
from spacy_connorm.pipeline.loading import find_normalizer


class Ours:
    """Answers as a pipeline that reads documents with entities."""

    _nlp: Language
    _documents: DocBin

    def build(self, folder: str, ontology: str, synonyms: str, config: dict[str, Any]) -> None:
        """Index names and save a pipeline.

        folder (str): Where to.
        ontology (str): JSONL.
        synonyms (str): D, as JSON: texts and concept ids.
        config (Dict[str, Any]): Of the component.
        """
        nlp = spacy.blank("en")
        nlp.add_pipe("concept_normalizer", config=config)
        find_normalizer(nlp).initialize(
            lambda: [],
            nlp=nlp,
            ontology=Ontology.from_disk(ontology),
            synonyms=json.loads(Path(synonyms).read_text(encoding="utf8")),
        )
        nlp.to_disk(folder)

    def open(self, folder: str, documents: str) -> None:
        """Load a pipeline, with an empty cache.

        folder (str): From `build`.
        documents (str): Documents with entities, a `.spacy` file.
        """
        self._documents = DocBin().from_disk(documents)
        self._nlp = spacy.load(folder)

    def read(self, documents: int) -> float:
        """Search the entities of all documents.

        documents (int): Documents per batch of the pipeline; 0 for one entity per call of
            `candidates`.
        RETURNS (float): Seconds.
        """
        docs = list(self._documents.get_docs(self._nlp.vocab))
        if documents:
            return time_call(lambda: self._pipe(docs, documents)).clock
        mentions = [ent.text for doc in docs for ent in doc.ents]
        return time_call(lambda: self._candidates(mentions)).clock

    def _pipe(self, docs: list[Doc], documents: int) -> None:
        for _ in self._nlp.pipe(docs, batch_size=documents):
            pass

    def _candidates(self, mentions: list[str]) -> None:
        normalizer = find_normalizer(self._nlp)
        for mention in mentions:
            normalizer.candidates([mention])

    def answer(self, mentions: list[str]) -> list[list[tuple[str, float]]]:
        """RETURNS (List[List[Tuple[str, float]]]): The concepts and scores of each mention, best
        first.
        """
        found = find_normalizer(self._nlp).candidates(mentions)
        return [
            [(candidate.concept_id, float(candidate.score)) for candidate in some] for some in found
        ]


if __name__ == "__main__":
    side = Ours()
    serve({"build": side.build, "open": side.open, "read": side.read, "answer": side.answer})
