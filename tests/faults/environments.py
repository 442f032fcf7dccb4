"""Environments in which a pipeline's wheel and what it requires are installed, and nothing else."""

import os
import subprocess
import sys
import sysconfig
import venv
import zipfile
from email import message_from_bytes
from importlib.metadata import Distribution, distribution
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[2]
OURS = "spacy-connorm"
LINK_WITHOUT_NETWORK = """
import importlib
import json
import socket
import sys

def refuse(*arguments, **options):
    raise OSError("the network is off")

socket.socket.connect = socket.socket.connect_ex = socket.getaddrinfo = refuse

nlp = importlib.import_module(sys.argv[1]).load()
doc = nlp("Admitted with a heart attack. No headache.")
found = nlp.get_pipe("concept_normalizer").candidates(["acute heart disease"])
ids = {ent.text: ent.kb_id_ for ent in doc.ents}
print(json.dumps({"ids": ids, "found": len(found[0]), "imported": sorted(sys.modules)}))
"""


def make_linked(folder: Path, wheel: Path) -> Path:
    """Make an environment in a second, without a registry, from links to what is installed here.

    Gives its Python."""
    venv.create(folder, with_pip=False, symlinks=os.name != "nt")
    packages = Path(sysconfig.get_path("purelib", "venv", vars=_bases(folder)))
    for requirement in _closure(_requirements(wheel)):
        if canonicalize_name(requirement.name) == OURS:
            _link_ours(requirement, packages)
        else:
            _link(requirement, packages)
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(packages)
    return _python(folder)


def make_installed(folder: Path, wheel: Path, our_wheel: Path) -> Path:
    """Make an environment with pip, from the registry. Gives its Python."""
    venv.create(folder, with_pip=True)
    python = _python(folder)
    pinned = ("--constraint", str(ROOT / "constraints.txt"))
    run(python, "-m", "pip", "install", "-qq", *pinned, "--find-links", our_wheel.parent, wheel)
    return python


def run(*command: str | Path, **options) -> str:
    """Run a command outside of this checkout, which must succeed. Gives its output."""
    hidden = ("PYTHONPATH", "PYTHONHOME", "COVERAGE_PROCESS_START")
    environment = {name: value for name, value in os.environ.items() if name not in hidden}
    arguments = list(map(str, command))
    result = subprocess.run(arguments, capture_output=True, text=True, env=environment, **options)
    assert result.returncode == 0, result.stdout + result.stderr
    return result.stdout


def _bases(folder: Path) -> dict[str, str]:
    return {"base": str(folder), "platbase": str(folder)}


def _python(folder: Path) -> Path:
    scripts = Path(sysconfig.get_path("scripts", "venv", vars=_bases(folder)))
    return scripts / ("python.exe" if os.name == "nt" else "python")


def _requirements(wheel: Path) -> list[str]:
    with zipfile.ZipFile(wheel) as archive:
        (name,) = (name for name in archive.namelist() if name.endswith(".dist-info/METADATA"))
        return message_from_bytes(archive.read(name)).get_all("Requires-Dist", [])


def _closure(lines: list[str]) -> list[Distribution]:
    """All distributions that are required, and those that they require."""
    extras: dict[str, set[str]] = {}
    waiting = _needed(lines, set())
    while waiting:
        requirement = waiting.pop()
        name = canonicalize_name(requirement.name)
        if name in extras and requirement.extras <= extras[name]:
            continue
        extras[name] = extras.get(name, set()) | requirement.extras
        waiting += _needed(distribution(name).requires or [], extras[name])
    return [distribution(name) for name in extras]


def _needed(lines: list[str], extras: set[str]) -> list[Requirement]:
    requirements = map(Requirement, lines)
    environments = [{"extra": extra} for extra in extras or {""}]
    return [
        requirement
        for requirement in requirements
        if requirement.marker is None or any(map(requirement.marker.evaluate, environments))
    ]


def _link(installed: Distribution, packages: Path) -> None:
    """Link the files and folders of a distribution."""
    tops = {Path(path).parts[0] for path in installed.files or []}
    for top in tops - {"..", "__pycache__"}:
        if not (packages / top).exists():
            (packages / top).symlink_to(Path(installed.locate_file(top)))


def _link_ours(installed: Distribution, packages: Path) -> None:
    """Link this checkout, and copy its metadata."""
    (packages / "spacy_connorm").symlink_to(ROOT / "spacy_connorm")
    folder = packages / f"spacy_connorm-{installed.version}.dist-info"
    folder.mkdir()
    metadata = installed.read_text("METADATA") or installed.read_text("PKG-INFO")
    (folder / "METADATA").write_text(metadata, encoding="utf8")
    points = installed.read_text("entry_points.txt")
    (folder / "entry_points.txt").write_text(points, encoding="utf8")


def build_wheel(sources: Path, folder: Path) -> Path:
    """Build a wheel with what is installed here."""
    options = ("--no-deps", "--no-build-isolation", "--wheel-dir", folder)
    run(sys.executable, "-m", "pip", "wheel", "-qq", *options, sources)
    (wheel,) = folder.glob("*.whl")
    return wheel
