"""A transformer in ONNX Runtime as an encoder, fast on a CPU and without PyTorch."""

from array import array
from collections.abc import Iterator, Mapping
from copy import copy
from dataclasses import asdict
from typing import Any, Literal

import numpy as np
from thinc.api import Model
from thinc.types import Floats2d

from ...errors import Errors, refuse, require_choice, require_installed, require_range
from ...lang import load_language
from ...lang.language import KNOWN_LANGUAGES
from ..pretrained import MINILM, fetch_folder
from ..protocol import make_encoder
from ..shims import PretrainedShim
from ..storage import CONFIG, TOKENIZER, TOKENIZER_CONFIG, WEIGHTS, read_card, require_settings
from ..tokens import FEWEST_TOKENS, batches_by_length, pad, tokenize, tokenize_without_threads
from .model import PRECISIONS, OnnxModel, OnnxSettings

# The tokens encoded at once, including padding: their activations stay in a processor's cache.
_BATCH_TOKENS = 256
# More function words would hardly move the mean of a language.
_FUNCTION_WORDS = 100


def OnnxEncoder(
    *,
    name: str = MINILM,
    pooling: Literal["mean", "cls", "max"] | None = None,
    max_length: int | None = None,
    prefix: str | None = None,
    neutral_languages: list[str] | None = None,
    precision: Literal["int8", "fp32"] = "int8",
) -> Model[list[str], Floats2d]:
    """Build an encoder from a pretrained transformer of BERT's or RoBERTa's architecture, as an
    ONNX graph: in eight bits, or in full precision. `initialize` writes the graph from the weights,
    in about a second and without torch or transformers; it is saved with the model, which then
    needs neither the weights nor the library onnx.

    A text's vector does not depend on the other texts in its batch (up to float32 rounding): in
    eight bits, each token has its own scale. It uses OMP_NUM_THREADS threads, by default one per
    core, and one in a worker of `nlp.pipe(n_process=2)`.

    name (str): A folder, such as `connorm train` writes, or a name on the Hugging Face hub.
        all-MiniLM-L6-v2 is taken from its package if installed.
    pooling (Optional[Literal["mean", "cls", "max"]]): How token vectors are pooled. If None, as the
        folder was trained by `connorm train`, or else "mean".
    max_length (Optional[int]): Texts are truncated to this many tokens, including special tokens,
        or to the maximum of the transformer if that is lower. If None, as the folder was trained,
        or else 64.
    prefix (Optional[str]): What stands before each text, as in `TransformerEncoder.v1`.
    neutral_languages (Optional[List[str]]): The codes of languages that vectors do not tell apart,
        so that a text is near its translation; others gain nearly as much. If None, as is known of
        the transformer (`encoders/cards.toml`), or else none.
    precision (Literal["int8", "fp32"]): The precision of linear layers and embeddings.
    RETURNS (Model[List[str], Floats2d]): The encoder.
    RAISES (ConnormError): CN126 if an optional library is not installed, CN006 for a length that
        leaves no room for text and for a language without function words, CN118 for an unknown
        precision.
    """
    require_range(least=FEWEST_TOKENS, max_length=max_length)
    for language in neutral_languages or ():
        if not load_language(language).words.stop_words:
            refuse("neutral_languages", language, f"among {', '.join(KNOWN_LANGUAGES)}")
    require_choice("precision", precision, PRECISIONS)
    require_installed("OnnxEncoder", "onnx", "onnxruntime", "tokenizers")
    asked = {
        "pooling": pooling,
        "max_length": max_length,
        "prefix": prefix,
        "neutral_languages": neutral_languages,
        "precision": precision,
    }
    return make_encoder("onnx_encoder", OnnxShim(name, asked=asked))


class OnnxShim(PretrainedShim):
    """Holds a transformer as a graph, and its tokenizer."""

    extra = "onnx"
    _tokenizer: Any = None
    _session: Any = None

    def read(self) -> OnnxModel:
        """Write the graph of the transformer; see `read_bert` and `without_languages`.

        RETURNS (OnnxModel): The graph and its tokenizer.
        RAISES (ConnormError): The errors of `fetch_folder` and `read_bert`, CN126 if a library is
            not installed.
        """
        doing = f"Reading the weights of '{self.name}'"
        require_installed(doing, "minilm", "onnx", "safetensors")
        from .bert import read_bert

        files = (CONFIG, TOKENIZER, TOKENIZER_CONFIG, WEIGHTS)
        folder = fetch_folder(self.name, files)
        model = read_bert(folder, **read_card(self.name, folder, self._asked))
        languages = model.settings.neutral_languages
        if not languages:
            return model
        from .languages import without_languages

        shim = copy(self)
        shim.hold(model, "")
        return without_languages(
            model, [shim.encode(shim.inputs(words)) for words in map(_function_words, languages)]
        )

    def hold(self, model: OnnxModel | None, digest: str) -> None:
        """Keep a graph, its tokenizer and a session."""
        super().hold(model, digest)
        self._tokenizer = self._session = None
        if model is not None:
            from tokenizers import Tokenizer

            from .session import GraphSession

            tokenize_without_threads()
            self._tokenizer = Tokenizer.from_str(model.tokenizer)
            self._session = GraphSession(model.graph)

    def inputs(self, texts: list[str]) -> list[bytes]:
        """Tokenize texts, with the same result as `TransformerEncoder`.

        RETURNS (List[bytes]): The token ids of each text, truncated.
        """
        prefix = self._model.settings.prefix
        rows = tokenize(self._tokenizer, [f"{prefix}{text}" for text in texts])
        return [array("i", row).tobytes() for row in rows]

    def batches(self, inputs: list[bytes]) -> Iterator[np.ndarray]:
        """Group texts of similar length into batches. A text without tokens is in no batch.

        YIELDS (Ints1d): The texts of each batch.
        """
        lengths = np.asarray([len(key) for key in inputs], dtype="int64") // array("i").itemsize
        read = np.flatnonzero(lengths)
        for part in batches_by_length(lengths[read], _BATCH_TOKENS):
            yield read[part]

    def encode_batch(self, inputs: list[bytes]) -> np.ndarray:
        """Compute vectors from token ids.

        RETURNS (np.ndarray): Shape (inputs, width), float32.
        RAISES (ConnormError): CN333 if ONNX Runtime can't run the graph, CN305 if it computes
            anything but vectors.
        """
        rows = [array("i", key).tolist() for key in inputs]
        vectors = self._session.run(*pad(rows, self._model.settings.padding))
        if vectors.shape != (len(rows), self.width):
            reason = f"it computes {vectors.shape} values, not {(len(rows), self.width)}"
            raise Errors.CN305(reason=reason)
        return vectors

    def contents(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        """Collect the settings, the tokenizer and the graph.

        RETURNS (Tuple): Values for msgpack, and arrays.
        """
        model = self._model
        settings = asdict(model.settings)
        return {"settings": settings, "tokenizer": model.tokenizer, "graph": model.graph}, {}

    def restored(
        self, saved: Mapping[str, Any], arrays: dict[str, np.ndarray]
    ) -> tuple[OnnxModel, str]:
        """Restore a graph with its saved settings.

        RETURNS (Tuple): The graph with its tokenizer, and its checksum.
        RAISES (ConnormError): CN322 if the config has other settings.
        """
        model = OnnxModel(OnnxSettings(**saved["settings"]), saved["tokenizer"], saved["graph"])
        model.check()
        require_settings("the saved pipeline", saved["settings"], self._asked)
        return model, model.digest()


def _function_words(language: str) -> list[str]:
    words = sorted(load_language(language).words.stop_words)
    return words[:: max(1, len(words) // _FUNCTION_WORDS)]
