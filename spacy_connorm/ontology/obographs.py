"""OBO Graphs JSON (`hp.json`, `mondo.json`): OWL in another form."""

import json
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any

from ..concepts import Concept
from ..concepts.concept import ALL_SCOPES
from ..errors import unreadable
from ..files.text import read_text
from . import statements as owl
from .report import ReadReport
from .statements import Statement, read_statements


def read_obographs(
    path: str | Path,
    *,
    scopes: Collection[str] = ALL_SCOPES,
    types: str = "namespace",
    imports: bool = False,
    report: ReadReport | None = None,
) -> Iterator[Concept]:
    """Read the classes of an ontology in OBO Graphs JSON.

    path (Union[str, Path]): The file.
    scopes (Collection[str]): The synonyms to read, by their scope.
    types (str): What semantic types are, namespace or subset.
    imports (bool): Read the classes of other ontologies that an OBO ontology imports, too.
    report (Optional[ReadReport]): Filled with what was left out, and with the terms of use.
    YIELDS (Concept): The concepts, in the file's order.
    RAISES (ConnormError): CN115 for a file that is not OBO Graphs, CN118 for an unknown scope or
        type, and the errors of `read_text`.
    """
    try:
        graphs = json.loads(read_text(path))["graphs"]
        stated = [statement for graph in graphs for statement in _statements(graph)]
    except json.JSONDecodeError as error:
        raise unreadable(path, error.lineno, "JSON", error.msg) from None
    except (AttributeError, KeyError, TypeError):
        reason = "no graphs with nodes and edges"
        raise unreadable(path, 1, "OBO Graphs", reason) from None
    return read_statements(
        stated,
        scopes=scopes,
        types=types,
        languages=("en",),
        imports=imports,
        report=report or ReadReport(),
    )


def _statements(graph: dict[str, Any]) -> Iterator[Statement]:
    """List what a graph states.

    YIELDS (Statement): The statements.
    """
    if meta := graph.get("meta"):
        yield Statement(graph["id"], owl.KIND, owl.ONTOLOGY)
        yield from _values(graph["id"], meta)
    for node in graph["nodes"]:
        if node.get("type") == "CLASS":
            yield Statement(node["id"], owl.KIND, owl.CLASS)
            if "lbl" in node:
                yield Statement(node["id"], owl.LABEL, node["lbl"])
            yield from _values(node["id"], node.get("meta", {}))
    for edge in graph.get("edges", ()):
        if edge["pred"] == "is_a":
            yield Statement(edge["sub"], owl.PARENT, edge["obj"])


def _values(iri: str, meta: dict[str, Any]) -> Iterator[Statement]:
    if "definition" in meta:
        yield Statement(iri, owl.DEFINITION, meta["definition"]["val"])
    for synonym in meta.get("synonyms", ()):
        yield Statement(iri, f"{owl.IN_OWL}{synonym['pred']}", synonym["val"])
    for xref in meta.get("xrefs", ()):
        yield Statement(iri, owl.XREF, xref["val"])
    for subset in meta.get("subsets", ()):
        yield Statement(iri, owl.SUBSET, subset)
    for property in meta.get("basicPropertyValues", ()):
        yield Statement(iri, property["pred"], property["val"])
    if meta.get("deprecated"):
        yield Statement(iri, owl.DEPRECATED, "true")
