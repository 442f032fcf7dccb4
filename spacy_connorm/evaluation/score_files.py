"""Score rows, tables and mistakes in files."""

import json
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

import srsly

from ..errors import ConnormError, Errors
from ..files.atomic import atomic_file
from ..files.text import read_lines
from .mistakes import mistakes_to_markdown
from .report import Row, to_json, to_tsv
from .sections import Section, protocol_of, sections_to_markdown

_NAMES = ("corpus", "pipeline", "search")
_NEEDED = (*_NAMES, "mentions", "lenient@1", "strict@1", "nil_mentions", "seen_mentions")


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
    text = "\n".join(line for _, line in read_lines(path))
    try:
        rows = json.loads(text)
    except ValueError as error:
        raise ConnormError(Errors.CN605.format(path=path, reason=error)) from error
    if not isinstance(rows, list) or not rows or not all(isinstance(row, dict) for row in rows):
        raise ConnormError(Errors.CN605.format(path=path, reason="no list of objects"))
    for row in rows:
        missing = [key for key in _NEEDED if key not in row]
        if missing:
            reason = f"a row without {', '.join(missing)}"
            raise ConnormError(Errors.CN605.format(path=path, reason=reason))
    return rows


def require_distinct(rows: Sequence[Row]) -> None:
    """Check that rows can stand in one table.

    rows (Sequence[Dict[str, Any]]): Rows with "corpus", "pipeline", "search" and "protocol".
    RAISES (ConnormError): CN602 for two rows of the same name, CN610 for two protocols.
    """
    protocols = list(dict.fromkeys(map(protocol_of, rows)))
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
    with atomic_file(path) as aside:
        aside.write_text(to_json(rows), encoding="utf8")


def write_markdown(sections: Sequence[Section], path: str | Path) -> None:
    """Write tables as Markdown.

    sections (Sequence[Section]): The tables.
    path (Union[str, Path]): The file.
    RAISES (ConnormError): CN105 or CN108 if it cannot be written.
    """
    with atomic_file(path) as aside:
        aside.write_text(sections_to_markdown(sections), encoding="utf8")


def write_mistakes(mistakes: Mapping[str, Sequence[Row]], path: str | Path) -> None:
    """Write wrong answers.

    mistakes (Mapping[str, Sequence[Dict[str, Any]]]): By pipeline, those of `scoring.score`.
    path (Union[str, Path]): A `.tsv`, `.jsonl` or `.md` file.
    RAISES (ConnormError): CN105 or CN108 if it cannot be written.
    """
    path, rows = Path(path), flat_mistakes(mistakes)
    with atomic_file(path) as aside:
        if path.suffix == ".jsonl":
            srsly.write_jsonl(aside, rows)
        else:
            to_text = to_tsv if path.suffix == ".tsv" else mistakes_to_markdown
            aside.write_text(to_text(rows), encoding="utf8")


def flat_mistakes(mistakes: Mapping[str, Sequence[Row]]) -> list[Row]:
    """RETURNS (List[Dict[str, Any]]): Wrong answers of all pipelines, which are named in each row.

    mistakes (Mapping[str, Sequence[Dict[str, Any]]]): By pipeline.
    """
    return [{"pipeline": label, **row} for label, listed in mistakes.items() for row in listed]
