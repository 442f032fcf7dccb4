"""What the card of a package says besides the index: how to load it, how good it is, what it is not
for, and whose work it holds.
"""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from ..about import __version__
from ..evaluation.report import Row, to_table
from ..files.package_data import read_package_text
from .model_table import CorpusEntry, ModelPackage, ModelSource

GIVEN = "lenient@1"
# What a card shows of an evaluation, by its headings.
_SHOWN = {
    "documents": "documents",
    "ids of documents: F1": "document_f1",
    "precision": "document_precision",
    "recall": "document_recall",
    "mentions": "mentions",
    "with unknown ids": "unknown_ids",
    "exact spans: F1": "mention_f1",
    "given mentions: first is right": GIVEN,
}
_NOT_SCORED = " Not scored, since it was not there."


def model_notes(
    package: ModelPackage,
    row: Row,
    scores: Mapping[str, Row],
    of_index: str,
    sources: Iterable[ModelSource],
) -> str:
    """Write the card of a package.

    package (ModelPackage): The package.
    row (Dict[str, Any]): Its size and the seconds to load it, see `BuiltModel`.
    scores (Dict[str, Dict[str, Any]]): Its scores by corpus.
    of_index (str): What the card of its pipeline says.
    sources (Iterable[ModelSource]): What it holds of others.
    RETURNS (str): Markdown.
    """
    parts = [
        read_package_text(__package__, "model_usage.md").strip().format(name=package.name, **row),
        of_index,
        *_scored(package, scores),
        "## What it is not for",
        _listed(package.not_for),
        "## What it holds of others",
        _listed(f"[{source.name}]({source.url}): {source.license}" for source in sources),
    ]
    return "\n\n".join(parts)


def fractions(score: Row) -> dict[str, float]:
    """Give scores as spaCy's `performance` has them.

    score (Dict[str, Any]): Scores in percent.
    RETURNS (Dict[str, float]): 0 to 1.
    """
    keys = _SHOWN.values()
    return {key: score[key] / 100 for key in keys if isinstance(score[key], float)}


def _listed(lines: Iterable[str]) -> str:
    return "\n".join(f"- {line}" for line in lines)


def _scored(package: ModelPackage, scores: Mapping[str, Row]) -> Iterator[str]:
    """YIELDS (str): The paragraphs about scores."""
    yield "## Scores"
    if not package.corpora:
        yield "It was scored on no corpus."
    elif scores:
        yield (
            f"From plain text, in percent, with spacy-connorm {__version__}; in the last column, "
            "the share of gold mentions whose first concept is right (without `--end-to-end`):"
        )
        yield to_table([_shown(*scored) for scored in scores.items()], markdown=True)
    yield _listed(
        f"{name}: {corpus.about}.{'' if name in scores else _NOT_SCORED} "
        f"{_commands(package, name, corpus)}"
        for name, corpus in package.corpora.items()
    )


def _shown(corpus: str, score: Row) -> Row:
    return {"corpus": corpus, **{heading: score[key] for heading, key in _SHOWN.items()}}


def _commands(package: ModelPackage, name: str, corpus: CorpusEntry) -> str:
    """Tell the commands that give a score."""
    types = f" --types {','.join(corpus.types)}" if corpus.types else ""
    lang = f" --lang {package.lang}" if package.lang != "en" else ""
    ids = " --ids-of ontology.jsonl" if corpus.other_ids else ""
    commands = [
        f"connorm corpus {Path(corpus.path).name} {name}.spacy{types}{ids}{lang}",
        f"connorm evaluate {package.name} {name}.spacy --end-to-end",
    ]
    if corpus.other_ids:
        ontology = Path(package.model.ontology).name
        commands.insert(0, f"connorm ontology {ontology} ontology.jsonl")
    return ", ".join(f"`{command}`" for command in commands)
