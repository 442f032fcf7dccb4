"""A deep averaging network as an encoder: fast on a CPU."""

from collections.abc import Sequence

from thinc.api import Model
from thinc.types import Floats2d

from ..errors import refuse, require_installed
from .dan_precision import PRECISIONS, Precision
from .model_packages import MINILM
from .ngram_range import LONGEST_NGRAM, is_ngram_range
from .protocol import make_encoder


def DanEncoder(
    *,
    name: str = MINILM,
    ngram_range: Sequence[int] | None = None,
    buckets: int | None = None,
    hidden: int | None = None,
    width: int | None = None,
    principal_components: int | None = None,
    lowercase: bool | None = None,
    max_length: int | None = None,
    dtype: Precision | None = None,
    dropout: float = 0.0,
    batch_size: int = 512,
) -> Model[list[str], Floats2d]:
    """Build a deep averaging network (Fivez et al. 2021, section 3.1, without CCA): the mean of the
    vectors of a text's word pieces and character n-grams, optionally with a hidden layer. It starts
    from the input embeddings of a transformer or from random ones; `python -m spacy connorm train`
    trains it. Encoding needs no torch.

    A setting of None means the value that the folder `name` was saved with, or else the default
    below. A folder that was saved with a different value is refused.

    name (str): A trained encoder's folder; or a transformer (a name on the Hugging Face hub, or a
        folder) to take the tokenizer and the input embeddings from. all-MiniLM-L6-v2 is taken from
        the extra `[minilm]` if installed.
    ngram_range (Optional[Sequence[int]]): The shortest and the longest n-gram, in characters (at
        most 100), of a word with a space on either side. Default: 3 and 4.
    buckets (Optional[int]): The number of vectors that n-grams are hashed to; 0 for no n-grams.
        Default: 65,536.
    hidden (Optional[int]): Units of the hidden ReLU layer; 0 for none. Default: 0.
    width (Optional[int]): The width of randomly initialized vectors. By default vectors are
        initialized from the transformer's, with their width.
    principal_components (Optional[int]): Start from so many principal components of the
        transformer's embeddings: narrower vectors are searched faster. Default: all.
    lowercase (Optional[bool]): Whether to lower-case texts first. Default: True.
    max_length (Optional[int]): Texts are cut after this many characters. Default: 512.
    dtype (Optional[str]): How the vectors of features are stored: "float32", "float16" or "int8"
        (a quarter of the size). Training computes in float32. A folder that was saved in float32
        can be loaded as any; the index must then be built with it. Default: float32.
    dropout (float): The share of a text's features dropped in each training step.
    batch_size (int): Texts per batch.
    RETURNS (Model[List[str], Floats2d]): The encoder.
    RAISES (ConnormError): CN006 for an invalid setting, CN126 if an optional library is not
        installed.
    """
    if ngram_range is not None and not is_ngram_range(ngram_range):
        refuse("ngram_range", ngram_range, f"two lengths from 1 to {LONGEST_NGRAM}, e.g. [3, 4]")
    for setting, value, least in (
        ("buckets", buckets, 0),
        ("hidden", hidden, 0),
        ("width", width, 1),
        ("principal_components", principal_components, 1),
        ("max_length", max_length, 1),
        ("batch_size", batch_size, 1),
    ):
        if value is not None and value < least:
            refuse(setting, value, f"at least {least}")
    if width is not None and principal_components is not None:
        refuse(
            "principal_components",
            principal_components,
            "none where `width` asks for random vectors",
        )
    if dtype not in (None, *PRECISIONS):
        refuse("dtype", dtype, f"one of {', '.join(PRECISIONS)}")
    if not 0 <= dropout < 1:
        refuse("dropout", dropout, "a share, from 0 to less than 1")
    require_installed("DanEncoder", "dan", "tokenizers", "safetensors")
    from .dan_shim import DanShim

    asked = {
        "ngram_range": None if ngram_range is None else list(ngram_range),
        "buckets": buckets,
        "hidden": hidden,
        "width": width,
        "principal_components": principal_components,
        "lowercase": lowercase,
        "max_length": max_length,
        "dtype": dtype,
    }
    shim = DanShim(name, asked=asked, dropout=dropout, batch_size=batch_size)
    return make_encoder("dan_encoder", shim)
