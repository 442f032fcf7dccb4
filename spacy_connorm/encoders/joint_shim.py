"""What encoders that are made of other encoders have in common."""

import hashlib
from collections.abc import Sequence
from typing import Any

import srsly
from thinc.api import Model
from thinc.shims import Shim

from .protocol import (
    encode_inputs,
    encoder_forms,
    encoder_inputs,
    fingerprint,
    fits,
    replica,
    required_extra,
)
from .vectors import Raw
from .verified import load_verified

_LENGTH = 8


class JointShim(Shim):
    """Holds several encoders, its parts. Texts are tokenized once for all parts: an input has that
    of each part. Subclasses say how vectors are combined.
    """

    sparse = False

    def __init__(self, parts: Sequence[Model], *, extra: str = "") -> None:
        """parts (Sequence[Model[List[str], Floats2d]]): At least one encoder.
        extra (str): An extra that is needed besides those of the parts.
        """
        super().__init__(None)
        self.parts = tuple(parts)
        # Several extras are separated by commas, as in pip.
        self.extra = ",".join(dict.fromkeys(filter(None, (extra, *map(required_extra, parts)))))

    @property
    def width(self) -> int:
        """RETURNS (int): The sum of all widths; 0 before all parts are loaded."""
        widths = [part.maybe_get_dim("nO") or 0 for part in self.parts]
        return sum(widths) if all(widths) else 0

    @property
    def fits(self) -> bool:
        """RETURNS (bool): Whether any part is fitted to texts."""
        return any(map(fits, self.parts))

    def load(self, texts: list[str] | None) -> None:
        """Load or fit all parts, or none if one fails.

        texts (Optional[List[str]]): The texts, e.g. all names of an ontology.
        """
        parts = tuple(map(replica, self.parts))
        for part in parts:
            part.initialize(X=texts)
        self.parts = parts

    def encode_parts(self, inputs: list[bytes]) -> list[Raw]:
        """RETURNS (List[Raw]): The vectors of each part, in main memory even if it uses a GPU.

        inputs (List[bytes]): From `inputs`.
        """
        encoded, start = [], [0] * len(inputs)
        for part in self.parts[:-1]:
            begin = [place + _LENGTH for place in start]
            start = [
                place + int.from_bytes(each[place - _LENGTH : place], "big")
                for each, place in zip(inputs, begin, strict=True)
            ]
            own = [each[a:b] for each, a, b in zip(inputs, begin, start, strict=True)]
            encoded.append(encode_inputs(part, own))
        rest = [each[place:] for each, place in zip(inputs, start, strict=True)]
        return [*encoded, encode_inputs(self.parts[-1], rest)]

    def inputs(self, texts: list[str]) -> list[bytes]:
        """RETURNS (List[bytes]): The inputs of all parts, each but the last with its length."""
        by_part = [encoder_inputs(part, texts) for part in self.parts]
        return [
            b"".join([*(len(one).to_bytes(_LENGTH, "big") + one for one in leading), last])
            for *leading, last in zip(*by_part, strict=True)
        ]

    def forms(self, texts: list[str]) -> list[str]:
        """RETURNS (List[str]): The forms of all parts, each but the last with its length."""
        by_part = [encoder_forms(part, texts) for part in self.parts]
        return [
            "".join([*(f"{len(one)} {one}" for one in leading), last])
            for *leading, last in zip(*by_part, strict=True)
        ]

    def fingerprint(self) -> str:
        """RETURNS (str): A checksum of the fingerprints of all parts."""
        prints = " ".join(map(fingerprint, self.parts))
        return hashlib.blake2b(prints.encode(), digest_size=16).hexdigest()

    def to_bytes(self) -> bytes:
        """RETURNS (bytes): All parts and a checksum."""
        parts = [part.to_bytes() for part in self.parts]
        return srsly.msgpack_dumps({"parts": parts, "digest": _digest(parts)})

    def from_bytes(self, data: bytes) -> "JointShim":
        """Restore all parts.

        data (bytes): From `to_bytes`.
        RETURNS (JointShim): This shim.
        RAISES (ConnormError): CN305 if the data is damaged or of another number of parts, and the
            errors of the parts.
        """
        saved, _ = load_verified(data, self._read)
        restored = zip(self.parts, saved, strict=True)
        self.parts = tuple([replica(part).from_bytes(each) for part, each in restored])
        return self

    def _read(self, saved: dict[str, Any]) -> tuple[list[bytes], str]:
        parts = saved["parts"]
        if len(parts) != len(self.parts):
            raise ValueError(f"it has {len(parts)} parts, not {len(self.parts)}")
        return parts, _digest(parts)


def _digest(parts: list[bytes]) -> str:
    content = hashlib.blake2b(digest_size=16)
    for part in parts:
        content.update(len(part).to_bytes(_LENGTH, "big"))
        content.update(part)
    return content.hexdigest()
