"""The table of pipelines that `connorm models` builds, such as assets/models.toml."""

import re
import tomllib
from collections.abc import Iterator
from inspect import signature
from pathlib import Path
from typing import Any, NamedTuple

from pydantic import BaseModel, ConfigDict, ValidationError

from ..errors import Errors, refuse, require_choice
from ..files.text import existing_file, read_text
from .indexing import build_index

_OPTIONS = [*signature(build_index).parameters][2:]
_NAME = re.compile(r"[a-z]{2,3}_\w+")


def locate(data: Path, name: str) -> Path:
    """Find a file of the data folder, gzipped or not.

    data (Path): The folder.
    name (str): The file's name in the table.
    RETURNS (Path): The file, which may be missing.
    """
    plain = data / name.removesuffix(".gz")
    return plain if plain.exists() else data / name


class _Entry(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class ModelSource(_Entry):
    """What a package holds of others.

    name (str): Its name.
    license (str): Its terms of use.
    url (str): Where it is from.
    """

    name: str
    license: str
    url: str


class Variant(_Entry):
    """What a pipeline is built with, besides its ontology.

    index (Dict[str, Any]): Options of `build_index`.
    not_for (Tuple[str, ...]): What it is not for.
    sources (Tuple[ModelSource, ...]): What the package holds besides the ontology, such as the
        weights of an encoder.
    """

    index: dict[str, Any] = {}
    not_for: tuple[str, ...] = ()
    sources: tuple[ModelSource, ...] = ()


class CorpusEntry(_Entry):
    """An annotated corpus that pipelines are scored on.

    path (str): Its file in the data folder.
    about (str): What it is, and whether the package was made with it in view.
    types (Tuple[str, ...]): The types of mentions to score; all if empty.
    other_ids (bool): Whether the ontology only refers to the ids of the corpus.
    """

    path: str
    about: str
    types: tuple[str, ...] = ()
    other_ids: bool = False


class ModelEntry(Variant):
    """An ontology for which a pipeline is built in each variant.

    ontology (str): Its file in the data folder.
    licence (str): Its terms of use; those stated in the file if empty.
    homepage (str): Where it is from.
    files (Dict[str, Union[str, List[str]]]): Options of its reader that are files in the data
        folder, such as "tree" or "translations".
    read (Dict[str, Any]): Other options of its reader.
    corpora (Tuple[str, ...]): What the pipelines are scored on.
    """

    ontology: str
    licence: str = ""
    homepage: str = ""
    files: dict[str, str | list[str]] = {}
    read: dict[str, Any] = {}
    corpora: tuple[str, ...] = ()

    def located(self, data: Path) -> dict[str, Any]:
        """Get what `read_ontology` is called with.

        data (Path): The data folder.
        RETURNS (Dict[str, Any]): Its arguments.
        """
        files = {
            option: locate(data, named)
            if isinstance(named, str)
            else [locate(data, name) for name in named]
            for option, named in self.files.items()
        }
        path = locate(data, self.ontology)
        return {"path": path, "licence": self.licence, **self.read, **files}


class ModelTable(_Entry):
    """Pipelines to build, to score and to pack.

    version (str): The version of the packages.
    variants (Dict[str, Variant]): By the end of the package's name.
    corpora (Dict[str, CorpusEntry]): By name.
    models (Dict[str, ModelEntry]): By the beginning of the package's name, which begins with the
        language of the texts: "en_connorm_hpo".
    """

    version: str
    variants: dict[str, Variant]
    models: dict[str, ModelEntry]
    corpora: dict[str, CorpusEntry] = {}

    def packages(self) -> Iterator["ModelPackage"]:
        """List the packages, those of a model one after another.

        YIELDS (ModelPackage): The packages.
        """
        for prefix, model in self.models.items():
            corpora = {name: self.corpora[name] for name in model.corpora}
            for end, variant in self.variants.items():
                yield ModelPackage(f"{prefix}{end}", self.version, model, variant, corpora)


class ModelPackage(NamedTuple):
    """A package to build.

    name (str): Its name.
    version (str): Its version.
    model (ModelEntry): The ontology.
    variant (Variant): What it is built with.
    corpora (Dict[str, CorpusEntry]): What it is scored on.
    """

    name: str
    version: str
    model: ModelEntry
    variant: Variant
    corpora: dict[str, CorpusEntry]

    @property
    def lang(self) -> str:
        """The language of its texts.

        RETURNS (str): "en".
        """
        return self.name.partition("_")[0]

    @property
    def not_for(self) -> tuple[str, ...]:
        """What it is not for.

        RETURNS (Tuple[str, ...]): Lines of its card.
        """
        return *self.model.not_for, *self.variant.not_for

    def sources(self, ontology: str, licence: str) -> list[ModelSource]:
        """List what it holds of others.

        ontology (str): The name of the ontology's file.
        licence (str): Its terms of use.
        RETURNS (List[ModelSource]): The ontology first.
        """
        of_ontology = ModelSource(name=ontology, license=licence, url=self.model.homepage)
        return [of_ontology, *self.model.sources, *self.variant.sources]


def read_model_table(path: str | Path) -> ModelTable:
    """Read a table of pipelines.

    path (Union[str, Path]): A TOML file.
    RETURNS (ModelTable): The table.
    RAISES (ConnormError): CN100 for a missing file, CN711 if it isn't such a table, CN006 for a
        name that does not begin with a language, CN118 for an unknown corpus or option.
    """
    try:
        table = ModelTable(**tomllib.loads(read_text(existing_file(path))))
    except ValidationError as error:
        first = error.errors()[0]
        reason = f"{path}: {'.'.join(map(str, first['loc']))}: {first['msg']}"
        raise Errors.CN711(reason=reason) from error
    except tomllib.TOMLDecodeError as error:
        raise Errors.CN711(reason=f"{path}: {error}") from error
    entries = {**table.variants, **table.models}
    for name, entry in entries.items():
        for option in entry.index:
            require_choice(f"{name}.index", option, _OPTIONS)
    for name, model in table.models.items():
        if not _NAME.fullmatch(name):
            refuse("models", name, "a language and a name, such as en_connorm_hpo")
        for corpus in model.corpora:
            require_choice(f"{name}.corpora", corpus, table.corpora)
    return table
