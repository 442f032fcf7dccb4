"""What must be so before a tag is released: `python .ci/check_release.py v0.1.0`."""

import re
import runpy
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent


def main(tag: str, root: Path = ROOT) -> int:
    """Print what is missing.

    RETURNS (int): The exit code: 1 if something is missing.
    """
    about = runpy.run_path(str(root / "spacy_connorm" / "about.py"))
    changes = (root / "CHANGELOG.md").read_text(encoding="utf8")
    missing = list(find_missing(tag, about["__version__"], about["__uri__"], changes))
    sys.stderr.writelines(f"{line}\n" for line in missing)
    return 1 if missing else 0


def find_missing(tag: str, version: str, uri: str, changes: str):
    """YIELDS (str): What is missing, and the mend."""
    if tag != f"v{version}":
        yield f"The tag is {tag}, but `__version__` in spacy_connorm/about.py is {version}."
    if not re.fullmatch(r"https://\S+[^/\s]", uri):
        yield "`__uri__` in spacy_connorm/about.py has no address: fill in that of the repository."
    heading = re.search(rf"^## {re.escape(version)}(.*)$", changes, re.M)
    if heading is None:
        yield f"CHANGELOG.md has no section `## {version}`."
    elif "unreleased" in heading[1]:
        yield f"CHANGELOG.md calls {version} unreleased: write its date."


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
