"""Folders sealed with a manifest of checksums, and checked against it.

There is a checksum for all bytes of a file and, for a large one, for sample blocks spread over it,
so that gigabytes open as fast as megabytes. `verify` reads all of it.
"""

import json
import zlib
from collections.abc import Callable, Collection, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeAlias, TypeVar

from ..errors import ConnormError, Errors
from .atomic import atomic_folder
from .threads import thread_count

# The version of manifests, and of the files that components save beside an index.
_VERSION = 9
MANIFEST = "manifest.json"
_OWN = "crc32"
_PARTS = "folders"
# Give up if the folder is replaced this often: something is wrong with its writer.
_ATTEMPTS = 10
Result = TypeVar("Result")
_CHUNK = 1 << 22
# A core checks this many bytes in a tenth of a second. Larger files are used after a sample check.
_LARGE = 1 << 28
# Files that are not larger than all blocks together have no sample.
_BLOCKS = 64
_BLOCK = 1 << 18
DIFFERS = "its checksum differs"
# Size in bytes, time of the last change in nanoseconds, and inode.
Stamp: TypeAlias = tuple[int, int, int]


def stamp(path: Path) -> Stamp:
    """Read the attributes that change if a file is rewritten or replaced.

    path (Path): The file.
    RETURNS (Stamp): Its size, time and inode.
    """
    status = path.stat()
    return status.st_size, status.st_mtime_ns, status.st_ino


def files_in(folder: Path) -> dict[str, Path]:
    """List the files in a folder and its subfolders.

    folder (Path): The folder.
    RETURNS (Dict[str, Path]): The files by relative path, with forward slashes, sorted.
    """
    files = (path for path in sorted(folder.rglob("*")) if path.is_file())
    return {file.relative_to(folder).as_posix(): file for file in files}


def describe(path: Path) -> dict[str, Any]:
    """Compute the size and the checksums of a file.

    path (Path): The file.
    RETURNS (Dict[str, Any]): JSON: its size in "bytes", their "crc32" and, if it is large, a
        "sample": the number of "blocks", the "bytes" per block, and the "crc32" of all blocks.
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
    if "sample" not in facts or facts["bytes"] <= _LARGE:
        check_whole(path, facts)
        return
    _check_size(path, facts)
    sample = facts["sample"]
    blocks = _blocks(path, facts["bytes"], count=sample["blocks"], length=sample["bytes"])
    _compare(path, _crc32(blocks), sample["crc32"])


def are_facts(value: Any) -> bool:
    """Check whether a value in a manifest could come from `describe`. A sample that is larger than
    its file would take forever to read.

    value (Any): A value from JSON.
    RETURNS (bool): True if it could.
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
    """Refuse a folder with devices or pipes, since opening a pipe would wait forever.

    folder (Path): The folder.
    RAISES (ConnormError): CN402.
    """
    for path in folder.rglob("*"):
        if not path.is_file() and not path.is_dir():
            raise damaged(path, "it is not a file")


def damaged(path: Path, reason: object) -> ConnormError:
    """Make the error for a damaged file or folder.

    path (Path): The file or folder.
    reason (object): What is wrong with it.
    RETURNS (ConnormError): CN402.
    """
    return Errors.CN402(path=path, reason=reason)


def replaced_since(path: Path) -> ConnormError:
    """Make the error for a file or folder that was replaced while it was in use.

    path (Path): The file or folder.
    RETURNS (ConnormError): CN402.
    """
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
    """Read evenly spaced blocks, from the start of the file to its end.

    YIELDS (bytes): The blocks.
    """
    with path.open("rb", buffering=0) as file:
        for block in range(count):
            file.seek(block * (size - length) // (count - 1))
            yield file.read(length)


def seal(folder: Path, facts: dict[str, Any], *, leave_out: Collection[str] = ()) -> None:
    """Write the manifest: the facts, the size and checksum of every file in the folder, and a
    checksum of the manifest. For subfolders with their own manifest, only its checksum is listed.

    folder (Path): A folder with all its files written.
    facts (Dict[str, Any]): Further content of the manifest; JSON.
    leave_out (Collection[str]): Files that may change.
    """
    manifest_path = folder / MANIFEST
    unlisted = {manifest_path, *(folder / name for name in leave_out)}
    sealed = {manifest.parent for manifest in folder.rglob(MANIFEST) if manifest != manifest_path}
    files = {
        name: describe(file)
        for name, file in files_in(folder).items()
        if file not in unlisted and not sealed.intersection(file.parents)
    }
    parts = {
        part.relative_to(folder).as_posix(): checksum_of(read_manifest(part))
        for part in sorted(sealed)
        if not sealed.intersection(part.parents)
    }
    _write_manifest(folder, {"format": _VERSION, **facts, "files": files, _PARTS: parts})


def add_facts(folder: Path, facts: dict[str, Any]) -> None:
    """Add facts to the manifest of a sealed folder, whose files are not read again.

    folder (Path): A sealed folder.
    facts (Dict[str, Any]): Further content of the manifest; JSON.
    RAISES (ConnormError): The errors of `read_manifest`.
    """
    _write_manifest(folder, {**read_manifest(folder), **facts})


def _write_manifest(folder: Path, manifest: dict[str, Any]) -> None:
    text = json.dumps({**manifest, _OWN: checksum_of(manifest)}, ensure_ascii=False, indent=2)
    aside = folder / f".{MANIFEST}"
    aside.write_text(text + "\n", encoding="utf8")
    aside.replace(folder / MANIFEST)


def unseal(folder: Path, *, whole: bool = False) -> dict[str, Any]:
    """Read the manifest and check every file against it, in constant time per file. Files up to
    256 MiB are checked completely; of larger ones the size and 64 evenly spaced blocks of 256 KiB,
    from the start to the end of the file.

    This finds files that are missing, truncated, longer or different, and damage to any stretch of
    more than a 63rd of a file. It misses smaller changes to a large file between the blocks, which
    `verify` finds.

    folder (Path): A sealed folder.
    whole (bool): Whether to check every byte of large files, too.
    RETURNS (Dict[str, Any]): The manifest.
    RAISES (ConnormError): CN400 if there is no manifest, CN401 if it has another format version,
        CN402 if a file, including the manifest, is missing or different, or if the folder holds
        anything but files and folders.
    """
    manifest = read_manifest(folder)
    require_plain_files(folder)
    check = check_whole if whole else check_sample
    # Checksums are computed without the GIL, so several threads help.
    with ThreadPoolExecutor(thread_count()) as pool:
        checks = [
            pool.submit(check, folder / name, facts) for name, facts in manifest["files"].items()
        ]
    for running in checks:
        running.result()
    return manifest


def verify(folder: Path, *, report: Callable[[int], Any] | None = None) -> None:
    """Check every byte of every file against the manifest.

    folder (Path): A sealed folder.
    report (Optional[Callable]): Called with the number of bytes read since its last call.
    RAISES (ConnormError): The errors of `unseal`, and CN430 for a sealed subfolder from another
        build.
    """
    manifest = read_manifest(folder)
    for name, facts in manifest["files"].items():
        check_whole(folder / name, facts, report=report)
    require_own_parts(folder, manifest)


def read_settled(path: Path, read: Callable[[], Result]) -> Result:
    """Read a folder that another process may replace in the meantime; if so, read the new one.

    path (Path): The folder.
    read (Callable): The function that reads it, which may be called repeatedly.
    RETURNS (Result): The result of `read`, all from one folder.
    RAISES (ConnormError): CN402 if a file is missing, CN419 if the folder was replaced every time,
        and the errors of `read`.
    """
    for _ in range(_ATTEMPTS):
        before = _identity(path)
        try:
            result = read()
        except (ConnormError, OSError) as error:
            if _identity(path) != before:
                continue
            if isinstance(error, ConnormError):
                raise
            raise damaged(path, error) from error
        if _identity(path) == before:
            return result
    raise Errors.CN419(path=path)


def _identity(path: Path) -> tuple[int, int] | None:
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_dev, status.st_ino


def require_own_parts(folder: Path, manifest: dict[str, Any]) -> None:
    """Check that the sealed subfolders are the same as when the folder was sealed, not from another
    build.

    folder (Path): A sealed folder.
    manifest (Dict[str, Any]): Its manifest.
    RAISES (ConnormError): CN430 for a subfolder from another build, and the errors of
        `read_manifest`.
    """
    for name, expected in manifest[_PARTS].items():
        require_same_build(folder / name, checksum_of(read_manifest(folder / name)), expected)


def require_same_build(part: Path, found: int, expected: int) -> None:
    """Refuse a sealed folder from another build.

    part (Path): The folder.
    found (int): The checksum of its manifest.
    expected (int): The checksum that the files beside it refer to.
    RAISES (ConnormError): CN430.
    """
    if found != expected:
        raise Errors.CN430(path=part, found=f"{found:08x}", expected=f"{expected:08x}")


def read_manifest(folder: Path) -> dict[str, Any]:
    """Read a manifest without the files that it lists.

    folder (Path): A sealed folder.
    RETURNS (Dict[str, Any]): The manifest.
    RAISES (ConnormError): CN400 if there is none, CN401 if it has another format version, CN402 if
        it is damaged.
    """
    manifest = _parse_manifest(folder)
    if manifest.get("format") != _VERSION:
        raise Errors.CN401(path=folder, found=manifest.get("format"), expected=_VERSION)
    if manifest.pop(_OWN, None) != checksum_of(manifest):
        raise damaged(folder / MANIFEST, DIFFERS)
    files, parts = manifest.get("files"), manifest.get(_PARTS)
    if not isinstance(files, dict) or not all(map(are_facts, files.values())):
        raise damaged(folder / MANIFEST, "it does not list files")
    if not isinstance(parts, dict) or not all(type(number) is int for number in parts.values()):
        raise damaged(folder / MANIFEST, "it does not list parts")
    return manifest


def _parse_manifest(folder: Path) -> dict[str, Any]:
    path = folder / MANIFEST
    if not path.is_file():
        raise Errors.CN400(path=folder)
    with Errors.CN402.instead_of(ValueError, RecursionError, path=path):
        manifest = json.loads(path.read_text(encoding="utf8"))
    if not isinstance(manifest, dict):
        raise damaged(path, "it is not a manifest")
    return manifest


def checksum_of(manifest: dict[str, Any]) -> int:
    """Compute the checksum of a manifest, and so of everything that it lists. It distinguishes
    builds, since the manifest of an index has the time of the build.

    manifest (Dict[str, Any]): The manifest.
    RETURNS (int): The CRC-32 of its sorted JSON.
    """
    return zlib.crc32(json.dumps(manifest, sort_keys=True).encode())


def pack(folder: Path) -> dict[str, bytes]:
    """Read all files of a folder.

    folder (Path): The folder.
    RETURNS (Dict[str, bytes]): Their contents, by relative path.
    """
    return {name: file.read_bytes() for name, file in files_in(folder).items()}


def unpack(files: dict[str, bytes], folder: Path) -> None:
    """Write the files that `pack` read.

    files (Dict[str, bytes]): Contents by relative path.
    folder (Path): An existing folder.
    RAISES (ValueError): For a path outside the folder.
    """
    for name, content in files.items():
        path = folder / name
        if not path.resolve().is_relative_to(folder.resolve()):
            raise ValueError(f"'{name}' is outside the folder")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)


@contextmanager
def replaced(path: Path, *, is_ours: Callable[[Path], bool]) -> Iterator[Path]:
    """Write a complete folder. An older folder of the same kind is replaced completely, anything
    else is refused.

    path (Path): The folder to create or replace.
    is_ours (Callable[[Path], bool]): Whether an existing folder is of this kind.
    YIELDS (Path): The folder to write to.
    RAISES (ConnormError): CN705 if the path is something else, CN108 if it cannot be written.
    """
    require_replaceable(path, is_ours=is_ours)
    with atomic_folder(path.resolve()) as aside:
        yield aside


def require_replaceable(path: Path, *, is_ours: Callable[[Path], bool]) -> None:
    """Refuse to replace anything except an older folder of the same kind. Call this before hours of
    work.

    path (Path): The folder to create or replace.
    is_ours (Callable[[Path], bool]): Whether an existing folder is of this kind.
    RAISES (ConnormError): CN705 if the path is something else.
    """
    path = path.resolve()
    if path.exists() and not (path.is_dir() and (is_ours(path) or not any(path.iterdir()))):
        raise Errors.CN705(path=path)


def read_object(path: Path) -> dict[str, Any]:
    """Read a JSON object.

    path (Path): The file.
    RETURNS (Dict[str, Any]): The object; empty if the file has none or can't be read.
    """
    try:
        content = json.loads(path.read_text(encoding="utf8"))
    except (OSError, ValueError):
        return {}
    return content if isinstance(content, dict) else {}
