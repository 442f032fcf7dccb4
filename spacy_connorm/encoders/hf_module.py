"""A transformer and its pooling as one torch module. Imports torch: import it in functions."""

import json
from pathlib import Path
from typing import Any

import torch

from .padding import pad
from .pooling import POOLINGS

# Read by `SentenceTransformer(folder)`: a transformer, then pooling, without normalization.
_MODULES = [
    {"idx": 0, "name": "0", "path": "", "type": "sentence_transformers.models.Transformer"},
    {"idx": 1, "name": "1", "path": "1_Pooling", "type": "sentence_transformers.models.Pooling"},
]
_POOLING_KEYS = {
    "mean": "pooling_mode_mean_tokens",
    "cls": "pooling_mode_cls_token",
    "max": "pooling_mode_max_tokens",
}


class TransformerModule(torch.nn.Module):
    """Texts to vectors, with gradients; see `TrainableModule`."""

    def __init__(self, tokenizer: Any, transformer: Any, *, pooling: str, max_length: int) -> None:
        """tokenizer (transformers.PreTrainedTokenizerBase): The tokenizer.
        transformer (transformers.PreTrainedModel): The transformer; its weights are shared.
        pooling (str): One of `POOLINGS`.
        max_length (int): Texts are cut after this many tokens, including special tokens.
        """
        super().__init__()
        self.tokenizer = tokenizer
        self.transformer = transformer
        self.pooling = pooling
        self.max_length = max_length

    def rows(self, texts: list[str]) -> list[list[int]]:
        """RETURNS (List[List[int]]): The token ids after truncation."""
        if not texts:
            return []
        return self.tokenizer(
            texts,
            truncation=True,
            max_length=self.max_length,
            return_attention_mask=False,
            return_token_type_ids=False,
        )["input_ids"]

    def collate(self, rows: list[list[int]]) -> dict[str, torch.Tensor]:
        """RETURNS (Dict[str, torch.Tensor]): `input_ids`, int64, and `mask`, bool, both of shape
        (rows, longest row).
        """
        ids, mask = pad(rows, self.tokenizer.pad_token_id or 0)
        return {"input_ids": torch.from_numpy(ids), "mask": torch.from_numpy(mask)}

    def forward(self, input_ids: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        """RETURNS (torch.Tensor): Shape (rows, width), float32, not normalized."""
        output = self.transformer(input_ids=input_ids, attention_mask=mask.long())
        return POOLINGS[self.pooling](output.last_hidden_state.float(), mask)

    def save(self, folder: Path) -> None:
        """Save the transformer and its tokenizer for `TransformerEncoder`, `AutoModel` and
        `SentenceTransformer`.

        folder (Path): An empty folder.
        """
        self.tokenizer.save_pretrained(folder)
        self.transformer.save_pretrained(folder)
        pooling = {"word_embedding_dimension": self.transformer.config.hidden_size}
        pooling |= {key: name == self.pooling for name, key in _POOLING_KEYS.items()}
        length = {"max_seq_length": self.max_length, "do_lower_case": False}
        _write_json(folder / "modules.json", _MODULES)
        _write_json(folder / "sentence_bert_config.json", length)
        (folder / "1_Pooling").mkdir()
        _write_json(folder / "1_Pooling" / "config.json", pooling)


def _write_json(path: Path, content: Any) -> None:
    path.write_text(json.dumps(content, indent=2) + "\n", encoding="utf8")
