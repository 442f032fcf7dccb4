"""`connorm ontology`, `ontology diff`, `join` and `substitutions`: commands for ontologies."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from wasabi import msg

from ..concepts.ontology import licence_path
from ..ontology import (
    FORMATS,
    Finding,
    ReadReport,
    Translations,
    convert_ontology,
    join_ontologies,
    learn_substitutions,
)
from ..ontology.formats import find_reader
from ..workflows import MovedSynonyms, OntologyDiff, diff_ontologies
from .app import command, show_table, tally
from .options import options_of

# Options with several values, and what these look like: other arguments may follow them. Three
# letters are more often a name of OUT than a further language, which a comma can add, too.
SEVERAL = {"translations": r".+\.(tsv|csv|txt)(\.gz)?", "language": r"[a-z]{2}"}


def language_rows(report: ReadReport | None) -> Iterator[tuple[str, str]]:
    """Show how many names an ontology has in each language, and what was left out.

    report (Optional[ReadReport]): Filled by its reader.
    YIELDS (Tuple[str, str]): The rows of a table; none for an ontology without languages.
    """
    if report is not None and report.languages:
        for code, count in report.languages.items():
            yield f"Names in {code}", f"{count:,}"
        for reason, kind in report.left_out.items():
            yield f"Left out: {reason}", f"{kind.count:,}"


_SHOWN = 5
_CELL = 50


@command("ontology", several=SEVERAL)
@options_of(
    convert_ontology,
    Translations,
    repeated=("translations",),
    formats={name: find_reader(name) for name in FORMATS},
    flags={"format": "-f", "licence": "-l"},
    help={"format": f"One of: {', '.join(FORMATS)}. [detected from the file]"},
)
def ontology_cli(**given: Any) -> None:
    """Convert an ontology to JSONL, and show what it contains.

    It also shows what is doubtful and what was left out. All other commands read the JSONL, and
    most of them every format.

    Example: connorm ontology doid.obo.gz doid.jsonl --scopes EXACT,NARROW

    Example: connorm ontology hp.obo hp_fr.jsonl --translations hp-fr.babelon.tsv --language fr
    """
    summary, report, licence = convert_ontology(**given)
    per_concept = f"{summary.names / summary.concepts:.1f} a concept"
    rows = [
        ("Concepts", summary.concepts, ""),
        ("Names", summary.names, per_concept),
        ("Ids, alternate ones included", summary.ids, ""),
        ("Links to parents", summary.parents, ""),
        _row("Names of several concepts", summary.shared_names),
        _row("Repeated ids", summary.repeated_ids),
        _row("Parents that are missing", summary.missing_parents),
        _row("Concepts in a circle of parents", summary.circular),
        ("Rows merged by id", report.merged, ""),
        ("Lines that can't be read, skipped", report.odd.skipped, ""),
        *((f"Synonyms of scope {scope}", count, "") for scope, count in report.scopes.items()),
        *((f"Names in {code}", count, "") for code, count in report.languages.items()),
        *((f"Left out: {r}", k.count, f"first: {k.first}") for r, k in report.left_out.items()),
    ]
    cells = [(label, f"{count:,}", note) for label, count, note in rows]
    show_table(cells, aligns="lrl", width=80)
    _tell(given["output_path"], tally(concepts=summary.concepts), licence)


def _tell(path: Path, written: str, licence: str) -> None:
    if licence:
        msg.info(f"Terms of use: {licence_path(path)}")
    msg.good(f"Wrote {path} ({written})")


def _row(label: str, finding: Finding) -> tuple[str, int, str]:
    return label, finding.count, f"first: {finding.first}" if finding.count else ""


_LABELS = {
    "added": "Concepts added",
    "retired": "Concepts retired",
    "renamed": "Concepts renamed",
    "moved": "Concepts with other parents",
    "other owner": "Names that moved to another concept",
    "name added": "Names added",
    "name lost": "Names lost",
}


@command("ontology diff")
@options_of(
    diff_ontologies,
    flags={"format": "-f", "synonyms": "-s", "moved": "-m", "tsv_path": "--tsv"},
    help={"format": f"Of both, one of: {', '.join(FORMATS)}. [detected]"},
)
def ontology_diff_cli(**given: Any) -> None:
    """Compare two releases of an ontology.

    It lists concepts that were added, retired (and their replacements), renamed and moved, and
    names that moved to another concept, were added or lost. Your synonyms, or the corrections of
    `connorm serve`, get the new ids if NEW has them; the others are listed. Pass the OBO files
    themselves: they name the replacements of obsolete terms.

    Example: connorm ontology diff old.obo new.obo -s synonyms.tsv -m moved.tsv
    """
    diff = diff_ontologies(**given)
    _show_diff(diff)
    if diff.synonyms is not None:
        _show_synonyms(diff.synonyms)
    for path in filter(None, map(given.get, ("moved", "tsv_path"))):
        msg.good(f"Wrote {path}")


def _show_diff(diff: OntologyDiff) -> None:
    old, new = diff.concepts
    counts = [("Concepts", f"{old:,} before, {new:,} now")]
    counts += [(_LABELS[kind], f"{count:,}") for kind, count in diff.counts.items()]
    show_table(counts, aligns="lr")
    for kind, count in diff.counts.items():
        if count:
            msg.divider(f"{_LABELS[kind]}, {min(count, _SHOWN)} of {count:,}")
            some = [change for change in diff.changes if change.kind == kind][:_SHOWN]
            rows = [
                (concept_id, name, ", ".join(before), ", ".join(after), reason)
                for _, concept_id, name, before, after, reason in some
            ]
            show_table(rows, header=("Concept", "Name", "Before", "Now", ""), width=_CELL)


def _show_synonyms(synonyms: MovedSynonyms) -> None:
    rows = [
        (synonym.text, synonym.concept_id, synonym.reason, ", ".join(synonym.proposed))
        for synonym in synonyms.left
    ]
    if rows:
        msg.warn(f"Left out, since NEW does not have their concept: {tally(synonyms=len(rows))}")
        header = ("Text", "Concept", "Why", "May fit")
        show_table(rows[: 4 * _SHOWN], header=header, width=_CELL)
    msg.info(f"Synonyms {tally(with_the_same_id=synonyms.kept, with_a_new_one=synonyms.moved)}")


@command("join")
@options_of(join_ontologies)
def join_cli(**given: Any) -> None:
    """Join ontologies into one by their cross-references.

    The new one is for an index or for training an encoder. The id and the preferred name of a
    joined concept are those in the first file.

    Example: connorm join mesh.jsonl doid.obo.gz uberon.obo.gz biomedical.jsonl
    """
    joined = join_ontologies(**given)
    ontology = joined.ontology
    rows = [
        ("Concepts", len(ontology)),
        ("Names", sum(len(concept.names) for concept in ontology)),
        ("Joined by the same id", joined.same_id),
        ("... by a cross-reference and a name", joined.same_name),
        ("... by the only cross-reference", joined.only_xref),
        ("... by the same preferred name", joined.same_preferred_name),
    ]
    show_table([(label, f"{count:,}") for label, count in rows], aligns="lr")
    _tell(given["output_path"], tally(concepts=len(ontology)), ontology.source.licence)


@command("substitutions")
@options_of(learn_substitutions)
def substitutions_cli(**given: Any) -> None:
    """Learn from ontologies which words mean the same.

    They are used in place of each other in names of the same concept ("renal", "kidney"). The table
    is for `connorm index --substitutions`. The more ontologies, the better.

    Example: connorm substitutions mesh.jsonl doid.jsonl substitutions.tsv
    """
    learned = learn_substitutions(**given)
    rows = [
        (" ".join(words), " ".join(others), f"{same:,}", f"{different:,}")
        for words, others, same, different in learned.substitutions[: 2 * _SHOWN]
    ]
    show_table(rows, header=("Words", "Others", "Same concept", "Different"), aligns="llrr")
    msg.info(f"Read {tally(concepts=learned.concepts, names=learned.names)}")
    if not learned.substitutions:
        msg.warn("No words are used in place of each other often enough. Give more ontologies.")
    written = tally(substitutions=len(learned.substitutions))
    _tell(given["output_path"], written, learned.licence)
