"""Ids of documents in formats whose readers take documents with the same id for one."""

from collections import Counter
from collections.abc import Callable

_NUMBERED = "repeated ids got a number, such as `ID-2`"


class DistinctIds:
    """Gives each document an id of its own: "d", "d-2", "d-3"."""

    def __init__(self, is_taken: Callable[[str], bool]) -> None:
        """Begin without documents.

        is_taken (Callable[[str], bool]): Tells whether an earlier document has an id.
        """
        self._is_taken = is_taken
        self._repeated: Counter[str] = Counter()

    def choose(self, doc_id: str, changes: Counter[str]) -> str:
        """Choose the id of the next document.

        doc_id (str): Its own.
        changes (Counter[str]): Counts those that are changed.
        RETURNS (str): The same, or with a number if an earlier document has it.
        """
        chosen = doc_id
        while self._is_taken(chosen):
            self._repeated[doc_id] += 1
            chosen = f"{doc_id}-{self._repeated[doc_id] + 1}"
        if chosen != doc_id:
            changes[_NUMBERED] += 1
        return chosen
