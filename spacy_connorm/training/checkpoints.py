"""Which checkpoint of an interrupted run is whole."""

import json
from pathlib import Path

_PREFIX = "checkpoint-"
# The trainer writes this one last.
_STATE = "trainer_state.json"


def last_checkpoint(folder: Path) -> Path | None:
    """Find the newest checkpoint that was written to its end.

    folder (Path): Where the trainer puts them.
    RETURNS (Optional[Path]): The checkpoint; None if there is none.
    """
    numbered = [
        (int(path.name.removeprefix(_PREFIX)), path)
        for path in folder.glob(f"{_PREFIX}*")
        if path.name.removeprefix(_PREFIX).isdigit()
    ]
    whole = [path for _, path in sorted(numbered) if _is_whole(path)]
    return whole[-1] if whole else None


def _is_whole(checkpoint: Path) -> bool:
    try:
        json.loads((checkpoint / _STATE).read_text(encoding="utf8"))
    except (OSError, ValueError):
        return False
    return True
