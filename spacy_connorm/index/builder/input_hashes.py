"""The hashes of encoder inputs, computed from texts or copied from an older index."""

from collections.abc import Callable

import numpy as np

from ..concept_index import ConceptIndex
from ..keys import KeyTable, hash_keys


class InputHashes:
    """Turns texts into the hashes of their encoder inputs. Making the input of a text can take
    longer than all the rest of copying it: the DAN's tokenizes. So a text that an older index has
    is known by a hash of itself; see `KeyTable` for what equal hashes mean.
    """

    def __init__(
        self, inputs: Callable[[list[str]], list[bytes]], known: ConceptIndex | None
    ) -> None:
        """Read the texts of the older index.

        inputs (Callable): Turns texts into encoder inputs.
        known (Optional[ConceptIndex]): An older index with the same encoder.
        """
        self._inputs = inputs
        self._members: KeyTable | None = None
        if known is not None:
            texts = (text.encode() for text in known.store.all_texts())
            self._members = KeyTable.from_hashes(hash_keys(texts))
            self._hashes = known.keys.hashes()[known.members.row_numbers()]

    def __call__(self, texts: list[str]) -> np.ndarray:
        """Hash the encoder inputs of texts.

        texts (List[str]): n texts.
        RETURNS (np.ndarray): uint64 (n,): the hashes.
        """
        if self._members is None:
            return hash_keys(self._inputs(texts))
        members = self._members.rows([text.encode() for text in texts])
        hashes = self._hashes[members]
        new = np.flatnonzero(members < 0)
        if len(new):
            hashes[new] = hash_keys(self._inputs([texts[place] for place in new]))
        return hashes
