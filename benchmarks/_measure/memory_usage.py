"""Memory of processes, from /proc (Linux only).

RSS counts shared pages in full. PSS shares them out: a page of four processes counts as a quarter
for each.
"""

import re
from pathlib import Path

from _common.cli import fail


def require_proc() -> None:
    """End with a message where the system has no /proc to read memory from."""
    if not Path("/proc/self/smaps_rollup").is_file():
        fail("Linux only: memory is read from /proc/*/smaps_rollup.")


def total(pid: int) -> dict[str, float]:
    """RETURNS (Dict[str, float]): "rss" and "pss" of a process, in megabytes."""
    return _sizes(Path(f"/proc/{pid}/smaps_rollup").read_text())


def mapped(pid: int, folder: Path) -> dict[str, float]:
    """RETURNS (Dict[str, float]): The same, of the files below a folder that it has mapped."""
    maps = re.split(
        r"^(?=[0-9a-f]+-[0-9a-f]+ )", Path(f"/proc/{pid}/smaps").read_text(), flags=re.M
    )
    return _sizes("".join(region for region in maps if str(folder.resolve()) in region))


def _sizes(text: str) -> dict[str, float]:
    return {
        key.lower(): sum(map(int, re.findall(rf"^{key}: +(\d+) kB", text, flags=re.M))) / 1000
        for key in ("Rss", "Pss")
    }


def read_status(pid: int, key: str) -> int:
    """RETURNS (int): An entry of /proc/PID/status, e.g. "VmHWM" (the peak of RSS), in KiB."""
    status = Path(f"/proc/{pid}/status").read_text()
    found = re.search(rf"^{key}:\s+(\d+) kB$", status, flags=re.M)
    if found is None:
        fail(f"The system does not report {key} of a process.")
    return int(found[1])
