"""Score rows, tables and mistakes in files."""

import json
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import srsly

from ..errors import ConnormError, Errors
from ..files.atomic import atomic_file, require_distinct_outputs
from ..files.text import read_lines
from .mistakes import mistakes_to_markdown
from .report import Row, Section, sections_to_markdown, to_json, to_tsv

PLAIN_LISTS = (".tsv", ".jsonl")
_LISTS = (*PLAIN_LISTS, ".md")
_PICTURES = (".svg", ".png")
_NAMES = ("corpus", "pipeline", "search")
_NEEDED = (
    *_NAMES,
    "protocol",
    "mentions",
    "lenient@1",
    "strict@1",
    "nil_mentions",
    "seen_mentions",
)


class EvaluationFiles(NamedTuple):
    """The files that an evaluation writes; None for those that are not wanted.

    json (Optional[Path]): The scores.
    markdown (Optional[Path]): The tables.
    errors (Optional[Path]): The wrong answers.
    picture (Optional[Path]): The picture of concept texts.
    calibrated (Optional[Path]): The folder of the calibrated pipeline.
    curves (Sequence[Path]): The curves of the calibration.
    """

    json: Path | None
    markdown: Path | None
    errors: Path | None
    picture: Path | None
    calibrated: Path | None
    curves: Sequence[Path]

    @property
    def paths(self) -> Sequence[Path | None]:
        """All of them."""
        return (*self[:-1], *self.curves)

    def check(self, *, plain_lists: bool) -> None:
        """Check before any work is done that they can be written.

        plain_lists (bool): Whether wrong answers have no form as Markdown.
        RAISES (ConnormError): CN124 if two have the same name, and those of `require_writable` and
            `require_outputs`.
        """
        require_distinct_outputs(*self.paths)
        require_writable(self.json)
        require_writable(self.markdown)
        require_writable(self.errors, PLAIN_LISTS if plain_lists else _LISTS)
        require_writable(self.picture, _PICTURES)
        if self.calibrated is not None:
            from .calibration import require_outputs

            require_outputs(self.calibrated, self.curves)


def require_writable(path: Path | None, suffixes: Collection[str] = ()) -> None:
    """Check the name of a file before any work is done.

    path (Optional[Path]): The file to write, if any.
    suffixes (Collection[str]): The suffixes that it may have; any if empty.
    RAISES (ConnormError): CN708 for another suffix, CN105 for a folder.
    """
    if path is None:
        return
    if suffixes and path.suffix not in suffixes:
        message = Errors.CN708.format(action="write", path=path, known=" or ".join(suffixes))
        raise ConnormError(message)
    if path.is_dir():
        raise ConnormError(Errors.CN105.format(path=path))


def read_scores(path: str | Path) -> list[Row]:
    """Read score rows.

    path (Union[str, Path]): What `write_scores` wrote.
    RETURNS (List[Dict[str, Any]]): The rows.
    RAISES (ConnormError): CN605 for any other file, and the errors of `read_lines`.
    """
    try:
        rows = json.loads("\n".join(line for _, line in read_lines(path)))
    except ValueError as error:
        raise ConnormError(Errors.CN605.format(path=path, reason=error)) from error
    reason = _why_no_scores(rows)
    if reason:
        raise ConnormError(Errors.CN605.format(path=path, reason=reason))
    return rows


def _why_no_scores(rows: object) -> str:
    if not isinstance(rows, list) or not rows or not all(isinstance(row, dict) for row in rows):
        return "no list of objects"
    missing = ([key for key in _NEEDED if key not in row] for row in rows)
    return next((f"a row without {', '.join(keys)}" for keys in missing if keys), "")


def require_distinct(rows: Sequence[Row]) -> None:
    """Check that rows can stand in one table.

    rows (Sequence[Dict[str, Any]]): Rows with "corpus", "pipeline", "search" and "protocol".
    RAISES (ConnormError): CN602 for two rows of the same name, CN610 for two protocols.
    """
    protocols = list(dict.fromkeys(row["protocol"] for row in rows))
    if len(protocols) > 1:
        raise ConnormError(Errors.CN610.format(one=protocols[0], other=protocols[1]))
    names = set()
    for row in rows:
        name = tuple(row[key] for key in _NAMES)
        if name in names:
            raise ConnormError(Errors.CN602.format(**{key: row[key] for key in _NAMES}))
        names.add(name)


def write_scores(rows: Sequence[Row], path: str | Path) -> None:
    """Write score rows as a JSON list of flat objects.

    rows (Sequence[Dict[str, Any]]): The rows.
    path (Union[str, Path]): The file.
    RAISES (ConnormError): CN105 or CN108 if it cannot be written.
    """
    _write(to_json(rows), path)


def write_markdown(sections: Sequence[Section], path: str | Path) -> None:
    """Write tables as Markdown.

    sections (Sequence[Section]): The tables.
    path (Union[str, Path]): The file.
    RAISES (ConnormError): CN105 or CN108 if it cannot be written.
    """
    _write(sections_to_markdown(sections), path)


def write_mistakes(mistakes: Mapping[str, Sequence[Row]], path: str | Path) -> None:
    """Write wrong answers.

    mistakes (Mapping[str, Sequence[Dict[str, Any]]]): By pipeline, those of `scoring.score`.
    path (Union[str, Path]): A `.tsv`, `.jsonl` or `.md` file.
    RAISES (ConnormError): CN105 or CN108 if it cannot be written.
    """
    rows, suffix = flat_mistakes(mistakes), Path(path).suffix
    if suffix == ".jsonl":
        _write("".join(srsly.json_dumps(row) + "\n" for row in rows), path)
    else:
        _write(to_tsv(rows) if suffix == ".tsv" else mistakes_to_markdown(rows), path)


def _write(text: str, path: str | Path) -> None:
    with atomic_file(path) as aside:
        aside.write_text(text, encoding="utf8")


def flat_mistakes(mistakes: Mapping[str, Sequence[Row]]) -> list[Row]:
    """Join the wrong answers of all pipelines.

    mistakes (Mapping[str, Sequence[Dict[str, Any]]]): By pipeline.
    RETURNS (List[Dict[str, Any]]): One row per wrong answer, which names its pipeline.
    """
    return [{"pipeline": label, **row} for label, listed in mistakes.items() for row in listed]
