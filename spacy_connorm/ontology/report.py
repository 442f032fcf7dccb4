"""What a reader reports besides the concepts it yields."""

from dataclasses import dataclass, field


@dataclass(slots=True)
class LeftOut:
    """Items that a reader left out for one reason.

    first (str): The first of them: an id, or "line 12".
    broken (bool): Whether the file is at fault, rather than the reader's settings.
    count (int): How many.
    """

    first: str
    broken: bool
    count: int = 0


@dataclass(frozen=True, slots=True)
class Retired:
    """What an ontology says of a concept that it has given up.

    replaced_by (Tuple[str, ...]): The ids to use instead.
    consider (Tuple[str, ...]): Ids that may fit.
    """

    replaced_by: tuple[str, ...] = ()
    consider: tuple[str, ...] = ()


@dataclass(slots=True)
class ReadReport:
    """Filled while an ontology is read; complete after the last concept.

    licence (str): The terms of use stated in the file.
    merged (int): Rows merged into the concept of an earlier row with the same id.
    left_out (Dict[str, LeftOut]): What was left out, by reason.
    scopes (Dict[str, int]): How many synonyms of each scope were read, of formats that have scopes.
    retired (Dict[str, Retired]): Concepts that were left out as obsolete, by id.
    """

    licence: str = ""
    merged: int = 0
    left_out: dict[str, LeftOut] = field(default_factory=dict)
    scopes: dict[str, int] = field(default_factory=dict)
    retired: dict[str, Retired] = field(default_factory=dict)

    def leave_out(self, reason: str, example: str, *, broken: bool = False) -> None:
        """Count one item left out.

        reason (str): What was left out and why.
        example (str): Its id or line.
        broken (bool): Whether the file is at fault, rather than the reader's settings.
        """
        kind = self.left_out.get(reason)
        if kind is None:
            kind = self.left_out[reason] = LeftOut(example, broken)
        kind.count += 1
