"""What setup.cfg can't say: links that need the repository's address."""

import re
import runpy
from pathlib import Path

from setuptools import setup

ROOT = Path(__file__).parent
_LINK = re.compile(r"(\]\()(?!https?://|#)([^)]+\))")
_PICTURE = re.compile(r"(!\[[^]]*\]\()(?!https?://)([^)]+\))")


def describe(readme: str, uri: str) -> str:
    """RETURNS (str): README for an index, where only absolute links lead somewhere, and those of
    pictures to the file itself.
    """
    if not uri:
        return readme
    shown = _PICTURE.sub(rf"\g<1>{uri}/raw/main/\g<2>", readme)
    return _LINK.sub(rf"\g<1>{uri}/blob/main/\g<2>", shown)


def list_urls(uri: str) -> dict[str, str]:
    """RETURNS (Dict[str, str]): The project's addresses by what they are."""
    pages = {
        "Source": "",
        "Documentation": "/tree/main/docs",
        "Issues": "/issues",
        "Changelog": "/blob/main/CHANGELOG.md",
    }
    return {name: f"{uri}{path}" for name, path in pages.items()} if uri else {}


if __name__ == "__main__":
    about = runpy.run_path(str(ROOT / "spacy_connorm" / "about.py"))
    readme = (ROOT / "README.md").read_text(encoding="utf8")
    setup(
        long_description=describe(readme, about["__uri__"]),
        long_description_content_type="text/markdown",
        project_urls=list_urls(about["__uri__"]),
    )
