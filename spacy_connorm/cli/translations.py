"""What commands that read translations of an ontology have in common."""

from collections.abc import Iterator

from ..ontology import ReadReport

# Options with several values, and what these look like: other arguments may follow them.
SEVERAL = {"translations": r".+\.(tsv|csv|txt)(\.gz)?", "language": r"[a-z]{2,3}"}


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
