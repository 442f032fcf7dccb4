"""Saved encoders are verified before they are used."""

from collections.abc import Callable
from typing import Any, TypeVar

import srsly

from ..errors import ConnormError, Errors

Restored = TypeVar("Restored")


def load_verified(
    data: bytes, restore: Callable[[dict[str, Any]], tuple[Restored, str]]
) -> tuple[Restored, str]:
    """Restore what an encoder saved, and compare its checksum with the saved one.

    data (bytes): A dictionary as msgpack; its key "digest" holds the checksum.
    restore (Callable[[Dict[str, Any]], Tuple[Restored, str]]): Restores the saved object from the
        dictionary, and computes its checksum.
    RETURNS (Tuple[Restored, str]): The object and its checksum.
    RAISES (ConnormError): CN305 if the data is damaged.
    """
    try:
        saved = srsly.msgpack_loads(data)
        restored, digest = restore(saved)
        intact = saved["digest"] == digest
    except Exception as error:
        raise ConnormError(Errors.CN305.format(reason=error)) from error
    if not intact:
        raise ConnormError(Errors.CN305.format(reason="its checksum differs"))
    return restored, digest
