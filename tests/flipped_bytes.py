"""Damage of what encoders were saved as."""

import pytest

from spacy_connorm.errors import ConnormError


def refuse_flipped_bytes(model, build):
    """Check that every flipped byte of a saved encoder is found.

    model (Model): The encoder.
    build (Callable): Makes another one like it, not initialized.
    """
    data = model.shims[0].to_bytes()
    for place in range(len(data)):
        damaged = data[:place] + bytes([data[place] ^ 0x10]) + data[place + 1 :]
        with pytest.raises(ConnormError, match="CN305"):
            build().shims[0].from_bytes(damaged)
