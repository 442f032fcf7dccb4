"""A deep averaging network as a torch module. Imports torch, so import this module only inside
functions.
"""

from itertools import chain
from pathlib import Path

import numpy as np
import torch
from torch.nn.functional import embedding_bag

from .network import EMBEDDINGS, Dan, Precision


class DanModule(torch.nn.Module):
    """Computes the vectors of `DanEncoder`, with gradients; see `TrainableModule`."""

    def __init__(self, dan: Dan, *, dtype: Precision | None = None) -> None:
        """Copy the weights of a network.

        dan (Dan): The network, in float32.
        dtype (Optional[str]): How `save` stores the vectors of features.
        """
        super().__init__()
        self._settings, self._tokenizer = dan.settings, dan.tokenizer
        self._reader = dan.reader()
        self._dtype = dtype
        rows, width = dan.weights[EMBEDDINGS].shape
        self.embeddings = torch.nn.Embedding(rows, width)
        self.load_state_dict({name: torch.tensor(array) for name, array in dan.weights.items()})

    def rows(self, texts: list[str]) -> list[list[int]]:
        """Extract the features of texts.

        RETURNS (List[List[int]]): The features of each text, ascending.
        """
        ids, bounds = self._reader.read(texts)
        return [row.tolist() for row in np.split(ids, bounds[1:-1])] if texts else []

    def collate(self, rows: list[list[int]]) -> dict[str, torch.Tensor]:
        """Concatenate the features of texts.

        RETURNS (Dict[str, torch.Tensor]): `ids`, the features of all texts, shape (features,), and
            `counts`, the number of features of each text, shape (texts,); both int64.
        """
        return {
            "ids": torch.from_numpy(np.fromiter(chain.from_iterable(rows), dtype="int64")),
            "counts": torch.tensor([len(row) for row in rows], dtype=torch.int64),
        }

    def forward(self, ids: torch.Tensor, counts: torch.Tensor) -> torch.Tensor:
        """Compute the vectors of texts.

        ids (torch.Tensor): Shape (features,), int64.
        counts (torch.Tensor): Shape (texts,), int64.
        RETURNS (torch.Tensor): Shape (texts, width), float32 or, under autocast, half precision.
        """
        starts = counts.cumsum(0) - counts
        return embedding_bag(ids, self.embeddings.weight, starts, mode="mean")

    def save(self, folder: Path) -> None:
        """Save the network for `DanEncoder(name=folder)`.

        folder (Path): The folder.
        """
        weights = {name: tensor.numpy(force=True) for name, tensor in self.state_dict().items()}
        Dan(self._settings, self._tokenizer, weights).rounded(self._dtype).save(Path(folder))
