"""The weights of an encoder, by name: as bytes, and their checksum."""

import hashlib
from collections.abc import Collection, Mapping
from typing import Any

import numpy as np

_FLOAT32 = ("float32",)


def pack_weights(weights: Mapping[str, np.ndarray]) -> dict[str, dict[str, Any]]:
    """weights (Mapping[str, np.ndarray]): Arrays by name.
    RETURNS (Dict[str, Dict[str, Any]]): For msgpack; see `unpack_weights`.
    """
    return {
        name: {
            "shape": list(array.shape),
            "dtype": array.dtype.str,
            "data": np.ascontiguousarray(array).data,
        }
        for name, array in sorted(weights.items())
    }


def unpack_weights(
    saved: Mapping[str, Any], dtypes: Collection[str] = _FLOAT32
) -> dict[str, np.ndarray]:
    """Restore what `pack_weights` packed. The arrays are views of the saved bytes.

    saved (Mapping[str, Any]): From `pack_weights`; what older versions saved has no dtype and is
        float32.
    dtypes (Collection[str]): Those that are valid.
    RETURNS (Dict[str, np.ndarray]): Arrays by name.
    RAISES (ValueError): For another dtype, and for bytes that do not fill the shape.
    """
    weights, valid = {}, {np.dtype(each).str for each in dtypes}
    for name, each in saved.items():
        dtype = each.get("dtype", "<f4")
        if dtype not in valid or not each.keys() <= {"shape", "dtype", "data"}:
            raise ValueError(f"its weights are {dtype}")
        weights[name] = np.frombuffer(each["data"], dtype=dtype).reshape(each["shape"])
    return weights


def digest_weights(header: str, weights: Mapping[str, np.ndarray]) -> str:
    """Compute a checksum of weights and what goes with them. Saved indexes know their encoder by
    it: it must not change.

    header (str): All else that changes vectors.
    weights (Mapping[str, np.ndarray]): Arrays by name.
    RETURNS (str): 32 hexadecimal digits.
    """
    content = hashlib.blake2b(header.encode(), digest_size=16)
    for name, array in sorted(weights.items()):
        content.update(f"{name} {array.shape}\n".encode())
        content.update(np.ascontiguousarray(array).data)
    return content.hexdigest()
