"""`connorm ontology`: convert an ontology of any format to knowledge-base JSONL."""

from pathlib import Path
from typing import Any

from wasabi import msg

from ..concepts.ontology import licence_path
from ..ontology import FORMATS, Conversion, Finding, convert_ontology
from ..ontology.formats import find_reader
from .app import command, shorten_cell
from .options import options_of

_WIDTH = 60


@command("ontology")
@options_of(
    convert_ontology,
    formats={name: find_reader(name) for name in FORMATS},
    flags={"format": "-f", "licence": "-l"},
    help={"format": f"One of: {', '.join(FORMATS)}. [detected from the file]"},
)
def ontology_cli(**given: Any) -> None:
    """Convert an ontology to the format that every other command reads, and show what it holds,
    what is doubtful and what was left out.

    Example: python -m spacy connorm ontology doid.obo.gz doid.jsonl --scopes EXACT,NARROW
    """
    _show(convert_ontology(**given), given["output_path"])


def _show(conversion: Conversion, output_path: Path) -> None:
    summary, report, licence = conversion
    per_concept = f"{summary.names / summary.concepts:.1f} a concept"
    rows = [
        ("Concepts", summary.concepts, ""),
        ("Names", summary.names, per_concept),
        ("Ids, alternate ones included", summary.ids, ""),
        ("Links to parents", summary.parents, ""),
        _row("Names of several concepts", summary.shared_names),
        _row("Repeated ids", summary.repeated_ids),
        _row("Parents that are not there", summary.missing_parents),
        _row("Concepts in a circle of parents", summary.circular),
        ("Rows merged by id", report.merged, ""),
        *((f"Synonyms of scope {each}", count, "") for each, count in report.scopes.items()),
        *((f"Left out: {r}", k.count, f"first: {k.first}") for r, k in report.left_out.items()),
    ]
    table = [(label, f"{count:,}", shorten_cell(note, _WIDTH)) for label, count, note in rows]
    msg.table(table, aligns=("l", "r", "l"), max_col=_WIDTH)
    if licence:
        msg.info(f"Terms of use: {licence_path(output_path)}")
    msg.good(f"Wrote {summary.concepts:,} concepts: {output_path}")


def _row(label: str, finding: Finding) -> tuple[str, int, str]:
    return label, finding.count, f"first: {finding.first}" if finding.count else ""
