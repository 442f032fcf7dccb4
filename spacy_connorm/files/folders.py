"""Folders sealed with a manifest of checksums, and checked against it."""

import json
import os
import zlib
from collections.abc import Callable, Collection, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ..errors import ConnormError, Errors
from .atomic import atomic_folder
from .checksums import Stamp, check_sample, check_whole, describe, stamp

FORMAT_VERSION = 1
MANIFEST = "manifest.json"
_OWN = "crc32"


def seal(folder: Path, facts: dict[str, Any], *, leave_out: Collection[str] = ()) -> None:
    """Write the manifest: the facts, size and checksum of every file in the folder, and a checksum
    of all this. Folders within that have a manifest answer for themselves.

    folder (Path): A folder whose files are all written.
    facts (Dict[str, Any]): What else the manifest tells; JSON.
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
    manifest = {"format": FORMAT_VERSION, **facts, "files": files}
    text = json.dumps({**manifest, _OWN: _digest(manifest)}, ensure_ascii=False, indent=2)
    own.write_text(text + "\n", encoding="utf8")


def unseal(folder: Path) -> dict[str, Any]:
    """Read the manifest and check every file against it, in a time that does not grow with the
    files: those up to 256 MiB whole, of larger ones the size and 64 blocks of 256 KiB, the first
    and the last among them and the others evenly between.

    A file that is missing, cut off, longer or another is found, and so is damage to a stretch of
    more than a 63rd of it. Not found are smaller changes to a large file that meet no block: those
    `verify` finds, which reads everything.

    folder (Path): A sealed folder.
    RETURNS (Dict[str, Any]): The manifest.
    RAISES (ConnormError): CN400 if there is no manifest, CN401 if it is of another format
        version, CN402 if a file, the manifest included, is missing or found to be another.
    """
    manifest = _sound_manifest(folder)
    # Checksums are computed without the GIL: as many files at once as there are cores.
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        checks = [
            pool.submit(check_sample, folder / name, facts)
            for name, facts in manifest["files"].items()
        ]
    for check in checks:
        check.result()
    return manifest


def verify(folder: Path, *, report: Callable[[int], Any] | None = None) -> None:
    """Check every byte of every file against the manifest.

    folder (Path): A sealed folder.
    report (Optional[Callable]): Called now and then with how many more bytes were read.
    RAISES (ConnormError): As `unseal`.
    """
    for name, facts in _sound_manifest(folder)["files"].items():
        check_whole(folder / name, facts, report=report)


def stamps(folder: Path) -> dict[str, Stamp]:
    """RETURNS (Dict[str, Stamp]): Of every file in a folder, by its path within: they tell whether
    what was found sound is still there, without reading it.
    """
    return {
        file.relative_to(folder).as_posix(): stamp(file)
        for file in folder.rglob("*")
        if file.is_file()
    }


def unseal_again(folder: Path, manifest: dict[str, Any], seen: dict[str, Stamp]) -> None:
    """Make sure that a folder is what another process has unsealed.

    folder (Path): The folder.
    manifest (Dict[str, Any]): What `unseal` gave then.
    seen (Dict[str, Stamp]): What `stamps` gave before that.
    RAISES (ConnormError): CN402 if another index stands there now, and those of `unseal`.
    """
    # Saving to where it was loaded from puts copies there: other files, the same manifest.
    if stamps(folder) != seen and unseal(folder) != manifest:
        reason = "it was replaced after the pipeline was loaded; load it again"
        raise ConnormError(Errors.CN402.format(path=folder, reason=reason))


def _sound_manifest(folder: Path) -> dict[str, Any]:
    manifest = _read_manifest(folder)
    if manifest.get("format") != FORMAT_VERSION:
        raise ConnormError(
            Errors.CN401.format(path=folder, found=manifest.get("format"), expected=FORMAT_VERSION)
        )
    if manifest.pop(_OWN, None) != _digest(manifest):
        reason = "its checksum differs"
        raise ConnormError(Errors.CN402.format(path=folder / MANIFEST, reason=reason))
    return manifest


def _read_manifest(folder: Path) -> dict[str, Any]:
    path = folder / MANIFEST
    if not path.is_file():
        raise ConnormError(Errors.CN400.format(path=folder))
    try:
        manifest = json.loads(path.read_text(encoding="utf8"))
    except ValueError as error:
        raise ConnormError(Errors.CN402.format(path=path, reason=error)) from error
    if not isinstance(manifest, dict):
        raise ConnormError(Errors.CN402.format(path=path, reason="it is no manifest"))
    return manifest


def _digest(manifest: dict[str, Any]) -> int:
    return zlib.crc32(json.dumps(manifest, sort_keys=True).encode())


def pack(folder: Path) -> dict[str, bytes]:
    """RETURNS (Dict[str, bytes]): Every file of a folder, by its path within."""
    return {
        file.relative_to(folder).as_posix(): file.read_bytes()
        for file in sorted(folder.rglob("*"))
        if file.is_file()
    }


def unpack(files: dict[str, bytes], folder: Path) -> None:
    """Write what `pack` read.

    files (Dict[str, bytes]): Contents by path.
    folder (Path): An existing folder.
    RAISES (ValueError): For a path that leads out of the folder.
    """
    for name, content in files.items():
        path = folder / name
        if not path.resolve().is_relative_to(folder.resolve()):
            raise ValueError(f"'{name}' leads out of the folder")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)


@contextmanager
def replaced(path: Path, *, is_ours: Callable[[Path], bool]) -> Iterator[Path]:
    """Write a folder aside and put it in the place of `path`, which may be an older one of its
    kind but nothing else: whatever is in there goes.

    path (Path): The folder to make or replace.
    is_ours (Callable[[Path], bool]): Whether an existing folder is of this kind.
    YIELDS (Path): Where to write.
    RAISES (ConnormError): CN705 if something else is there, CN405 if it cannot be written.
    """
    require_replaceable(path, is_ours=is_ours)
    with atomic_folder(path.resolve()) as aside:
        yield aside


def require_replaceable(path: Path, *, is_ours: Callable[[Path], bool]) -> None:
    """Refuse a folder that is to be written where something else is: before hours of work.

    path (Path): The folder to make or replace.
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
