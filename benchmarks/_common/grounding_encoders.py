"""The encoders of `grounding.py` and `similarity.py`: word vectors, and what is trained on them."""

import json
import sys
from contextlib import redirect_stdout
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

from spacy.tokens import Doc

from _common.builders import load_encoder
from _common.cli import clear_errors
from _common.datasets import blank_english
from _common.synonym_sets import Split, set_files
from _common.word_vectors import train_word_vectors
from spacy_connorm.concepts import Concept, Ontology
from spacy_connorm.encoders import fingerprint
from spacy_connorm.files.configs import read_config
from spacy_connorm.files.docbin import write_docs
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
    digest = sha256(f"{variant} {size} {seed} {words['name']}".encode())
    digest.update(CONFIG.read_bytes())
    for path in set_files(name, data):
        digest.update(path.read_bytes())
    folder = work / f"{variant}-{name}-{digest.hexdigest()[:16]}"
    block = {"@architectures": "spacy-connorm.GroundedDanEncoder.v1", "name": str(folder)}
    block["input"] = words
    with clear_errors():
        if variant == "cca":
            if not folder.is_dir():
                _fit_cca(words, split, folder)
            return GroundedEncoder(block)
        if not folder.is_dir():
            _train(variant, split, folder, words, size=size, seed=seed)
    facts = json.loads((folder / _FACTS).read_text(encoding="utf8"))
    return GroundedEncoder(block, **facts)


def _fit_cca(words: dict[str, Any], split: Split, folder: Path) -> None:
    from spacy_connorm.encoders.grounded_module import GroundedDanModule
    from spacy_connorm.encoders.grounded_weights import start_grounded_dan

    encoder = load_encoder(words)
    start = start_grounded_dan(
        width=encoder.get_dim("nO"),
        hidden=0,
        cca=True,
        input_fingerprint=fingerprint(encoder),
    )
    module = GroundedDanModule(start, encoder, dropout=0.0)
    names = [name for own in split.train.values() for name in own]
    module.fit(names, places_of(split.train))
    module.save(folder)


def places_of(names: dict[str, list[str]]) -> list[Any]:
    """RETURNS (List[Ints1d]): The places of each concept's names when all names are in one list."""
    import numpy as np

    ends = np.cumsum([len(own) for own in names.values()])
    return np.split(np.arange(ends[-1]), ends[:-1])


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
        },
    )
    resume = last_checkpoint(folder.with_name(f"{folder.name}.checkpoints")) is not None
    with redirect_stdout(sys.stderr):
        trained = train(config, folder, resume=resume).trained
    facts = {"epochs": (trained.best or {}).get("epoch"), "seconds": round(trained.seconds)}
    (folder / _FACTS).write_text(json.dumps(facts) + "\n", encoding="utf8")


def _document(name: str, concept: str) -> Doc:
    doc = blank_english()(name)
    doc.ents = [doc.char_span(0, len(doc.text), label="NAME", kb_id=concept)]
    return doc
