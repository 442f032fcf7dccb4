"""Command line: `connorm`, which is also registered with spaCy: `python -m spacy connorm`."""

from .modules import ending_at_once

with ending_at_once():
    from .app import app

__all__ = ["app"]
