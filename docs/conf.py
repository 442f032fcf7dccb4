"""Sphinx settings. `make docs` builds the pages into docs/_build, offline; warnings are errors."""

import sys
from pathlib import Path

from spacy_connorm.about import __version__

sys.path.insert(0, str(Path(__file__).parent / "_ext"))

project = "spacy_connorm"
author = "The spacy_connorm contributors"
copyright = author
release = version = __version__

extensions = ["myst_parser", "sphinx.ext.autodoc", "spacy_docstrings"]
exclude_patterns = ["_build", "_ext"]

# Links to headings, `page.md#heading`, as on GitHub.
myst_heading_anchors = 4

autodoc_default_options = {"members": True}
autodoc_member_order = "bysource"
autodoc_preserve_defaults = True
# The docstrings tell the types.
autodoc_typehints = "none"
autoclass_content = "both"

# Dashes, but no curly quotes.
smartquotes_action = "D"

html_theme = "furo"
html_title = f"spacy_connorm {version}"
html_copy_source = False
html_show_sourcelink = False
