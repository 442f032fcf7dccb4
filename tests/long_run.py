"""Tests take one short run in `make test`, and a long one in `make faults`."""

import os


def is_long(config) -> bool:
    """Whether this is the long run."""
    asked = config.getoption("--faults-long", default=False)
    return asked or os.environ.get("CONNORM_FAULTS") == "long"
