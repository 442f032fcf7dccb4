"""The wheel holds what the package needs, and nothing else."""

import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SOURCES = ("setup.cfg", "setup.py", "README.md", "LICENSE")
# Bytes of all but the tables of languages, of these, and of one: more means that data came in.
MOST, MOST_OF_TABLES, MOST_OF_TABLE = 900_000, 300_000, 50_000
TABLES = ("spacy_connorm/lang/", (".toml", ".tsv"))


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    folder = tmp_path_factory.mktemp("distribution")
    for name in SOURCES:
        shutil.copy(ROOT / name, folder)
    shutil.copytree(
        ROOT / "spacy_connorm",
        folder / "spacy_connorm",
        ignore=shutil.ignore_patterns("__pycache__"),
    )
    command = [sys.executable, "-m", "build", "--no-isolation", "--outdir", "dist", "."]
    subprocess.run(command, cwd=folder, check=True, capture_output=True)
    (path,) = (folder / "dist").glob("*.whl")
    return path


def test_the_wheel_holds_the_whole_package_and_no_more(wheel):
    package = ROOT / "spacy_connorm"
    own = {
        path.relative_to(ROOT).as_posix()
        for path in package.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    with zipfile.ZipFile(wheel) as archive:
        names = {name for name in archive.namelist() if ".dist-info/" not in name}
    assert names == own
    assert "spacy_connorm/py.typed" in names and "spacy_connorm/server/page/index.html" in names


def test_the_wheel_is_small(wheel):
    folder, endings = TABLES
    with zipfile.ZipFile(wheel) as archive:
        tables = [
            file.compress_size
            for file in archive.infolist()
            if file.filename.startswith(folder) and file.filename.endswith(endings)
        ]
    assert max(tables) < MOST_OF_TABLE
    assert sum(tables) < MOST_OF_TABLES
    assert wheel.stat().st_size - sum(tables) < MOST
