"""What BioC's two forms have in common."""

from dataclasses import dataclass, field
from typing import NoReturn

from ...errors import ConnormError, Errors, quote
from .lines import Place

Infons = dict[str, str]


@dataclass(slots=True)
class BioCAnnotation:
    """An annotation.

    place (Place): Where it begins; in JSON, where its document does.
    text (str): The mention; may be empty.
    infons (Dict[str, str]): Its type, ids and all else.
    locations (List[Tuple[int, int]]): Offset and length of each fragment.
    """

    place: Place
    text: str = ""
    infons: Infons = field(default_factory=dict)
    locations: list[tuple[int, int]] = field(default_factory=list)


@dataclass(slots=True)
class BioCTextPart:
    """The text of a passage, or one of its sentences.

    offset (int): Where it starts in the document.
    text (str): The text.
    annotations (List[BioCAnnotation]): Those that it holds itself.
    """

    offset: int
    text: str
    annotations: list[BioCAnnotation] = field(default_factory=list)


@dataclass(slots=True)
class BioCPassage:
    """A passage.

    parts (List[BioCTextPart]): Its text, or its sentences.
    annotations (List[BioCAnnotation]): Those that it holds beside its sentences.
    """

    parts: list[BioCTextPart] = field(default_factory=list)
    annotations: list[BioCAnnotation] = field(default_factory=list)


@dataclass(slots=True)
class BioCDocument:
    """A document.

    doc_id (str): Its id.
    passages (List[BioCPassage]): Its passages.
    annotations (List[BioCAnnotation]): Those that it holds beside its passages.
    relations (int): The number of its relations.
    """

    doc_id: str
    passages: list[BioCPassage] = field(default_factory=list)
    annotations: list[BioCAnnotation] = field(default_factory=list)
    relations: int = 0


def whole_number(value: object, *, name: str, place: Place) -> int:
    """Read an offset or a length.

    value (object): A number, or its digits.
    name (str): What it is.
    place (Place): Where it stands.
    RETURNS (int): The number.
    RAISES (ConnormError): CN214 for anything else.
    """
    try:
        if isinstance(value, str | int) and not isinstance(value, bool):
            return int(value)
    except ValueError:
        pass  # `int` repeats the text
    refuse_bioc(place, f"`{name}` is {quote(value)}, not a whole number")


def refuse_bioc(place: Place, reason: object) -> NoReturn:
    """RAISES (ConnormError): CN214."""
    raise ConnormError(Errors.CN214.format(place=place, reason=reason)) from None
