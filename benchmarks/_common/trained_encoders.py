"""Encoders trained from a config, once, and kept in the work folder."""

import sys
from contextlib import redirect_stdout
from hashlib import sha256
from pathlib import Path
from typing import Any

from thinc.api import Config

from _common.cli import chosen_gpu
from _common.datasets import Data
from _common.word_vectors import train_word_vectors
from spacy_connorm.documents.docbin import write_docs
from spacy_connorm.files.configs import read_config
from spacy_connorm.training import TrainingResult, train
from spacy_connorm.training.checkpoints import last_checkpoint, work_folder

TRAINS = ("O", "OD")
# The file that `spacy connorm train` writes beside the weights.
CONFIG = "training.cfg"


def train_once(config_path: Path, data: Data, *, on: str, work: Path) -> dict[str, Any]:
    """Train an encoder, unless an earlier run trained the same config on the same data. An
    interrupted training is resumed. The part to score is neither trained on nor used to choose an
    epoch: the last epoch is taken.

    config_path (Path): A training config. Its ontology and corpora are replaced, and so are word
        vectors that are not there.
    data (Data): The data set.
    on (str): One of `TRAINS`: its O, or its O and D.
    work (Path): Keeps the encoder.
    RETURNS (Dict[str, Any]): The encoder's block of a pipeline's config.
    RAISES (ConnormError): As `spacy_connorm.train`.
    """
    data_digest = data.digest(with_data=on == "OD")
    given = Config().from_disk(config_path, interpolate=False)
    text = given.to_str()
    key = sha256(f"{text}\n{data_digest}".encode()).hexdigest()[:16]
    folder = work / f"{config_path.stem}-{key}"
    if not folder.is_dir():
        ontology, corpus = (work / f"data-{data_digest[:16]}{end}" for end in (".jsonl", ".spacy"))
        data.ontology.to_disk(ontology)
        if on == "OD":
            write_docs(data.docs, corpus)
        overrides: dict[str, Any] = {
            "data.ontology": str(ontology),
            "data.corpora": [str(corpus)] if on == "OD" else [],
            "data.dev": [],
            "training.arguments.eval_strategy": "no",
        }
        vectors = given.get("paths", {}).get("vectors")
        if vectors is not None and not Path(vectors).exists():
            overrides["paths.vectors"] = str(train_word_vectors(data.folder, work))
        config = read_config(config_path, overrides)
        train_or_resume(config, folder)
    return read_block(folder)


def train_or_resume(config: Config, folder: Path) -> TrainingResult:
    """RETURNS (TrainingResult): An encoder trained into a folder, from where an earlier run stopped
    if one did.
    """
    resume = last_checkpoint(work_folder(folder)) is not None
    with redirect_stdout(sys.stderr):
        return train(config, folder, gpu_id=chosen_gpu(), resume=resume)


def keep_config(config: Config, stem: str, work: Path) -> Path:
    """Write a config under a name of its own, so that runs beside each other do not write over it.

    config (Config): The config.
    stem (str): How the file's name starts.
    work (Path): Where to.
    RETURNS (Path): The file.
    """
    digest = sha256(config.to_str().encode()).hexdigest()[:8]
    path = work / f"{stem}-{digest}.cfg"
    config.to_disk(path, interpolate=False)
    return path


def training_facts(block: dict[str, Any]) -> dict[str, Any]:
    """Tell what an encoder was trained with.

    block (Dict[str, Any]): The encoder's block of a pipeline's config.
    RETURNS (Dict[str, Any]): "objective", its registered name; "data_share", |D| / |O| in an epoch,
        "once" if each text of D was drawn once, None if it was trained on O alone; "interpolation",
        the share of the trained weights in the final ones. All None if no config of a training is
        beside the encoder.
    """
    folder = block.get("name")
    if folder is None or not (Path(folder) / CONFIG).is_file():
        return dict.fromkeys(("objective", "data_share", "interpolation"))
    config = Config().from_disk(Path(folder) / CONFIG)
    training, data = config["training"], config["data"]
    share = data.get("data_share")
    drawn = "once" if share is None else f"{share:.3g}"
    return {
        "objective": training["objective"]["@losses"].rpartition("spacy-connorm.")[2],
        "data_share": drawn if data.get("corpora") else None,
        "interpolation": float(training.get("interpolation", 1)),
    }


def read_block(folder: Path) -> dict[str, Any]:
    """RETURNS (Dict[str, Any]): The block of an encoder that `spacy connorm train` wrote, with the
    pooling and length it was trained with.
    """
    config = Config().from_disk(folder / CONFIG, interpolate=False)
    return {**config["encoder"], "name": str(folder)}
