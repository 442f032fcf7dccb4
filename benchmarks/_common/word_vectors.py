"""fastText vectors trained on what the data folder has: names, definitions and the text of the
corpora's train and dev parts. They stand in for vectors trained on MEDLINE (Fivez et al. 2021),
which cannot be had here: 76 million sentences there, a few hundred thousand short ones here.

Names are read one by one, never beside their synonyms.
"""

import sys
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path

from spacy.pipeline import Sentencizer

from _common.cli import require_files
from _common.datasets import DATASETS, OntologyFile, read_docs
from spacy_connorm.encoders.grounded.words import split_tokens
from spacy_connorm.ontology import read_ontology

WIDTH = 300
EPOCHS = 5
BUCKETS = 200_000
ONTOLOGIES = (
    OntologyFile("medic_2012/medic_06Jul2012.txt.gz"),
    OntologyFile("ctd_diseases_2017/CTD_diseases.tsv.gz"),
    OntologyFile("disease_ontology/doid_2016-09-01.obo.gz"),
    OntologyFile("icd10cm_2021/icd10cm_tabular_2021.xml.gz", {"implied_names": False}),
    OntologyFile("mesh/mesh_descriptors_2019.tsv.gz"),
    OntologyFile("craft/CL.obo.gz"),
    OntologyFile("craft/UBERON.obo.gz"),
    OntologyFile("craft/SO.obo.gz"),
)
CORPORA = ("ncbi", "bc5cdr-d", "craft-cl")


def train_word_vectors(data: Path, work: Path) -> Path:
    """Train fastText vectors, unless an earlier run did, with one thread and a fixed seed.

    data (Path): The data folder.
    work (Path): Keeps them.
    RETURNS (Path): The model in fastText's binary format.
    """
    files = [data / ontology.path for ontology in ONTOLOGIES]
    files += [data / path for name in CORPORA for path in DATASETS[name].train]
    require_files(files)
    digest = sha256(f"{WIDTH} {EPOCHS} {BUCKETS}".encode())
    for path in files:
        digest.update(path.read_bytes())
    model_path = work / f"fasttext-{digest.hexdigest()[:16]}.bin"
    if model_path.is_file():
        return model_path
    from gensim.models.fasttext import FastText, save_facebook_model

    print("Training fastText vectors ...", file=sys.stderr)
    sentences = [split_tokens(text.lower()) for text in read_texts(data)]
    model = FastText(
        vector_size=WIDTH, sg=1, min_count=2, bucket=BUCKETS, seed=0, workers=1, window=5
    )
    model.build_vocab(corpus_iterable=sentences)
    model.train(corpus_iterable=sentences, total_examples=len(sentences), epochs=EPOCHS)
    aside = model_path.with_suffix(".part")
    save_facebook_model(model, str(aside))
    aside.replace(model_path)
    return model_path


def read_texts(data: Path) -> Iterator[str]:
    """YIELDS (str): Names, definitions and sentences."""
    for ontology in ONTOLOGIES:
        for concept in read_ontology(**ontology.located(data)):
            yield from concept.names
            if concept.definition:
                yield concept.definition
    find_sentences = Sentencizer()
    for name in CORPORA:
        for path in DATASETS[name].train:
            for doc in read_docs(data / path):
                yield from (sent.text for sent in find_sentences(doc).sents)
