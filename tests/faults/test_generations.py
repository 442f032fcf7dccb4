"""Index, synonyms and encoder belong together: parts of another build are refused."""

import json
import shutil

import pytest
import spacy
import srsly

from spacy_connorm import Concept, Ontology, save_pipeline
from spacy_connorm.errors import ConnormError
from spacy_connorm.files.folders import pack as pack_folder
from spacy_connorm.files.folders import seal, verify

# The same texts, so the same encoder, but the numbers of the concepts are others.
ONE = Ontology([Concept("C1", "heart"), Concept("C2", "skin"), Concept("C3", "liver")])
OTHER = Ontology([Concept("C0", "liver"), Concept("C1", "heart"), Concept("C2", "skin")])


@pytest.fixture
def saved(blank_pipeline, tmp_path):
    """Two pipelines of different ontologies: folders and settings."""
    folders = []
    for name, ontology in (("one", ONE), ("other", OTHER)):
        nlp = blank_pipeline()
        normalizer = nlp.get_pipe("concept_normalizer")
        normalizer.initialize(lambda: [], nlp=nlp, ontology=ontology)
        normalizer.add_synonyms([("hearts", "C1")], count=3)
        normalizer.remove_synonyms([("skin", "C2")])
        save_pipeline(nlp, tmp_path / name)
        folders.append(tmp_path / name / "concept_normalizer")
    return folders


def swap_index(folder, other):
    shutil.rmtree(folder / "index")
    shutil.copytree(other / "index", folder / "index")


def found(pipeline):
    normalizer = pipeline.get_pipe("concept_normalizer")
    return [
        [c.concept_id for c in candidates]
        for candidates in normalizer.candidates(["hearts", "skin", "liver"])
    ]


def test_an_index_of_another_build_is_refused(saved):
    one, other = saved
    swap_index(one, other)
    with pytest.raises(ConnormError, match=r"CN430.*one.*index.*save_synonyms"):
        spacy.load(one.parent)
    with pytest.raises(ConnormError, match="CN430"):
        verify(one)


def test_in_bytes_too(saved, blank_normalizer):
    one, other = saved
    swap_index(one, other)
    content = srsly.msgpack_dumps(pack_folder(one))
    with pytest.raises(ConnormError, match="CN430"):
        blank_normalizer().from_bytes(content)


def test_a_component_of_another_build_is_found_in_a_pipeline(saved):
    one, other = saved
    shutil.rmtree(one)
    shutil.copytree(other, one)
    with pytest.raises(ConnormError, match="CN430.*concept_normalizer"):
        verify(one.parent)


def test_the_same_parts_answer_alike(saved, tmp_path):
    one, _ = saved
    expected = found(spacy.load(one.parent))
    assert expected[0][0] == "C1" and expected[1][0] != "C2"
    again = shutil.copytree(one.parent, tmp_path / "again")
    assert found(spacy.load(again)) == expected


def test_concepts_are_stored_by_id(saved):
    ids = {line["concept_id"] for line in srsly.read_jsonl(saved[0] / "synonyms.jsonl")}
    assert ids == {"C1", "C2"}


@pytest.mark.parametrize(
    "line",
    [
        {"key": "00", "text": "hearts", "concept": 99, "count": 1},
        {"key": "00", "text": "hearts", "concept": -1, "count": 1},
        {"key": "00", "text": "hearts", "concept": True, "count": 1},
        {"key": "00", "text": "hearts", "concept_id": "unknown", "count": 1},
        {"key": "00", "text": "hearts", "concept_id": "\ud800", "count": 1},
        {"key": "00", "text": "hearts", "concept_id": 1, "count": 1},
        {"key": "00", "text": "hearts", "count": 1},
        {"key": "0", "text": "hearts", "concept": 1, "count": 1},
        {"text": "hearts", "concept": 1, "count": 1},
        {"key": "00", "concept": 1, "count": 1},
        {"key": "00", "text": "hearts", "concept": 1, "count": 0},
        {"key": "00", "text": "hearts", "concept": 1, "count": 2**40},
        {"row": 99, "concept": 1},
        {"row": -1, "concept": 1},
        {"row": "0", "concept": 1},
        {"row": 0, "concept": 99},
        {"row": 0, "concept_id": "C3"},
        [],
        "not JSON",
    ],
    ids=str,
)
def test_synonyms_that_the_index_cannot_have(saved, blank_normalizer, line):
    one, _ = saved
    text = "{" if line == "not JSON" else json.dumps(line)
    (one / "synonyms.jsonl").write_text(text + "\n", encoding="utf8")
    seal(one, {})
    with pytest.raises(ConnormError, match=r"CN402.*synonyms\.jsonl.*line 1"):
        blank_normalizer().from_disk(one)


def test_fewer_vectors_than_synonyms(saved, blank_normalizer):
    one, _ = saved
    lines = (one / "synonyms.jsonl").read_text(encoding="utf8")
    first, rest = lines.split("\n", 1)
    more = {**json.loads(first), "key": "00"}
    text = "\n".join([first, json.dumps(more), rest])
    (one / "synonyms.jsonl").write_text(text, encoding="utf8")
    seal(one, {})
    with pytest.raises(ConnormError, match="CN402.*synonyms.*1 vectors.*sparse.*2 of.*sparse"):
        blank_normalizer().from_disk(one)


def test_synonyms_are_carried_to_another_index(saved, tmp_path):
    one, other = (spacy.load(each.parent) for each in saved)
    expected = found(other)
    normalizers = [each.get_pipe("concept_normalizer") for each in (one, other)]
    normalizers[0].save_synonyms(tmp_path / "synonyms.tsv")
    normalizers[1].load_synonyms(tmp_path / "synonyms.tsv")
    assert found(other) == expected
