"""The encoders of `grounding.py` and `similarity.py`: word vectors, and what is trained on them."""

import json
import sys
from collections.abc import Callable, Sequence
from contextlib import redirect_stdout
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from spacy.tokens import Doc

from _common.builders import load_encoder
from _common.cli import chosen_gpu, clear_errors
from _common.datasets import blank_english
from _common.synonym_sets import Split, flat, places_of, set_files
from _common.word_vectors import train_word_vectors
from spacy_connorm.concepts import Concept, Ontology
from spacy_connorm.documents.docbin import write_docs
from spacy_connorm.encoders import fingerprint
from spacy_connorm.encoders.grounded.words import read_word_table
from spacy_connorm.files.configs import read_config
from spacy_connorm.training import train
from spacy_connorm.training.checkpoints import last_checkpoint

VARIANTS = ("vectors", "cca", "dan", "cca-dan")
CONFIG = Path(__file__).parents[2] / "assets" / "grounded.cfg"
_FACTS = "grounding.json"


class Size(NamedTuple):
    """How large a network is and how long it is trained, where that is less than the paper's.

    hidden (int): Units of the hidden layer.
    max_pairs (Optional[int]): Pairs of a concept in an epoch; all if None.
    epochs (int): At most how many.
    """

    hidden: int
    max_pairs: int | None
    epochs: int


class GroundedEncoder(NamedTuple):
    """An encoder and how it was trained.

    block (Dict[str, Any]): Its block of a pipeline's config.
    epochs (Optional[float]): After how many epochs it was kept; None if nothing was trained.
    seconds (Optional[int]): How long the training took.
    """

    block: dict[str, Any]
    epochs: float | None = None
    seconds: int | None = None


class ReferenceEncoder(NamedTuple):
    """BNE and how it was trained.

    encode (Callable): From texts to vectors, float32 (texts, width).
    epochs (float): After how many epochs it was kept.
    seconds (int): How long the training took.
    """

    encode: Callable[[Sequence[str]], np.ndarray]
    epochs: float
    seconds: int


def word_vector_block(data: Path, work: Path) -> dict[str, Any]:
    """RETURNS (Dict[str, Any]): The block of the mean of word vectors, which are trained once."""
    path = train_word_vectors(data, work)
    return {"@architectures": "spacy-connorm.WordVectorEncoder.v1", "name": str(path)}


def grounded_encoder(
    variant: str, name: str, split: Split, *, size: Size, seed: int, data: Path, work: Path
) -> GroundedEncoder:
    """Make an encoder, unless an earlier run did.

    variant (str): One of `VARIANTS`.
    name (str): The set of synonyms.
    split (Split): What to train on and to stop by.
    size (Size): Of the network and the training.
    seed (int): Of the split, and of the training.
    data (Path): The data folder.
    work (Path): Keeps the encoder.
    RETURNS (GroundedEncoder): The encoder.
    """
    words = word_vector_block(data, work)
    if variant == "vectors":
        return GroundedEncoder(words)
    recipe = f"{variant} {size} {seed} {words['name']}".encode() + CONFIG.read_bytes()
    folder = _folder(variant, name, recipe, data=data, work=work)
    block = {"@architectures": "spacy-connorm.GroundedDanEncoder.v1", "name": str(folder)}
    block["input"] = words
    with clear_errors():
        if variant == "cca":
            if not folder.is_dir():
                _fit_cca(words, split, folder)
            return GroundedEncoder(block)
        if not folder.is_dir():
            _train(variant, split, folder, words, size=size, seed=seed)
    return GroundedEncoder(block, **_read_facts(folder))


def reference_encoder(
    name: str, split: Split, *, size: Size, seed: int, data: Path, work: Path
) -> ReferenceEncoder:
    """Train BNE, the paper's reference, unless an earlier run did.

    name, split, size, seed, data, work: As for `grounded_encoder`; the hidden layer is the LSTM.
    RETURNS (ReferenceEncoder): The encoder.
    """
    from _common import bne

    words = word_vector_block(data, work)
    recipe = f"{size} {seed} {words['name']}".encode() + Path(bne.__file__).read_bytes()
    folder = _folder("bne", name, recipe, data=data, work=work)
    with clear_errors():
        table = read_word_table(words["name"])
        if not (folder / _FACTS).is_file():
            training = bne.Training(size.hidden, size.max_pairs, size.epochs, seed)
            _write_facts(folder, bne.train_bne(split, table, folder, training))
    module = bne.load_bne(folder, table, units=size.hidden)
    return ReferenceEncoder(module.encode, **_read_facts(folder))


def _folder(variant: str, name: str, recipe: bytes, *, data: Path, work: Path) -> Path:
    digest = sha256(recipe)
    for path in set_files(name, data):
        digest.update(path.read_bytes())
    return work / f"{variant}-{name}-{digest.hexdigest()[:16]}"


def _read_facts(folder: Path) -> dict[str, Any]:
    return json.loads((folder / _FACTS).read_text(encoding="utf8"))


def _write_facts(folder: Path, facts: dict[str, Any]) -> None:
    (folder / _FACTS).write_text(json.dumps(facts) + "\n", encoding="utf8")


def _fit_cca(words: dict[str, Any], split: Split, folder: Path) -> None:
    from spacy_connorm.encoders.grounded.module import GroundedDanModule
    from spacy_connorm.encoders.grounded.network import start_grounded_dan

    encoder = load_encoder(words)
    start = start_grounded_dan(
        width=encoder.get_dim("nO"),
        hidden=0,
        cca=True,
        input_fingerprint=fingerprint(encoder),
    )
    module = GroundedDanModule(start, encoder, dropout=0.0)
    module.fit(flat(split.train), places_of(split.train))
    module.save(folder)


def _train(
    variant: str, split: Split, folder: Path, words: dict[str, Any], *, size: Size, seed: int
) -> None:
    ontology, dev = (folder.with_name(f"{folder.name}{end}") for end in (".jsonl", ".spacy"))
    Ontology(
        Concept(concept, names[0], tuple(names[1:])) for concept, names in split.train.items()
    ).to_disk(ontology)
    write_docs(map(_document, *zip(*split.validation, strict=True)), dev)
    config = read_config(
        CONFIG,
        {
            "paths.ontology": str(ontology),
            "paths.vectors": words["name"],
            "encoder.hidden": size.hidden,
            "encoder.cca": variant == "cca-dan",
            "data.corpora": [],
            "data.dev": [str(dev)],
            "training.seed": seed,
            "training.batcher.max_pairs": size.max_pairs,
            "training.arguments.num_train_epochs": size.epochs,
            "training.arguments.bf16": True,
        },
    )
    resume = last_checkpoint(folder.with_name(f"{folder.name}.checkpoints")) is not None
    with redirect_stdout(sys.stderr):
        trained = train(config, folder, gpu_id=chosen_gpu(), resume=resume).trained
    _write_facts(
        folder, {"epochs": (trained.best or {}).get("epoch"), "seconds": round(trained.seconds)}
    )


def _document(name: str, concept: str) -> Doc:
    doc = blank_english()(name)
    doc.ents = [doc.char_span(0, len(doc.text), label="NAME", kb_id=concept)]
    return doc
