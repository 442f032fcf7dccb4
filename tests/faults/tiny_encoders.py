"""Encoders with random weights, made in no time and without torch."""

import json
from pathlib import Path

import numpy as np
from tokenizers import Tokenizer, models, pre_tokenizers

WORDS = ("[PAD]", "[UNK]", "acute", "late", "fever", "pain", "skin", "rash", "head", "number")
WIDTH = 16


def _tokenizer() -> str:
    vocabulary = {word: place for place, word in enumerate(WORDS)}
    letters = [*"abcdefghijklmnopqrstuvwxyz0123456789"]
    for piece in [*letters, *(f"##{letter}" for letter in letters)]:
        vocabulary[piece] = len(vocabulary)
    tokenizer = Tokenizer(models.WordPiece(vocabulary, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    return tokenizer.to_str()


def save_dan(folder: Path) -> None:
    """Write the folder of a deep averaging network."""
    from spacy_connorm.encoders.dan.network import Dan, DanSettings

    settings, tokenizer = DanSettings(buckets=512), _tokenizer()
    rows = len(json.loads(tokenizer)["model"]["vocab"]) + settings.buckets
    embeddings = np.random.default_rng(0).standard_normal((rows, WIDTH), "float32")
    Dan(settings, tokenizer, {"embeddings.weight": embeddings}).save(folder)


def save_bert(folder: Path) -> None:
    """Write the folder of a transformer with a single layer."""
    from safetensors.numpy import save_file

    tokenizer = _tokenizer()
    rows, inner, length = len(json.loads(tokenizer)["model"]["vocab"]), 2 * WIDTH, 16
    draw = np.random.default_rng(0)
    weights = {
        "embeddings.word_embeddings.weight": (rows, WIDTH),
        "embeddings.position_embeddings.weight": (length, WIDTH),
        "embeddings.token_type_embeddings.weight": (2, WIDTH),
    }
    layer = "encoder.layer.0"
    for name, shape in {
        **{f"attention.self.{part}": (WIDTH, WIDTH) for part in ("query", "key", "value")},
        "attention.output.dense": (WIDTH, WIDTH),
        "intermediate.dense": (inner, WIDTH),
        "output.dense": (WIDTH, inner),
    }.items():
        weights |= {f"{layer}.{name}.weight": shape, f"{layer}.{name}.bias": shape[:1]}
    for name in ("embeddings", f"{layer}.attention.output", f"{layer}.output"):
        for part in ("weight", "bias"):
            weights[f"{name}.LayerNorm.{part}"] = (WIDTH,)
    config = {
        "model_type": "bert",
        "num_hidden_layers": 1,
        "num_attention_heads": 2,
        "layer_norm_eps": 1e-12,
        "max_position_embeddings": length,
    }
    folder.mkdir()
    (folder / "config.json").write_text(json.dumps(config), encoding="utf8")
    (folder / "tokenizer.json").write_text(tokenizer, encoding="utf8")
    arrays = {name: draw.standard_normal(shape, "float32") for name, shape in weights.items()}
    save_file(arrays, folder / "model.safetensors")
