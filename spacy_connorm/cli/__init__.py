"""Command line: one command a file, registered with spaCy's own application."""

from spacy.cli._util import app as spacy_app

from .app import app
from .corpus import corpus_cli
from .ontology import ontology_cli

spacy_app.add_typer(app, name="connorm")

__all__ = ["app", "corpus_cli", "ontology_cli"]
