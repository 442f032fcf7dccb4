"""A script of `test_soak.py`: a pipeline that works on and on, and what it holds after each round.

Usage: python soak.py FOLDER ROUNDS DOCUMENTS

The folder has a `pipeline` and a folder for `temporary` files.
"""

import gc
import json
import os
import sys
import threading
import weakref
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import cycle, islice, product
from pathlib import Path

import hashing_encoder  # noqa: F401  (registers it)
import spacy
from spacy.language import Language

from spacy_connorm import annotate, save_pipeline
from spacy_connorm.pipeline.concept_normalizer import ConceptNormalizer

WORDS = ("cold", "aspirin", "MI", "ASA", "heart attack", "heart disease", "head spinning", "giddy")
TEXTS = [f"{one} and {other}, then {third}." for one, other, third in product(WORDS, repeat=3)]
THREADS, PROCESSES = 4, 2
# More than the pipeline's `cache_size`, so that they are searched anew.
NEW_TEXTS = 600
SYNONYMS = [("ASA", "C3"), ("head spinning", "C5"), ("giddy", "C4")]


def answers(nlp: Language, texts: list[str]) -> list:
    """What a pipeline finds."""
    return [
        [(ent.text, ent.kb_id_, ent._.candidates) for ent in doc.ents]
        for doc in nlp.pipe(texts, batch_size=16)
    ]


def work(nlp: Language, folder: Path, texts: list[str], new: Iterator[str]) -> None:
    """One round: four threads, one of which changes synonyms; two processes; saved and reloaded."""
    normalizer = nlp.get_pipe("concept_normalizer")
    with ThreadPoolExecutor(THREADS) as threads:
        asked = [threads.submit(answers, nlp, texts) for _ in range(THREADS - 2)]
        asked.append(threads.submit(normalizer.candidates, list(islice(new, len(texts)))))
        change(normalizer)
        while not all(each.done() for each in asked):
            change(normalizer)
        for each in asked:
            each.result()
    annotate(nlp, folder / "notes.jsonl", folder / "out.jsonl", n_process=PROCESSES, batch_size=16)
    normalizer.add_synonyms(SYNONYMS)
    save_pipeline(nlp, folder / "pipeline")
    again = spacy.load(folder / "pipeline")
    if answers(again, TEXTS[:20]) != answers(nlp, TEXTS[:20]):
        raise ValueError("a saved pipeline answers otherwise")
    normalizer.remove_synonyms(SYNONYMS)
    save_pipeline(nlp, folder / "pipeline")


def change(normalizer: ConceptNormalizer) -> None:
    """Add synonyms, and take them back."""
    normalizer.add_synonyms(SYNONYMS)
    normalizer.remove_synonyms(SYNONYMS)


def is_dead(held: object) -> bool:
    """Weak references to what is gone stay in registries until somebody adds to these."""
    return isinstance(held, weakref.ref) and held() is None


def holds(temporary: Path) -> dict[str, int]:
    """What this process holds."""
    gc.collect()
    status = Path("/proc/self/status").read_text().splitlines()
    (resident,) = (line.split()[1] for line in status if line.startswith("RssAnon:"))
    maps = Path("/proc/self/maps").read_text().splitlines()
    return {
        "resident": int(resident) * 1024,
        "objects": sum(not is_dead(item) for item in gc.get_objects()),
        "descriptors": len(list(Path("/proc/self/fd").iterdir())),
        "threads": threading.active_count(),
        "maps": sum(str(temporary.parent) in line for line in maps),
        "deleted": sum("(deleted)" in line for line in maps),
        "temporary": len(list(temporary.iterdir())),
        "beside": len(list(temporary.parent.iterdir())),
        "children": len(Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()),
    }


def main(folder: Path, rounds: int, documents: int) -> dict[str, list]:
    """RETURNS (Dict[str, list]): The last "answers", and what the process "holds" by round."""
    nlp = spacy.load(folder / "pipeline")
    texts = TEXTS[:documents]
    lines = "".join(json.dumps({"text": text}) + "\n" for text in texts)
    (folder / "notes.jsonl").write_text(lines)
    # As many words as the caches of words take soon: these grow to their limits, 65,536 words.
    new = cycle(f"heart {number}" for number in range(NEW_TEXTS))
    seen = []
    for _ in range(rounds):
        work(nlp, folder, texts, new)
        seen.append(holds(folder / "temporary"))
    return {"answers": answers(nlp, TEXTS), "holds": seen}


if __name__ == "__main__":
    json.dump(main(Path(sys.argv[1]), *map(int, sys.argv[2:])), sys.stdout)
