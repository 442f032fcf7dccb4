"""Any number of names: those of all ontologies in the data folder, then variants of them such as
texts have: other word order, inflection, typos. The same in every run.
"""

import random
from collections.abc import Iterator
from hashlib import blake2b
from itertools import islice
from pathlib import Path

import numpy as np
from thinc.api import Model

from _common.cli import require_files
from _common.datasets import ASKAPATIENT, MEDIC, MESH, OntologyFile
from spacy_connorm.encoders import encoder_inputs, fingerprint
from spacy_connorm.files.atomic import atomic_file
from spacy_connorm.index.vectors.kinds import from_raw
from spacy_connorm.ontology import stream_ontology
from spacy_connorm.text.cleaning import clean

ONTOLOGIES = (
    MEDIC,
    OntologyFile("ctd_diseases_2017/CTD_diseases.tsv.gz"),
    MESH,
    OntologyFile("craft/UBERON.obo.gz"),
    OntologyFile("craft/CL.obo.gz"),
    OntologyFile("craft/SO.obo.gz"),
    OntologyFile("disease_ontology/doid_2016-09-01.obo.gz"),
    OntologyFile(
        "icd10cm_2021/icd10cm-order-Jan-2021.txt.gz", {"format": "icd10cm", "implied_names": False}
    ),
    ASKAPATIENT,
)
SEED = 13
CHUNK = 20_000
LETTERS = "abcdefghijklmnopqrstuvwxyz"


def many_names(data: Path) -> Iterator[str]:
    """Read names, then make up variants without end.

    data (Path): The data folder.
    YIELDS (str): Names, some of them repeatedly; those of MEDIC first.
    """
    names = list(dict.fromkeys(ontology_names(data)))
    yield from names
    rng = random.Random(SEED)
    while True:
        yield from (vary(name, rng) for name in names)


def ontology_names(data: Path) -> Iterator[str]:
    """YIELDS (str): The names of all ontologies, some of them repeatedly."""
    for ontology in ONTOLOGIES:
        require_files(ontology.paths(data))
        for concept in stream_ontology(**ontology.located(data)):
            yield from concept.names


def vary(name: str, rng: random.Random) -> str:
    """Change a name.

    name (str): A name.
    rng (random.Random): Draws the changes.
    RETURNS (str): With one to three changes.
    """
    for change in rng.choices((reorder, inflect, mistype), weights=(2, 2, 3), k=rng.randint(1, 3)):
        name = change(name, rng)
    return name


def reorder(name: str, rng: random.Random) -> str:
    """RETURNS (str): The name rotated at a comma, or else at one of its spaces."""
    for separator in (", ", " "):
        words = name.split(separator)
        if len(words) > 1:
            cut = rng.randrange(1, len(words))
            return " ".join((*words[cut:], *words[:cut]))
    return name


def inflect(name: str, rng: random.Random) -> str:
    """RETURNS (str): The name with one word in the plural, or in the singular if it was plural."""
    words = name.split(" ")
    place = rng.randrange(len(words))
    word = words[place]
    if word.endswith("s") and len(word) > 3:
        words[place] = word[:-1]
    elif word.endswith("y"):
        words[place] = f"{word[:-1]}ies"
    else:
        words[place] = f"{word}s"
    return " ".join(words)


def mistype(name: str, rng: random.Random) -> str:
    """RETURNS (str): The name with a letter left out, doubled, replaced or moved."""
    place = rng.randrange(len(name))
    head, letter, tail = name[:place], name[place], name[place + 1 :]
    slips = (tail, letter * 2 + tail, rng.choice(LETTERS) + tail, tail[:1] + letter + tail[1:])
    return clean(head + rng.choice(slips)) or name


def write_vectors(encoder: Model, data: Path, wanted: int, *, work: Path) -> Path:
    """Encode names, unless an earlier run did.

    encoder (Model[List[str], Floats2d]): The encoder, loaded.
    data (Path): The data folder.
    wanted (int): How many names, all with different encoder inputs.
    work (Path): Keeps the vectors.
    RETURNS (Path): A `.npy` file of float32 unit vectors.
    """
    path = work / f"names-{wanted}-{fingerprint(encoder)}.npy"
    if not path.is_file():
        with atomic_file(path) as aside:
            shape = (wanted, encoder.get_dim("nO"))
            unit = np.lib.format.open_memmap(aside, mode="w+", dtype="float32", shape=shape)
            done = 0
            for names in chunks(distinct(many_names(data), encoder, wanted)):
                unit[done : done + len(names)] = from_raw(encoder.predict(names)).unit
                done += len(names)
            unit.flush()
    return path


def distinct(names: Iterator[str], encoder: Model, wanted: int) -> Iterator[str]:
    """YIELDS (str): The first names that differ for an encoder."""
    seen: set[bytes] = set()
    for chunk in chunks(names):
        for name, key in zip(chunk, encoder_inputs(encoder, chunk), strict=True):
            digest = blake2b(key, digest_size=16).digest()
            if digest not in seen:
                seen.add(digest)
                yield name
            if len(seen) == wanted:
                return


def chunks(names: Iterator[str]) -> Iterator[list[str]]:
    """YIELDS (List[str]): Some thousand names at a time."""
    while chunk := list(islice(names, CHUNK)):
        yield chunk
