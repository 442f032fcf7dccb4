"""A transformer and its pooling as one torch module. Imports torch, so import this module only
inside functions.
"""

import hashlib
import json
import os
import re
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import safetensors.torch
import srsly
import torch

from ..errors import Errors
from .pretrained import refuse_code_in_config
from .storage import CARD, CONFIG
from .tokens import pad

# torch's threads do not survive a fork: a worker of `nlp.pipe(n_process=2)` that used them would
# hang.
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=lambda: torch.set_num_threads(1))

# Settings of a transformer that give the number of repetitions of a part.
_REPEATED = re.compile("layers?$|experts$")
_LABELS = ("num_labels", "id2label", "label2id")
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
    """Converts texts to vectors, with gradients; see `TrainableModule`."""

    def __init__(
        self,
        tokenizer: Any,
        transformer: Any,
        *,
        pooling: str,
        max_length: int,
        prefix: str = "",
        files: dict[str, bytes] | None = None,
    ) -> None:
        """Combine a tokenizer and a transformer.

        tokenizer (transformers.PreTrainedTokenizerBase): The tokenizer.
        transformer (transformers.PreTrainedModel): The transformer; its weights are shared.
        pooling (str): "mean", "cls" or "max".
        max_length (int): Texts are truncated to this many tokens, including special tokens, or to
            the maximum of the tokenizer and the transformer.
        prefix (str): What stands before each text.
        files (Optional[Dict[str, bytes]]): The configuration and the tokenizer as files, if known.
        """
        super().__init__()
        self.tokenizer = tokenizer
        self.transformer = transformer
        self.pooling = pooling
        self.prefix = prefix
        allowed = getattr(transformer.config, "max_position_embeddings", -1)
        # Some configurations use -1 for no limit.
        limits = (max_length, tokenizer.model_max_length, allowed)
        self.max_length = int(min(limit for limit in limits if limit > 0))
        self._files = _to_files(tokenizer, transformer) if files is None else files

    @property
    def width(self) -> int:
        """The width of the vectors.

        RETURNS (int): The number of components.
        """
        return self.transformer.config.hidden_size

    @property
    def is_faster_in_half(self) -> bool:
        """Whether its device computes faster in half precision.

        RETURNS (bool): False for processors that would only emulate it.
        """
        # The public function for this, `get_capabilities`, is newer than the oldest torch we allow.
        known = getattr(torch.cpu, "_is_avx512_bf16_supported", None)
        return self.transformer.device.type != "cpu" or (known is not None and known())

    def rows(self, texts: list[str]) -> list[list[int]]:
        """Tokenize texts.

        RETURNS (List[List[int]]): The token ids of each text, truncated.
        """
        if not texts:
            return []
        return self.tokenizer(
            [f"{self.prefix}{text}" for text in texts],
            truncation=True,
            max_length=self.max_length,
            return_attention_mask=False,
            return_token_type_ids=False,
        )["input_ids"]

    def collate(self, rows: list[list[int]]) -> dict[str, torch.Tensor]:
        """Pad token ids.

        RETURNS (Dict[str, torch.Tensor]): `input_ids`, int64, and `mask`, bool, both of shape
            (rows, longest row).
        """
        ids, mask = pad(rows, self.tokenizer.pad_token_id or 0)
        return {"input_ids": torch.from_numpy(ids), "mask": torch.from_numpy(mask)}

    def forward(self, input_ids: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        """Compute vectors.

        RETURNS (torch.Tensor): Shape (rows, width), float32, not normalized.
        """
        output = self.transformer(input_ids=input_ids, attention_mask=mask.long())
        return self._pool(output.last_hidden_state.float(), mask.unsqueeze(-1))

    def _pool(self, tokens: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        """Combine the token vectors (texts, tokens, width) of each text. Padding is at the end, and
        every text has at least one token.

        RETURNS (torch.Tensor): Shape (texts, width).
        """
        if self.pooling == "cls":
            return tokens[:, 0]
        if self.pooling == "max":
            return tokens.masked_fill(~mask, float("-inf")).amax(dim=1)
        weights = mask.to(tokens.dtype)
        return (tokens * weights).sum(dim=1) / weights.sum(dim=1)

    @torch.inference_mode()
    def predict(self, rows: list[list[int]], *, mixed_precision: bool) -> np.ndarray:
        """Compute vectors without gradients.

        rows (List[List[int]]): Token ids of at least one text.
        mixed_precision (bool): Whether to compute in half precision.
        RETURNS (np.ndarray): Shape (rows, width), float32, in main memory.
        """
        device = self.transformer.device
        inputs = {key: value.to(device) for key, value in self.collate(rows).items()}
        with torch.autocast(device.type, enabled=mixed_precision):
            return self(**inputs).float().cpu().numpy()

    def digest(self) -> str:
        """Compute a checksum of weights, tokenizer, configuration, pooling, length and prefix.

        RETURNS (str): 32 hexadecimal digits.
        """
        # The vectors of tokens do not depend on a pooler, which is random if a checkpoint lacks it.
        state = {
            name: tensor
            for name, tensor in self.transformer.state_dict().items()
            if not name.startswith("pooler.")
        }
        return digest_transformer(self._files, state, self._settings)

    @property
    def _settings(self) -> dict[str, Any]:
        return {"pooling": self.pooling, "max_length": self.max_length, "prefix": self.prefix}

    def contents(self) -> dict[str, Any]:
        """Collect everything that `restore_module` needs.

        RETURNS (Dict[str, Any]): Values by name.
        """
        state = {key: value.cpu().clone() for key, value in self.transformer.state_dict().items()}
        weights = safetensors.torch.save(state)
        return {**self._settings, "files": self._files, "weights": weights}

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
        srsly.write_json(folder / "modules.json", _MODULES)
        srsly.write_json(folder / "sentence_bert_config.json", length)
        (folder / "1_Pooling").mkdir()
        srsly.write_json(folder / "1_Pooling" / "config.json", pooling)
        srsly.write_json(folder / CARD, self._settings)


def restore_module(saved: Mapping[str, Any]) -> tuple[TransformerModule, str]:
    """Restore a transformer. The checksum is compared before anything is created from the files.

    saved (Mapping[str, Any]): The result of `TransformerModule.contents`, with a "digest".
    RETURNS (Tuple[TransformerModule, str]): The transformer and its checksum.
    RAISES (ConnormError): CN306 if the installed version of transformers can't read it, CN312 if it
        would run code.
    """
    files, state = saved["files"], safetensors.torch.load(saved["weights"])
    settings = {name: saved[name] for name in ("pooling", "max_length", "prefix")}
    digest = digest_transformer(files, state, settings)
    if saved["digest"] != digest or saved["pooling"] not in _POOLING_KEYS:
        raise ValueError("its checksum differs")
    with Errors.CN306.instead_of(Exception, path="the saved encoder"):
        tokenizer, transformer = _from_files(files, state)
    return TransformerModule(tokenizer, transformer, files=files, **settings), digest


def _to_files(tokenizer: Any, transformer: Any) -> dict[str, bytes]:
    config = transformer.config.to_diff_dict()
    # These depend on where and with which version it was loaded; they do not change vectors.
    for key in ("_name_or_path", "transformers_version"):
        config.pop(key, None)
    with TemporaryDirectory() as folder:
        tokenizer.save_pretrained(folder)
        files = {path.name: path.read_bytes() for path in Path(folder).iterdir() if path.is_file()}
    return {**files, CONFIG: json.dumps(config, sort_keys=True).encode()}


def _from_files(files: dict[str, bytes], state: dict[str, torch.Tensor]) -> tuple[Any, Any]:
    from transformers import AutoConfig, AutoModel, AutoTokenizer
    from transformers.modeling_utils import no_init_weights

    settings = json.loads(files[CONFIG])
    refuse_code_in_config(settings, source="the saved encoder")
    _require_possible(settings, tensors=len(state))
    # An encoder has no labels, but transformers would create names for any number of them.
    settings = {key: value for key, value in settings.items() if key not in _LABELS}
    files = {**files, CONFIG: json.dumps(settings).encode()}
    with TemporaryDirectory() as folder:
        for name, content in files.items():
            Path(folder, Path(name).name).write_bytes(content)
        config = AutoConfig.from_pretrained(folder, trust_remote_code=False)
        tokenizer = AutoTokenizer.from_pretrained(folder, trust_remote_code=False)
    # Initializing random weights, which are overwritten at once, would take longer than all else.
    with no_init_weights():
        transformer = AutoModel.from_config(config)
    drop_pooler(transformer)
    transformer.load_state_dict(state, assign=True)
    return tokenizer, transformer


def drop_pooler(transformer: Any) -> None:
    """Drop the pooler of a transformer that is the encoder's own: nothing depends on it.

    transformer (transformers.PreTrainedModel): The transformer.
    """
    if hasattr(transformer, "pooler"):
        transformer.pooler = torch.nn.Identity()


def _require_possible(settings: Any, *, tensors: int) -> None:
    """Refuse more layers than there are weights for: building them could take forever."""
    if not isinstance(settings, dict):
        return
    for name, value in settings.items():
        if isinstance(value, int) and value > tensors and _REPEATED.search(name):
            reason = f"its configuration has {name} = {value}, but it has {tensors} tensors"
            raise ValueError(reason)
        _require_possible(value, tensors=tensors)


def digest_transformer(
    files: Mapping[str, bytes], state: Mapping[str, torch.Tensor], settings: Mapping[str, Any]
) -> str:
    """Compute a checksum of everything that changes vectors.

    files (Mapping[str, bytes]): The configuration and the tokenizer.
    state (Mapping[str, torch.Tensor]): The weights.
    settings (Mapping[str, Any]): `pooling`, `max_length` and `prefix`, see `TransformerModule`.
    RETURNS (str): 32 hexadecimal digits.
    """
    content = hashlib.blake2b(digest_size=16)
    for name in sorted(files):
        content.update(f"{name} {len(files[name])}\n".encode())
        content.update(files[name])
    for name in sorted(state):
        tensor = state[name].detach().cpu().contiguous()
        content.update(f"{name} {tensor.dtype} {tuple(tensor.shape)}\n".encode())
        content.update(tensor.view(-1).view(torch.uint8).numpy().data)
    whole = content.hexdigest() + "{pooling} {max_length}{prefix}".format(**settings)
    return hashlib.blake2b(whole.encode(), digest_size=16).hexdigest()
