"""`connorm ontology`: convert an ontology of any format to knowledge-base JSONL."""

from pathlib import Path
from typing import Any

import typer
from wasabi import msg

from ..files.licence import licence_path
from ..ontology import FORMATS, Conversion, Finding, convert_ontology
from .app import command, shorten_cell, split_items

_TABLES = "Tables (tsv)"
_OBO = "OBO (and JSONL made from it)"
_ICD = "ICD-10-CM"
_UMLS = "UMLS releases (rrf)"
_TWO_FILES = "Formats of more than one file (mesh, icd10cm)"
_WIDTH = 60


def _column(name: str, help: str) -> Any:
    return typer.Option(None, f"--{name}", help=help, metavar="COLUMN", rich_help_panel=_TABLES)


def _list(name: str, help: str, panel: str) -> Any:
    return typer.Option(None, f"--{name}", help=help, metavar="A,B,...", rich_help_panel=panel)


@command("ontology")
def ontology_cli(
    input_path: Path = typer.Argument(..., metavar="IN", help="The ontology; may be gzipped."),
    output_path: Path = typer.Argument(..., metavar="OUT", help="A .jsonl or .jsonl.gz file."),
    format: str | None = typer.Option(
        None, "--format", "-f", help=f"One of: {', '.join(FORMATS)}. [detected from the file]"
    ),
    licence: str = typer.Option(
        "", "--licence", "-l", help="Terms of use, kept beside OUT. [those that IN states]"
    ),
    curies: bool = typer.Option(
        False, "--curies", help="Write ids with the prefix of their vocabulary: MESH:D003920."
    ),
    id: str | None = _column("id", "The id; columns go by name or by number from 1. ['id']"),
    name: str | None = _column("name", "The preferred name. ['name']"),
    synonyms: str | None = _column("synonyms", "The synonyms."),
    types: str | None = typer.Option(
        None, "--types", help="Semantic types: a table's COLUMN; in OBO 'namespace' or 'subset'."
    ),
    definition: str | None = _column("definition", "The definition."),
    parents: str | None = _column("parents", "The parents."),
    alt_ids: str | None = _column("alt-ids", "The alternate ids."),
    xrefs: str | None = _column("xrefs", "Ids in other vocabularies, such as MESH:D003920."),
    prefix: str | None = typer.Option(
        None, "--prefix", help="Vocabulary of the ids, as SNOMEDCT.", rich_help_panel=_TABLES
    ),
    header: bool | None = typer.Option(
        None, "--header/--no-header", help="Whether row 1 is a header.", rich_help_panel=_TABLES
    ),
    separator: str | None = typer.Option(
        None, "--separator", help="Between items of a field. ['|']", rich_help_panel=_TABLES
    ),
    delimiter: str | None = typer.Option(
        None,
        "--delimiter",
        help="Between fields. [tab; in .csv comma, semicolon or tab]",
        rich_help_panel=_TABLES,
    ),
    parents_by_name: bool | None = typer.Option(
        None, "--parents-by-name", help="Parents are names, not ids.", rich_help_panel=_TABLES
    ),
    scopes: str | None = _list("scopes", "Of synonyms: EXACT,NARROW,BROAD,RELATED. [all]", _OBO),
    obsolete: bool | None = typer.Option(
        None, "--obsolete", help="Take obsolete terms too.", rich_help_panel=_OBO
    ),
    languages: str | None = _list("languages", "Best first; '' takes all. [ENG]", _UMLS),
    sources: str | None = _list("sources", "Keep only these, e.g. MSH,RXNORM.", _UMLS),
    semantic_types: str | None = _list("semantic-types", "Keep only these TUIs.", _UMLS),
    suppressed: bool | None = typer.Option(
        None, "--suppressed", help="Take suppressed rows too.", rich_help_panel=_UMLS
    ),
    hierarchy: bool | None = typer.Option(
        None, "--hierarchy/--no-hierarchy", help="Read parents.", rich_help_panel=_UMLS
    ),
    tradenames: bool | None = typer.Option(
        None, "--tradenames", help="Give drugs their trade names.", rich_help_panel=_UMLS
    ),
    tree: Path | None = typer.Option(
        None, "--tree", help="MeSH tree numbers.", rich_help_panel=_TWO_FILES
    ),
    supplementary: Path | None = typer.Option(
        None, "--supplementary", help="MeSH supplementary concepts.", rich_help_panel=_TWO_FILES
    ),
    tabular: Path | None = typer.Option(
        None, "--tabular", help="ICD-10-CM tabular list.", rich_help_panel=_TWO_FILES
    ),
    implied_names: bool | None = typer.Option(
        None,
        "--implied-names/--no-implied-names",
        help="Take notes of what codes include and names without the words in brackets. [take]",
        rich_help_panel=_ICD,
    ),
) -> None:
    """Convert an ontology to the format that every other command reads, and show what it holds,
    what is doubtful and what was left out.

    Example: python -m spacy connorm ontology doid.obo.gz doid.jsonl --scopes EXACT,NARROW
    """
    options: dict[str, Any] = {
        "curies": curies or None,
        "id": id,
        "name": name,
        "synonyms": synonyms,
        "types": types,
        "definition": definition,
        "parents": parents,
        "alt_ids": alt_ids,
        "xrefs": xrefs,
        "prefix": prefix,
        "header": header,
        "separator": separator,
        "delimiter": delimiter,
        "parents_by_name": parents_by_name,
        "scopes": _split(scopes),
        "obsolete": obsolete,
        "languages": _split(languages),
        "sources": _split(sources),
        "semantic_types": _split(semantic_types),
        "suppressed": suppressed,
        "hierarchy": hierarchy,
        "tradenames": tradenames,
        "tree": tree,
        "supplementary": supplementary,
        "tabular": tabular,
        "implied_names": implied_names,
    }
    given = {name: value for name, value in options.items() if value is not None}
    conversion = convert_ontology(input_path, output_path, format=format, licence=licence, **given)
    _show(conversion, output_path)


def _split(items: str | None) -> tuple[str, ...] | None:
    return None if items is None else split_items(items)


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
