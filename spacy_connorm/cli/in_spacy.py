"""Adds `connorm` to the commands of spaCy: `python -m spacy connorm`."""

from spacy.cli._util import app as spacy_app

from .app import app

spacy_app.add_typer(app, name="connorm")
