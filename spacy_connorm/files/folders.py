"""Seal folders with a manifest of checksums, and check them against it."""

import json
import os
import zlib
from collections.abc import Callable, Collection, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

from ..errors import ConnormError, Errors
from .atomic import atomic_folder
from .checksums import (
    DIFFERS,
    Stamp,
    are_facts,
    check_sample,
    check_whole,
    damaged,
    describe,
    replaced_since,
    require_plain_files,
    stamp,
)

FORMAT_VERSION = 2
MANIFEST = "manifest.json"
_OWN = "crc32"
_PARTS = "folders"
# Give up if the folder is replaced this often: something is wrong with its writer.
_ATTEMPTS = 10
Result = TypeVar("Result")


def seal(folder: Path, facts: dict[str, Any], *, leave_out: Collection[str] = ()) -> None:
    """Write the manifest: the facts, the size and checksum of every file in the folder, and a
    checksum of the manifest. Of subfolders with their own manifest only its checksum is listed.

    folder (Path): A folder with all its files written.
    facts (Dict[str, Any]): What else to store in the manifest; JSON.
    leave_out (Collection[str]): Files that may change.
    """
    own = folder / MANIFEST
    unlisted = {own, *(folder / name for name in leave_out)}
    sealed = {manifest.parent for manifest in folder.rglob(MANIFEST) if manifest != own}
    files = {
        file.relative_to(folder).as_posix(): describe(file)
        for file in sorted(folder.rglob("*"))
        if file.is_file() and file not in unlisted and not sealed.intersection(file.parents)
    }
    parts = {
        part.relative_to(folder).as_posix(): checksum_of(read_manifest(part))
        for part in sorted(sealed)
        if not sealed.intersection(part.parents)
    }
    manifest = {"format": FORMAT_VERSION, **facts, "files": files, _PARTS: parts}
    text = json.dumps({**manifest, _OWN: checksum_of(manifest)}, ensure_ascii=False, indent=2)
    aside = own.with_name(f".{MANIFEST}")
    aside.write_text(text + "\n", encoding="utf8")
    aside.replace(own)


def unseal(folder: Path) -> dict[str, Any]:
    """Read the manifest and check every file against it, in constant time per file. Files up to
    256 MiB are checked completely; of larger ones the size and 64 evenly spaced blocks of 256 KiB,
    from the start to the end of the file.

    This finds files that are missing, truncated, longer or different, and damage to any stretch of
    more than a 63rd of a file. It misses smaller changes to a large file between the blocks;
    `BackgroundCheck` finds those later.

    folder (Path): A sealed folder.
    RETURNS (Dict[str, Any]): The manifest.
    RAISES (ConnormError): CN400 if there is no manifest, CN401 if it has another format version,
        CN402 if a file, including the manifest, is missing or different, or if the folder holds
        anything but files and folders.
    """
    return _unseal(folder, check_sample)


def unseal_whole(folder: Path) -> dict[str, Any]:
    """Read the manifest and check every byte of every file against it, on all cores.

    folder (Path): A sealed folder.
    RETURNS (Dict[str, Any]): The manifest.
    RAISES (ConnormError): As in `unseal`.
    """
    return _unseal(folder, check_whole)


def _unseal(folder: Path, check: Callable[[Path, dict[str, Any]], None]) -> dict[str, Any]:
    manifest = read_manifest(folder)
    require_plain_files(folder)
    # Checksums are computed without the GIL, so one thread per core helps.
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        checks = [
            pool.submit(check, folder / name, facts) for name, facts in manifest["files"].items()
        ]
    for each in checks:
        each.result()
    return manifest


def verify(folder: Path, *, report: Callable[[int], Any] | None = None) -> None:
    """Check every byte of every file against the manifest.

    folder (Path): A sealed folder.
    report (Optional[Callable]): Called with the number of bytes read since its last call.
    RAISES (ConnormError): As in `unseal`, and CN430 for a sealed subfolder of another build.
    """
    manifest = read_manifest(folder)
    for name, facts in manifest["files"].items():
        check_whole(folder / name, facts, report=report)
    require_own_parts(folder, manifest)


def read_settled(path: Path, read: Callable[[], Result]) -> Result:
    """Read a folder that another process may replace meanwhile; if so, read the new one.

    path (Path): The folder.
    read (Callable): Reads it, and can be called again.
    RETURNS (Result): What `read` returned: all of one folder.
    RAISES (ConnormError): CN402 if a file is missing, CN419 if the folder was replaced every time,
        and what `read` raises.
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
    raise ConnormError(Errors.CN419.format(path=path))


def _identity(path: Path) -> tuple[int, int] | None:
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_dev, status.st_ino


def stamps(folder: Path) -> dict[str, Stamp]:
    """RETURNS (Dict[str, Stamp]): The stamp of every file in a folder, by relative path. They show
    changes without reading the files again.
    """
    return {
        file.relative_to(folder).as_posix(): stamp(file)
        for file in folder.rglob("*")
        if file.is_file()
    }


def unseal_again(folder: Path, manifest: dict[str, Any], seen: dict[str, Stamp]) -> None:
    """Check that a folder is still the one that another process unsealed.

    folder (Path): The folder.
    manifest (Dict[str, Any]): What `unseal` returned then.
    seen (Dict[str, Stamp]): What `stamps` returned before that.
    RAISES (ConnormError): CN402 if it was replaced by another index, and what `unseal` raises.
    """
    # Saving a pipeline to its own folder replaces the files by copies, with the same manifest.
    if stamps(folder) != seen and unseal(folder) != manifest:
        raise replaced_since(folder)


def require_own_parts(folder: Path, manifest: dict[str, Any]) -> None:
    """Check that the sealed subfolders are those that were there when a folder was sealed, not
    those of another build. Folders sealed by older versions don't list them.

    folder (Path): A sealed folder.
    manifest (Dict[str, Any]): Its manifest.
    RAISES (ConnormError): CN430 for a subfolder of another build, and those of `read_manifest`.
    """
    for name, expected in manifest.get(_PARTS, {}).items():
        require_same_build(folder / name, checksum_of(read_manifest(folder / name)), expected)


def require_same_build(part: Path, found: int, expected: int) -> None:
    """Refuse a sealed folder of another build.

    part (Path): The folder.
    found (int): The checksum of its manifest.
    expected (int): The checksum that what is saved beside it belongs to.
    RAISES (ConnormError): CN430.
    """
    if found != expected:
        raise ConnormError(
            Errors.CN430.format(path=part, found=f"{found:08x}", expected=f"{expected:08x}")
        )


def read_manifest(folder: Path) -> dict[str, Any]:
    """Read a manifest alone, without the files that it lists.

    folder (Path): A sealed folder.
    RETURNS (Dict[str, Any]): The manifest.
    RAISES (ConnormError): CN400 if there is none, CN401 if it has another format version, CN402 if
        it is damaged.
    """
    manifest = _parse_manifest(folder)
    if manifest.get("format") != FORMAT_VERSION:
        raise ConnormError(
            Errors.CN401.format(path=folder, found=manifest.get("format"), expected=FORMAT_VERSION)
        )
    if manifest.pop(_OWN, None) != checksum_of(manifest):
        raise damaged(folder / MANIFEST, DIFFERS)
    files, parts = manifest.get("files"), manifest.get(_PARTS, {})
    if not isinstance(files, dict) or not all(map(are_facts, files.values())):
        raise damaged(folder / MANIFEST, "it does not list files")
    if not isinstance(parts, dict) or not all(type(each) is int for each in parts.values()):
        raise damaged(folder / MANIFEST, "it does not list parts")
    return manifest


def _parse_manifest(folder: Path) -> dict[str, Any]:
    path = folder / MANIFEST
    if not path.is_file():
        raise ConnormError(Errors.CN400.format(path=folder))
    try:
        manifest = json.loads(path.read_text(encoding="utf8"))
    except (ValueError, RecursionError) as error:
        raise damaged(path, error) from error
    if not isinstance(manifest, dict):
        raise damaged(path, "it is not a manifest")
    return manifest


def checksum_of(manifest: dict[str, Any]) -> int:
    """RETURNS (int): A checksum of a manifest, and so of all that it lists. It tells builds apart:
    the manifest of an index says when it was built.
    """
    return zlib.crc32(json.dumps(manifest, sort_keys=True).encode())


def pack(folder: Path) -> dict[str, bytes]:
    """RETURNS (Dict[str, bytes]): The contents of every file in a folder, by relative path."""
    return {
        file.relative_to(folder).as_posix(): file.read_bytes()
        for file in sorted(folder.rglob("*"))
        if file.is_file()
    }


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
    """Write a folder as a whole. An older folder of the same kind is replaced completely,
    anything else is refused.

    path (Path): The folder to create or replace.
    is_ours (Callable[[Path], bool]): Whether an existing folder is of this kind.
    YIELDS (Path): Where to write.
    RAISES (ConnormError): CN705 if something else is there, CN405 if it cannot be written.
    """
    require_replaceable(path, is_ours=is_ours)
    with atomic_folder(path.resolve()) as aside:
        yield aside


def require_replaceable(path: Path, *, is_ours: Callable[[Path], bool]) -> None:
    """Refuse to replace anything but an older folder of the same kind. Called before hours of work.

    path (Path): The folder to create or replace.
    is_ours (Callable[[Path], bool]): Whether an existing folder is of this kind.
    RAISES (ConnormError): CN705 if something else is there.
    """
    path = path.resolve()
    if path.exists() and not (path.is_dir() and (is_ours(path) or not any(path.iterdir()))):
        raise ConnormError(Errors.CN705.format(path=path))


def read_object(path: Path) -> dict[str, Any]:
    """RETURNS (Dict[str, Any]): The JSON object in a file; empty if there is none."""
    try:
        found = json.loads(path.read_text(encoding="utf8"))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}
