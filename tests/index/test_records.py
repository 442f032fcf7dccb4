"""An index that is built again after its ontology has changed, beside one from nothing."""

import warnings
from dataclasses import replace
from functools import partial
from random import Random

import pytest

from spacy_connorm.concepts import Concept, ConceptStream, write_concepts
from spacy_connorm.errors import ConnormError
from spacy_connorm.index import word_bags
from spacy_connorm.index.records import read_learned
from spacy_connorm.index.verification import verify_index
from spacy_connorm.ontology import open_ontology
from spacy_connorm.text.word_bags import word_bag

from .conftest import DENSE, build

WORDS = ("heart", "Heart", "attack", "pain", "MI", "acute", "שלום", "of the", "renal", "disease")
OTHER_IDS = ("MIM:1", "OMIM:1", "ICD10:I21", "MESH:D009203")


def make_concept(draw: Random, number: int) -> Concept:
    """With names that others share, that it has twice, and with ids of nobody."""
    names = [" ".join(draw.choices(WORDS, k=draw.randint(1, 3))) for _ in range(draw.randint(1, 5))]
    return Concept(
        concept_id=f"{draw.choice(('T:', 'MSH:', ''))}C{number:02}",
        canonical_name=names[0],
        aliases=tuple(names[1:]),
        types=tuple(draw.sample(("finding", "drug", "sign"), draw.randint(0, 2))),
        definition=draw.choice(("", "What it is.")),
        parents=tuple(f"T:C{draw.randrange(40):02}" for _ in range(draw.randint(0, 2))),
        alt_ids=tuple(draw.sample(OTHER_IDS, draw.randint(0, 1))),
        xrefs=tuple(draw.sample(OTHER_IDS, draw.randint(0, 2))),
        broad=tuple(draw.sample(names, 1)),
    )


def changed(concepts: list[Concept], draw: Random) -> list[Concept]:
    """Some removed, changed in each field, repeated, or in another place; and some new ones."""
    kept = [each for each in concepts if draw.random() > 0.1]
    for place, other in enumerate(kept):
        if draw.random() < 0.2:
            field = draw.choice(Concept.__slots__[1:])
            kept[place] = replace(other, **{field: getattr(make_concept(draw, 0), field)})
    kept += draw.sample(kept, 2)
    kept += [make_concept(draw, draw.randrange(60)) for _ in range(4)]
    kept += [replace(make_concept(draw, 0), concept_id=draw.choice(kept).concept_id)]
    if draw.random() < 0.5:
        draw.shuffle(kept)
    return kept


def as_file(folder, concepts):
    write_concepts(concepts, folder / "ontology.jsonl")
    return open_ontology(folder / "ontology.jsonl")


def as_list(folder, concepts):
    return iter(concepts)


def build_quietly(path, **given):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        index = build(path, **given)
    # An id of the data may be that of another concept now.
    return index, sorted({str(each.message) for each in caught})


@pytest.mark.parametrize("given", [as_file, as_list])
@pytest.mark.parametrize("seed", range(12))
def test_it_has_the_bytes_of_one_from_nothing(tmp_path, monkeypatch, given, seed):
    if seed % 2:
        # Texts of concepts that are read again are found in the older index, too.
        monkeypatch.setattr("spacy_connorm.index.names._WINDOW", 5)
    draw = Random(seed)
    concepts = [make_concept(draw, number) for number in range(30)]
    synonyms = [(draw.choice(WORDS), draw.choice(concepts).concept_id) for _ in range(5)]
    known, _ = build_quietly(
        tmp_path / "0", concepts=given(tmp_path, concepts), synonyms=synonyms[:3]
    )
    for release in range(1, 4):
        concepts = changed(concepts, draw)
        fresh, told = build_quietly(
            tmp_path / "fresh", concepts=given(tmp_path, concepts), synonyms=synonyms
        )
        known, told_again = build_quietly(
            tmp_path / str(release),
            concepts=given(tmp_path, concepts),
            synonyms=synonyms,
            known=known,
        )
        assert known.manifest["files"] == fresh.manifest["files"]
        assert told_again == told
        verify_index(known, report=lambda count: None)


def read_again(folder, stream, known):
    """RETURNS (Set[str]): The ids of the concepts that a new index reads."""
    read = set()

    def listening(record):
        concept = record.read()
        read.add(concept.concept_id)
        return concept

    def watched():
        for record in stream.read_records():
            yield record._replace(read=partial(listening, record))

    opened = ConceptStream.of_records(watched(), stream.source, stream.known)
    build_quietly(folder / "again", concepts=opened, synonyms=[], known=known)
    return read


def test_only_what_has_changed_is_read(tmp_path):
    concepts = [Concept(f"C{number}", f"name {number}", ("other",)) for number in range(9)]
    concepts[3] = replace(concepts[3], parents=("C99",))
    concepts[4] = replace(concepts[4], aliases=("long " * 300,))
    concepts += [replace(concepts[5], aliases=("merged",))]
    synonyms = [("other", "C6"), ("unseen", "C7")]
    known, _ = build_quietly(
        tmp_path / "a", concepts=as_file(tmp_path, concepts), synonyms=synonyms
    )
    concepts[1] = replace(concepts[1], definition="New.")
    # The first one is read before anybody can say what is known.
    expected = {"C0", "C1", "C3", "C4", "C5", "C6"}
    assert read_again(tmp_path, as_file(tmp_path, concepts), known) == expected
    backwards = as_file(tmp_path, concepts[::-1])
    assert read_again(tmp_path, backwards, known) == expected - {"C0"}


def test_what_is_read_in_another_way_is_read_again(tmp_path, monkeypatch):
    concepts = [Concept(f"C{number}", f"name {number}", ("other",)) for number in range(3)]
    known, _ = build_quietly(tmp_path / "a", concepts=as_file(tmp_path, concepts), synonyms=[])
    path = tmp_path / "ontology.jsonl"
    assert read_again(tmp_path, open_ontology(path), known) == {"C0"}
    exact = open_ontology(path, scopes=["EXACT"])
    assert read_again(tmp_path, exact, known) == {"C0", "C1", "C2"}
    monkeypatch.setattr("spacy_connorm.concepts.ontology.__version__", "another")
    assert read_again(tmp_path, open_ontology(path), known) == {"C0", "C1", "C2"}


def test_rows_of_a_table_are_compared_once_they_are_read(tmp_path):
    path = tmp_path / "a.tsv"
    path.write_text("id\tname\nC1\tone\nC2\ttwo\nC3\tthree\n")
    known, _ = build_quietly(tmp_path / "a", concepts=open_ontology(path), synonyms=[])
    path.write_text("name\tid\none\tC1\ntwo\tC2\ndrei\tC3\n")
    assert read_again(tmp_path, open_ontology(path, id="id"), known) == {"C1", "C3"}


@pytest.mark.parametrize(("window", "expected"), [(3, ["new", "other"]), (1000, None)])
def test_known_texts_of_changed_concepts_are_copied_if_they_are_many(
    tmp_path, monkeypatch, window, expected
):
    monkeypatch.setattr("spacy_connorm.index.names._WINDOW", window)
    concepts = [Concept(f"C{number}", f"name {number}", ("other",)) for number in range(6)]
    known, _ = build_quietly(tmp_path / "a", concepts=concepts, synonyms=[])
    changed = [replace(each, definition="New.") for each in concepts]
    changed[0] = replace(changed[0], aliases=("new", "other"))
    read, split = [], []
    encoder = replace(DENSE, inputs=lambda texts: read.extend(texts) or DENSE.inputs(texts))
    monkeypatch.setattr(word_bags, "word_bag", lambda text: split.append(text) or word_bag(text))
    index, _ = build_quietly(
        tmp_path / "b", concepts=changed, synonyms=[], known=known, encoder=encoder
    )
    # Texts that share a row are split, but not read.
    names = [name for each in changed for name in each.names]
    assert set(read) == ({"new"} if expected else set(names))
    assert set(split) == set(expected or names)
    monkeypatch.undo()
    fresh, _ = build_quietly(tmp_path / "c", concepts=changed, synonyms=[])
    assert index.manifest["files"] == fresh.manifest["files"]


@pytest.mark.parametrize("line", ["xyz", "{digest}[1, [[2]]]", "{digest}[1", '{digest}["1", []]'])
def test_a_damaged_line_of_words_is_told(tmp_path, line):
    path = tmp_path / "records.learned.txt"
    path.write_text(line.format(digest="0" * 16) + "\n", encoding="utf8")
    with pytest.raises(ConnormError, match=r"CN402.*records\.learned\.txt"):
        dict(read_learned(path))
