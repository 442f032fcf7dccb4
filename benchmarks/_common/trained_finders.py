"""Pipelines whose NER is trained from a config, once, and kept in the work folder."""

import sys
from collections.abc import Sequence
from contextlib import redirect_stdout
from hashlib import sha256
from pathlib import Path
from typing import Any

from spacy.cli.train import train
from spacy.language import Language
from spacy.tokens import Doc
from thinc.api import Config

from _common.datasets import Data
from spacy_connorm.annotations.labels import set_label
from spacy_connorm.files.docbin import write_docs
from spacy_connorm.pipeline.saving import save_pipeline
from spacy_connorm.training import save_encoder

NERS = {
    name: Path(__file__).parents[2] / "assets" / f"ner-{name}.cfg"
    for name in ("tok2vec", "transformer")
}
_MINILM = "sentence-transformers/all-MiniLM-L6-v2"
_LABEL = "MENTION"
# How many documents training is scored on where these choose nothing.
_WATCHED = 10


def train_finder_once(
    config_path: Path, data: Data, names: Language, *, features: bool, work: Path
) -> Path:
    """Train an NER on D, unless an earlier run trained the same config on the same data. To score
    dev, it learns from train, and dev chooses the step: these scores are a bit too good. To score
    test, it learns from train and dev in as many passes, and the last step is taken.

    config_path (Path): A training config such as `assets/ner-tok2vec.cfg`. Its paths are replaced.
    data (Data): The data set and the part to score.
    names (Language): A pipeline with a concept normalizer, whose D is empty.
    features (bool): Whether the NER sees where names stand.
    work (Path): Keeps the pipeline.
    RETURNS (Path): The pipeline with the trained NER, and with this normalizer.
    """
    parts = Data(data.name, data.folder, ontology=data.other_ontology, part="dev")
    config = Config().from_disk(config_path, interpolate=False)
    scale = f"{_name_embed(config['components'], 'components')}.scale"
    overrides: dict[str, Any] = {} if features else {scale: 0.0}
    content = [config.to_str(), data.digest(with_data=True), parts.digest_of_scored(), *overrides]
    folder = work / f"{config_path.stem}-{sha256(' '.join(content).encode()).hexdigest()[:16]}"
    if not (folder / "done").is_dir():
        overrides["paths.train"] = _write(data.docs, folder / "train.spacy")
        overrides["paths.index"] = str(save_pipeline(names, folder / "index"))
        if "transformer" in config["paths"]:
            overrides["paths.transformer"] = str(save_encoder(_MINILM, folder / "encoder").path)
        chosen, steps = parts.scored_docs, config["training"]["max_steps"]
        if data.part == "test":
            chosen = chosen[:_WATCHED]
            overrides["training.max_steps"] = round(steps * len(data.docs) / len(parts.docs))
            overrides["training.patience"] = 0
        overrides["paths.dev"] = _write(chosen, folder / "dev.spacy")
        with redirect_stdout(sys.stderr):
            train(config_path, folder / "ner", overrides=overrides)
        name = "model-last" if data.part == "test" else "model-best"
        save_pipeline(folder / "ner" / name, folder / "done")
    return folder / "done"


def _name_embed(block: dict[str, Any], path: str) -> str:
    """RETURNS (str): The section of a config that makes names features; empty if there is none."""
    if block.get("@architectures") == "spacy-connorm.NameEmbed.v1":
        return path
    inner = ((each, f"{path}.{key}") for key, each in block.items() if isinstance(each, dict))
    return next(filter(None, (_name_embed(*each) for each in inner)), "")


def _write(docs: Sequence[Doc], path: Path) -> str:
    write_docs((set_label(doc.copy(), _LABEL) for doc in docs), path)
    return str(path)
