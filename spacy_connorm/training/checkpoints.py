"""The checkpoints of an interrupted run."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from textwrap import shorten
from typing import Any

from ..errors import ConnormError, Errors

_PREFIX = "checkpoint-"
# The trainer writes this file last.
_STATE = "trainer_state.json"


def last_checkpoint(folder: Path) -> Path | None:
    """Find the newest complete checkpoint.

    folder (Path): The folder of the checkpoints.
    RETURNS (Optional[Path]): The checkpoint; None if there is none.
    """
    numbered = [
        (int(path.name.removeprefix(_PREFIX)), path)
        for path in folder.glob(f"{_PREFIX}*")
        if path.name.removeprefix(_PREFIX).isdigit()
    ]
    complete = [path for _, path in sorted(numbered) if _read_state(path) is not None]
    return complete[-1] if complete else None


def is_finished(checkpoint: Path) -> bool:
    """RETURNS (bool): Whether training ended with this checkpoint: all steps were taken, or
    patience ran out.
    """
    state = _read_state(checkpoint) or {}
    control = state.get("stateful_callbacks", {}).get("TrainerControl", {})
    return control.get("args", {}).get("should_training_stop", False)


def kept_checkpoint(checkpoint: Path) -> Path:
    """RETURNS (Path): The checkpoint with the best encoder up to this one; this one without dev
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
    # torch, pickle and safetensors each have their own.
    except Exception as error:
        reason = shorten(str(error), width=200)
        raise ConnormError(Errors.CN829.format(path=checkpoint, reason=reason)) from error


def _read_state(checkpoint: Path) -> dict[str, Any] | None:
    try:
        return json.loads((checkpoint / _STATE).read_text(encoding="utf8"))
    except (OSError, ValueError):
        return None
