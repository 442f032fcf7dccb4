"""`connorm join`: join ontologies by their cross-references."""

from pathlib import Path
from typing import Any

from wasabi import msg

from ..concepts.ontology import licence_path
from ..ontology import Joined, join_ontologies
from .app import command
from .options import options_of


@command("join")
@options_of(join_ontologies)
def join_cli(**given: Any) -> None:
    """Join ontologies by their cross-references into one, to train an encoder on. Of each joined
    concept the first file gives the id and the preferred name.

    Example: python -m spacy connorm join mesh.jsonl doid.obo.gz uberon.obo.gz biomedical.jsonl
    """
    _show(join_ontologies(**given), given["output_path"])


def _show(joined: Joined, output_path: Path) -> None:
    ontology = joined.ontology
    rows = [
        ("Concepts", len(ontology)),
        ("Names", sum(len(concept.names) for concept in ontology)),
        ("Joined by the same id", joined.same_id),
        ("... by a cross-reference and a name", joined.same_name),
        ("... by the only cross-reference", joined.only_xref),
        ("... by the same preferred name", joined.same_preferred_name),
    ]
    msg.table([(label, f"{count:,}") for label, count in rows], aligns=("l", "r"))
    if ontology.source.licence:
        msg.info(f"Terms of use: {licence_path(output_path)}")
    msg.good(f"Wrote {len(ontology):,} concepts: {output_path}")
