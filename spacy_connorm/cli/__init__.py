"""Command line: `connorm`, which is also registered with spaCy: `python -m spacy connorm`."""

from .app import app

__all__ = ["app"]
