"""OWL and SKOS in RDF, parsed by pyoxigraph: RDF/XML, Turtle and N-Triples."""

import re
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import IO, cast

from ..concepts import Concept
from ..concepts.concept import ALL_SCOPES
from ..errors import unreadable
from ..files.text import SURROGATES, existing_file
from ..files.xml import read_pieces, require_plain_entities
from .report import ReadReport
from .statements import Statement, read_statements

# "<http:" begins a statement of Turtle.
_XML = re.compile(r"\s*<(?!\w+:/)")
_ENCODING = re.compile(r"""\A(\s*<\?xml\b[^>]*?)\s+encoding\s*=\s*["'][\w.-]+["']""")
_END = re.compile(r"</([\w.-]+:)?RDF\s*>")
_EDGE = 1 << 12
_DAMAGED = "damaged, truncated, or another syntax of OWL"


def read_rdf(
    path: str | Path,
    *,
    scopes: Collection[str] = ALL_SCOPES,
    language: Sequence[str] = ("en",),
    imports: bool = False,
    report: ReadReport | None = None,
) -> Iterator[Concept]:
    """Read the classes of an OWL ontology, or the concepts of a SKOS vocabulary.

    path (Union[str, Path]): The file.
    scopes (Collection[str]): The synonyms to read, by their scope.
    language (Sequence[str]): The languages of names and definitions, best first; those without a
        language are read, too.
    imports (bool): Read the classes of other ontologies that an OBO ontology imports, too.
    report (Optional[ReadReport]): Filled with what was left out, and with the terms of use.
    YIELDS (Concept): The concepts, in the file's order.
    RAISES (ConnormError): CN106 for a file that is damaged or not gzipped, CN115 for one that is
        not RDF, CN118 for an unknown scope or type.
    """
    return read_statements(
        _statements(existing_file(path)),
        scopes=scopes,
        languages=(language,) if isinstance(language, str) else language,
        imports=imports,
        report=report or ReadReport(),
    )


def _statements(path: Path) -> Iterator[Statement]:
    """Read the statements whose subjects have IRIs.

    YIELDS (Statement): The statements.
    """
    from pyoxigraph import Literal, NamedNode, RdfFormat, parse

    lines = _CountedLines(path)
    is_xml = _XML.match(lines.head) is not None
    if is_xml:
        require_plain_entities(path)
    try:
        # Other parsers allow IRIs with spaces, and large ontologies have some.
        for subject, predicate, value, _ in parse(
            input=cast(IO[bytes], lines),
            format=RdfFormat.RDF_XML if is_xml else RdfFormat.TURTLE,
            lenient=True,
        ):
            if isinstance(subject, NamedNode) and isinstance(value, (Literal, NamedNode)):
                language = (isinstance(value, Literal) and value.language) or ""
                yield Statement(subject.value, predicate.value, value.value, language)
        # The parser accepts a file that ends between two classes.
        if is_xml and not _END.search(lines.last):
            raise unreadable(path, lines.read_so_far, "RDF", _DAMAGED)
    except SyntaxError as error:
        raise unreadable(path, error.lineno or lines.read_so_far, "RDF", _DAMAGED) from None


class _CountedLines:
    """A file in any encoding as UTF-8, the only one that the parser reads. It knows how far it was
    read, since the parser of RDF/XML does not tell where it fails.
    """

    def __init__(self, path: Path) -> None:
        self._pieces = (piece for _, piece in read_pieces(path))
        self.read_so_far = 1
        self.last = ""
        self.head = _ENCODING.sub(r"\1", next(self._pieces, ""), count=1)
        self._waiting = self._encoded(self.head)

    def read(self, size: int) -> bytes:
        waiting = self._waiting or self._encoded(next(self._pieces, ""))
        piece, self._waiting = waiting[:size], waiting[size:]
        self.read_so_far += piece.count(b"\n")
        return piece

    def _encoded(self, text: str) -> bytes:
        self.last = (self.last + text)[-_EDGE:]
        return text.encode("utf-8", SURROGATES)
