"""`connorm substitutions`: learn which words mean the same from the names of ontologies."""

from pathlib import Path

import typer
from wasabi import msg

from ..files.licence import licence_path
from ..ontology import LearnedSubstitutions, learn_substitutions
from .app import command

_SHOWN = 10


@command("substitutions")
def substitutions_cli(
    input_paths: list[Path] = typer.Argument(..., metavar="IN...", help="In any format."),
    output_path: Path = typer.Argument(..., metavar="OUT", help="A tab-separated table."),
    min_same: int = typer.Option(
        2, "--min-same", help="Leave out what fewer pairs of names of one concept show."
    ),
    min_certainty: float = typer.Option(
        0.3, "--min-certainty", help="Leave out what is less certain, 0 to 1."
    ),
) -> None:
    """Learn which words names of the same concept use in place of each other ("renal", "kidney"),
    and write them as a table for `connorm index --substitutions` and for training. The more
    ontologies, the better.

    Example: python -m spacy connorm substitutions mesh.jsonl doid.jsonl substitutions.tsv
    """
    learned = learn_substitutions(
        input_paths, output_path, min_same=min_same, min_certainty=min_certainty
    )
    _show(learned, output_path)


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
