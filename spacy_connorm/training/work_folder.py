"""The folder beside a trained encoder that keeps checkpoints and logs until training ends."""

import shutil
from collections.abc import Sequence
from pathlib import Path

from thinc.api import Config

from ..errors import ConnormError, Errors
from ..files.atomic import atomic_file
from ..files.text import sha256
from .checkpoints import last_checkpoint

CONFIG = "training.cfg"
_DEV = "dev.sha256"


def work_folder(output_path: Path) -> Path:
    """RETURNS (Path): Where the checkpoints of an encoder in training are kept."""
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


def _digests(paths: Sequence[str]) -> str:
    return "".join(f"{sha256(Path(path))}\n" for path in paths)


def remove_work(folder: Path) -> None:
    """Remove the folder, once the encoder is written.

    folder (Path): From `work_folder`.
    """
    # Renamed first: half a folder would look like an interrupted training.
    removed = folder.with_name(f".{folder.name}.removed")
    shutil.rmtree(removed, ignore_errors=True)
    folder.rename(removed)
    shutil.rmtree(removed)
