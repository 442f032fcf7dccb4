"""The sides of `peers.py`: the names that they index, and the commands that they are sent."""

import json
from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

from _common.builders import encoder_config
from _common.datasets import Data
from spacy.tokens import DocBin
from thinc.api import Config

from _peers.process import Peer, child_command
from spacy_connorm.concepts import Ontology
from spacy_connorm.index.manifest import FORMAT_VERSION

SCISPACY = "scispaCy"
INDEXES = {"exact": "spacy-connorm.ExactIndex.v1", "auto": "spacy-connorm.AutoIndex.v1"}
# By what is indexed: settings of the component for the ontology's names alone, and for those of
# annotated data, too, which its own sieve searches.
ONE_SEARCH = {"@misc": "spacy-connorm.Sieve.v1", "searches": ["O-T"], "thresholds": []}
TEXTS: dict[str, dict[str, Any]] = {"O": {"sieve": ONE_SEARCH}, "OD": {}}


@dataclass(frozen=True)
class Files:
    """What the sides read.

    names (Path): All names for scispaCy, those of D among the aliases.
    ontology (Path): O, for us.
    synonyms (Path): D, for us: texts and concept ids.
    documents (Path): Documents with the mentions to search as entities.
    stream (Path): The same mentions alone, by document.
    """

    names: Path
    ontology: Path
    synonyms: Path
    documents: Path
    stream: Path


@dataclass(frozen=True)
class Side:
    """One of the systems compared.

    name (str): In the tables.
    command (Tuple[str, ...]): Starts its process.
    folder (Path): Its index.
    builds (Dict[str, Any]): Arguments of the command "build".
    opens (Dict[str, Any]): Arguments of the command "open".
    """

    name: str
    command: tuple[str, ...]
    folder: Path
    builds: dict[str, Any]
    opens: dict[str, Any]

    def open(self, peer: Peer) -> None:
        """Open the index."""
        peer.ask("open", folder=str(self.folder), **self.opens)


def write_files(data: Data, texts: str, work: Path) -> Files:
    """Write the files that the sides read.

    data (Data): The data set.
    texts (str): What to index, one of `TEXTS`.
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
    files.names.write_text(
        "".join(f"{json.dumps(record)}\n" for record in records), encoding="utf8"
    )
    data.ontology.to_disk(files.ontology)
    files.synonyms.write_text(json.dumps(synonyms), encoding="utf8")
    DocBin(docs=data.scored_docs).to_disk(files.documents)
    files.stream.write_text(json.dumps(mentions_by_document(data)), encoding="utf8")
    return files


def mentions_by_document(data: Data) -> list[list[str]]:
    """RETURNS (List[List[str]]): The mentions to search, by document."""
    return [[ent.text for ent in doc.ents] for doc in data.scored_docs]


def scispacy_records(
    ontology: Ontology, synonyms: Iterable[tuple[str, str]]
) -> list[dict[str, Any]]:
    """Merge names and annotated texts: scispaCy does not distinguish them.

    ontology (Ontology): O.
    synonyms (Iterable[Tuple[str, str]]): D: texts and concept ids. An id that O lacks becomes a
        concept named by its most frequent text, as in our index.
    RETURNS (List[Dict[str, Any]]): Lines of scispaCy's JSONL, which rejects unknown fields.
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
        command=child_command("_peers.scispacy", python=str(python)),
        folder=work / f"scispacy-index-{key}",
        builds=builds,
        opens={**builds, "stream": str(files.stream)},
    )


def our_side(encoder: str, data: Data, texts: str, files: Files, *, index: str, work: Path) -> Side:
    """Describe a pipeline of ours.

    encoder (str): As `encoder_config` takes it.
    data (Data): The data set.
    texts (str): What to index, one of `TEXTS`.
    files (Files): Of both sides.
    index (str): One of `INDEXES`, another registered name, or the path of a pipeline's config.
    work (Path): Keeps encoders and indexes.
    RETURNS (Side): Searches mentions as they are written, as scispaCy's generator does.
    """
    config = {
        "encoder": encoder_config(encoder, data, work=work.parent),
        "index": _index_block(index),
        **TEXTS[texts],
        "split_composites": False,
    }
    key = _digest(
        json.dumps([config, FORMAT_VERSION]).encode(),
        files.ontology.read_bytes(),
        files.synonyms.read_bytes(),
    )
    paths = {"ontology": str(files.ontology), "synonyms": str(files.synonyms)}
    return Side(
        name=f"{Path(encoder).name}, {Path(index).name}",
        command=child_command("_peers.ours"),
        folder=work / f"pipeline-{key}",
        builds={**paths, "config": config},
        opens={"documents": str(files.documents)},
    )


def _index_block(index: str) -> dict[str, Any]:
    if not index.endswith(".cfg"):
        return {"@misc": INDEXES.get(index, index)}
    config = Config().from_disk(index, interpolate=False)
    return dict(config["components"]["concept_normalizer"]["index"])


def _digest(*parts: bytes) -> str:
    content = sha256()
    for part in parts:
        content.update(part)
    return content.hexdigest()[:16]
