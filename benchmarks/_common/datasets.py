"""The data sets: their files, and how to read them."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import spacy
from spacy.language import Language
from spacy.tokens import Doc

from _common.cli import fail, require_files
from _common.clinical_notes import MCN_LIST, SHARECLEF, read_clinical_notes
from _common.craft import read_craft
from _common.translated_labels import BABELON, read_labels, write_other_labels
from spacy_connorm.concepts import Ontology
from spacy_connorm.documents import read_corpus
from spacy_connorm.documents.abbreviations import Abbreviations
from spacy_connorm.documents.mentions import (
    Mention,
    annotated_mentions,
    annotated_synonyms,
)
from spacy_connorm.ontology import read_ontology
from spacy_connorm.text.abbreviations import find_abbreviations


@dataclass(frozen=True)
class OntologyFile:
    """An ontology below the data folder.

    path (str): Its file.
    options (Dict[str, Any]): Settings of its reader.
    files (Dict[str, str]): Settings that name another file.
    translations (Tuple[str, ...]): Tables with the names in another language.
    """

    path: str
    options: dict[str, Any] = field(default_factory=dict)
    files: dict[str, str] = field(default_factory=dict)
    translations: tuple[str, ...] = ()

    def paths(self, folder: Path) -> list[Path]:
        """RETURNS (List[Path]): All of its files, in the data folder."""
        return [folder / path for path in (self.path, *self.files.values(), *self.translations)]

    def located(self, folder: Path) -> dict[str, Any]:
        """RETURNS (Dict[str, Any]): What `read_ontology` is called with, for a data folder."""
        files = {name: folder / path for name, path in self.files.items()}
        tables = [folder / path for path in self.translations]
        return {"path": folder / self.path, **self.options, **files, "translations": tables}


@dataclass(frozen=True)
class Dataset:
    """A corpus and its ontology.

    ontology (OntologyFile): O.
    train (Tuple[str, ...]): The files of train and dev, or of dev; empty if there is only a test
        part.
    test (str): The file of test; empty if there is only a dev part.
    types (Tuple[str, ...]): The mention types to score; all if empty.
    has_other_ids (bool): Whether O only refers to the gold ids, which become O's then.
    language (str): The language of the texts.
    learned_from (str): A table of labels that O gets names in the language from, but for those to
        score. It keeps its own.
    """

    ontology: OntologyFile
    train: tuple[str, ...]
    test: str
    types: tuple[str, ...] = ()
    has_other_ids: bool = False
    language: str = "en"
    learned_from: str = ""


MEDIC = OntologyFile("medic_2012/medic_06Jul2012.txt.gz", {"format": "medic"})
MESH = OntologyFile(
    "mesh/mesh_descriptors_2019.tsv.gz",
    files={
        "tree": "mesh/mesh_tree_2017.tsv.gz",
        "supplementary": "mesh/mesh_scr_partial.tsv.gz",
    },
)
DISEASE_ONTOLOGY = OntologyFile("disease_ontology/doid_2016-09-01.obo.gz")
HPO = OntologyFile("hpo_2017/hp_2017-04-13.obo.gz")
HPO_2025 = OntologyFile("hpo_2025/hp_2025-01-16.obo.gz")
_TRANSLATED = "hpo_translations"
HPO_FRENCH = replace(
    HPO_2025,
    options={"language": ["fr"]},
    translations=(
        f"{_TRANSLATED}/hp-fr.babelon.tsv.gz",
        f"{_TRANSLATED}/hp-fr.synonyms.tsv.gz",
    ),
)
HPO_SPANISH = replace(
    HPO_2025,
    options={"language": ["es"]},
    translations=(f"{_TRANSLATED}/hp-es.babelon.tsv.gz",),
)
# The part of UMLS that the notes were annotated with, as `connorm ontology` wrote it.
CLINICAL = OntologyFile("clinical_notes/ontology.jsonl")
ASKAPATIENT = OntologyFile(
    "askapatient_fold0/concepts.tsv.gz",
    {"format": "tsv", "id": 1, "name": 2, "header": False},
)


def _parts(folder: str, suffix: str) -> tuple[tuple[str, ...], str]:
    train, dev, test = (f"{folder}/{part}.{suffix}.gz" for part in ("train", "dev", "test"))
    return (train, dev), test


def _craft(name: str) -> Dataset:
    ontology = OntologyFile(f"craft/{name}.obo.gz")
    return Dataset(ontology, *_parts("craft", "jsonl"), types=(name,))


def _in_disease_ontology(data: Dataset) -> Dataset:
    return replace(data, ontology=DISEASE_ONTOLOGY, has_other_ids=True)


def _labels(code: str, *, learned: bool = False) -> Dataset:
    table = f"{_TRANSLATED}/hp-{code}.babelon.tsv.gz"
    return Dataset(HPO_2025, (), table, language=code, learned_from=table * learned)


PARTS = ("test", "dev")
DISEASES = ("ncbi", "bc5cdr-d")  # both with MEDIC as O
_NCBI = Dataset(MEDIC, *_parts("ncbi_disease", "pubtator.txt"))
_BC5CDR_D = Dataset(MEDIC, *_parts("bc5cdr", "pubtator.txt"), types=("Disease",))
DATASETS = {
    "ncbi": _NCBI,
    "bc5cdr-d": _BC5CDR_D,
    "ncbi-do": _in_disease_ontology(_NCBI),
    "bc5cdr-d-do": _in_disease_ontology(_BC5CDR_D),
    "bc5cdr-c": Dataset(MESH, *_parts("bc5cdr", "pubtator.txt"), types=("Chemical",)),
    "craft-cl": _craft("CL"),
    "craft-uberon": _craft("UBERON"),
    "craft-so": _craft("SO"),
    "hpo-abstracts": Dataset(HPO, ("hpo_2017/gsc_plus_dev.pubtator.txt.gz",), ""),
    "hpo-notes": Dataset(HPO, ("hpo_2017/clinical_dev.pubtator",), ""),
    "hpo-omim": Dataset(HPO_2025, ("hpo_2025/omim_dev.pubtator.txt.gz",), ""),
    "hpo-notes-fr": Dataset(
        HPO_FRENCH, (f"{_TRANSLATED}/fr_notes_dev.pubtator",), "", language="fr"
    ),
    "hpo-notes-es": Dataset(
        HPO_SPANISH, (f"{_TRANSLATED}/es_notes_dev.pubtator",), "", language="es"
    ),
    "hpo-labels-fr": _labels("fr"),
    "hpo-labels-es": _labels("es"),
    # O has the other labels, too, and names that are made word by word, as these tell.
    "hpo-labels-fr-made": _labels("fr", learned=True),
    "hpo-labels-es-made": _labels("es", learned=True),
    "askapatient": Dataset(ASKAPATIENT, *_parts("askapatient_fold0", "tsv")),
    "mcn": Dataset(
        CLINICAL,
        ("clinical_notes/mcn/train/train_file_list.txt",),
        "clinical_notes/mcn/test/test_file_list.txt",
    ),
    "shareclef": Dataset(
        CLINICAL,
        ("clinical_notes/shareclef/train.pipe",),
        "clinical_notes/shareclef/test.pipe",
        types=("Disease_Disorder",),
    ),
    "nlmchem": Dataset(MESH, (), "nlmchem_test/test.pubtator.txt.gz"),
}


@cache
def blank_english() -> Language:
    """RETURNS (Language): The pipeline that tokenizes all corpora."""
    return spacy.blank("en")


class Data:
    """A data set, read from disk lazily."""

    def __init__(
        self, name: str, folder: Path, *, ontology: Path | None = None, part: str = "test"
    ) -> None:
        """Check that the files exist.

        name (str): One of `DATASETS`.
        folder (Path): The data folder.
        ontology (Optional[Path]): Another O than the data set's.
        part (str): The part to score, one of `PARTS`. D is train for dev, train and dev for test.
        """
        self.name = name
        self.dataset = DATASETS[name]
        self.folder = folder
        self.part = part
        self.other_ontology = ontology
        # Of the concepts of O that have types, those with one of these; all if empty.
        self.concept_types: Sequence[str] = ()
        if part == "dev" and not self.dataset.train:
            fail(f"{name} has no dev part: score --part test.")
        if part == "test" and not self.dataset.test:
            fail(f"{name} has no test part: score --part dev.")
        require_files([*self._ontology_files, *self._data_files, self._scored_file])

    def require_hierarchy(self) -> None:
        """Stop with a message if no concept of O has a parent."""
        if not any(concept.parents for concept in self.ontology):
            fail(f"The ontology of {self.name} has no parents: name one that has with --ontology.")

    @property
    def _ontology_files(self) -> list[Path]:
        if self.other_ontology is not None:
            return [self.other_ontology]
        table = self.dataset.learned_from
        return self.dataset.ontology.paths(self.folder) + ([self.folder / table] if table else [])

    @property
    def _data_files(self) -> list[Path]:
        paths = self.dataset.train[:-1] if self.part == "dev" else self.dataset.train
        return [self.folder / path for path in paths]

    @property
    def _scored_file(self) -> Path:
        return self.folder / (self.dataset.train[-1] if self.part == "dev" else self.dataset.test)

    def digest(self, *, with_data: bool) -> str:
        """RETURNS (str): A checksum of O, or of O and D."""
        content = sha256()
        for path in self._ontology_files + (self._data_files if with_data else []):
            content.update(path.read_bytes())
        content.update(" ".join(self.concept_types).encode())
        if with_data:
            content.update(" ".join(self.dataset.types).encode())
            # The same files give D other ids.
            content.update(b"other ids" * self.dataset.has_other_ids)
        return content.hexdigest()

    def digest_of_scored(self) -> str:
        """RETURNS (str): A checksum of the part to score."""
        return sha256(self._scored_file.read_bytes()).hexdigest()

    @cached_property
    def ontology(self) -> Ontology:
        """RETURNS (Ontology): O."""
        if self.other_ontology is not None:
            ontology = read_ontology(self.other_ontology)
        elif self.dataset.learned_from:
            ontology = self._with_made_names()
        else:
            ontology = read_ontology(**self.dataset.ontology.located(self.folder))
        if not self.concept_types:
            return ontology
        wanted = set(self.concept_types)
        kept = [each for each in ontology if not each.types or wanted.intersection(each.types)]
        return Ontology(kept, source=ontology.source)

    def _with_made_names(self) -> Ontology:
        with TemporaryDirectory() as folder:
            table = Path(folder) / "others.tsv"
            write_other_labels(self.folder / self.dataset.learned_from, table)
            located = self.dataset.ontology.located(self.folder)
            located |= {"translations": [table], "language": [self.dataset.language, "en"]}
            return read_ontology(**located)

    @cached_property
    def docs(self) -> list[Doc]:
        """RETURNS (List[Doc]): The documents of D, with the mentions to score."""
        return [doc for path in self._data_files for doc in self._read(path)]

    @cached_property
    def synonyms(self) -> list[tuple[str, str]]:
        """RETURNS (List[Tuple[str, str]]): D: texts and concept ids."""
        return list(annotated_synonyms(self.docs))

    @cached_property
    def expanded_synonyms(self) -> list[tuple[str, str]]:
        """RETURNS (List[Tuple[str, str]]): D with the long forms that its documents define."""
        return list(annotated_synonyms(self.docs, long_forms=True))

    @cached_property
    def scored_docs(self) -> list[Doc]:
        """RETURNS (List[Doc]): The documents to score."""
        return list(self._read(self._scored_file))

    @cached_property
    def mentions(self) -> list[Mention]:
        """RETURNS (List[Mention]): The mentions to score."""
        return [mention for doc in self.scored_docs for mention in annotated_mentions(doc)]

    @cached_property
    def long_forms(self) -> list[str]:
        """RETURNS (List[str]): The long form of each mention in its document; empty if it has
        none.
        """
        return read_long_forms(self.scored_docs)

    def _read(self, path: Path) -> Iterator[Doc]:
        ids_of = self.ontology if self.dataset.has_other_ids else None
        return read_docs(path, types=self.dataset.types, ids_of=ids_of)


def read_docs(
    path: Path, *, types: Sequence[str] = (), ids_of: Ontology | None = None
) -> Iterator[Doc]:
    """Read a corpus: CRAFT or clinical notes, which have formats of their own here, or one that the
    package reads.

    path (Path): The file.
    types (Sequence[str]): The types of mentions to read; all if empty.
    ids_of (Optional[Ontology]): As for `read_corpus`.
    RETURNS (Iterator[Doc]): The documents.
    """
    nlp = blank_english()
    if path.parent.name == "craft":
        return read_craft(path, nlp=nlp, types=types)
    if path.name.endswith(BABELON):
        return read_labels(path, nlp=nlp)
    if path.name.endswith((MCN_LIST, SHARECLEF)):
        return read_clinical_notes(path, nlp=nlp, types=types)
    return read_corpus(path, nlp=nlp, types=types, ids_of=ids_of)


def read_long_forms(docs: Iterable[Doc]) -> list[str]:
    """RETURNS (List[str]): The long form of each mention in its document; empty if it has none.

    docs (Iterable[Doc]): The documents.
    """
    return [
        definitions.long_form(mention.text, mention.extent[1] - 1)
        for doc in docs
        for definitions in [Abbreviations([(0, find_abbreviations(doc.text, "en"))])]
        for mention in annotated_mentions(doc)
    ]
