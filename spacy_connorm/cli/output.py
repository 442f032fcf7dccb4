"""Scores and wrong answers on the terminal and in files."""

import json
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

import srsly
from wasabi import msg

from ..errors import ConnormError, Errors
from ..evaluation.mistakes import count_kinds, largest_kinds, mistakes_to_markdown
from ..evaluation.report import Row, to_json, to_table, to_tsv
from ..evaluation.sections import Section, protocol_of, sections_to_markdown
from ..files.atomic import atomic_file
from ..files.text import read_lines

_NAMES = ("corpus", "pipeline", "search")
_NEEDED = (*_NAMES, "mentions", "lenient@1", "strict@1", "nil_mentions", "seen_mentions")


def check_suffix(path: Path | None, known: Collection[str]) -> None:
    """Refuse a file name before any work is done.

    path (Optional[Path]): The file to write, if any.
    known (Collection[str]): The suffixes that it may have.
    RAISES (ConnormError): CN708 for another.
    """
    if path is not None and path.suffix not in known:
        message = Errors.CN708.format(action="write", path=path, known=" or ".join(known))
        raise ConnormError(message)


def read_scores(path: Path) -> list[Row]:
    """Read score rows.

    path (Path): What `write_scores` wrote.
    RETURNS (List[Dict[str, Any]]): The rows.
    RAISES (ConnormError): CN605 if it holds something else, and what `read_lines` raises.
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


def check_distinct(rows: Sequence[Row]) -> list[Row]:
    """Refuse rows of which two have the same place in a table, or that do not belong into one.

    rows (Sequence[Dict[str, Any]]): Rows with "corpus", "pipeline" and "search".
    RETURNS (List[Dict[str, Any]]): The rows.
    RAISES (ConnormError): CN602 for the first that occurs twice, CN610 for rows of two protocols.
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
    return list(rows)


def show_sections(sections: Sequence[Section]) -> None:
    """Print tables.

    sections (Sequence[Section]): The tables.
    """
    for title, rows in sections:
        msg.divider(title)
        print(to_table(rows))


def write_scores(rows: Sequence[Row], path: Path) -> None:
    """Write score rows as a JSON list of flat objects.

    rows (Sequence[Dict[str, Any]]): The rows.
    path (Path): The file.
    RAISES (ConnormError): CN105 or CN108 if it cannot be written.
    """
    with atomic_file(path) as aside:
        aside.write_text(to_json(rows), encoding="utf8")


def write_markdown(sections: Sequence[Section], path: Path) -> None:
    """Write tables as Markdown.

    sections (Sequence[Section]): The tables.
    path (Path): The file.
    RAISES (ConnormError): CN105 or CN108 if it cannot be written.
    """
    with atomic_file(path) as aside:
        aside.write_text(sections_to_markdown(sections), encoding="utf8")


def write_mistakes(mistakes: Mapping[str, Sequence[Row]], path: Path) -> None:
    """List wrong answers in a file; on the terminal count their kinds and show the largest.

    mistakes (Mapping[str, Sequence[Dict[str, Any]]]): By pipeline, those of `scoring.score`.
    path (Path): A `.tsv`, `.jsonl` or `.md` file.
    RAISES (ConnormError): CN105 or CN108 if it cannot be written.
    """
    rows = [{"pipeline": label, **row} for label, listed in mistakes.items() for row in listed]
    with atomic_file(path) as aside:
        if path.suffix == ".jsonl":
            srsly.write_jsonl(aside, rows)
        else:
            write = to_tsv if path.suffix == ".tsv" else mistakes_to_markdown
            aside.write_text(write(rows), encoding="utf8")
    if rows:
        msg.divider("Wrong answers by kind")
        print(to_table(count_kinds(rows)))
        msg.divider("The largest kinds, with examples")
        print(to_table(largest_kinds(rows)))
    msg.good(f"Listed wrong answers: {path}")
