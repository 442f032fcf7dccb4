"""BNE, the reference of Fivez et al. (2021, sections 5.2 and 5.3; Phan et al. 2019): a network that
reads a name word by word, without its character embeddings. Imports torch: import it in functions.
"""

import copy
from collections.abc import Sequence
from itertools import chain
from pathlib import Path
from time import perf_counter
from typing import NamedTuple

import numpy as np
import torch
from safetensors.torch import load_file, save_file
from thinc.api import get_torch_default_device

from _common.grounding_encoders import Size
from _common.synonym_sets import Split, flat, places_of
from spacy_connorm.concepts import Concept, Ontology
from spacy_connorm.encoders.grounded.words import WordTable, split_tokens
from spacy_connorm.encoders.raw import unit_rows
from spacy_connorm.evaluation.metrics import score_retrieval
from spacy_connorm.training.batchers import Ranking
from spacy_connorm.training.batches import Batch
from spacy_connorm.training.grounding_batcher import GroundingBatcher
from spacy_connorm.training.pool import SynonymPool, build_pool

# As for the DAN: margin, rate, batches, and how negatives are drawn.
MARGIN = 0.1
LEARNING_RATE = 1e-3
PAIRS, NEIGHBOURS = 64, 200
_ENCODED_AT_ONCE = 4096


class Words(NamedTuple):
    """The words of n names, for a `Bne`.

    numbers (torch.Tensor): int64 (n, most), on the module's device: the rows of its word vectors; 0
        behind the last word, and for a name none of whose words has a vector.
    lengths (torch.Tensor): int64 (n,), in main memory: the number of words, at least 1.
    """

    numbers: torch.Tensor
    lengths: torch.Tensor

    def of(self, rows: np.ndarray) -> "Words":
        """RETURNS (Words): Those of some of the names, by position."""
        lengths = self.lengths[torch.from_numpy(rows)]
        places = torch.from_numpy(rows).to(self.numbers.device)
        return Words(self.numbers[places, : int(lengths.max())], lengths)


class Bne(torch.nn.Module):
    """W max(BiLSTM(u_1 ... u_n)) + b over the frozen word vectors u of a name (equation 6)."""

    def __init__(self, table: WordTable, *, units: int) -> None:
        """table (WordTable): The word vectors.
        units (int): Of both directions together, an even number; 4,800 in the paper.
        """
        super().__init__()
        self._table = table
        # 0 is no word.
        self._numbers: dict[str, int] = {}
        self._vectors = torch.zeros(1, table.width)
        self.lstm = torch.nn.LSTM(table.width, units // 2, batch_first=True, bidirectional=True)
        self.output = torch.nn.Linear(units, table.width)

    def read(self, texts: Sequence[str]) -> Words:
        """RETURNS (Words): Of each text; words without a vector are left out."""
        device = self.output.weight.device
        self._vectors = self._vectors.to(device)
        rows = [split_tokens(text.lower()) for text in texts]
        new = sorted({*chain(*rows)} - self._numbers.keys())
        known = [word for word in new if self._table.knows(word)]
        if known:
            first = len(self._vectors)
            self._numbers |= dict(zip(known, range(first, first + len(known)), strict=True))
            added = torch.from_numpy(self._table.lookup(known)).to(device)
            self._vectors = torch.cat([self._vectors, added])
        found = [[self._numbers[word] for word in row if word in self._numbers] for row in rows]
        lengths = [max(1, len(own)) for own in found]
        numbers = np.zeros((len(found), max(lengths, default=1)), dtype="int64")
        for row, own in zip(numbers, found, strict=True):
            row[: len(own)] = own
        return Words(torch.from_numpy(numbers).to(device), torch.tensor(lengths, dtype=torch.int64))

    def vectors(self, words: Words) -> torch.Tensor:
        """RETURNS (torch.Tensor): float32 (names, most, width): the word vectors, 0 where there is
        no word.
        """
        return self._vectors[words.numbers]

    def forward(self, words: Words) -> torch.Tensor:
        """words (Words): From `read`.
        RETURNS (torch.Tensor): float32 (names, width).
        """
        vectors = self.vectors(words)
        packed = torch.nn.utils.rnn.pack_padded_sequence(
            vectors, words.lengths, batch_first=True, enforce_sorted=False
        )
        states, _ = torch.nn.utils.rnn.pad_packed_sequence(
            self.lstm(packed)[0], batch_first=True, padding_value=-torch.inf
        )
        # As for the other encoders: zeros where no word has a vector.
        return self.output(states.amax(dim=1)) * vectors.any(dim=(1, 2)).unsqueeze(1)

    @torch.no_grad()
    def encode(self, texts: Sequence[str]) -> np.ndarray:
        """RETURNS (Floats2d): float32 (texts, width)."""
        words = self.read(texts)
        # Texts of one length are not padded.
        order = np.argsort(words.lengths.numpy(), kind="stable")
        found = np.zeros((len(texts), self._table.width), dtype="float32")
        for start in range(0, len(order), _ENCODED_AT_ONCE):
            part = order[start : start + _ENCODED_AT_ONCE]
            found[part] = self(words.of(part)).cpu().numpy()
        return found


def load_bne(folder: Path, table: WordTable, *, units: int) -> Bne:
    """RETURNS (Bne): What `train_bne` saved."""
    module = Bne(table, units=units)
    module.load_state_dict(load_file(folder / "model.safetensors"))
    return module.to(get_torch_default_device())


def train_bne(
    split: Split, table: WordTable, folder: Path, size: Size, *, seed: int
) -> dict[str, float]:
    """Train and save a network. Training stops when the mean average precision of the validation
    names falls; the weights of the epoch before are kept.

    split (Split): The names.
    table (WordTable): The word vectors.
    folder (Path): Where to save it.
    size (Size): Of the network and the training.
    seed (int): Of weights and draws.
    RETURNS (Dict[str, float]): "epochs" and "seconds" that it took.
    """
    torch.manual_seed(seed)
    start = perf_counter()
    device = get_torch_default_device()
    module = Bne(table, units=size.hidden).to(device)
    concepts = (Concept(own, names[0], tuple(names[1:])) for own, names in split.train.items())
    pool, _ = build_pool(
        Ontology(concepts),
        inputs=lambda texts: [text.encode() for text in texts],
        use_ontology=True,
        data_share=None,
    )
    words = module.read(pool.texts)
    anchors = Anchors.of(mean_vectors(module, words), pool, device)
    batcher = GroundingBatcher(size=PAIRS, neighbours=NEIGHBOURS, max_pairs=size.max_pairs)
    optimizer = torch.optim.Adam(module.parameters(), lr=LEARNING_RATE)
    best, kept, epochs = dev_map(module, split), copy.deepcopy(module.state_dict()), 0
    for epoch in range(size.epochs):
        drawn = batcher.batches(
            pool,
            seed=seed,
            epoch=epoch,
            ranking=Ranking(lambda rows: module.encode([pool.texts[row] for row in rows])),
        )
        for batch in drawn:
            triplets = Triplets.of(batch)
            loss = bne_loss(module(words.of(triplets.rows)), triplets, anchors)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        score = dev_map(module, split)
        if score < best:
            break
        best, kept, epochs = score, copy.deepcopy(module.state_dict()), epoch + 1
    folder.mkdir(parents=True, exist_ok=True)
    save_file(kept, folder / "model.safetensors")
    return {"epochs": epochs, "seconds": round(perf_counter() - start)}


class Anchors(NamedTuple):
    """What names are kept near.

    means (torch.Tensor): float32 (rows, width): the mean of each name's word vectors, at length
        1.
    prototypes (torch.Tensor): float32 (rows, width): the mean of these over the names of its
        concept.
    """

    means: torch.Tensor
    prototypes: torch.Tensor

    @classmethod
    def of(cls, means: np.ndarray, pool: SynonymPool, device: torch.device) -> "Anchors":
        """means (Floats2d): float32 (rows, width), those of the rows of the pool.
        pool (SynonymPool): Names of one concept each.
        device (torch.device): Where the anchors are kept.
        """
        prototypes = np.zeros_like(means)
        for rows in pool.members:
            prototypes[rows] = means[rows].mean(axis=0)
        return cls(*(torch.from_numpy(each).to(device) for each in (means, prototypes)))


def mean_vectors(module: Bne, words: Words) -> np.ndarray:
    """RETURNS (Floats2d): float32 (names, width): the mean of each name's word vectors, at length
    1.
    """
    parts = range(0, len(words.lengths), _ENCODED_AT_ONCE)
    rows = np.arange(len(words.lengths))
    sums = [module.vectors(words.of(rows[part : part + _ENCODED_AT_ONCE])).sum(1) for part in parts]
    return unit_rows(torch.cat(sums).cpu().numpy())


class Triplets(NamedTuple):
    """The names that the losses compare; a batch has others, too, for the DAN's loss.

    rows (Ints1d): int64 (B,), distinct rows of the pool.
    anchors, positives, negatives (Ints1d): int64 (T,), positions in `rows`.
    """

    rows: np.ndarray
    anchors: np.ndarray
    positives: np.ndarray
    negatives: np.ndarray

    @classmethod
    def of(cls, batch: Batch) -> "Triplets":
        """batch (Batch): Drawn by `GroundingBatcher`."""
        parts = batch.relations[:3]
        rows, places = np.unique(batch.rows[np.concatenate(parts)], return_inverse=True)
        return cls(rows, *np.split(places, 3))


def bne_loss(vectors: torch.Tensor, batch: Triplets, anchors: Anchors) -> torch.Tensor:
    """Add three losses, each the mean over the triplets of a name, its synonym and another name:
    the triplet's, and the distances of the name from its concept's prototype and from the mean of
    its own words. Distances are 1 - cos.

    vectors (torch.Tensor): float32 (B, width), of the rows of the batch.
    batch (Triplets): The triplets.
    anchors (Anchors): Of all rows of the pool.
    RETURNS (torch.Tensor): A scalar.
    """
    cosine = torch.nn.functional.cosine_similarity
    names = vectors[batch.anchors]
    near, far = (cosine(names, vectors[each]) for each in (batch.positives, batch.negatives))
    rows = batch.rows[batch.anchors]
    return (
        (far - near + MARGIN).clamp(min=0).mean()
        + (1 - cosine(names, anchors.prototypes[rows])).mean()
        + (1 - cosine(names, anchors.means[rows])).mean()
    )


def dev_map(module: Bne, split: Split) -> float:
    """RETURNS (float): The mean average precision of the validation names among all train names."""
    places = dict(zip(split.train, places_of(split.train), strict=True))
    asked = module.encode([name for name, _ in split.validation])
    relevant = [places[concept] for _, concept in split.validation]
    return score_retrieval(asked, module.encode(flat(split.train)), relevant).map
