"""What FastHPOCR finds in texts with HPO. Its own environment runs this file: it imports FastHPOCR
and the standard library only.

Reads {"concepts": [{"id": ..., "name": ..., "exact": [...], "related": [...], "parents": [...]},
...], "texts": [...], "index": FOLDER} from standard input, and writes {"found": [[[start, end, id],
...], ...]}, one list per text, to standard output. Its index is kept in FOLDER.
"""

import json
import sys
from collections import defaultdict
from contextlib import redirect_stdout
from pathlib import Path

from FastHPOCR.cr.CRIndexKB import CRIndexKB
from FastHPOCR.HPOAnnotator import HPOAnnotator
from FastHPOCR.IndexHPO import IndexHPO

# The synonyms that it reads.
_SCOPES = {"exact": "EXACT", "related": "RELATED"}


class _IndexByFamily(CRIndexKB):
    """Its index. It walks all of its 280,000 words for each family of words that it writes, which
    takes many minutes; this one sorts them by family first, and writes the same.
    """

    def prepareClustersToSerialise(self, families: dict[str, str]) -> None:
        self._words = defaultdict(list)
        for word, family in families.items():
            self._words[family].append(word)
        super().prepareClustersToSerialise(families)

    def compileClusterList(self, family: str, families: dict[str, str]) -> list[str]:
        return self._words[family]


def main() -> None:
    given = json.load(sys.stdin)
    with redirect_stdout(sys.stderr):
        annotator = HPOAnnotator(str(_index(Path(given["index"]), given["concepts"])))
        found = [
            [
                (annotation.startOffset, annotation.endOffset, annotation.hpoUri)
                for annotation in annotator.annotate(text)
            ]
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
        indexer = IndexHPO(str(ontology), str(part))
        indexer.crIndexKB = _IndexByFamily()
        indexer.index()
        part.replace(folder)
    return index


def _stanza(concept: dict) -> str:
    """Write a concept as OBO, without what its reader fails on: cross-references and modifiers."""
    lines = ["[Term]", f"id: {concept['id']}", f"name: {_escaped(concept['name'])}"]
    lines += [
        f'synonym: "{_escaped(name)}" {scope} []'
        for key, scope in _SCOPES.items()
        for name in concept[key]
        if name != concept["name"]
    ]
    lines += [f"is_a: {parent}" for parent in concept["parents"]]
    return "\n".join([*lines, ""])


def _escaped(text: str) -> str:
    for sign in ("\\", '"', "{", "}"):
        text = text.replace(sign, f"\\{sign}")
    return text


if __name__ == "__main__":
    main()
