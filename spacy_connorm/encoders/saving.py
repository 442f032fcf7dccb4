"""Save encoders to files of their own, or as parts of other encoders, and restore them."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import srsly

from ..errors import Errors
from ..files.arrays import open_array
from ..files.folders import damaged
from .protocol import Encoder, loaded_shim, replica, shim_of
from .storage import DTYPES


def saved_parts(parts: Mapping[str, Encoder]) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """Collect what several encoders save, as the contents of an encoder made of them.

    parts (Mapping[str, Model[List[str], Floats2d]]): The encoders by name.
    RETURNS (Tuple[Dict[str, Any], Dict[str, np.ndarray]]): See `EncoderShim.contents`.
    RAISES (ConnormError): CN301 for one that is not initialized.
    """
    values: dict[str, Any] = {}
    arrays: dict[str, np.ndarray] = {}
    for name, part in parts.items():
        values[name], part_arrays = loaded_shim(part).saved()
        arrays |= {f"{name}.{key}": array for key, array in part_arrays.items()}
    return values, arrays


def restored_parts(
    parts: Mapping[str, Encoder], values: Mapping[str, Any], arrays: Mapping[str, np.ndarray]
) -> dict[str, Encoder]:
    """Restore encoders from the result of `saved_parts`.

    parts (Mapping[str, Model[List[str], Floats2d]]): Encoders with the same settings, which do not
        change.
    values (Mapping[str, Any]): The values.
    arrays (Mapping[str, np.ndarray]): The arrays.
    RETURNS (Dict[str, Model[List[str], Floats2d]]): The encoders by name.
    RAISES (ConnormError): CN305 if one is damaged.
    """
    restored = {}
    for name, part in parts.items():
        part_arrays = {
            key.removeprefix(f"{name}."): array
            for key, array in arrays.items()
            if key.startswith(f"{name}.")
        }
        restored[name] = _restored(part, values[name], part_arrays)
    return restored


def store_encoder(model: Encoder, path: Path) -> None:
    """Write the files that `open_encoder` reads. Large arrays are in separate files, to be mapped.

    model (Model[List[str], Floats2d]): The encoder.
    path (Path): The file to write; arrays are in `NAME.ARRAY.npy`.
    RAISES (ConnormError): CN301 for one that is not initialized.
    """
    saved, arrays = loaded_shim(model).saved()
    shapes = {name: list(array.shape) for name, array in arrays.items()}
    path.write_bytes(srsly.msgpack_dumps({**saved, "kind": model.name, "shapes": shapes}))
    for name, array in arrays.items():
        np.save(_array_file(path, name), array)


def open_encoder(model: Encoder, path: Path) -> Encoder:
    """Read an encoder; its large arrays are mapped, and shared by all processes that open them.

    model (Model[List[str], Floats2d]): An encoder with the same settings, which does not change.
    path (Path): The file.
    RETURNS (Model[List[str], Floats2d]): The encoder.
    RAISES (ConnormError): CN402 if a file is missing or does not contain such an array, CN305 if
        the encoder is damaged, CN318 if it is of another kind.
    """
    if not path.is_file():
        raise damaged(path, "it is missing")
    with Errors.CN305.instead_of(Exception, tell=repr):
        saved = srsly.msgpack_loads(path.read_bytes())
        kind = saved.get("kind", model.name)  # older files have none
        if kind != model.name:
            raise Errors.CN318(found=kind, expected=model.name)
        arrays = {
            name: open_array(_array_file(path, name), DTYPES, tuple(shape))
            for name, shape in saved["shapes"].items()
        }
    return _restored(model, saved, arrays)


def _array_file(path: Path, name: str) -> Path:
    return path.with_name(f"{path.name}.{name}.npy")


def _restored(model: Encoder, saved: Mapping[str, Any], arrays: dict[str, np.ndarray]) -> Encoder:
    encoder = replica(model)
    shim = shim_of(encoder)
    shim.restore(saved, arrays)
    encoder.set_dim("nO", shim.width, force=True)
    return encoder
