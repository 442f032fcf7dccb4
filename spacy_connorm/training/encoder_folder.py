"""The folder of a trained encoder: weights, model card, config and logs; and that of a pretrained
transformer.
"""

import json
import platform
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from spacy.util import registry
from thinc.api import Config

from ..encoders.transformer import TransformerEncoder
from ..files.atomic import require_apart
from ..files.folders import read_object, replaced
from ..files.package_data import installed_version, read_package_text
from ..index.search import COSINE, Metric
from ..pipeline.presets import NORMALIZER, preset_settings
from .checkpoints import CONFIG

if TYPE_CHECKING:
    from .trainer import Trained

_CARD, _ENCODER_CONFIG, _LEARNED = "README.md", "config.json", "learned.json"
# Encoded once, to check that the folder can be used.
PROBE = "heart attack"
_LIBRARIES = (
    "spacy-connorm",
    "spacy",
    "torch",
    "transformers",
    "accelerate",
    "pytorch-metric-learning",
    "peft",
    "numpy",
)


class CardFacts(NamedTuple):
    """Facts for the model card besides the result of the training.

    search (Dict[str, Any]): The config block of the encoder to use for searching.
    metric (str): How an index must compare its vectors, "cosine" or "dot".
    sources (Sequence[Tuple[str, str]]): The training data, label and value: files with their
        SHA-256, licences, counts.
    """

    search: dict[str, Any]
    metric: Metric
    sources: Sequence[tuple[str, str]]


def is_encoder(folder: Path) -> bool:
    """Check whether a folder holds a trained encoder.

    RETURNS (bool): True for a transformer or a DAN encoder.
    """
    return "model_type" in read_object(folder / _ENCODER_CONFIG)


def write_encoder(trained: "Trained", facts: CardFacts, config: Config, path: Path) -> None:
    """Write a trained encoder, completely or not at all, and check that it can be loaded.

    trained (Trained): The result of the training.
    facts (CardFacts): Facts for the model card.
    config (Config): The training config.
    path (Path): The folder to create or replace.
    RAISES (ConnormError): CN705 if something else is there, CN108 if it cannot be written, and the
        errors of loading it.
    """
    with replaced(path, is_ours=is_encoder) as folder:
        trained.module.save(folder)
        _require_loadable(config, folder)
        (folder / _CARD).write_text(make_card(trained, facts, config), encoding="utf8")
        (folder / CONFIG).write_text(config.to_str(), encoding="utf8")
        if trained.learned:
            # The weight is meaningless without the n-grams that it was learned with.
            learned = {**trained.learned, "lexical": facts.search["lexical"]}
            (folder / _LEARNED).write_text(json.dumps(learned) + "\n", encoding="utf8")
        if trained.logs.is_dir():
            shutil.copytree(trained.logs, folder / trained.logs.name)


def _require_loadable(config: Config, folder: Path) -> None:
    """Load the folder as a pipeline will."""
    block = {**config["encoder"], "name": str(folder)}
    encoder = registry.resolve({"encoder": block})["encoder"]
    encoder.initialize()
    encoder.predict([PROBE])


def make_card(trained: "Trained", facts: CardFacts, config: Config) -> str:
    """Write a model card: what the encoder is, and everything needed to train it again.

    trained (Trained): The result of the training.
    facts (CardFacts): Further facts.
    config (Config): The training config.
    RETURNS (str): Markdown with front matter for the Hugging Face hub.
    """
    base = config["encoder"].get("name")
    arguments = json.dumps(trained.arguments, indent=2, sort_keys=True, default=str)
    return read_package_text(__package__, "card.md").format(
        base_model=f"base_model: {json.dumps(base)}\n" if base else "",
        start=base or "random vectors",
        architecture=config["encoder"]["@architectures"],
        search=f"\n## How to search with it\n\n{_search(facts)}\n" if trained.learned else "",
        sources=_table(facts.sources),
        scores=_scores(trained.best),
        training=_table(_training(trained)),
        config=_fence("ini", config.to_str()),
        arguments=_fence("json", arguments),
        log=_fence("json", "\n".join(map(json.dumps, trained.history))),
        versions=_table(_versions()),
    )


def _search(facts: CardFacts) -> str:
    text = "It was trained to rank together with n-grams, with the weight that was learned for them"
    settings: dict[str, Any] = {"encoder": facts.search}
    if facts.metric != COSINE:
        text += ", and by inner products, which go together with no other search or weight"
        settings |= preset_settings(NORMALIZER, "inner_products")
    block = Config({"components": {"concept_normalizer": settings}})
    return f"{text}:\n\n{_fence('ini', block.to_str())}"


def _training(trained: "Trained") -> list[tuple[str, str]]:
    steps = max((entry.get("step", 0) for entry in trained.history), default=0)
    losses = [entry["loss"] for entry in trained.history if "loss" in entry]
    rows = [
        ("Duration", f"{trained.seconds:,.0f} s"),
        ("Hardware", trained.hardware),
        ("Steps", f"{steps:,}"),
        ("Weights that were trained", f"{trained.trained_share:.1%}"),
    ]
    for name, value in trained.learned.items():
        rows.append((f"Learned beside them: `{name}`", f"{value:.4g}"))
    if losses:
        rows.append(("Loss, first and last logged", f"{losses[0]}, {losses[-1]}"))
    return rows


def _scores(best: Mapping[str, float] | None) -> str:
    if best is None:
        return "No dev score was taken: the last epoch was kept."
    scores = ((key.removeprefix("eval_"), str(value)) for key, value in best.items())
    return _table([(key, value) for key, value in scores if key != "step"])


def _versions() -> list[tuple[str, str]]:
    rows = [("Python", platform.python_version())]
    return rows + [(name, found) for name in _LIBRARIES if (found := installed_version(name))]


def _table(rows: Sequence[tuple[str, str]]) -> str:
    lines = ["| | |", "|---|---|"]
    lines += [f"| {label} | {value.replace('|', '/')} |" for label, value in rows]
    return "\n".join(lines)


def _fence(language: str, content: str) -> str:
    return f"```{language}\n{content.strip()}\n```"


class SavedEncoder(NamedTuple):
    """A pretrained transformer that was saved.

    path (Path): Its folder, the `name` of a `TransformerEncoder.v1`.
    width (int): The width of its vectors.
    """

    path: Path
    width: int


def save_encoder(name: str | Path, output_path: str | Path) -> SavedEncoder:
    """Save a pretrained transformer and its tokenizer, and check that they can be used: `connorm
    encoder`.

    name (Union[str, Path]): A name on the Hugging Face hub, or a folder.
    output_path (Union[str, Path]): The folder to create or replace.
    RETURNS (SavedEncoder): The folder, and the width of the vectors.
    RAISES (ConnormError): CN121 if the output would replace the transformer, CN303, CN304 or
        CN306 if it cannot be loaded, CN308 if its vectors are not finite, CN705 if something else
        is at the path.
    """
    TransformerEncoder(name=str(name))  # raises if a library is missing, before importing any
    from ..encoders.pretrained import load_pretrained

    path = Path(output_path)
    require_apart(path, name)
    tokenizer, transformer = load_pretrained(str(name))
    with replaced(path, is_ours=is_encoder) as folder:
        tokenizer.save_pretrained(folder)
        transformer.save_pretrained(folder)
        encoder = TransformerEncoder(name=str(folder))
        encoder.initialize()
        width = encoder.predict([PROBE]).shape[1]
    return SavedEncoder(path, width)
