"""Command line: one command per file, registered with spaCy's own application."""

from spacy.cli._util import app as spacy_app

from .annotate import annotate_cli
from .app import app
from .check import check_cli
from .corpus import corpus_cli
from .corrections import corrections_cli
from .encoder import encoder_cli
from .evaluate import evaluate_cli
from .export import export_cli
from .index import index_cli
from .join import join_cli
from .map import map_cli
from .ontology import ontology_cli
from .ontology_diff import ontology_diff_cli
from .save import save_cli
from .search import search_cli
from .serve import serve_cli
from .substitutions import substitutions_cli
from .train import train_cli

spacy_app.add_typer(app, name="connorm")

__all__ = [
    "annotate_cli",
    "app",
    "check_cli",
    "corpus_cli",
    "corrections_cli",
    "encoder_cli",
    "evaluate_cli",
    "export_cli",
    "index_cli",
    "join_cli",
    "map_cli",
    "ontology_cli",
    "ontology_diff_cli",
    "save_cli",
    "search_cli",
    "serve_cli",
    "substitutions_cli",
    "train_cli",
]
