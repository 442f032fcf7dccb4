"""What an index has from an older one, so that more than vectors can be kept of it."""

from dataclasses import dataclass

import numpy as np

from ..backends.protocol import Earlier
from ..concept_index import ConceptIndex
from ..search import Search


@dataclass(frozen=True)
class CopiedRows:
    """Rows whose vectors were copied.

    older (Optional[ConceptIndex]): The older index; None if nothing was copied.
    rows (Ints1d): int32 (rows,): the row there of each row; -1 for one that was computed.
    """

    older: ConceptIndex | None
    rows: np.ndarray

    def earlier(self, search: Search, rows: tuple[int, int], count: int) -> Earlier | None:
        """Find what the older index built for a search.

        search (Search): The search.
        rows (Tuple[int, int]): The range of rows with texts of its target.
        count (int): How many items it has: rows or concepts.
        RETURNS (Optional[Earlier]): The earlier build; None if there is none. The mean of a concept
            counts as new, as other names change it.
        """
        if self.older is None or search not in self.older.manifest["searches"]:
            return None
        path, size = self.older.folder / f"{search}.index", len(self.older.search_vectors(search))
        if search.representation == "C":
            return Earlier(path, size, np.full(count, -1))
        items = self.rows[slice(*rows)] - self.older.first_row(search)
        items[(items < 0) | (items >= size)] = -1
        return Earlier(path, size, items)
