"""Command line: `connorm`, which is also registered with spaCy: `python -m spacy connorm`."""

from importlib import import_module

from spacy.cli._util import app as spacy_app

from .app import app

# Each module registers its commands; the help lists them in this order.
_MODULES = "index annotate search serve map evaluate ontology corpus train check"
for _name in _MODULES.split():
    import_module(f".{_name}", __name__)

spacy_app.add_typer(app, name="connorm")

__all__ = ["app"]
