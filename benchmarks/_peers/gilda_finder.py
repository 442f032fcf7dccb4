"""What gilda finds in texts with the names of an ontology. Its own environment runs this file: it
imports gilda and the standard library only.

Reads {"concepts": [{"id": ..., "name": ..., "names": [...]}, ...], "texts": [...]} from standard
input, and writes {"found": [[[start, end, id], ...], ...]}, one list per text, to standard output.
"""

import json
import sys

import gilda.grounder
from gilda.grounder import Grounder
from gilda.ner import annotate
from gilda.process import normalize
from gilda.term import Term

_SPACE = "O"


def main() -> None:
    # Models that tell gilda's own terms apart by context; they would be downloaded.
    gilda.grounder.load_gilda_models = dict
    given = json.load(sys.stdin)
    grounder = Grounder(
        [
            Term(normalize(name), name, _SPACE, row["id"], row["name"], _status(name, row), "")
            for row in given["concepts"]
            for name in row["names"]
        ]
    )
    found = (annotate(text, grounder=grounder) for text in given["texts"])
    spans = [[(each.start, each.end, each.matches[0].term.id) for each in own] for own in found]
    json.dump({"found": spans}, sys.stdout)


def _status(name: str, concept: dict) -> str:
    return "name" if name == concept["name"] else "synonym"


if __name__ == "__main__":
    main()
