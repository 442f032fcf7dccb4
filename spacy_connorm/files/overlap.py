"""Refuse to read and replace the same file."""

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
    if not output.is_file() and not output.is_dir():
        return  # new, a device or a pipe: nothing is replaced
    for each in inputs:
        if isinstance(each, (str, Path)) and Path(each).exists():
            path = Path(each).resolve()
            if any(parent.samefile(output) for parent in (path, *path.parents)):
                raise ConnormError(Errors.CN121.format(output=output, input=each))
