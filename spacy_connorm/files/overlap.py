"""Refuse to replace what is read, and what has just been written."""

from pathlib import Path

from ..errors import ConnormError, Errors


def require_apart(output: str | Path | None, *inputs: object) -> None:
    """Refuse an output that would replace an input: the same file or folder by any name, or a
    folder that the input is in.

    output (Optional[Union[str, Path]]): The file or folder to write, if any.
    *inputs (object): What is read; anything but paths of existing files and folders is ignored.
    RAISES (ConnormError): CN121.
    """
    if output is None:
        return
    output = Path(output)
    if not output.exists() or _is_stream(output):
        return
    for each in inputs:
        if isinstance(each, (str, Path)) and Path(each).exists():
            path = Path(each).resolve()
            if any(parent.samefile(output) for parent in (path, *path.parents)):
                raise ConnormError(Errors.CN121.format(output=output, input=each))


def require_distinct_outputs(*outputs: str | Path | None) -> None:
    """Refuse two outputs with the same name.

    *outputs (Optional[Union[str, Path]]): The files and folders to write, if any.
    RAISES (ConnormError): CN124.
    """
    named: set[Path] = set()
    for each in outputs:
        path = None if each is None else Path(each).resolve()
        if path is None or _is_stream(path):
            continue
        if path in named:
            raise ConnormError(Errors.CN124.format(path=each))
        named.add(path)


def _is_stream(path: Path) -> bool:
    """RETURNS (bool): Whether a path is a device or a pipe: nothing in it is replaced."""
    return path.exists() and not path.is_file() and not path.is_dir()
