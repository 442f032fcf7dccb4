"""Build, score and pack the pipelines of a table: `connorm models`."""

import shutil
import subprocess
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from ..about import __version__
from ..concepts import Ontology
from ..documents import read_corpus, write_docs
from ..documents.reading import blank_pipeline
from ..errors import ConnormError, Errors, require_choice
from ..evaluation import evaluate
from ..evaluation.report import Row, to_json, to_table
from ..files.atomic import TemporaryFolder, atomic_file, write_text
from ..files.folders import files_in, read_object
from ..linker.retriever import LEFT_OUT
from ..ontology import read_ontology
from ..pipeline.model_card import META_FILE, complete_card
from .indexing import build_index
from .model_table import (
    CorpusEntry,
    ModelEntry,
    ModelSource,
    ModelTable,
    Variant,
    locate,
    read_model_table,
)

_LOADS = 3
_LOAD = """
import sys, time, spacy
start = time.process_time()
spacy.load(sys.argv[1])
print(time.process_time() - start)
"""
_GIVEN = "lenient@1"
# What a card shows of an evaluation, by its headings.
_SHOWN = {
    "documents": "documents",
    "ids of documents: F1": "document_f1",
    "precision": "document_precision",
    "recall": "document_recall",
    "mentions": "mentions",
    "with unknown ids": "unknown_ids",
    "exact spans: F1": "mention_f1",
    "given mentions: first is right": _GIVEN,
}


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

    table_path (Union[str, Path]): The table, a TOML file; see `ModelTable`.
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
    table, folder = read_model_table(table_path), Path(data)
    known = [name for model in table.models for name, _ in table.names(model)]
    for name in names:
        require_choice("names", name, known)
    built = list[BuiltModel]()
    for prefix, model in table.models.items():
        wanted = [pair for pair in table.names(prefix) if not names or pair[0] in names]
        for package in _build_variants(table, model, wanted, folder, Path(output_path)):
            built.append(package)
            if on_built is not None:
                on_built(package)
    if json_path is not None:
        write_text(json_path, to_json([row for package in built for row in package.rows]))
    return built


def _build_variants(
    table: ModelTable,
    model: ModelEntry,
    wanted: Sequence[tuple[str, Variant]],
    data: Path,
    output_path: Path,
) -> Iterator[BuiltModel]:
    """YIELDS (BuiltModel): The packages for one ontology, which is read once."""
    if not wanted:
        return
    work, lang = TemporaryFolder(), wanted[0][0].partition("_")[0]
    ontology = read_ontology(**model.located(data))
    corpora = {name: table.corpora[name] for name in model.corpora}
    converted = _convert(corpora, data, work.path, ontology, lang)
    for name, variant in wanted:
        folder = work.path / name
        options = {**variant.index, **model.index}
        built = build_index(ontology, folder, language=[lang], **options)
        scores = {corpus: _score(folder, path) for corpus, path in converted.items()}
        row = {"version": table.version, **_facts(folder, built.manifest)}
        license = ontology.source.licence
        own = ModelSource(name=row["ontology"], license=license, url=model.homepage)
        sources = (own, *model.sources, *variant.sources)
        notes = [
            _usage(name, table.version, row),
            read_object(folder / META_FILE)["notes"],
            *_scored(name, scores, corpora, lang),
            "## What it is not for",
            _listed((*model.not_for, *variant.not_for)),
            "## What it holds of others",
            _listed(f"[{source.name}]({source.url}): {source.license}" for source in sources),
        ]
        complete_card(
            folder,
            name=name.removeprefix(f"{lang}_"),
            version=table.version,
            notes="\n\n".join(notes),
            performance={corpus: _fractions(score) for corpus, score in scores.items()},
            sources=[source.model_dump() for source in sources],
        )
        wheel = _pack(folder, name, table.version, output_path)
        yield BuiltModel(name, wheel, {**row, "wheel_mb": _megabytes(wheel)}, scores)


def _convert(
    corpora: Mapping[str, CorpusEntry], data: Path, folder: Path, ontology: Ontology, lang: str
) -> dict[str, Path]:
    """Convert the corpora that are in the data folder.

    RETURNS (Dict[str, Path]): `.spacy` files by corpus.
    """
    converted = {}
    for name, corpus in corpora.items():
        path = locate(data, corpus.path)
        if path.is_file():
            ids_of = ontology if corpus.other_ids else None
            nlp = blank_pipeline(lang)
            docs = read_corpus(path, nlp=nlp, types=corpus.types, ids_of=ids_of)
            converted[name] = folder / f"{name}.spacy"
            write_docs(docs, converted[name])
    return converted


def _score(folder: Path, corpus: Path) -> Row:
    """Score a pipeline from plain text, and on the gold mentions."""
    (row,), (given,) = (evaluate(folder, corpus, end_to_end=way).rows for way in (True, False))
    return {**row, _GIVEN: given[_GIVEN]}


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


def _fractions(score: Row) -> dict[str, float]:
    """Give scores as spaCy's `performance` has them: 0 to 1."""
    keys = _SHOWN.values()
    return {key: score[key] / 100 for key in keys if isinstance(score[key], float)}


def _usage(name: str, version: str, row: Row) -> str:
    return f"""```bash
pip install {name}-{version}-py3-none-any.whl
```

```python
import spacy

nlp = spacy.load("{name}")
```

Installed, it takes {row["installed_mb"]:.1f} MB. After `import spacy`, loading takes \
{row["load_s"]:.1f} s of a processor."""


def _listed(lines: Iterable[str]) -> str:
    return "\n".join(f"- {line}" for line in lines)


def _scored(
    name: str, scores: Mapping[str, Row], corpora: Mapping[str, CorpusEntry], lang: str
) -> Iterator[str]:
    """YIELDS (str): The paragraphs about scores."""
    yield "## Scores"
    if not corpora:
        yield "It was scored on no corpus."
        return
    if scores:
        rows = [
            {"corpus": corpus, **{heading: score[key] for heading, key in _SHOWN.items()}}
            for corpus, score in scores.items()
        ]
        yield (
            f"From plain text, in percent, with spacy-connorm {__version__}; in the last column, "
            "the share of gold mentions whose first concept is right (without `--end-to-end`):"
        )
        yield to_table(rows, markdown=True)
    lines = []
    for corpus, entry in corpora.items():
        before = "`connorm ontology ONTOLOGY ontology.jsonl`, " if entry.other_ids else ""
        given = f" --types {','.join(entry.types)}" if entry.types else ""
        given += " --ids-of ontology.jsonl" if entry.other_ids else ""
        given += f" --lang {lang}" if lang != "en" else ""
        there = "" if corpus in scores else " Not scored, since it was not there."
        lines.append(
            f"{corpus}: {entry.about}.{there} {before}`connorm corpus {Path(entry.path).name} "
            f"{corpus}.spacy{given}`, `connorm evaluate {name} {corpus}.spacy --end-to-end`"
        )
    yield _listed(lines)


def _pack(folder: Path, name: str, version: str, output_path: Path) -> Path:
    """Make the wheel of a pipeline.

    RETURNS (Path): The wheel.
    RAISES (ConnormError): CN740 if it can't be built.
    """
    from spacy.cli.package import package

    work = TemporaryFolder()
    with warnings.catch_warnings():
        # It leaves files open.
        warnings.simplefilter("ignore", ResourceWarning)
        package(folder, work.path, create_sdist=False)
    options = ("--quiet", "--no-deps", "--no-build-isolation", "--wheel-dir", str(work.path))
    command = [sys.executable, "-m", "pip", "wheel", *options, str(work.path / f"{name}-{version}")]
    done = subprocess.run(command, capture_output=True, text=True)
    made = next(work.path.glob("*.whl"), None)
    if made is None:
        reason = " ".join(done.stderr.split()) or f"exit code {done.returncode}"
        raise ConnormError(Errors.CN740.format(name=name, reason=reason))
    wheel = output_path / made.name
    with atomic_file(wheel) as aside:
        shutil.copyfile(made, aside)
    return wheel
