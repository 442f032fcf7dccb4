"""What a command does when its output can't be written."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

SEARCH = ("search", "heart attack", "fever", "cough", "-k", "1")


def run(index, *arguments, **options):
    command, *others = arguments
    return subprocess.Popen(
        [sys.executable, "-m", "spacy", "connorm", command, str(index), *others],
        stderr=subprocess.PIPE,
        text=True,
        **options,
    )


@pytest.mark.skipif(os.name != "posix", reason="pipes")
def test_a_reader_that_left_is_no_error(demo_index):
    read, write = os.pipe()
    os.close(read)
    process = run(demo_index, *SEARCH, stdout=write)
    os.close(write)
    assert process.communicate() == (None, "")
    assert process.returncode == 141


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="Linux's")
@pytest.mark.parametrize("arguments", [SEARCH, ("search", "fever", "--component", "none")])
def test_a_full_disk_behind_the_output(demo_index, arguments):
    with Path("/dev/full").open("w") as full:
        process = run(demo_index, *arguments, stdout=full)
        _, errors = process.communicate()
    assert process.returncode == 1
    assert errors.count("[CN") == 1 and "Traceback" not in errors
    assert ("CN704" if "none" in arguments else "CN108") in errors
