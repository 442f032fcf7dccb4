"""What a reader has to say beside the concepts it yields."""

from dataclasses import dataclass, field


@dataclass(slots=True)
class LeftOut:
    """Things of one kind that a reader left out.

    first (str): An example: an id, or "line 12".
    broken (bool): Whether the file is at fault, rather than the reader's settings.
    count (int): How many.
    """

    first: str
    broken: bool
    count: int = 0


@dataclass(slots=True)
class ReadReport:
    """Filled while an ontology is read; complete once the last concept was yielded.

    licence (str): The terms of use that the file itself states.
    merged (int): Rows whose id stood in a row before and which were merged into its concept.
    left_out (Dict[str, LeftOut]): By reason.
    """

    licence: str = ""
    merged: int = 0
    left_out: dict[str, LeftOut] = field(default_factory=dict)

    def leave_out(self, reason: str, example: str, *, broken: bool = False) -> None:
        """Count one thing left out.

        reason (str): What was left out and why.
        example (str): Its id or its line.
        broken (bool): Whether the file is at fault, rather than the reader's settings.
        """
        kind = self.left_out.get(reason)
        if kind is None:
            kind = self.left_out[reason] = LeftOut(example, broken)
        kind.count += 1
