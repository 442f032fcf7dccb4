"""The shim behind `TransformerEncoder`. Imports torch and transformers: import it in functions."""

import hashlib
import json
import os
import re
from array import array
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from textwrap import shorten
from typing import Any, cast

import safetensors.torch
import srsly
import torch
from spacy_transformers.data_classes import HFObjects
from spacy_transformers.layers.hf_shim import HFShim
from thinc.api import Ops, get_torch_default_device
from thinc.types import Floats2d
from thinc.util import torch2xp
from transformers import AutoConfig, AutoModel, AutoTokenizer
from transformers.modeling_utils import no_init_weights

from ..errors import ConnormError, Errors
from .forks import tokenize_without_threads
from .hf_module import TransformerModule
from .pretrained import is_part_of_transformers, load_pretrained
from .remote_code import refuse_code_in_config
from .tokenizer_forms import TokenizerForms
from .verified import load_verified

tokenize_without_threads()
# The threads of torch do not survive a fork either: a worker of `nlp.pipe(n_process=2)` that used
# them would hang.
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=lambda: torch.set_num_threads(1))


# Settings of a transformer that say how often a part of it is repeated.
_REPEATED = re.compile("layers?$|experts$")
_LABELS = ("num_labels", "id2label", "label2id")


@dataclass(frozen=True, slots=True)
class TransformerSettings:
    """As `TransformerEncoder` takes them."""

    name: str
    pooling: str
    max_length: int
    batch_size: int
    tokenizer_config: dict[str, Any]
    transformer_config: dict[str, Any]


class TransformerShim(HFShim):
    """Holds a transformer and its tokenizer. Unlike its base class it saves them without pickle,
    verifies them when loading, and computes no gradients.
    """

    sparse = False
    fits = False
    extra = "transformers"

    def __init__(self, settings: TransformerSettings, *, mixed_precision: bool = False) -> None:
        """settings (TransformerSettings): The settings.
        mixed_precision (bool): Whether to compute in half precision where possible.
        """
        # The base class modifies `grad_scaler_config`, so it gets its own dict.
        super().__init__(
            HFObjects(None, None, None),
            mixed_precision=mixed_precision,
            grad_scaler_config={"enabled": False},
        )
        self.settings = settings
        self._files: dict[str, bytes] = {}
        self._digest = ""
        self._forms: TokenizerForms | None = None

    @property
    def width(self) -> int:
        """RETURNS (int): The width of the vectors; 0 before weights are loaded."""
        return 0 if self._model is None else self._model.config.hidden_size

    def load(self, texts: list[str] | None) -> None:
        """Load pretrained weights, unless weights are loaded.

        texts (Optional[List[str]]): Not used.
        RAISES (ConnormError): As `load_pretrained`.
        """
        if self._model is not None:
            return
        tokenizer, transformer = load_pretrained(
            self.settings.name,
            tokenizer_config=self.settings.tokenizer_config,
            transformer_config=self.settings.transformer_config,
        )
        _drop_pooler(transformer)
        files = _to_files(tokenizer, transformer)
        self._set(tokenizer, transformer, files, _digest(files, transformer.state_dict()))

    def encode(self, inputs: list[bytes], ops: Ops) -> Floats2d:
        """RETURNS (Floats2d): Shape (inputs, width), float32.
        RAISES (ConnormError): CN308 if vectors are not finite, CN316 if the transformer fails.
        """
        ids = [array("i", each).tolist() for each in inputs]
        vectors = torch.zeros(len(ids), self.width, device=self.device)
        # A text without tokens keeps the zero vector; some tokenizers add no special tokens.
        order = sorted((i for i, row in enumerate(ids) if row), key=lambda i: len(ids[i]))
        for start in range(0, len(order), self.settings.batch_size):
            batch = order[start : start + self.settings.batch_size]
            with self._failures():
                vectors[batch] = self._pool([ids[i] for i in batch])
        if not torch.isfinite(vectors).all():
            raise ConnormError(Errors.CN308.format(name=self.settings.name))
        return cast(Floats2d, torch2xp(vectors, ops=ops))

    def inputs(self, texts: list[str]) -> list[bytes]:
        """RETURNS (List[bytes]): The token ids after truncation.
        RAISES (ConnormError): CN316 if the tokenizer fails.
        """
        with self._failures():
            return [array("i", row).tobytes() for row in self._module.rows(texts)]

    def forms(self, texts: list[str]) -> list[str]:
        """RETURNS (List[str]): The normalized texts; the texts themselves with a slow tokenizer."""
        return texts if self._forms is None else self._forms(texts)

    def fingerprint(self) -> str:
        """RETURNS (str): A checksum of weights, tokenizer, and the settings that change vectors."""
        content = hashlib.blake2b(self._digest.encode(), digest_size=16)
        content.update(f"{self.settings.pooling} {self._max_length}".encode())
        if self._mixed_precision:  # indexes that were built in full precision keep theirs
            content.update(b" mixed_precision")
        return content.hexdigest()

    def trainable(self) -> TransformerModule:
        """RETURNS (TransformerModule): A torch module that shares the weights."""
        return self._module

    @torch.inference_mode()
    def _pool(self, rows: list[list[int]]) -> torch.Tensor:
        inputs = self._module.collate(rows)
        with torch.autocast(self.device.type, enabled=self._mixed_precision):
            return self._module(**{key: value.to(self.device) for key, value in inputs.items()})

    def to_bytes(self) -> bytes:
        """RETURNS (bytes): Weights as safetensors, the configuration and tokenizer files, and a
        checksum; empty before weights are loaded.
        RAISES (ConnormError): CN315 if it needs code that came with the model.
        """
        if self._model is None:
            return b""
        if not all(map(is_part_of_transformers, (self._hfmodel.tokenizer, self._model))):
            raise ConnormError(Errors.CN315.format(name=self.settings.name))
        state = {key: value.cpu().clone() for key, value in self._model.state_dict().items()}
        return srsly.msgpack_dumps(
            {
                "files": self._files,
                "fast": self._hfmodel.tokenizer.is_fast,
                "weights": safetensors.torch.save(state),
                "digest": self._digest,
            }
        )

    def from_bytes(self, bytes_data: bytes) -> "TransformerShim":
        """Restore what `to_bytes` saved, on thinc's current default device.

        bytes_data (bytes): From `to_bytes`.
        RETURNS (TransformerShim): This shim.
        RAISES (ConnormError): CN305 if the data is damaged, CN306 if the installed version of
            transformers can't read it, CN312 if it would run code.
        """
        if not bytes_data:
            self._hfmodel, self._model = HFObjects(None, None, None), None
            return self
        (files, state, fast), digest = load_verified(bytes_data, _restore)
        try:
            tokenizer, transformer = _from_files(files, state, fast=fast)
        except ConnormError:
            raise
        except Exception as error:
            source = "the saved encoder"
            raise ConnormError(Errors.CN306.format(path=source, reason=error)) from error
        self._set(tokenizer, transformer, files, digest)
        return self

    def _set(self, tokenizer: Any, transformer: Any, files: dict[str, bytes], digest: str) -> None:
        self._hfmodel = HFObjects(tokenizer, transformer, None)
        self._model = transformer.to(get_torch_default_device()).eval()
        self._files, self._digest = files, digest
        self._forms = TokenizerForms(tokenizer.backend_tokenizer) if tokenizer.is_fast else None

    @contextmanager
    def _failures(self) -> Iterator[None]:
        try:
            yield
        except (KeyboardInterrupt, SystemExit, ConnormError):
            raise
        # The library tokenizers raises BaseException if it fails within.
        except BaseException as error:
            reason = shorten(str(error), width=200)
            raise ConnormError(
                Errors.CN316.format(name=self.settings.name, reason=reason)
            ) from error

    @property
    def _max_length(self) -> int:
        limits = (
            self.settings.max_length,
            self._hfmodel.tokenizer.model_max_length,
            getattr(self._model.config, "max_position_embeddings", -1),
        )
        # Some configurations say -1 for no limit.
        with self._failures():
            return int(min(limit for limit in limits if limit > 0))

    @property
    def _module(self) -> TransformerModule:
        return TransformerModule(
            self._hfmodel.tokenizer,
            self._model,
            pooling=self.settings.pooling,
            max_length=self._max_length,
        )


def _restore(saved: dict[str, Any]) -> tuple[tuple[dict, dict, bool], str]:
    files, state = saved["files"], safetensors.torch.load(saved["weights"])
    return (files, state, saved["fast"]), _digest(files, state)


def _to_files(tokenizer: Any, transformer: Any) -> dict[str, bytes]:
    config = transformer.config.to_diff_dict()
    # These depend on where and with what it was loaded; they do not change vectors.
    for key in ("_name_or_path", "transformers_version"):
        config.pop(key, None)
    with TemporaryDirectory() as folder:
        tokenizer.save_pretrained(folder)
        files = {path.name: path.read_bytes() for path in Path(folder).iterdir() if path.is_file()}
    return {**files, "config.json": json.dumps(config, sort_keys=True).encode()}


def _from_files(
    files: dict[str, bytes], state: dict[str, torch.Tensor], *, fast: bool
) -> tuple[Any, Any]:
    settings = json.loads(files["config.json"])
    refuse_code_in_config(settings, source="the saved encoder")
    _require_possible(settings, tensors=len(state))
    # An encoder has no labels, and transformers would make names for as many as it says.
    settings = {key: value for key, value in settings.items() if key not in _LABELS}
    files = {**files, "config.json": json.dumps(settings).encode()}
    with TemporaryDirectory() as folder:
        for name, content in files.items():
            Path(folder, Path(name).name).write_bytes(content)
        config = AutoConfig.from_pretrained(folder, trust_remote_code=False)
        tokenizer = AutoTokenizer.from_pretrained(folder, use_fast=fast, trust_remote_code=False)
    dtype = next(tensor.dtype for tensor in state.values() if tensor.is_floating_point())
    # Initializing random weights, to be overwritten at once, would take longer than all the rest.
    with no_init_weights():
        transformer = AutoModel.from_config(config, torch_dtype=dtype)
    _drop_pooler(transformer)
    transformer.load_state_dict(state, assign=True)
    return tokenizer, transformer


def _require_possible(settings: Any, *, tensors: int) -> None:
    """Refuse more layers than there are weights for: building them could take for ever."""
    if not isinstance(settings, dict):
        return
    for name, value in settings.items():
        if isinstance(value, int) and value > tensors and _REPEATED.search(name):
            raise ValueError(
                f"its configuration has {name} = {value}, but it has {tensors} tensors"
            )
        _require_possible(value, tensors=tensors)


def _drop_pooler(transformer: Any) -> None:
    # The token vectors do not depend on it, and it is random if the checkpoint lacks it.
    if hasattr(transformer, "pooler"):
        transformer.pooler = torch.nn.Identity()


def _digest(files: dict[str, bytes], state: dict[str, torch.Tensor]) -> str:
    content = hashlib.blake2b(digest_size=16)
    for name in sorted(files):
        content.update(f"{name} {len(files[name])}\n".encode())
        content.update(files[name])
    for name in sorted(state):
        tensor = state[name].detach().cpu().contiguous()
        content.update(f"{name} {tensor.dtype} {tuple(tensor.shape)}\n".encode())
        content.update(tensor.view(-1).view(torch.uint8).numpy().data)
    return content.hexdigest()
