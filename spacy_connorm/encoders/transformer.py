"""Any Hugging Face transformer as an encoder."""

from array import array
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from itertools import groupby
from textwrap import shorten
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from thinc.api import Model, get_torch_default_device
from thinc.types import Floats2d

from ..errors import ConnormError, Errors, require_installed, require_range
from .pretrained import MINILM, find_folder, load_pretrained
from .protocol import make_encoder
from .shims import PretrainedShim
from .storage import digest_parts, read_card, require_settings
from .tokens import FEWEST_TOKENS, tokenize_without_threads

if TYPE_CHECKING:
    from .transformer_module import TransformerModule


def TransformerEncoder(
    *,
    name: str = MINILM,
    pooling: Literal["mean", "cls", "max"] | None = None,
    max_length: int | None = None,
    prefix: str | None = None,
    batch_size: int = 128,
    mixed_precision: bool = False,
) -> Model[list[str], Floats2d]:
    """Build an encoder from a pretrained transformer. `initialize` loads it; its weights, tokenizer
    and configuration are saved with the model.

    name (str): A name on the Hugging Face hub, or a folder. all-MiniLM-L6-v2 is taken from its
        package if installed.
    pooling (Optional[Literal["mean", "cls", "max"]]): How token vectors are pooled. If None, as the
        folder was trained by `connorm train`, or else "mean".
    max_length (Optional[int]): Texts are truncated to this many tokens, including special tokens,
        or to the maximum of the transformer if that is lower. If None, as the folder was trained,
        or else 64.
    prefix (Optional[str]): What stands before each text: "query: " for the E5 family. If None, as
        the transformer was trained, where that is known (`encoders/cards.toml`), or else nothing.
    batch_size (int): Texts per batch.
    mixed_precision (bool): Whether to use half precision where it is faster: on a GPU, and on
        processors with AVX512-BF16.
    RETURNS (Model[List[str], Floats2d]): The encoder.
    RAISES (ConnormError): CN126 if an optional library is not installed, CN006 for an empty batch
        or a length that leaves no room for text.
    """
    require_range(least=FEWEST_TOKENS, max_length=max_length)
    require_range(least=1, batch_size=batch_size)
    require_installed("TransformerEncoder", "transformers", "torch", "transformers")
    asked = {"pooling": pooling, "max_length": max_length, "prefix": prefix}
    shim = TransformerShim(
        name, asked=asked, batch_size=batch_size, mixed_precision=mixed_precision
    )
    return make_encoder("transformer_encoder", shim)


class TransformerShim(PretrainedShim):
    """Holds a transformer, its tokenizer and its pooling, on thinc's default device."""

    extra = "transformers"

    def __init__(
        self, name: str, *, asked: dict[str, Any], batch_size: int, mixed_precision: bool
    ) -> None:
        """Store the settings.

        name (str): The `name` of `TransformerEncoder`.
        asked (Dict[str, Any]): `pooling`, `max_length` and `prefix`; None for those not given.
        batch_size (int): Texts to encode at once.
        mixed_precision (bool): Whether to compute in half precision where it is faster.
        """
        super().__init__(name, asked=asked, batch_size=batch_size)
        self._mixed_precision = mixed_precision

    def read(self) -> "TransformerModule":
        """Load the pretrained transformer; see `load_pretrained`.

        RETURNS (TransformerModule): The transformer, its tokenizer and its pooling.
        RAISES (ConnormError): The errors of `load_pretrained`.
        """
        from .transformer_module import TransformerModule, drop_pooler

        tokenizer, transformer = load_pretrained(self.name)
        drop_pooler(transformer)
        card = read_card(self.name, find_folder(self.name), self._asked)
        with self._failures():
            return TransformerModule(tokenizer, transformer, **card)

    def hold(self, model: "TransformerModule | None", digest: str) -> None:
        """Keep a transformer, on thinc's current default device."""
        super().hold(model, digest)
        if model is not None:
            tokenize_without_threads()
            model.to(get_torch_default_device()).eval()

    def inputs(self, texts: list[str]) -> list[bytes]:
        """Tokenize texts.

        RETURNS (List[bytes]): The token ids of each text, truncated.
        RAISES (ConnormError): CN306 if the tokenizer fails.
        """
        with self._failures():
            return [array("i", row).tobytes() for row in self._model.rows(texts)]

    def batches(self, inputs: list[bytes]) -> Iterator[list[int]]:
        """Group texts of similar length into batches. A text without tokens is in no batch, since
        some tokenizers add no special tokens.

        YIELDS (List[int]): The texts of each batch; in half precision, they have the same length,
            since padding would change their vectors.
        """

        def length(text: int) -> int:
            return len(inputs[text])

        order = sorted((text for text, key in enumerate(inputs) if key), key=length)
        parts = [list(same) for _, same in groupby(order, length)] if self._in_half else [order]
        for part in parts:
            for start in range(0, len(part), self.batch_size):
                yield part[start : start + self.batch_size]

    def encode_batch(self, inputs: list[bytes]) -> np.ndarray:
        """Compute vectors from token ids.

        RETURNS (np.ndarray): Shape (inputs, width), float32.
        RAISES (ConnormError): CN306 if the transformer fails.
        """
        with self._failures():
            rows = [array("i", key).tolist() for key in inputs]
            return self._model.predict(rows, mixed_precision=self._in_half)

    def fingerprint(self) -> str:
        """Compute a checksum of weights, tokenizer, and the settings that change vectors.

        RETURNS (str): See `fingerprint`.
        """
        if self._mixed_precision:
            return digest_parts(self._digest, "mixed_precision")
        return self._digest

    def trainable(self) -> "TransformerModule":
        """Return the torch module itself.

        RETURNS (TransformerModule): The module to train.
        """
        return self._model

    def contents(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        """Collect pooling, length and prefix, the configuration and tokenizer files, and weights as
        safetensors.

        RETURNS (Tuple): Values for msgpack, and arrays.
        """
        return self._model.contents(), {}

    def restored(
        self, saved: Mapping[str, Any], arrays: dict[str, np.ndarray]
    ) -> "tuple[TransformerModule, str]":
        """Restore a transformer with its saved settings.

        RETURNS (Tuple): The transformer and its checksum.
        RAISES (ConnormError): CN305 if the data is damaged, CN306 if the installed version of
            transformers can't read it, CN312 if it would run code, CN322 if the config has other
            settings.
        """
        from .transformer_module import restore_module

        restored = restore_module(saved)
        require_settings("the saved pipeline", saved, self._asked)
        return restored

    @property
    def _in_half(self) -> bool:
        return self._mixed_precision and self._model.is_faster_in_half

    @contextmanager
    def _failures(self) -> Iterator[None]:
        try:
            yield
        except (KeyboardInterrupt, SystemExit, ConnormError):
            raise
        # The library tokenizers raises BaseException if it fails internally.
        except BaseException as error:
            reason = f"it can't encode texts ({shorten(str(error), width=200)})"
            raise Errors.CN306(path=self.name, reason=reason) from error
