"""The README.md of a trained encoder: what it is, and all that is needed to train it again."""

import json
import platform
from collections.abc import Mapping, Sequence
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, Any, NamedTuple

from thinc.api import Config

from ..index.metrics import COSINE, Metric

if TYPE_CHECKING:
    from .trainer import Trained

_LIBRARIES = (
    *("spacy-connorm", "spacy", "torch", "transformers", "accelerate"),
    *("pytorch-metric-learning", "peft", "numpy"),
)

# What an index of inner products needs besides; see CN421.
_BY_INNER_PRODUCTS = {
    "rewriting_weight": 0,
    "extra_words_weight": 0,
    "split_composites": False,
    "index": {"@misc": "spacy-connorm.ExactIndex.v1", "metric": "dot"},
    "sieve": {"@misc": "spacy-connorm.Sieve.v1", "searches": ["OD-T"], "thresholds": []},
}


class CardFacts(NamedTuple):
    """The contents of a model card.

    encoder (Dict[str, Any]): The config block of the encoder that training started from.
    search (Dict[str, Any]): The config block of the encoder to search with.
    metric (str): How an index must compare its vectors, "cosine" or "dot".
    config (str): The whole config.
    sources (Sequence[Tuple[str, str]]): The training data, label and value: files with their
        SHA-256, licences, counts.
    trained (Trained): The result of the training.
    """

    encoder: dict[str, Any]
    search: dict[str, Any]
    metric: Metric
    config: str
    sources: Sequence[tuple[str, str]]
    trained: "Trained"


def make_card(facts: CardFacts) -> str:
    """RETURNS (str): The model card: Markdown with front matter for the Hugging Face hub."""
    base = facts.encoder.get("name")
    parts = [
        _front_matter(base),
        f"# Concept encoder, trained with spacy_connorm from {base or 'random vectors'}",
        "It maps mentions and names of concepts into one vector space. Use its folder as the "
        f"`name` of `{facts.encoder['@architectures']}` in a `concept_normalizer`.",
        *([_section("How to search with it", _search(facts))] if facts.trained.learned else []),
        _section("What it learned from", _table(facts.sources)),
        _section("Dev scores of the epoch that was kept", _scores(facts.trained.best)),
        _section("Training", _table(_training(facts.trained))),
        _section("Config", _fence("ini", facts.config)),
        _section("Arguments of the trainer", _fence("json", _to_json(facts.trained.arguments))),
        _section("Log", _fence("json", "\n".join(map(json.dumps, facts.trained.history)))),
        _section("Versions", _table(_versions())),
    ]
    return "\n\n".join(parts) + "\n"


def _front_matter(base: str | None) -> str:
    lines = ["---", "tags: [concept-normalization, entity-linking, spacy-connorm]"]
    lines.append("pipeline_tag: sentence-similarity")
    if base:
        lines.append(f"base_model: {json.dumps(base)}")
    return "\n".join([*lines, "---"])


def _search(facts: CardFacts) -> str:
    told = "It was trained to rank together with n-grams, with the weight that was learned for them"
    settings: dict[str, Any] = {"encoder": facts.search}
    if facts.metric != COSINE:
        told += ", and by inner products, which go together with no other search or weight"
        settings |= _BY_INNER_PRODUCTS
    block = Config({"components": {"concept_normalizer": settings}})
    return f"{told}:\n\n{_fence('ini', block.to_str())}"


def _training(trained: "Trained") -> list[tuple[str, str]]:
    steps = max((each.get("step", 0) for each in trained.history), default=0)
    losses = [each["loss"] for each in trained.history if "loss" in each]
    rows = [
        ("Duration", f"{trained.seconds:,.0f} s"),
        ("Hardware", trained.hardware),
        ("Steps", f"{steps:,}"),
        ("Weights that were trained", f"{trained.trained_share:.1%}"),
        *(
            (f"Learned beside them: `{name}`", f"{value:.4g}")
            for name, value in trained.learned.items()
        ),
    ]
    return rows + (
        [("Loss, first and last logged", f"{losses[0]}, {losses[-1]}")] if losses else []
    )


def _scores(best: Mapping[str, float] | None) -> str:
    if best is None:
        return "No dev score was taken: the last epoch was kept."
    return _table(
        [(key.removeprefix("eval_"), str(value)) for key, value in best.items() if key != "step"]
    )


def _versions() -> list[tuple[str, str]]:
    found = [("Python", platform.python_version())]
    for name in _LIBRARIES:
        try:
            found.append((name, version(name)))
        except PackageNotFoundError:
            continue
    return found


def _to_json(arguments: Mapping[str, Any]) -> str:
    return json.dumps(arguments, indent=2, sort_keys=True, default=str)


def _section(title: str, content: str) -> str:
    return f"## {title}\n\n{content}"


def _table(rows: Sequence[tuple[str, str]]) -> str:
    lines = ["| | |", "|---|---|"]
    lines += [f"| {label} | {value.replace('|', '/')} |" for label, value in rows]
    return "\n".join(lines)


def _fence(language: str, content: str) -> str:
    return f"```{language}\n{content.strip()}\n```"
