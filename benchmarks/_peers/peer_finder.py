"""Other tools as finders, with the names of an ontology, each in an environment of its own."""

import json
import subprocess
from collections.abc import Iterable, Iterator
from hashlib import sha256
from pathlib import Path

from _common.datasets import blank_english
from _measure.environments import make_pinned_environment
from spacy.tokens import Doc

from spacy_connorm.concepts import Concept, Ontology
from spacy_connorm.documents.mentions import ALL_MENTIONS_KEY

HERE = Path(__file__).parent
# By name: NAME.txt has its environment, NAME_finder.py runs in it.
PEERS = ("gilda", "fasthpocr")


class PeerFinder:
    """Finds mentions of an ontology's concepts as a peer does, and takes the first concept that it
    names for each.
    """

    def __init__(self, name: str, ontology: Ontology, work: Path) -> None:
        """Make the environment, unless an earlier run did.

        name (str): One of `PEERS`.
        ontology (Ontology): Has the names.
        work (Path): Keeps the environment, and the peer's index if it makes one.
        """
        self._name = name
        self._concepts = list(map(_described, ontology))
        self._work = work
        self._python = make_pinned_environment(name, HERE / f"{name}.txt", work=work)

    def __call__(self, texts: Iterable[str]) -> Iterator[Doc]:
        """YIELDS (Doc): The documents, with all mentions, also those inside others, and their
        ids.
        """
        docs = [blank_english().make_doc(text) for text in texts]
        digest = sha256(json.dumps(self._concepts).encode()).hexdigest()[:16]
        index = self._work / f"{self._name}-index-{digest}"
        given = {
            "concepts": self._concepts,
            "texts": [doc.text for doc in docs],
            "index": str(index),
        }
        done = subprocess.run(
            [str(self._python), str(HERE / f"{self._name}_finder.py")],
            input=json.dumps(given),
            stdout=subprocess.PIPE,
            text=True,
            check=True,
        )
        for doc, found in zip(docs, json.loads(done.stdout)["found"], strict=True):
            spans = [
                doc.char_span(start, end, "NAME", kb_id=concept_id, alignment_mode="expand")
                for start, end, concept_id in found
            ]
            doc.spans[ALL_MENTIONS_KEY] = list(filter(None, spans))
            yield doc


def _described(concept: Concept) -> dict[str, str | list[str]]:
    return {
        "id": concept.concept_id,
        "name": concept.canonical_name,
        "names": list(concept.names),
        "exact": list(concept.exact_names),
        "related": list(concept.related),
        "parents": list(concept.parents),
    }
