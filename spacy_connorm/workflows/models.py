"""Build, score and pack the pipelines of a table: `connorm models`."""

import shutil
import subprocess
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple

from ..concepts import Ontology
from ..documents import read_corpus, write_docs
from ..documents.reading import blank_pipeline
from ..errors import Errors, require_choice
from ..evaluation import evaluate
from ..evaluation.report import Row, to_json
from ..files.atomic import TemporaryFolder, atomic_file, write_text
from ..files.folders import files_in, read_object
from ..linker.retriever import LEFT_OUT
from ..ontology import read_ontology
from ..pipeline.model_card import META_FILE, complete_card
from .indexing import build_index
from .model_notes import GIVEN, fractions, model_notes
from .model_table import ModelPackage, locate, read_model_table

_LOADS = 3
_LOAD = """
import sys, time, spacy
start = time.process_time()
spacy.load(sys.argv[1])
print(time.process_time() - start)
"""


class BuiltModel(NamedTuple):
    """A package of a pipeline.

    name (str): Its name, for `spacy.load`.
    wheel (Path): Its file.
    row (Dict[str, Any]): "ontology", "release", "concepts", "names", "wheel_mb", "installed_mb",
        "left_out_right": the percentage of names that were taken out of the index whose concept is
        found by its other names, None if it has too few; and "load_s": the processor seconds to
        load it, after `import spacy`.
    scores (Dict[str, Dict[str, Any]]): By corpus, from plain text, and "lenient@1" of the gold
        mentions; see `evaluate`. A corpus that is not in the data folder has none.
    """

    name: str
    wheel: Path
    row: Row
    scores: dict[str, Row]

    @property
    def rows(self) -> list[Row]:
        """A row for each corpus; one if there is none.

        RETURNS (List[Dict[str, Any]]): "model", `row`, "corpus" and the scores.
        """
        scored = [{"corpus": corpus, **row} for corpus, row in self.scores.items()]
        return [{"model": self.name, **self.row, **row} for row in scored or [{"corpus": None}]]


def build_models(
    table_path: str | Path,
    output_path: str | Path,
    *,
    data: str | Path = ".",
    names: Sequence[str] = (),
    json_path: str | Path | None = None,
    on_built: Callable[[BuiltModel], Any] | None = None,
) -> list[BuiltModel]:
    """Build, score and pack the pipelines of a table, each with a model card: `connorm models`.

    table_path (Union[str, Path]): The table, a TOML file. See `ModelTable`.
    output_path (Union[str, Path]): The folder of the wheels.
    data (Union[str, Path]): The folder of ontologies and corpora. Pipelines are not scored on
        corpora that are not there.
    names (Sequence[str]): The packages to build, such as en_connorm_hpo_sm; all if empty.
    json_path (Optional[Union[str, Path]]): Write sizes, seconds and scores as JSON.
    on_built (Optional[Callable[[BuiltModel], Any]]): Called with each package.
    RETURNS (List[BuiltModel]): The packages.
    RAISES (ConnormError): CN118 for an unknown name, CN740 if a wheel can't be built, and the
        errors of `read_model_table`, `read_ontology`, `build_index` and `evaluate`.
    """
    packages = list(read_model_table(table_path).packages())
    for name in names:
        require_choice("names", name, [package.name for package in packages])
    wanted = [package for package in packages if not names or package.name in names]
    built = list[BuiltModel]()
    for _, variants in groupby(wanted, key=lambda package: id(package.model)):
        for model in _build_variants(list(variants), Path(data), Path(output_path)):
            built.append(model)
            if on_built is not None:
                on_built(model)
    if json_path is not None:
        write_text(json_path, to_json([row for model in built for row in model.rows]))
    return built


def _build_variants(
    packages: Sequence[ModelPackage], data: Path, output_path: Path
) -> Iterator[BuiltModel]:
    """Build the packages for one ontology, which is read once, as its corpora are.

    YIELDS (BuiltModel): The packages.
    """
    work = TemporaryFolder()
    ontology = read_ontology(**packages[0].model.located(data))
    corpora = _convert(packages[0], data, work.path, ontology)
    for package in packages:
        folder = work.path / package.name
        options = {**package.variant.index, **package.model.index}
        built = build_index(ontology, folder, language=[package.lang], **options)
        scores = {corpus: _score(folder, path) for corpus, path in corpora.items()}
        row = {"version": package.version, **_facts(folder, built.manifest)}
        sources = package.sources(row["ontology"], ontology.source.licence)
        of_index = read_object(folder / META_FILE)["notes"]
        complete_card(
            folder,
            name=package.name.removeprefix(f"{package.lang}_"),
            version=package.version,
            notes=model_notes(package, row, scores, of_index, sources),
            performance={corpus: fractions(score) for corpus, score in scores.items()},
            sources=[source.model_dump() for source in sources],
        )
        wheel = _pack(folder, package, output_path)
        yield BuiltModel(package.name, wheel, {**row, "wheel_mb": _megabytes(wheel)}, scores)


def _convert(
    package: ModelPackage, data: Path, folder: Path, ontology: Ontology
) -> dict[str, Path]:
    """Convert the corpora that are in the data folder.

    RETURNS (Dict[str, Path]): `.spacy` files by corpus.
    """
    converted = {}
    for name, corpus in package.corpora.items():
        path = locate(data, corpus.path)
        if path.is_file():
            ids_of = ontology if corpus.other_ids else None
            nlp = blank_pipeline(package.lang)
            docs = read_corpus(path, nlp=nlp, types=corpus.types, ids_of=ids_of)
            converted[name] = folder / f"{name}.spacy"
            write_docs(docs, converted[name])
    return converted


def _score(folder: Path, corpus: Path) -> Row:
    """Score a pipeline from plain text, and on the gold mentions."""
    (row,), (given,) = (evaluate(folder, corpus, end_to_end=way).rows for way in (True, False))
    return {**row, GIVEN: given[GIVEN]}


def _facts(folder: Path, manifest: Mapping[str, Any]) -> Row:
    """Collect what the index says of a pipeline, and how long it takes to load."""
    left_out = manifest.get(LEFT_OUT)
    share = None if left_out is None else round(100 * left_out["right"] / left_out["names"], 1)
    return {
        "ontology": manifest["ontology"]["path"],
        "release": manifest["ontology"]["release"],
        "concepts": manifest["counts"]["concepts"],
        "names": manifest["counts"]["ontology_members"],
        "left_out_right": share,
        "installed_mb": sum(map(_megabytes, files_in(folder).values())),
        "load_s": min(_load_seconds(folder) for _ in range(_LOADS)),
    }


def _megabytes(path: Path) -> float:
    return path.stat().st_size / 1e6


def _load_seconds(folder: Path) -> float:
    command = [sys.executable, "-c", _LOAD, str(folder)]
    return float(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


def _pack(folder: Path, package: ModelPackage, output_path: Path) -> Path:
    """Make the wheel of a pipeline.

    RETURNS (Path): The wheel.
    RAISES (ConnormError): CN740 if it can't be built.
    """
    from spacy.cli.package import package as write_sources

    work = TemporaryFolder()
    with warnings.catch_warnings():
        # It leaves files open.
        warnings.simplefilter("ignore", ResourceWarning)
        write_sources(folder, work.path, create_sdist=False)
    options = ("--quiet", "--no-deps", "--no-build-isolation", "--wheel-dir", str(work.path))
    sources = work.path / f"{package.name}-{package.version}"
    command = [sys.executable, "-m", "pip", "wheel", *options, str(sources)]
    done = subprocess.run(command, capture_output=True, text=True)
    made = next(work.path.glob("*.whl"), None)
    if made is None:
        reason = " ".join(done.stderr.split()) or f"exit code {done.returncode}"
        raise Errors.CN740(name=package.name, reason=reason)
    wheel = output_path / made.name
    with atomic_file(wheel) as aside:
        shutil.copyfile(made, aside)
    return wheel
