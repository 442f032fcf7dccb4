"""What `peers.py` compares: the names that both sides index, and how each side is asked."""

import json
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

from _common.builders import THRESHOLD, encoder_config
from _common.datasets import Data
from spacy.tokens import DocBin

from _peers.process import Peer
from spacy_connorm.concepts import Ontology
from spacy_connorm.files.folders import FORMAT_VERSION

SCISPACY = "scispaCy"
# By what is indexed: the ontology's names, or those of annotated data too.
SIEVES = {"O": ["O-T"], "OD": ["D-T", "OD-T"]}
INDEXES = {"annoy": "spacy-connorm.AnnoyIndex.v1", "exact": "spacy-connorm.ExactIndex.v1"}


@dataclass(frozen=True)
class Files:
    """What the sides read.

    names (Path): All names as scispaCy reads them, those of D among the aliases.
    ontology (Path): O, as we read it.
    synonyms (Path): D, as we read it: texts and concept ids.
    documents (Path): Documents with the mentions to look up as entities.
    stream (Path): The same mentions alone, by document.
    """

    names: Path
    ontology: Path
    synonyms: Path
    documents: Path
    stream: Path


@dataclass(frozen=True)
class Side:
    """One of those compared.

    name (str): Of its rows.
    command (Tuple[str, ...]): Its process.
    folder (Path): Its index.
    builds (Dict[str, Any]): What it is told when it builds the index.
    opens (Dict[str, Any]): What it is told when it opens it.
    """

    name: str
    command: tuple[str, ...]
    folder: Path
    builds: dict[str, Any]
    opens: dict[str, Any]

    def build(self, peer: Peer, folder: Path) -> tuple[float, float]:
        """RETURNS (Tuple[float, float]): How long building an index took in a folder, in seconds
        by the clock and of all threads.
        """
        clock, processor = peer.ask("build", folder=str(folder), **self.builds)
        return clock, processor

    def open(self, peer: Peer) -> float:
        """RETURNS (float): How long opening took, in seconds."""
        return peer.ask("open", folder=str(self.folder), **self.opens)


def write_files(data: Data, texts: str, work: Path) -> Files:
    """Write what the sides read.

    data (Data): The data set.
    texts (str): What is indexed, one of `SIEVES`.
    work (Path): Where to.
    RETURNS (Files): The files.
    """
    folder = work / f"{data.name}-{texts}"
    folder.mkdir(parents=True, exist_ok=True)
    files = Files(
        *(folder / name for name in ("names.jsonl", "ontology.jsonl", "synonyms.json")),
        *(folder / name for name in ("documents.spacy", "stream.json")),
    )
    synonyms = data.synonyms if texts == "OD" else []
    records = scispacy_records(data.ontology, synonyms)
    files.names.write_text("".join(f"{json.dumps(each)}\n" for each in records), encoding="utf8")
    data.ontology.to_disk(files.ontology)
    files.synonyms.write_text(json.dumps(synonyms), encoding="utf8")
    DocBin(docs=data.scored_docs).to_disk(files.documents)
    files.stream.write_text(json.dumps(mentions_by_document(data)), encoding="utf8")
    return files


def mentions_by_document(data: Data) -> list[list[str]]:
    """RETURNS (List[List[str]]): What is looked up."""
    return [[ent.text for ent in doc.ents] for doc in data.scored_docs]


def scispacy_records(
    ontology: Ontology, synonyms: Iterable[tuple[str, str]]
) -> list[dict[str, Any]]:
    """Put names and annotated texts together: scispaCy knows no difference between them.

    ontology (Ontology): O.
    synonyms (Iterable[Tuple[str, str]]): D: texts and concept ids. An id that O lacks becomes a
        concept named by its most frequent text, as in our index.
    RETURNS (List[Dict[str, Any]]): Lines of scispaCy's JSONL, which refuses fields that it does
        not know.
    """
    added: dict[str, Counter[str]] = defaultdict(Counter)
    for text, concept_id in synonyms:
        added[ontology.primary_id(concept_id)][text] += 1
    known = [
        (concept.concept_id, [*concept.names, *added.pop(concept.concept_id, ())])
        for concept in ontology
    ]
    new = [
        (concept_id, [text for text, _ in counts.most_common()])
        for concept_id, counts in added.items()
    ]
    return [
        {"concept_id": concept_id, "canonical_name": names[0], "aliases": names[1:], "types": []}
        for concept_id, names in known + new
    ]


def scispacy_side(python: Path, files: Files, work: Path) -> Side:
    """RETURNS (Side): scispaCy's candidate generator."""
    builds = {"names": str(files.names)}
    key = _digest(files.names.read_bytes(), str(python).encode())
    return Side(
        name=SCISPACY,
        command=(str(python), "-m", "_peers.scispacy"),
        folder=work / f"scispacy-index-{key}",
        builds=builds,
        opens={**builds, "stream": str(files.stream)},
    )


def our_side(
    encoder: str, data: Data, texts: str, files: Files, *, index: str, settings: dict, work: Path
) -> Side:
    """Describe a pipeline of ours.

    encoder (str): As `lookups.encoder_config` takes it.
    data (Data): The data set.
    texts (str): What is indexed, one of `SIEVES`.
    files (Files): Of both.
    index (str): One of `INDEXES`, or another registered name.
    settings (Dict[str, Any]): More of the component.
    work (Path): Keeps encoders and indexes.
    RETURNS (Side): It looks mentions up as they are written, as scispaCy's generator does.
    """
    sieve = SIEVES[texts]
    config = {
        "encoder": encoder_config(encoder, data, work=work.parent),
        "index": {"@misc": INDEXES.get(index, index)},
        "sieve": {
            "@misc": "spacy-connorm.Sieve.v1",
            "searches": sieve,
            "thresholds": [THRESHOLD] * (len(sieve) - 1),
        },
        "expand_abbreviations": False,
        "split_composites": False,
        **settings,
    }
    key = _digest(
        json.dumps([config, FORMAT_VERSION]).encode(),
        files.ontology.read_bytes(),
        files.synonyms.read_bytes(),
    )
    paths = {"ontology": str(files.ontology), "synonyms": str(files.synonyms)}
    return Side(
        name=f"{Path(encoder).name}, {index}",
        command=(sys.executable, "-m", "_peers.ours"),
        folder=work / f"pipeline-{key}",
        builds={**paths, "config": config},
        opens={"documents": str(files.documents)},
    )


def _digest(*parts: bytes) -> str:
    content = sha256()
    for part in parts:
        content.update(part)
    return content.hexdigest()[:16]
