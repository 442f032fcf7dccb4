"""Sets of synonyms for `grounding.py`, and how they are split (Fivez et al. 2021, sections 4 and
5.1). They stand in for the paper's: MEDIC for SNOMED CT, the Disease Ontology and ICD-10-CM by
categories for SNOMED CT by ICD-10 codes, mentions of three corpora for MedMentions.
"""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from _common.cli import require_files
from _common.datasets import DATASETS, read_docs
from spacy_connorm.documents.mentions import annotated_mentions
from spacy_connorm.encoders.grounded.words import split_tokens
from spacy_connorm.ontology import read_ontology
from spacy_connorm.text.words import words_of

SETS = ("medic", "icd10", "corpora")
# Of names that are kept, in words and punctuation marks.
MOST_TOKENS = 6
ZERO_SHOT_SHARE = 0.1
CATEGORY = 3
FILES = {
    "medic": ("medic_2012/medic_06Jul2012.txt.gz",),
    "icd10": (
        "disease_ontology/doid_2016-09-01.obo.gz",
        "icd10cm_2021/icd10cm_tabular_2021.xml.gz",
    ),
}
# Those of one file are read together, mentions of all types.
CORPORA = ("ncbi", "bc5cdr-d", "craft-cl")

Pair = tuple[str, str]


@dataclass(frozen=True)
class Split:
    """Names and the concepts that they belong to.

    train (Dict[str, List[str]]): The names to train on, by concept.
    validation (List[Tuple[str, str]]): Names and their concepts, which are trained on.
    test (List[Tuple[str, str]]): Others.
    zero_shot (Dict[str, List[str]]): The names of concepts that are not trained on.
    """

    train: dict[str, list[str]]
    validation: list[Pair]
    test: list[Pair]
    zero_shot: dict[str, list[str]]


def split_set(name: str, data: Path, *, seed: int) -> Split:
    """Read a set and split it. A tenth of the concepts is set aside. Of every other concept with
    two names or more one is held out for test, and, if two are still left, one for validation.

    name (str): One of `SETS`.
    data (Path): The data folder.
    seed (int): Of all draws.
    RETURNS (Split): The same for the same seed.
    """
    names = usable_names(read_pairs(name, data))
    random = np.random.default_rng(seed)
    concepts = sorted(names)
    aside = set(
        random.permutation(len(concepts))[: round(len(concepts) * ZERO_SHOT_SHARE)].tolist()
    )
    train: dict[str, list[str]] = {}
    held_out: dict[str, list[Pair]] = {"test": [], "validation": []}
    for number, concept in enumerate(concepts):
        if number in aside:
            continue
        left = list(names[concept])
        for part in held_out.values():
            if len(left) > 1:
                part.append((left.pop(int(random.integers(len(left)))), concept))
        train[concept] = left
    zero_shot = {concepts[number]: names[concepts[number]] for number in sorted(aside)}
    return Split(train, held_out["validation"], held_out["test"], zero_shot)


def usable_names(pairs: Iterator[Pair]) -> dict[str, list[str]]:
    """Lower-case names, drop tags such as "(disorder)", and leave out names of several concepts and
    those of more than six tokens.

    pairs (Iterator[Tuple[str, str]]): Names and concepts.
    RETURNS (Dict[str, List[str]]): Names by concept, each once, in order; no concept without names.
    """
    concepts: dict[str, set[str]] = defaultdict(set)
    texts: dict[str, str] = {}
    for text, concept in pairs:
        name = " ".join((words_of("en").orthography.strip_tags(text) or text).lower().split())
        tokens = split_tokens(name)
        if 0 < len(tokens) <= MOST_TOKENS:
            key = " ".join(tokens)
            concepts[key].add(concept)
            texts.setdefault(key, name)
    found: dict[str, list[str]] = defaultdict(list)
    for key, owners in concepts.items():
        if len(owners) == 1:
            found[next(iter(owners))].append(texts[key])
    return {concept: sorted(names) for concept, names in found.items()}


def read_pairs(name: str, data: Path) -> Iterator[Pair]:
    """YIELDS (Tuple[str, str]): The names of a set and the concepts that they belong to."""
    require_files(set_files(name, data))
    return {"medic": _read_medic, "icd10": _read_icd10, "corpora": _read_corpora}[name](data)


def set_files(name: str, data: Path) -> list[Path]:
    """RETURNS (List[Path]): The files that a set is read from."""
    if name in FILES:
        return [data / path for path in FILES[name]]
    corpora = [DATASETS[corpus] for corpus in CORPORA]
    return [data / path for each in corpora for path in (*each.train, each.test)]


def _read_medic(data: Path) -> Iterator[Pair]:
    (path,) = set_files("medic", data)
    for concept in read_ontology(path, format="medic"):
        yield from ((name, concept.concept_id) for name in concept.names)


def _read_icd10(data: Path) -> Iterator[Pair]:
    """By category, the first three characters of a code. Names of a disease with codes of several
    categories are left out, like all names of several concepts.
    """
    diseases, codes = set_files("icd10", data)
    for concept in read_ontology(diseases):
        for xref in concept.xrefs:
            vocabulary, _, code = xref.partition(":")
            # Other codes, e.g. "C00-C96", are of chapters.
            if vocabulary.upper() in ("ICD10CM", "ICD10") and "-" not in code:
                yield from ((name, code[:CATEGORY]) for name in concept.names)
    for concept in read_ontology(codes, implied_names=False):
        code = concept.concept_id.rpartition(":")[2]
        if "-" not in code and len(code) >= CATEGORY:
            yield from ((name, code[:CATEGORY]) for name in concept.names)


def _read_corpora(data: Path) -> Iterator[Pair]:
    for path in set_files("corpora", data):
        for doc in read_docs(path):
            for mention in annotated_mentions(doc):
                if len(mention.concept_ids) == 1:
                    yield mention.text, mention.concept_ids[0]


def flat(names: dict[str, list[str]]) -> list[str]:
    """RETURNS (List[str]): All names, concept by concept."""
    return [name for own in names.values() for name in own]


def places_of(names: dict[str, list[str]]) -> list[np.ndarray]:
    """RETURNS (List[Ints1d]): The places of each concept's names when all names are in one list."""
    ends = np.cumsum([len(own) for own in names.values()])
    return np.split(np.arange(ends[-1]), ends[:-1])
