"""`connorm substitutions`: learn which words mean the same from the names of ontologies."""

from pathlib import Path
from typing import Any

from wasabi import msg

from ..concepts.ontology import licence_path
from ..ontology import LearnedSubstitutions, learn_substitutions
from .app import command
from .options import options_of

_SHOWN = 10


@command("substitutions")
@options_of(learn_substitutions)
def substitutions_cli(**given: Any) -> None:
    """Learn which words names of the same concept use in place of each other ("renal", "kidney"),
    and write them as a table for `connorm index --substitutions` and for training. The more
    ontologies, the better.

    Example: python -m spacy connorm substitutions mesh.jsonl doid.jsonl substitutions.tsv
    """
    _show(learn_substitutions(**given), given["output_path"])


def _show(learned: LearnedSubstitutions, output_path: Path) -> None:
    msg.table(
        [
            (" ".join(each.words), " ".join(each.others), f"{each.same:,}", f"{each.different:,}")
            for each in learned.substitutions[:_SHOWN]
        ],
        header=("Words", "Others", "Same concept", "Different"),
        aligns=("l", "l", "r", "r"),
    )
    if learned.licence:
        msg.info(f"Terms of use: {licence_path(output_path)}")
    msg.info(f"Read {learned.concepts:,} concepts with {learned.names:,} names")
    if not learned.substitutions:
        msg.warn(
            "No words are used in place of each other often enough. Give more ontologies, or a "
            "lower `--min-same` or `--min-certainty`."
        )
    msg.good(f"Wrote {len(learned.substitutions):,} substitutions: {output_path}")
