"""Two training loops for `training.py`: SapBERT's, and that of `spacy connorm train`. Imports torch
and pytorch_metric_learning: import it in functions.

Both have the same encoder, texts, number of tokens, optimizer and loss (Liu et al. 2021, section
2). Texts are tokenized before the clock starts.
"""

from collections import Counter
from collections.abc import Sequence
from copy import deepcopy
from pathlib import Path
from typing import Any

import numpy as np
import torch
from pytorch_metric_learning.losses import MultiSimilarityLoss
from pytorch_metric_learning.miners import TripletMarginMiner

from spacy_connorm.training.batchers import Ranking, SynonymPairBatcher
from spacy_connorm.training.batches import Memberships
from spacy_connorm.training.micro_batches import BatchEncoder, EpochBatches, TokenTable
from spacy_connorm.training.objectives import MultiSimilarity
from spacy_connorm.training.pool import SynonymPool

# From the paper (Liu et al. 2021, section 3.1 and appendix).
MAX_LENGTH = 25
WEIGHT_DECAY = 0.01
ALPHA, BETA, BASE, MARGIN = 2.0, 50.0, 0.5, 0.2

PRECISIONS = {"fp32": torch.float32, "bf16": torch.bfloat16, "fp16": torch.float16}


class Batches:
    """Batches from SapBERT's pair list, the same for both loops."""

    def __init__(
        self, pool: SynonymPool, module: Any, *, size: int, micro_batch_tokens: int, folder: Path
    ) -> None:
        """pool (SynonymPool): Texts and concepts.
        module (TrainableModule): Reads the texts.
        size (int): Texts of a batch.
        micro_batch_tokens (int): Of our loop.
        folder (Path): An empty folder for the batches of our loop.
        """
        self.pool = pool
        self.tokens = TokenTable(module, pool.texts)
        batcher = SynonymPairBatcher(size=size)
        self.ours = EpochBatches(
            pool,
            batcher,
            module,
            micro_batch_tokens=micro_batch_tokens,
            seed=0,
            folder=folder,
        )
        self.rows = [batch.rows for batch in batcher.batches(pool, seed=0, epoch=0)]
        self.ours.begin_epoch(0, Ranking(_no_vectors))

    def __len__(self) -> int:
        return len(self.rows)

    def labels(self, number: int) -> list[int]:
        """RETURNS (List[int]): One concept per text; of several, the most frequent in the batch."""
        own = [self.pool.concepts[row] for row in self.rows[number]]
        counts = Counter(concept for concepts in own for concept in concepts)
        return [max(concepts, key=lambda concept: counts[concept]) for concepts in own]


def _no_vectors(rows: np.ndarray) -> np.ndarray:
    raise TypeError(rows)


class Loop:
    """What both loops have in common."""

    name = passes = mining = ""

    def __init__(
        self, module: Any, *, precision: str, learning_rate: float, device: str = "cpu"
    ) -> None:
        """module (TrainableModule): The initial weights; copied.
        precision (str): One of `PRECISIONS`.
        learning_rate (float): Of AdamW.
        device (str): A torch device.
        """
        self.module = deepcopy(module).to(device).train()
        self.precision = precision
        self.device = device
        self.optimizer = torch.optim.AdamW(
            self.module.parameters(), lr=learning_rate, weight_decay=WEIGHT_DECAY
        )

    def autocast(self) -> torch.autocast:
        """RETURNS (torch.autocast): Half precision if the loop is configured so."""
        dtype = PRECISIONS[self.precision]
        enabled = dtype is not torch.float32
        return torch.autocast(self.device.split(":")[0], dtype if enabled else None, enabled)


class SapBertStyle(Loop):
    """Pads all texts to one length, encodes them in one pass, and lists all triplets. Its mixed
    precision needs CUDA; on a CPU it runs in full precision.
    """

    name = "SapBERT-style"
    passes = f"one, all padded to {MAX_LENGTH}"
    mining = "lists triplets, O(B^3)"

    def __init__(self, module: Any, **settings: Any) -> None:
        super().__init__(module, **settings)
        self._miner = TripletMarginMiner(margin=MARGIN, type_of_triplets="all")
        self._loss = MultiSimilarityLoss(alpha=ALPHA, beta=BETA, base=BASE)
        self._scaler = torch.amp.GradScaler(
            self.device.split(":")[0], enabled=self.precision == "fp16"
        )

    def step(self, batches: Batches, number: int) -> float:
        """RETURNS (float): The loss of a batch before the step that is taken."""
        inputs = self._pad(batches.tokens.rows(np.asarray(batches.rows[number])))
        labels = torch.tensor(batches.labels(number)).to(self.device)
        with self.autocast():
            vectors = self.module(**inputs)
            loss = self._loss(vectors, labels, self._miner(vectors, labels))
        self._scaler.scale(loss).backward()
        self._scaler.step(self.optimizer)
        self._scaler.update()
        self.optimizer.zero_grad()
        return loss.item()

    def _pad(self, rows: Sequence[list[int]]) -> dict[str, torch.Tensor]:
        padding = self.module.tokenizer.pad_token_id or 0
        padded = [row + [padding] * (MAX_LENGTH - len(row)) for row in rows]
        lengths = torch.tensor([len(row) for row in rows])
        mask = torch.arange(MAX_LENGTH) < lengths.unsqueeze(1)
        return {
            "input_ids": torch.tensor(padded).to(self.device),
            "mask": mask.to(self.device),
        }

    def tokens_per_text(self, batches: Batches, number: int) -> float:
        """RETURNS (float): Tokens per text that pass through the encoder, padding included."""
        return MAX_LENGTH


class OurLoop(Loop):
    """Micro-batches of similar length, O(B^2) mining."""

    name = "spacy_connorm"
    passes = "micro-batches by length"
    mining = "O(B^2)"

    def __init__(self, module: Any, **settings: Any) -> None:
        super().__init__(module, **settings)
        self.encoder = BatchEncoder(self.module, cache_gradients=False)
        self._objective = MultiSimilarity(alpha=ALPHA, beta=BETA, base=BASE, mining_margin=MARGIN)

    def encode(self, micro_batches: Sequence[Any], places: torch.Tensor) -> torch.Tensor:
        """RETURNS (torch.Tensor): Vectors of a batch, (B, width), float32."""
        moved = [
            {key: value.to(self.device) for key, value in inputs.items()}
            for inputs in micro_batches
        ]
        with self.autocast():
            return self.encoder(moved, places.to(self.device))

    def step(self, batches: Batches, number: int) -> float:
        """RETURNS (float): As for the other loop."""
        batch = batches.ours[number]
        vectors = self.encode(batch["micro_batches"], batch["places"])
        relations = Memberships(*(relation.to(self.device) for relation in batch["relations"]))
        loss = self._objective(vectors, relations)
        loss.backward()
        self.optimizer.step()
        self.optimizer.zero_grad()
        return loss.item()

    def tokens_per_text(self, batches: Batches, number: int) -> float:
        """RETURNS (float): As for the other loop."""
        inputs = [batch["input_ids"] for batch in batches.ours[number]["micro_batches"]]
        return sum(ids.numel() for ids in inputs) / sum(len(ids) for ids in inputs)
