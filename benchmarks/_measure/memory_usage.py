"""What processes have in memory, from /proc.

PSS counts a page that four processes share as a quarter for each of them.
"""

import re
from pathlib import Path


def total(pid: int) -> dict[str, float]:
    """RETURNS (Dict[str, float]): Megabytes of a process: "rss", "pss"."""
    return _sizes(Path(f"/proc/{pid}/smaps_rollup").read_text())


def mapped(pid: int, folder: Path) -> dict[str, float]:
    """RETURNS (Dict[str, float]): The same of its mappings of files below a folder."""
    maps = re.split(
        r"^(?=[0-9a-f]+-[0-9a-f]+ )", Path(f"/proc/{pid}/smaps").read_text(), flags=re.M
    )
    return _sizes("".join(each for each in maps if str(folder.resolve()) in each))


def _sizes(text: str) -> dict[str, float]:
    return {
        key.lower(): sum(map(int, re.findall(rf"^{key}: +(\d+) kB", text, flags=re.M))) / 1000
        for key in ("Rss", "Pss")
    }
