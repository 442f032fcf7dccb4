"""Encoders on disk. The large arrays that an encoder can separate are in files of their
own, beside it: they are mapped into memory, and shared by all processes that open them.
"""

from pathlib import Path
from typing import Any

import numpy as np

from ..errors import ConnormError, Errors
from ..files.atomic import TemporaryFolder
from ..files.folders import damaged
from .protocol import Encoder, make_encoder, replica

_SUFFIX = ".npy"


def store_encoder(model: Encoder, path: Path) -> None:
    """Write what `open_encoder` reads.

    model (Model[List[str], Floats2d]): The encoder.
    path (Path): The file to write; those of arrays are `NAME.ARRAY.npy`.
    """
    shim: Any = model.shims[0]
    if not hasattr(shim, "detached") or not shim.width:
        model.to_disk(path)
        return
    rest, arrays = shim.detached()
    light = make_encoder(model.name, rest)
    light.set_dim("nO", model.get_dim("nO"), force=True)
    light.to_disk(path)
    for name, array in arrays.items():
        np.save(path.with_name(f"{path.name}.{name}{_SUFFIX}"), array)


def open_encoder(model: Encoder, path: Path, *, owner: TemporaryFolder | None = None) -> Encoder:
    """Read an encoder; its large arrays are mapped, not loaded.

    model (Model[List[str], Floats2d]): One of the same settings, which stays as it is.
    path (Path): The file.
    owner (Optional[TemporaryFolder]): Kept as long as the encoder's arrays, if the file is its.
    RETURNS (Model[List[str], Floats2d]): The encoder.
    RAISES (ConnormError): CN402 if a file is missing, CN305 if one is damaged.
    """
    if not path.is_file():
        raise damaged(path, "it is missing")
    try:
        found = replica(model).from_disk(path)
        shim: Any = found.shims[0]
        if getattr(shim, "is_detached", False):
            shim.attach(_array_files(path), owner)
    except ConnormError:
        raise
    # thinc reads what it finds.
    except Exception as error:
        raise ConnormError(Errors.CN305.format(reason=repr(error))) from error
    return found


def _array_files(path: Path) -> dict[str, Path]:
    found = sorted(path.parent.glob(f"{path.name}.*{_SUFFIX}"))
    return {file.name[len(path.name) + 1 : -len(_SUFFIX)]: file for file in found}
