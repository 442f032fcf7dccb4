"""OBO Graphs JSON (`hp.json`, `mondo.json`): OWL in another form."""

import json
from collections.abc import Callable, Collection, Iterable, Iterator
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
    imports: bool = False,
    report: ReadReport | None = None,
) -> Iterator[Concept]:
    """Read the classes of an ontology in OBO Graphs JSON.

    path (Union[str, Path]): The file.
    scopes (Collection[str]): The synonyms to read, by their scope.
    imports (bool): Read the classes of other ontologies that an OBO ontology imports, too.
    report (Optional[ReadReport]): Filled with what was left out, and with the terms of use.
    YIELDS (Concept): The concepts, in the file's order.
    RAISES (ConnormError): CN115 for a file that is not OBO Graphs, or with too many odd nodes and
        edges, CN118 for an unknown scope or type, and the errors of `read_text`.
    """
    report = report or ReadReport()
    return read_statements(
        _statements(_Graphs(path, report)),
        scopes=scopes,
        languages=("en",),
        imports=imports,
        report=report,
    )


class _Graphs:
    """The JSON of a file, and the line of each part of it."""

    def __init__(self, path: str | Path, report: ReadReport) -> None:
        self._path, self._report = path, report
        self._text = read_text(path)
        try:
            self.graphs = list(json.loads(self._text)["graphs"])
        except json.JSONDecodeError as error:
            raise unreadable(path, error.lineno, "JSON", error.msg) from None
        except (ValueError, RecursionError):
            reason = "its values are nested too deeply, or a number is too long"
            raise unreadable(path, 1, "JSON", reason) from None
        except (KeyError, TypeError):
            raise unreadable(path, 1, "OBO Graphs", "no graphs with nodes and edges") from None

    def read(
        self, parts: Iterable[Any], state: Callable[[Any], Iterable[Statement]]
    ) -> Iterator[Statement]:
        """Read what nodes, edges or graphs state. Odd ones are skipped.

        YIELDS (Statement): The statements.
        """
        for part in self._report.odd.watch(parts):
            try:
                stated = list(state(part))
                is_odd = not all(isinstance(text, str) for texts in stated for text in texts)
            except (AttributeError, KeyError, TypeError):
                is_odd = True
            if is_odd:
                reason = "a graph, a node or an edge lacks a text"
                self._report.odd.skip(
                    unreadable(self._path, self._line(part), "OBO Graphs", reason)
                )
            else:
                yield from stated

    def _line(self, part: Any) -> int:
        part_id = part.get("id", part.get("sub")) if isinstance(part, dict) else None
        place = self._text.find(json.dumps(part_id, ensure_ascii=False)) if part_id else 0
        return 1 + self._text.count("\n", 0, max(0, place))


def _statements(file: _Graphs) -> Iterator[Statement]:
    """List what the graphs of a file state.

    YIELDS (Statement): The statements.
    """
    for graph in file.graphs:
        yield from file.read([graph], _of_graph)
        if isinstance(graph, dict):
            yield from file.read(_list(graph.get("nodes")), _of_node)
            yield from file.read(_list(graph.get("edges")), _of_edge)


def _list(parts: Any) -> list[Any]:
    # Something else counts as one odd part.
    return parts if isinstance(parts, list) else [parts] * (parts is not None)


def _of_graph(graph: dict[str, Any]) -> Iterator[Statement]:
    if meta := graph.get("meta"):
        yield Statement(graph["id"], owl.KIND, owl.ONTOLOGY)
        yield from _values(graph["id"], meta)


def _of_node(node: dict[str, Any]) -> Iterator[Statement]:
    if node.get("type") == "CLASS":
        yield Statement(node["id"], owl.KIND, owl.CLASS)
        if "lbl" in node:
            yield Statement(node["id"], owl.LABEL, node["lbl"])
        yield from _values(node["id"], node.get("meta", {}))


def _of_edge(edge: dict[str, Any]) -> Iterator[Statement]:
    if edge["pred"] == "is_a":
        yield Statement(edge["sub"], owl.PARENT, edge["obj"])


def _values(iri: str, meta: dict[str, Any]) -> Iterator[Statement]:
    if "definition" in meta:
        yield Statement(iri, owl.DEFINITION, meta["definition"]["val"])
    for synonym in meta.get("synonyms", ()):
        yield Statement(iri, f"{owl.IN_OWL}{synonym['pred']}", synonym["val"])
    for xref in meta.get("xrefs", ()):
        yield Statement(iri, owl.XREF, xref["val"])
    for property in meta.get("basicPropertyValues", ()):
        yield Statement(iri, property["pred"], property["val"])
    if meta.get("deprecated"):
        yield Statement(iri, owl.DEPRECATED, "true")
