"""`connorm models`: build, score and pack the pipelines of a table."""

from typing import Any

from wasabi import msg

from ..evaluation.report import to_table
from ..workflows import BuiltModel, build_models
from .app import command
from .options import options_of

_SHOWN = ("model", "concepts", "names", "wheel_mb", "load_s", "corpus", "document_f1", "lenient@1")


@command("models")
@options_of(build_models, flags={"json_path": "--json"}, hidden=("on_built",))
def models_cli(**given: Any) -> None:
    """Build, score and pack the pipelines of a table.

    Each package has a model card, README.md: what the ontology is, whose, the settings, the scores
    with the commands that give them, and what it is not for.

    Example: connorm models assets/models.toml packages --data ../shared/data

    Example: connorm models assets/models.toml packages --names en_connorm_hpo_sm
    """
    build_models(**given, on_built=_show)


def _show(built: BuiltModel) -> None:
    msg.good(f"Built {built.wheel}")
    print(to_table([{key: row.get(key) for key in _SHOWN} for row in built.rows]))
