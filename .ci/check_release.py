"""What must be so before a tag is released: `python .ci/check_release.py v0.1.0`."""

import re
import runpy
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
# Where the installation is told.
PAGES = ("README.md", "docs/install.md")


def main(tag: str, root: Path = ROOT) -> int:
    """Print what is missing.

    RETURNS (int): The exit code: 1 if something is missing.
    """
    about = runpy.run_path(str(root / "spacy_connorm" / "about.py"))
    changes = (root / "CHANGELOG.md").read_text(encoding="utf8")
    pages = {name: (root / name).read_text(encoding="utf8") for name in PAGES}
    missing = [
        *find_missing(tag, about["__version__"], about["__uri__"], changes),
        *find_early_words(pages),
    ]
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


def find_early_words(pages: dict[str, str]):
    """YIELDS (str): Pages, by their names, that deny that there is a release."""
    for name, text in pages.items():
        if "not on PyPI yet" in text:
            yield f"{name} says that the package is not on PyPI yet: take that out."


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
