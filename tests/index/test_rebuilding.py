"""An index that is built again after its ontology has changed, beside one from nothing."""

import warnings
from dataclasses import replace
from random import Random

import pytest

from spacy_connorm.concepts import Concept, write_concepts
from spacy_connorm.ontology import open_ontology

from .conftest import DENSE, build
from .soundness import require_sound

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
    kept = [concept for concept in concepts if draw.random() > 0.1]
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
    return index, sorted({str(warning.message) for warning in caught})


@pytest.mark.parametrize("given", [as_file, as_list])
@pytest.mark.parametrize("seed", range(12))
def test_it_has_the_bytes_of_one_from_nothing(tmp_path, monkeypatch, given, seed):
    if seed % 2:
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
        require_sound(known)


@pytest.mark.parametrize("window", [3, 1000])
def test_known_texts_are_not_read_again(tmp_path, monkeypatch, window):
    monkeypatch.setattr("spacy_connorm.index.names._WINDOW", window)
    concepts = [Concept(f"C{number}", f"name {number}", ("other",)) for number in range(6)]
    known, _ = build_quietly(tmp_path / "a", concepts=concepts, synonyms=[])
    changed = [replace(concept, definition="New.") for concept in concepts]
    changed[0] = replace(changed[0], aliases=("new", "other"))
    read = []
    encoder = replace(DENSE, inputs=lambda texts: read.extend(texts) or DENSE.inputs(texts))
    index, _ = build_quietly(
        tmp_path / "b", concepts=changed, synonyms=[], known=known, encoder=encoder
    )
    assert set(read) == {"new"}
    fresh, _ = build_quietly(tmp_path / "c", concepts=changed, synonyms=[])
    assert index.manifest["files"] == fresh.manifest["files"]
