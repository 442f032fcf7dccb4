"""The folder beside a trained encoder that keeps checkpoints and logs until training ends."""

import json
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from textwrap import shorten
from typing import Any

from thinc.api import Config

from ..errors import ConnormError, Errors
from ..files.atomic import atomic_file
from ..files.text import sha256

CONFIG = "training.cfg"
_DEV = "dev.sha256"
_PREFIX = "checkpoint-"
# The trainer writes this file last.
STATE = "trainer_state.json"


def work_folder(output_path: Path) -> Path:
    """Find the folder of an encoder in training.

    RETURNS (Path): Where the checkpoints of an encoder in training are kept.
    """
    output_path = output_path.resolve()
    return output_path.with_name(f"{output_path.name}.checkpoints")


def start_work(folder: Path, config: Config) -> None:
    """Make the folder for a new training, and keep the config in it.

    folder (Path): From `work_folder`.
    config (Config): The training config.
    RAISES (ConnormError): CN714 if an interrupted training is there, CN705 if something else is.
    """
    if last_checkpoint(folder) is not None:
        raise ConnormError(Errors.CN714.format(path=folder))
    if folder.exists() and any(folder.iterdir()) and not (folder / CONFIG).is_file():
        raise ConnormError(Errors.CN705.format(path=folder))
    shutil.rmtree(folder, ignore_errors=True)
    with atomic_file(folder / CONFIG) as aside:
        aside.write_text(config.to_str(), encoding="utf8")


def require_same_config(folder: Path, config: Config) -> None:
    """Check that an interrupted training was started with the same config.

    folder (Path): From `work_folder`.
    config (Config): The training config.
    RAISES (ConnormError): CN822 if no training was started there, CN828 for another config.
    """
    started_with = folder / CONFIG
    if not started_with.is_file():
        raise ConnormError(Errors.CN822.format(path=folder))
    if started_with.read_text(encoding="utf8") != config.to_str():
        raise ConnormError(Errors.CN828.format(path=folder, what="config"))


def keep_dev(folder: Path, paths: Sequence[str]) -> None:
    """Keep the checksums of the dev data of a new training.

    folder (Path): From `work_folder`.
    paths (Sequence[str]): The files.
    """
    with atomic_file(folder / _DEV) as aside:
        aside.write_text(_digests(paths), encoding="utf8")


def require_same_dev(folder: Path, paths: Sequence[str]) -> None:
    """Check that an interrupted training was scored on the same dev data: scores on others do not
    compare, so none of them would tell the best epoch.

    folder (Path): From `work_folder`.
    paths (Sequence[str]): The files.
    RAISES (ConnormError): CN828 if they have changed.
    """
    kept = folder / _DEV
    # Missing if the training ended before its first step.
    if kept.is_file() and kept.read_text(encoding="utf8") != _digests(paths):
        raise ConnormError(Errors.CN828.format(path=folder, what="dev corpus"))


def remove_work(folder: Path) -> None:
    """Remove the folder, once the encoder is written.

    folder (Path): From `work_folder`.
    """
    # Renamed first: half a folder would look like an interrupted training.
    removed = folder.with_name(f".{folder.name}.removed")
    shutil.rmtree(removed, ignore_errors=True)
    folder.rename(removed)
    shutil.rmtree(removed)


def last_checkpoint(folder: Path) -> Path | None:
    """Find the newest complete checkpoint.

    folder (Path): The folder of the checkpoints.
    RETURNS (Optional[Path]): The checkpoint; None if there is none.
    """
    numbers = (path.name.removeprefix(_PREFIX) for path in folder.glob(f"{_PREFIX}*"))
    newest_first = sorted((int(each) for each in numbers if each.isdigit()), reverse=True)
    found = (folder / f"{_PREFIX}{number}" for number in newest_first)
    return next((path for path in found if _read_state(path) is not None), None)


def is_finished(checkpoint: Path) -> bool:
    """Check whether training ended with a checkpoint.

    RETURNS (bool): Whether training ended with this checkpoint: all steps were taken, or
    patience ran out.
    """
    state = _read_state(checkpoint) or {}
    control = state.get("stateful_callbacks", {}).get("TrainerControl", {})
    return control.get("args", {}).get("should_training_stop", False)


def kept_checkpoint(checkpoint: Path) -> Path:
    """Find the checkpoint with the best encoder up to one.

    RETURNS (Path): The checkpoint with the best encoder up to this one; this one without dev
    scores.
    """
    best = (_read_state(checkpoint) or {}).get("best_global_step")
    return checkpoint.with_name(f"{_PREFIX}{best}") if best else checkpoint


@contextmanager
def checkpoint_errors(checkpoint: str | Path | None) -> Iterator[None]:
    """Report damaged files. The trainer reads pickles with `weights_only`, so they run no code.

    checkpoint (Optional[Union[str, Path]]): The checkpoint, if one is read.
    RAISES (ConnormError): CN829.
    """
    try:
        yield
    # Each library that reads a part of it has errors of its own.
    except Exception as error:
        reason = shorten(str(error), width=200)
        raise ConnormError(Errors.CN829.format(path=checkpoint, reason=reason)) from error


def _digests(paths: Sequence[str]) -> str:
    return "".join(f"{sha256(Path(path))}\n" for path in paths)


def _read_state(checkpoint: Path) -> dict[str, Any] | None:
    try:
        return json.loads((checkpoint / STATE).read_text(encoding="utf8"))
    except (OSError, ValueError):
        return None
