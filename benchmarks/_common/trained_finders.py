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


def train_finder_once(config_path: Path, data: Data, names: Language, *, work: Path) -> Path:
    """Train an NER on the train part, unless an earlier run trained the same config on the same
    data. The dev part chooses the epoch, so scores of dev are a bit too good.

    config_path (Path): A training config such as `assets/ner-tok2vec.cfg`. Its paths are replaced.
    data (Data): The data set, of any part.
    names (Language): A pipeline with a concept normalizer, whose D is empty.
    work (Path): Keeps the pipeline.
    RETURNS (Path): The pipeline with the best NER, and with this normalizer.
    """
    parts = Data(data.name, data.folder, ontology=data.other_ontology, part="dev")
    config = Config().from_disk(config_path, interpolate=False)
    content = [config.to_str(), parts.digest(with_data=True), parts.digest_of_scored()]
    folder = work / f"{config_path.stem}-{sha256(' '.join(content).encode()).hexdigest()[:16]}"
    if not (folder / "done").is_dir():
        paths: dict[str, Any] = {
            "paths.train": _write(parts.docs, folder / "train.spacy"),
            "paths.dev": _write(parts.scored_docs, folder / "dev.spacy"),
            "paths.index": str(save_pipeline(names, folder / "index")),
        }
        if "transformer" in config["paths"]:
            paths["paths.transformer"] = str(save_encoder(_MINILM, folder / "encoder").path)
        with redirect_stdout(sys.stderr):
            train(config_path, folder / "ner", overrides=paths)
        save_pipeline(folder / "ner" / "model-best", folder / "done")
    return folder / "done"


def _write(docs: Sequence[Doc], path: Path) -> str:
    write_docs((set_label(doc.copy(), _LABEL) for doc in docs), path)
    return str(path)
