"""A deep averaging network as an encoder: fast on a CPU."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from thinc.api import Model
from thinc.types import Floats2d

from ...errors import require_choice, require_installed, require_range
from ..ngram import require_ngram_range
from ..pretrained import MINILM
from ..protocol import make_encoder
from ..shims import PretrainedShim
from ..storage import DTYPES, require_settings
from .network import Dan, DanSettings, Precision, load_dan

if TYPE_CHECKING:
    from .module import DanModule


def DanEncoder(
    *,
    name: str = MINILM,
    ngram_range: Sequence[int] | None = None,
    buckets: int | None = None,
    principal_components: int | None = None,
    dtype: Precision | None = None,
    batch_size: int = 512,
) -> Model[list[str], Floats2d]:
    """Build a deep averaging network (Fivez et al. 2021, section 3.1, without CCA): the mean of the
    vectors of a text's word pieces and character n-grams, in lower case, up to 512 characters. It
    starts from the input embeddings of a transformer; `connorm train` trains it.
    Encoding does not need torch.

    If a setting is None, the value saved in the folder `name` is used, or else the default below. A
    folder or a pipeline that was saved with a different value is refused.

    name (str): A trained encoder's folder; or a transformer (a name on the Hugging Face hub, or a
        folder) whose tokenizer and input embeddings are used. all-MiniLM-L6-v2 is taken from its
        package if installed.
    ngram_range (Optional[Sequence[int]]): The shortest and the longest n-gram, in characters (at
        most 100), of a word with a space on either side. Default: 3 and 4.
    buckets (Optional[int]): The number of vectors that n-grams are hashed to; 0 for no n-grams.
        Default: 65,536.
    principal_components (Optional[int]): The number of principal components of the transformer's
        embeddings to start from: narrower vectors are searched faster. Default: all.
    dtype (Optional[str]): How the vectors of features are stored: "float32" or "int8" (a quarter of
        the size). Training computes in float32. A folder that was saved in float32 can be loaded as
        int8; the index must then be built with it. Default: float32.
    batch_size (int): Texts per batch.
    RETURNS (Model[List[str], Floats2d]): The encoder.
    RAISES (ConnormError): CN006 or CN118 for an invalid setting, CN126 if an optional library is
        not installed.
    """
    if ngram_range is not None:
        require_ngram_range(ngram_range)
    require_range(least=0, buckets=buckets)
    require_range(least=1, principal_components=principal_components, batch_size=batch_size)
    if dtype is not None:
        require_choice("dtype", dtype, DTYPES)
    require_installed("DanEncoder", "dan", "tokenizers", "safetensors")
    asked = {
        "ngram_range": None if ngram_range is None else list(ngram_range),
        "buckets": buckets,
        "principal_components": principal_components,
        "dtype": dtype,
    }
    shim = DanShim(name, asked=asked, batch_size=batch_size)
    return make_encoder("dan_encoder", shim)


class DanShim(PretrainedShim):
    """Holds a deep averaging network, and computes with NumPy."""

    extra = "dan"
    _reader: Any = None

    def read(self) -> Dan:
        """Load or initialize the network; see `load_dan`.

        RETURNS (Dan): The network.
        """
        return load_dan(self.name, self._asked).rounded(self._asked["dtype"])

    def hold(self, model: Dan | None, digest: str) -> None:
        """Keep a network and a reader for its features."""
        super().hold(model, digest)
        self._reader = None if model is None else model.reader()

    def inputs(self, texts: list[str]) -> list[bytes]:
        """Extract the features of texts.

        RETURNS (List[bytes]): The features of each text, ascending.
        """
        ids, bounds = self._reader.read(texts)
        raw = ids.tobytes()
        ends = (bounds * ids.itemsize).tolist()
        return [raw[start:end] for start, end in pairwise(ends)]

    def encode_batch(self, inputs: list[bytes]) -> np.ndarray:
        """Compute vectors from features.

        RETURNS (np.ndarray): Shape (inputs, width), float32. A text without features (word pieces
            or n-grams) gets the zero vector.
        """
        ids = np.frombuffer(b"".join(inputs), dtype=np.int32)
        counts = np.asarray([len(key) for key in inputs]) // ids.itemsize
        return self._model.vectors(ids, np.concatenate([[0], np.cumsum(counts)]))

    def trainable(self) -> "DanModule":
        """Create a torch module with the weights of `name`, before rounding if they are known.

        RETURNS (DanModule): The module to train.
        """
        from .module import DanModule

        dan = load_dan(self.name, self._asked).restored()
        return DanModule(dan, dtype=self._model.settings.dtype)

    def contents(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        """Collect the settings, the tokenizer and the weights.

        RETURNS (Tuple): Values for msgpack, and arrays.
        """
        dan = self._model
        return {"settings": asdict(dan.settings), "tokenizer": dan.tokenizer}, dan.weights

    def restored(self, saved: Mapping[str, Any], arrays: dict[str, np.ndarray]) -> tuple[Dan, str]:
        """Restore a network with its saved settings.

        RETURNS (Tuple): The network and its checksum.
        RAISES (ConnormError): CN322 if the config has other settings.
        """
        dan = Dan(DanSettings.read(saved["settings"]), saved["tokenizer"], arrays)
        require_settings("the saved pipeline", dan.facts(), self._asked)
        return dan, dan.digest()
