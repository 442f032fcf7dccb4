"""Pipelines whose NER is trained from a config, once, and kept in the work folder."""

import sys
from collections.abc import Iterator, Sequence
from contextlib import redirect_stdout
from hashlib import sha256
from itertools import pairwise
from pathlib import Path
from typing import Any

from spacy.cli.train import train
from spacy.language import Language
from spacy.tokens import Doc
from spacy.util import import_file
from thinc.api import Config

from _common.datasets import Data
from spacy_connorm.documents.docbin import write_docs
from spacy_connorm.documents.mentions import set_label
from spacy_connorm.pipeline.saving import save_pipeline
from spacy_connorm.training import save_encoder

_ASSETS = Path(__file__).parents[2] / "assets"
NERS = {name: _ASSETS / f"ner-{name}.cfg" for name in ("tok2vec", "transformer")}
_MINILM = "sentence-transformers/all-MiniLM-L6-v2"
_LABEL = "MENTION"
# Articles of more tokens are learned paragraph by paragraph: an NER reads many short texts at once
# much faster than a long one.
_LONG = 2000
# How many documents training is scored on where these choose nothing.
_WATCHED = 10

# The layer of these configs, which the pipelines that are kept need, too.
import_file("name_embed", _ASSETS / "name_embed.py")


def train_finder_once(
    config_path: Path,
    data: Data,
    names: Language,
    *,
    work: Path,
    features: bool,
    start: Path | None = None,
    max_steps: int | None = None,
    learning_rate: float | None = None,
) -> Path:
    """Train an NER on D, unless an earlier run trained the same config on the same data. To score
    dev, it learns from train, and dev chooses the step: these scores are a bit too good. To score
    test, it learns from train and dev in as many passes, and the last step is taken.

    config_path (Path): A training config such as `assets/ner-tok2vec.cfg`. Its paths are replaced.
    data (Data): The data set and the part to score.
    names (Language): A pipeline with a concept normalizer, whose D is empty.
    work (Path): Keeps the pipeline.
    features (bool): Whether the NER sees where names stand.
    start (Optional[Path]): A pipeline whose NER is trained further.
    max_steps (Optional[int]): Of training; those of the config if None.
    learning_rate (Optional[float]): The initial one; that of the config if None.
    RETURNS (Path): The pipeline with the trained NER, and with this normalizer.
    """
    parts = Data(data.name, data.folder, ontology=data.other_ontology, part="dev")
    config = Config().from_disk(config_path, interpolate=False)
    overrides: dict[str, Any] = {}
    if not features and start is None:
        overrides[f"{_name_embed(config['components'], 'components')}.scale"] = 0.0
    if max_steps is not None:
        overrides["training.max_steps"] = max_steps
    if learning_rate is not None:
        rate = "training.optimizer.learn_rate"
        is_scheduled = isinstance(config["training"]["optimizer"]["learn_rate"], dict)
        overrides[f"{rate}.initial_rate" if is_scheduled else rate] = learning_rate
    if start is not None:
        for name in config["components"].keys() - {*config["training"]["frozen_components"]}:
            config["components"][name] = {"source": str(start)}
    content = [config.to_str(), data.digest(with_data=True), parts.digest_of_scored()]
    content += [f"{key}={value}" for key, value in overrides.items()]
    folder = work / f"{config_path.stem}-{sha256(' '.join(content).encode()).hexdigest()[:16]}"
    if not (folder / "done").is_dir():
        overrides["paths.train"] = _write(data.docs, folder / "train.spacy")
        overrides["paths.index"] = str(save_pipeline(names, folder / "index"))
        if "transformer" in config["paths"]:
            overrides["paths.transformer"] = str(save_encoder(_MINILM, folder / "encoder").path)
        chosen, steps = parts.scored_docs, config["training"]["max_steps"]
        if data.part == "test":
            chosen = chosen[:_WATCHED]
            passes = round(steps * len(data.docs) / len(parts.docs))
            overrides = {"training.max_steps": passes, "training.patience": 0, **overrides}
        overrides["paths.dev"] = _write(chosen, folder / "dev.spacy")
        config.to_disk(folder / "training.cfg")
        with redirect_stdout(sys.stderr):
            train(folder / "training.cfg", folder / "ner", overrides=overrides)
        name = "model-last" if data.part == "test" else "model-best"
        save_pipeline(folder / "ner" / name, folder / "done")
    return folder / "done"


def _name_embed(block: dict[str, Any], path: str) -> str:
    """RETURNS (str): The section of a config that makes names features; empty if there is none."""
    if block.get("@architectures") == "assets.NameEmbed.v1":
        return path
    inner = ((each, f"{path}.{key}") for key, each in block.items() if isinstance(each, dict))
    return next(filter(None, (_name_embed(*each) for each in inner)), "")


def _write(docs: Sequence[Doc], path: Path) -> str:
    texts = (part for doc in docs for part in (_paragraphs(doc) if len(doc) > _LONG else [doc]))
    write_docs((set_label(text.copy(), _LABEL) for text in texts), path)
    return str(path)


def _paragraphs(doc: Doc) -> Iterator[Doc]:
    """YIELDS (Doc): The paragraphs of an article with their entities."""
    ends = [token.i + 1 for token in doc if "\n" in token.text]
    for start, end in pairwise([0, *ends, len(doc)]):
        if start < end:
            yield doc[start:end].as_doc()
