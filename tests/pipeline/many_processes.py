"""A script of `test_multiprocessing.py`: a pipeline read by one process and by several, whose
answers are written as JSON. Spawned workers import it again.

Usage: python many_processes.py PIPELINE TASK:METHOD:PROCESSES ...
"""

import json
import multiprocessing
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import spacy
from spacy.language import Language

from spacy_connorm import annotate
from spacy_connorm.pipeline.concept_normalizer import ConceptNormalizer

TEXTS = [
    "An MI and a cold.",
    "No mention.",
    "Acetylsalicylic acid (ASA) is old. ASA helps.",
    "heart disease, aspirin, ASA",
    "",
    "Heart attack, head spinning",
]
SOME_COLD = ["A cold.", "MI", "An MI.", "ASA", "aspirin", "Aspirin"]
BATCH = 3
OURS = "concept_normalizer"


class Fragile(ConceptNormalizer):
    """Fails on some documents."""

    def predict(self, docs):
        if any("cold" in doc.text for doc in docs):
            raise ValueError("too cold")
        return super().predict(docs)


@Language.component("mapped_files")
def mapped_files(doc):
    """Tell which files below temporary folders the process has mapped, by path and number."""
    lines = Path("/proc/self/maps").read_text().splitlines()
    files = {tuple(line.split(maxsplit=5)[4:]) for line in lines if "spacy_connorm-" in line}
    doc.user_data["mapped"] = [[path, int(number)] for number, path in files]
    return doc


def normalizers(nlp):
    return [pipe for _, pipe in nlp.pipeline if isinstance(pipe, ConceptNormalizer)]


def read(nlp, doc):
    """The entities of a document, with the candidates of each normalizer."""
    attributes = [f"{pipe.cfg['attribute_prefix']}candidates" for pipe in normalizers(nlp)]
    return [(e.text, e.kb_id_, [e._.get(attribute) for attribute in attributes]) for e in doc.ents]


def skip(name, component, docs, error):
    """An error handler that passes documents over."""


def answers(nlp, processes):
    """What all documents are answered with, beside what was handed through with them."""
    texts = [(text, {"place": place}) for place, text in enumerate(TEXTS * 2)]
    docs = nlp.pipe(texts, as_tuples=True, n_process=processes, batch_size=BATCH)
    return [(context, read(nlp, doc)) for doc, context in docs]


def skipped(nlp, processes):
    """What is left of documents when some of them fail and are passed over."""
    nlp.get_pipe("concept_normalizer").__class__ = Fragile
    nlp.set_error_handler(skip)
    docs = nlp.pipe(SOME_COLD, n_process=processes, batch_size=BATCH)
    return [(doc.text, read(nlp, doc)) for doc in docs]


def raised(nlp, processes):
    """The error of documents that fail and are not passed over."""
    nlp.get_pipe("concept_normalizer").__class__ = Fragile
    try:
        list(nlp.pipe(SOME_COLD, n_process=processes, batch_size=BATCH))
    except ValueError as error:
        return str(error)


def shared(nlp, processes):
    """Of a pipeline that was never saved: which files of index and encoder the workers have
    mapped, and what else of this kind.
    """
    nlp.from_bytes(nlp.to_bytes())
    nlp.add_pipe("mapped_files", last=True)
    lookup = nlp.get_pipe("concept_normalizer").lookup
    folders = (lookup.index.folder,)
    docs = list(nlp.pipe(TEXTS * 2, n_process=processes, batch_size=BATCH))
    mapped = {tuple(file) for doc in docs for file in doc.user_data["mapped"]}
    files = [file for folder in folders for file in folder.rglob("*")]
    files += lookup.index.folder.parent.glob("encoder.*")
    own = {(str(file), file.stat().st_ino) for file in files}
    return sorted(Path(path).name for path, _ in mapped & own), sorted(mapped - own)


def annotated(nlp, processes):
    """The lines that `annotate` writes."""
    with TemporaryDirectory() as folder:
        source, out = Path(folder, "in.jsonl"), Path(folder, "out.jsonl")
        source.write_text("".join(json.dumps({"text": text}) + "\n" for text in TEXTS * 2))
        annotate(nlp, source, out, n_process=processes, batch_size=BATCH, component=OURS)
        return out.read_text(encoding="utf8").splitlines()


TASKS = {each.__name__: each for each in (answers, annotated, skipped, raised, shared)}


def main(path, runs):
    found = {}
    for run in runs:
        task, method, processes = run.split(":")
        nlp = spacy.load(path)
        for normalizer in normalizers(nlp):
            normalizer.add_synonyms([("heart disease", "C6")])
        # This process has worked, and so have its thread pools, before it forks.
        list(nlp.pipe(TEXTS))
        multiprocessing.set_start_method(method, force=True)
        found[run] = TASKS[task](nlp, int(processes))
    json.dump(found, sys.stdout)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
