"""What FastHPOCR finds in texts with HPO. Its own environment runs this file: it imports FastHPOCR
and the standard library only.

Reads {"concepts": [{"id": ..., "name": ..., "names": [...], "exact": [...], "parents": [...]},
...], "texts": [...], "index": FOLDER} from standard input, and writes {"found": [[[start, end, id],
...], ...]}, one list per text, to standard output. Its index, which takes many minutes, is kept in
FOLDER.
"""

import json
import sys
from contextlib import redirect_stdout
from pathlib import Path

from FastHPOCR.HPOAnnotator import HPOAnnotator
from FastHPOCR.IndexHPO import IndexHPO

# In its own format, it says what it counts as a synonym: it reads exact and related ones.
_EXACT, _INEXACT = "EXACT", "RELATED"


def main() -> None:
    given = json.load(sys.stdin)
    with redirect_stdout(sys.stderr):
        annotator = HPOAnnotator(str(_index(Path(given["index"]), given["concepts"])))
        found = [
            [(each.startOffset, each.endOffset, each.hpoUri) for each in annotator.annotate(text)]
            for text in given["texts"]
        ]
    json.dump({"found": found}, sys.stdout)


def _index(folder: Path, concepts: list[dict]) -> Path:
    """Make the index with its default settings, unless an earlier run did."""
    index = folder / "hp.index"
    if not index.is_file():
        part = folder.with_name(f"{folder.name}-part")
        part.mkdir(parents=True, exist_ok=True)
        ontology = part / "hp.obo"
        ontology.write_text("\n".join(map(_stanza, concepts)), encoding="utf8")
        IndexHPO(str(ontology), str(part)).index()
        part.replace(folder)
    return index


def _stanza(concept: dict) -> str:
    """Write a concept as OBO, without what its reader fails on: cross-references and modifiers."""
    exact = set(concept["exact"])
    lines = ["[Term]", f"id: {concept['id']}", f"name: {_escaped(concept['name'])}"]
    for name in concept["names"]:
        if name != concept["name"]:
            scope = _EXACT if name in exact else _INEXACT
            lines.append(f'synonym: "{_escaped(name)}" {scope} []')
    lines += [f"is_a: {parent}" for parent in concept["parents"]]
    return "\n".join([*lines, ""])


def _escaped(text: str) -> str:
    for sign in ("\\", '"', "{", "}"):
        text = text.replace(sign, f"\\{sign}")
    return text


if __name__ == "__main__":
    main()
