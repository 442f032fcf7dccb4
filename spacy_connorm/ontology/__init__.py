"""Ontology readers, one file per format. No running pipeline imports this package."""

from .checks import Finding, Inventory, Summary, warn_about
from .formats import FORMATS
from .reading import create_ontology_reader, open_ontology, read_ontology, stream_ontology
from .report import ReadReport

__all__ = [
    "FORMATS",
    "Finding",
    "Inventory",
    "ReadReport",
    "Summary",
    "create_ontology_reader",
    "open_ontology",
    "read_ontology",
    "stream_ontology",
    "warn_about",
]
