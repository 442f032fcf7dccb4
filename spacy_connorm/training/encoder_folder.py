"""The folder of a trained encoder: weights, model card, config and logs."""

import json
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

from spacy.util import registry
from thinc.api import Config

from ..files.folders import read_object, replaced
from .model_card import CardFacts, make_card
from .work_folder import CONFIG

if TYPE_CHECKING:
    from .trainer import Trained

_CARD, _ENCODER_CONFIG, _LEARNED = "README.md", "config.json", "learned.json"
# Encoded once, to see that what was written can be used.
PROBE = "heart attack"


def is_encoder(folder: Path) -> bool:
    """RETURNS (bool): Whether a folder holds a transformer or a DAN encoder."""
    return "model_type" in read_object(folder / _ENCODER_CONFIG)


def write_encoder(trained: "Trained", facts: CardFacts, config: Config, path: Path) -> None:
    """Write a trained encoder, whole or not at all, and check that it can be loaded.

    trained (Trained): What training gave.
    facts (CardFacts): For the model card.
    config (Config): The training config.
    path (Path): The folder to make or replace.
    RAISES (ConnormError): CN705 if something else is there, CN108 if it cannot be written, and the
        errors of loading it.
    """
    with replaced(path, is_ours=is_encoder) as folder:
        trained.module.save(folder)
        _require_loadable(config, folder)
        (folder / _CARD).write_text(make_card(facts), encoding="utf8")
        (folder / CONFIG).write_text(config.to_str(), encoding="utf8")
        if trained.learned:
            # The weight means nothing without the n-grams that it was learned with.
            learned = {**trained.learned, "lexical": facts.search["lexical"]}
            (folder / _LEARNED).write_text(json.dumps(learned) + "\n", encoding="utf8")
        if trained.logs.is_dir():
            shutil.copytree(trained.logs, folder / trained.logs.name)


def _require_loadable(config: Config, folder: Path) -> None:
    """Load what was written, as a pipeline will."""
    block = {**config["encoder"], "name": str(folder)}
    encoder = registry.resolve({"encoder": block})["encoder"]
    encoder.initialize()
    encoder.predict([PROBE])
