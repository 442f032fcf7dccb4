"""The encoders of `grounding.py` and `similarity.py`: word vectors, and what is trained on them."""

from collections.abc import Callable, Sequence
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import srsly
from spacy.tokens import Doc

from _common.builders import load_encoder
from _common.cli import clear_errors
from _common.datasets import blank_english
from _common.synonym_sets import Split, flat, places_of, set_files
from _common.trained_encoders import train_or_resume
from _common.word_vectors import train_word_vectors
from spacy_connorm.concepts import Concept, Ontology
from spacy_connorm.documents.docbin import write_docs
from spacy_connorm.encoders import encode, fingerprint
from spacy_connorm.encoders.grounded.words import read_word_table
from spacy_connorm.files.configs import read_config

VARIANTS = ("vectors", "cca", "dan", "cca-dan")
BNE = "bne"
CONFIG = Path(__file__).parents[2] / "assets" / "grounded.cfg"
_FACTS = "grounding.json"
# From texts to vectors, float32 (texts, width).
Encode = Callable[[Sequence[str]], np.ndarray]


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

    encode (Callable): From texts to vectors, float32 (texts, width).
    epochs (Optional[float]): After how many epochs it was kept; None if nothing was trained.
    seconds (Optional[int]): How long the training took.
    """

    encode: Encode
    epochs: float | None = None
    seconds: int | None = None


def word_vector_block(data: Path, work: Path) -> dict[str, Any]:
    """RETURNS (Dict[str, Any]): The block of the mean of word vectors, which are trained once."""
    path = train_word_vectors(data, work)
    return {"@architectures": "spacy-connorm.WordVectorEncoder.v1", "name": str(path)}


def grounded_encoder(
    variant: str, name: str, split: Split, *, size: Size, seed: int, data: Path, work: Path
) -> GroundedEncoder:
    """Make an encoder, unless an earlier run did.

    variant (str): One of `VARIANTS`, or "bne", the paper's reference, whose LSTM is the hidden
        layer.
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
        return GroundedEncoder(partial(encode, load_encoder(words)))
    recipe = CONFIG if variant != BNE else Path(__file__).with_name("bne.py")
    digest = sha256(f"{variant} {size} {seed} {words['name']}".encode())
    for path in (recipe, *set_files(name, data)):
        digest.update(path.read_bytes())
    folder = work / f"{variant}-{name}-{digest.hexdigest()[:16]}"
    facts = folder / _FACTS
    if variant == BNE:
        from _common.bne import load_bne, train_bne

        table = read_word_table(words["name"])
        if not facts.is_file():
            srsly.write_json(facts, train_bne(split, table, folder, size, seed=seed))
        return GroundedEncoder(load_bne(folder, table, units=size.hidden).encode, **_read(facts))
    with clear_errors():
        if not folder.is_dir():
            if variant == "cca":
                _fit_cca(words, split, folder)
            else:
                _train(variant, split, folder, words, size=size, seed=seed)
    block = {"@architectures": "spacy-connorm.GroundedDanEncoder.v1", "name": str(folder)}
    encoder = load_encoder({**block, "input": words})
    return GroundedEncoder(partial(encode, encoder), **_read(facts))


def _read(facts: Path) -> dict[str, Any]:
    return srsly.read_json(facts) if facts.is_file() else {}


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
    trained = train_or_resume(config, folder).trained
    facts = {"epochs": (trained.best or {}).get("epoch"), "seconds": round(trained.seconds)}
    srsly.write_json(folder / _FACTS, facts)


def _document(name: str, concept: str) -> Doc:
    doc = blank_english()(name)
    doc.ents = [doc.char_span(0, len(doc.text), label="NAME", kb_id=concept)]
    return doc
