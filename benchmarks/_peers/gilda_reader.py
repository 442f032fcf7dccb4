"""gilda as a finder, with the names of an ontology, in an environment of its own."""

import json
import subprocess
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

from _common.datasets import blank_english
from _measure.environments import make_pinned_environment
from spacy.tokens import Doc
from spacy.util import filter_spans

from spacy_connorm.concepts import Ontology

REQUIREMENTS = Path(__file__).with_name("gilda.txt")
CHILD = Path(__file__).with_name("gilda_finder.py")


class GildaReader:
    """Finds the names of an ontology as `gilda.annotate` does, and takes the first concept that it
    names for a mention.
    """

    def __init__(self, ontology: Ontology, work: Path) -> None:
        """Make the environment, unless an earlier run did.

        ontology (Ontology): Has the names.
        work (Path): Keeps the environment.
        """
        self._ontology = ontology
        self._python = make_pinned_environment(
            "gilda", REQUIREMENTS, python=sys.executable, work=work
        )

    def __call__(self, texts: Iterable[str]) -> Iterator[Doc]:
        """YIELDS (Doc): The documents, with entities and their ids."""
        docs = [blank_english().make_doc(text) for text in texts]
        concepts = [[each.concept_id, each.canonical_name, each.names] for each in self._ontology]
        given = {"concepts": concepts, "texts": [doc.text for doc in docs]}
        done = subprocess.run(
            [str(self._python), str(CHILD)],
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
            doc.ents = filter_spans(filter(None, spans))
            yield doc
