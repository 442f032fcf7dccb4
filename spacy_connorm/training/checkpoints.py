"""The folder beside a trained encoder that keeps checkpoints and logs until the training ends."""

import shutil
from collections.abc import Sequence
from pathlib import Path

from thinc.api import Config

from ..errors import Errors
from ..files.atomic import write_text
from ..files.folders import read_object
from ..files.text import sha256

CONFIG = "training.cfg"
_PREFIX = "checkpoint-"
# The trainer writes this file last.
STATE = "trainer_state.json"


def work_folder(output_path: Path) -> Path:
    """Choose the folder for the checkpoints of an encoder in training.

    RETURNS (Path): A folder beside the encoder.
    """
    output_path = output_path.resolve()
    return output_path.with_name(f"{output_path.name}.checkpoints")


def require_no_work(folder: Path) -> None:
    """Refuse to start a new training where another one was interrupted.

    folder (Path): The result of `work_folder`.
    RAISES (ConnormError): CN714 if it has an interrupted training, CN705 if it has something else.
    """
    if last_checkpoint(folder) is not None:
        raise Errors.CN714(path=folder)
    if folder.exists() and any(folder.iterdir()) and not (folder / CONFIG).is_file():
        raise Errors.CN705(path=folder)


def start_work(folder: Path, config: Config, dev: Sequence[str]) -> None:
    """Create the folder for a new training, and store its starting conditions.

    folder (Path): The result of `work_folder`. A training that wrote no checkpoint is removed.
    config (Config): The training config.
    dev (Sequence[str]): The files of the dev data.
    """
    shutil.rmtree(folder, ignore_errors=True)
    write_text(folder / CONFIG, "\n".join(_start(config, dev)))


def require_same_start(folder: Path, config: Config, dev: Sequence[str]) -> None:
    """Check that an interrupted training was started with the same config and dev data: scores on
    different data can't be compared to find the best epoch.

    folder (Path): The result of `work_folder`.
    config (Config): The training config.
    dev (Sequence[str]): The files of the dev data.
    RAISES (ConnormError): CN822 if no training was started there, CN828 if something has changed.
    """
    if not (folder / CONFIG).is_file():
        raise Errors.CN822(path=folder)
    stored = (folder / CONFIG).read_text(encoding="utf8").split("\n", maxsplit=1)
    for what, one, other in zip(("dev corpus", "config"), stored, _start(config, dev), strict=True):
        if one != other:
            raise Errors.CN828(path=folder, what=what)


def _start(config: Config, dev: Sequence[str]) -> tuple[str, str]:
    return f"# dev {' '.join(sha256(Path(path)) for path in dev)}", config.to_str()


def remove_work(folder: Path) -> None:
    """Remove the folder after the encoder is written.

    folder (Path): The result of `work_folder`.
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
    newest_first = sorted((int(number) for number in numbers if number.isdigit()), reverse=True)
    checkpoints = (folder / f"{_PREFIX}{number}" for number in newest_first)
    return next((path for path in checkpoints if read_object(path / STATE)), None)


def is_finished(checkpoint: Path) -> bool:
    """Check whether training ended with a checkpoint: all steps were taken, or patience ran out.

    RETURNS (bool): True if it did.
    """
    state = read_object(checkpoint / STATE)
    control = state.get("stateful_callbacks", {}).get("TrainerControl", {})
    return control.get("args", {}).get("should_training_stop", False)


def kept_checkpoint(checkpoint: Path) -> Path:
    """Find the checkpoint with the best encoder so far.

    RETURNS (Path): The best checkpoint up to the given one; the given one if there are no dev
        scores.
    """
    best = read_object(checkpoint / STATE).get("best_global_step")
    return checkpoint.with_name(f"{_PREFIX}{best}") if best else checkpoint
