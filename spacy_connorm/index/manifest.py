"""The facts about an index in its manifest: how it was built, and for what."""

import datetime
import platform
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from pydantic import AliasPath, BaseModel, Field, ValidationError

from ..about import __version__
from ..concepts import Source
from ..encoders.protocol import Encoder, fingerprint
from ..errors import Errors
from ..files.folders import MANIFEST
from ..files.package_data import installed_version
from ..text.word_forms import EndingPair
from .backends.protocol import Backend
from .search import COSINE, Metric

# To be raised with every change of what the files of an index hold, and so with every change of the
# words of names: an index of another version is refused, not converted.
FORMAT_VERSION = 29
# The packages that an index is built with.
_PACKAGES = ("spacy", "thinc", "numpy", "annoy", "faiss-cpu")


class IndexFacts(BaseModel):
    """What must be known to search an index, as in its manifest.

    searches (List[str]): The searches that it was built for.
    fingerprint (str): The fingerprint of its encoder.
    backend (Dict[str, Any]): The name and the settings of what runs the searches.
    metric (str): What its vectors are compared by.
    language (str): The language of its texts.
    endings (Tuple[EndingPair, ...]): Endings of words that replace each other in its names.
    """

    searches: list[str]
    fingerprint: str = Field(validation_alias=AliasPath("encoder", "fingerprint"))
    backend: dict[str, Any]
    metric: Metric = Field(COSINE, validation_alias=AliasPath("backend", "metric"))
    language: str
    endings: tuple[EndingPair, ...]


def make_facts(
    encoder: Encoder, searches: Sequence[str], backend: Backend, source: Source, language: str
) -> dict[str, Any]:
    """Collect the facts about an index that is being built.

    encoder (Model[List[str], Floats2d]): The encoder of its vectors.
    searches (Sequence[str]): The searches that it supports.
    backend (Backend): Runs the searches.
    source (Source): The source of the ontology.
    language (str): The language of its texts.
    RETURNS (Dict[str, Any]): The facts, JSON.
    """
    return {
        "index_format": FORMAT_VERSION,
        "built_at": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        "versions": {
            "python": platform.python_version(),
            "spacy_connorm": __version__,
            **{package: installed_version(package) or "not installed" for package in _PACKAGES},
        },
        "encoder": {"fingerprint": fingerprint(encoder)},
        "backend": {"name": type(backend).__name__, **vars(backend), "dtype": backend.dtype},
        "searches": list(searches),
        "language": language,
        "ontology": asdict(source),
    }


def read_facts(folder: Path, manifest: Mapping[str, Any]) -> IndexFacts:
    """Read the facts about an index.

    folder (Path): The index.
    manifest (Mapping[str, Any]): Its manifest.
    RETURNS (IndexFacts): The facts.
    RAISES (ConnormError): CN401 for another format version, CN402 if the facts are missing.
    """
    found = manifest.get("index_format")
    if found != FORMAT_VERSION:
        raise Errors.CN401(path=folder, found=found, expected=FORMAT_VERSION)
    reason = "it does not name the searches, the encoder, the metric, the language and the endings"
    with Errors.CN402.instead_of(ValidationError, path=folder / MANIFEST, reason=reason):
        return IndexFacts.model_validate(manifest)
