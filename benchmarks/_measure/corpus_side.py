"""One side of `corpora.py`, in a process of its own: annotate a corpus and print the counts."""

import json
import sys

from spacy_connorm import annotate_corpus


def main() -> None:
    pipeline, corpus, output, settings = sys.argv[1:]
    counts = annotate_corpus(pipeline, corpus, output, **json.loads(settings)).counts
    print(json.dumps({"texts": counts.texts, "mentions": counts.mentions}))


if __name__ == "__main__":
    main()
