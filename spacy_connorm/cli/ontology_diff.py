"""`connorm ontology diff`: compare two releases of an ontology."""

from typing import Any

from wasabi import msg

from ..ontology import FORMATS
from ..workflows import MovedSynonyms, OntologyDiff, diff_ontologies
from .app import command, shorten_cell
from .options import options_of

_SHOWN = 5
_WIDTH = 50
_LABELS = {
    "added": "Concepts added",
    "retired": "Concepts retired",
    "renamed": "Concepts renamed",
    "moved": "Concepts with other parents",
    "other owner": "Names that changed owner",
    "name added": "Names added",
    "name lost": "Names lost",
}


@command("ontology diff")
@options_of(
    diff_ontologies,
    flags={
        "format": "-f",
        "synonyms": "-s",
        "moved": "-m",
        "json_path": "--json",
        "tsv_path": "--tsv",
    },
    help={"format": f"Of both, one of: {', '.join(FORMATS)}. [detected]"},
)
def ontology_diff_cli(**given: Any) -> None:
    """Compare two releases of an ontology: concepts that were added, retired (and by what they are
    replaced), renamed and moved, names that changed owner, were added or lost. Your synonyms, or
    the corrections of `connorm serve`, move to the new ids where NEW has them; the others are
    listed. Give the OBO files themselves: they say what replaces obsolete terms.

    Example: python -m spacy connorm ontology diff old.obo new.obo -s synonyms.tsv -m moved.tsv
    """
    diff = diff_ontologies(**given)
    _show(diff)
    if diff.synonyms is not None:
        _show_synonyms(diff.synonyms)
    for path in filter(None, map(given.get, ("moved", "json_path", "tsv_path"))):
        msg.good(f"Wrote {path}")


def _show(diff: OntologyDiff) -> None:
    old, new = diff.concepts
    counts = [("Concepts", f"{old:,} before, {new:,} now")]
    counts += [(_LABELS[kind], f"{count:,}") for kind, count in diff.counts.items()]
    msg.table(counts, aligns=("l", "r"))
    for kind, count in diff.counts.items():
        if count:
            msg.divider(f"{_LABELS[kind]}, {min(count, _SHOWN)} of {count:,}")
            some = [each for each in diff.changes if each.kind == kind][:_SHOWN]
            rows = [
                (
                    each.concept_id,
                    shorten_cell(each.name, _WIDTH),
                    shorten_cell(", ".join(each.before), _WIDTH),
                    shorten_cell(", ".join(each.after), _WIDTH),
                    each.reason,
                )
                for each in some
            ]
            header = ("Concept", "Name", "Before", "Now", "")
            msg.table(rows, header=header, divider=True, max_col=_WIDTH)


def _show_synonyms(synonyms: MovedSynonyms) -> None:
    rows = [
        (shorten_cell(each.text, _WIDTH), each.concept_id, each.reason, ", ".join(each.proposed))
        for each in synonyms.left
    ]
    if rows:
        msg.warn(f"{len(rows):,} synonyms were left: NEW does not have their concept")
        header = ("Text", "Concept", "Why", "May fit")
        msg.table(rows[: 4 * _SHOWN], header=header, divider=True, max_col=_WIDTH)
    msg.info(f"{synonyms.kept:,} synonyms keep their id, {synonyms.moved:,} have another")
