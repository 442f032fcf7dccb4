"""Checksums of files: of all bytes and, for large files, of sample blocks spread over the file, so
that gigabytes open as fast as megabytes.
"""

import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeAlias

from ..errors import ConnormError, Errors

_CHUNK = 1 << 22
# A core checks this much in a tenth of a second. Larger files are used after a sample was checked.
_LARGE = 1 << 28
# Files no larger than all blocks together have no sample.
_BLOCKS = 64
_BLOCK = 1 << 18
DIFFERS = "its checksum differs"

# Size in bytes, time of the last change in nanoseconds, and inode.
Stamp: TypeAlias = tuple[int, int, int]


def stamp(path: Path) -> Stamp:
    """RETURNS (Stamp): What changes if a file is rewritten or replaced."""
    status = path.stat()
    return status.st_size, status.st_mtime_ns, status.st_ino


def describe(path: Path) -> dict[str, Any]:
    """Compute the size and the checksums of a file.

    path (Path): The file.
    RETURNS (Dict[str, Any]): Its size in "bytes", the "crc32" of them and, if it is large, a
        "sample": the number of "blocks", the "bytes" per block, and the "crc32" of all blocks.
        JSON.
    """
    size = path.stat().st_size
    facts: dict[str, Any] = {"bytes": size, "crc32": _crc32(_chunks(path))}
    if size > _BLOCKS * _BLOCK:
        blocks = _blocks(path, size, count=_BLOCKS, length=_BLOCK)
        facts["sample"] = {"blocks": _BLOCKS, "bytes": _BLOCK, "crc32": _crc32(blocks)}
    return facts


def check_sample(path: Path, facts: dict[str, Any]) -> None:
    """Check every byte of a file up to 256 MiB, or the size and the sample of a larger one.

    path (Path): The file.
    facts (Dict[str, Any]): The result of `describe`.
    RAISES (ConnormError): CN402 if it is missing or different.
    """
    if not is_sampled(facts):
        check_whole(path, facts)
        return
    _check_size(path, facts)
    sample = facts["sample"]
    blocks = _blocks(path, facts["bytes"], count=sample["blocks"], length=sample["bytes"])
    _compare(path, _crc32(blocks), sample["crc32"])


def is_sampled(facts: dict[str, Any]) -> bool:
    """RETURNS (bool): Whether `check_sample` checks only a sample of the file."""
    return "sample" in facts and facts["bytes"] > _LARGE


def are_facts(value: Any) -> bool:
    """RETURNS (bool): Whether a value of a manifest could come from `describe`. A larger sample
    than the file would take for ever to read.
    """
    if not isinstance(value, dict) or not _are_counts(value, "bytes", "crc32"):
        return False
    sample = value.get("sample")
    if sample is None:
        return "sample" not in value
    return (
        isinstance(sample, dict)
        and _are_counts(sample, "blocks", "bytes", "crc32")
        and sample["blocks"] > 1
        and 0 < sample["blocks"] * sample["bytes"] <= value["bytes"]
    )


def _are_counts(facts: dict[str, Any], *names: str) -> bool:
    return all(type(facts.get(name)) is int and facts[name] >= 0 for name in names)


def check_whole(
    path: Path, facts: dict[str, Any], *, report: Callable[[int], Any] | None = None
) -> None:
    """Check every byte of a file.

    path (Path): The file.
    facts (Dict[str, Any]): The result of `describe`.
    report (Optional[Callable]): Called with the number of bytes read since its last call.
    RAISES (ConnormError): CN402 if it is missing or different.
    """
    _check_size(path, facts)
    _compare(path, _crc32(_chunks(path), report), facts["crc32"])


def require_plain_files(folder: Path) -> None:
    """RAISES (ConnormError): CN402 if a folder holds devices or pipes: whoever opens a pipe waits
    for ever.
    """
    for path in folder.rglob("*"):
        if not path.is_file() and not path.is_dir():
            raise damaged(path, "it is no file")


def damaged(path: Path, reason: object) -> ConnormError:
    """RETURNS (ConnormError): CN402 for a file or folder."""
    return ConnormError(Errors.CN402.format(path=path, reason=reason))


def replaced_since(path: Path) -> ConnormError:
    """RETURNS (ConnormError): CN402 for a file or folder that another one took the place of."""
    return damaged(path, "it was replaced after the pipeline was loaded; load it again")


def _check_size(path: Path, facts: dict[str, Any]) -> None:
    if not path.is_file():
        raise damaged(path, "it is missing")
    size = path.stat().st_size
    if size != facts["bytes"]:
        raise damaged(path, f"{size} bytes instead of {facts['bytes']}")


def _compare(path: Path, found: int, expected: int) -> None:
    if found != expected:
        raise damaged(path, DIFFERS)


def _crc32(parts: Iterator[bytes], report: Callable[[int], Any] | None = None) -> int:
    checksum = 0
    for part in parts:
        checksum = zlib.crc32(part, checksum)
        if report is not None:
            report(len(part))
    return checksum


def _chunks(path: Path) -> Iterator[bytes]:
    with path.open("rb") as file:
        while chunk := file.read(_CHUNK):
            yield chunk


def _blocks(path: Path, size: int, *, count: int, length: int) -> Iterator[bytes]:
    """YIELDS (bytes): Evenly spaced blocks, from the start of the file to its end."""
    with path.open("rb", buffering=0) as file:
        for block in range(count):
            file.seek(block * (size - length) // (count - 1))
            yield file.read(length)
