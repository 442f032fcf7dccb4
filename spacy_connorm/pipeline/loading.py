"""Load pipelines by the name of a package or a folder, and find their concept normalizer."""

from collections.abc import Collection
from pathlib import Path

import spacy
from spacy.language import Language
from thinc.api import ConfigValidationError

from ..errors import Errors
from ..files.configs import list_reasons
from .concept_normalizer import ConceptNormalizer


def load_pipeline(pipeline: str | Path | Language) -> Language:
    """Load a pipeline.

    pipeline (Union[str, Path, Language]): An installed package, or a folder such as `build_index`
        writes. A loaded pipeline is returned as it is.
    RETURNS (Language): The pipeline.
    RAISES (ConnormError): CN700 if there is no pipeline of this name, CN702 if it has settings that
        do not exist, CN701 if it cannot be loaded, and the errors of its concept normalizers.
    """
    if isinstance(pipeline, Language):
        return pipeline
    name = str(pipeline)
    find_pipeline_folder(name)
    with (
        Errors.CN701.instead_of(OSError, ValueError, ImportError, name=name),
        Errors.CN702.instead_of(ConfigValidationError, tell=list_reasons, name=name),
    ):
        return spacy.load(name)


def find_pipeline_folder(name: str) -> Path:
    """Find the files of a pipeline.

    name (str): An installed package, or a folder.
    RETURNS (Path): The folder with its config.
    RAISES (ConnormError): CN700 if there is no pipeline of this name.
    """
    if spacy.util.is_package(name):
        package = spacy.util.get_package_path(name)
        return next((config.parent for config in package.glob("*/config.cfg")), package)
    if not Path(name).is_dir():
        what = "neither a folder nor an installed package"
        if Path(name).is_file():
            what = "a file, not the folder of one"
        raise Errors.CN700(name=name, what=what)
    return Path(name)


def find_normalizer(nlp: Language, *, component: str | None = None) -> ConceptNormalizer:
    """Find the concept normalizer of a pipeline.

    nlp (Language): The pipeline.
    component (Optional[str]): The component's name; needed if there are several.
    RETURNS (ConceptNormalizer): The component.
    RAISES (ConnormError): CN704 if there is none, CN703 if there are several and none is named,
        CN704 if none has that name.
    """
    normalizers = {name: pipe for name, pipe in nlp.pipeline if isinstance(pipe, ConceptNormalizer)}
    if not normalizers:
        raise Errors.CN704(named="", known=", ".join(nlp.pipe_names) or "none")
    return normalizers[choose_name(normalizers, component)]


def component_name(nlp: Language, normalizer: ConceptNormalizer) -> str:
    """Find the current name of a concept normalizer in its pipeline, which may differ from
    `normalizer.name`.

    nlp (Language): The pipeline.
    normalizer (ConceptNormalizer): One of its components.
    RETURNS (str): The name.
    """
    (name,) = (name for name, pipe in nlp.pipeline if pipe is normalizer)
    return name


def choose_name(names: Collection[str], wanted: str | None) -> str:
    """Choose one of several concept normalizers.

    names (Collection[str]): Their names, at least one.
    wanted (Optional[str]): The one to choose; needed if there are several.
    RETURNS (str): Its name.
    RAISES (ConnormError): CN703 if there are several and none is wanted, CN704 if none has that
        name.
    """
    known = ", ".join(names)
    if wanted is None and len(names) > 1:
        raise Errors.CN703(known=known)
    name = next(iter(names)) if wanted is None else wanted
    if name not in names:
        raise Errors.CN704(named=f" '{name}'", known=known)
    return name


def load_normalizer(
    pipeline: str | Path | Language, *, component: str | None = None
) -> ConceptNormalizer:
    """Load the concept normalizer of a pipeline.

    pipeline (Union[str, Path, Language]): As for `load_pipeline`.
    component (Optional[str]): The component's name; needed if there are several.
    RETURNS (ConceptNormalizer): The component.
    RAISES (ConnormError): The errors of `load_pipeline` and `find_normalizer`.
    """
    return find_normalizer(load_pipeline(pipeline), component=component)
