import pytest

from spacy_connorm.concepts import Concept, Ontology, write_concepts
from spacy_connorm.concepts.licence import write_licence
from spacy_connorm.errors import ConnormError
from spacy_connorm.ontology import ReadReport
from spacy_connorm.ontology.jsonl import read_jsonl
from spacy_connorm.ontology.obo import read_obo

from .conftest import by_id


def test_jsonl_reads_what_was_written_and_the_licence_beside_it(tmp_path):
    concept = Concept("T:1", "a", ("b",), ("T047",), "d", ("T:0",), ("T:9",))
    path, report = tmp_path / "kb.jsonl.gz", ReadReport()
    write_concepts([concept], path)
    write_licence("Be kind.", path)
    assert list(read_jsonl(path, report=report)) == [concept]
    assert report.licence == "Be kind."


def test_jsonl_keeps_scopes_and_reads_some(data, tmp_path):
    path = tmp_path / "small.jsonl"
    Ontology(read_obo(data / "small.obo")).to_disk(path)
    assert by_id(read_jsonl(path)) == by_id(read_obo(data / "small.obo"))
    for scopes in (["EXACT"], ["EXACT", "NARROW"], ["BROAD"], []):
        read = by_id(read_jsonl(path, scopes=scopes))["T:2"]
        assert read == by_id(read_obo(data / "small.obo", scopes=scopes))["T:2"]
    with pytest.raises(ConnormError, match="CN118.*scopes.*EXAKT"):
        list(read_jsonl(path, scopes=["EXAKT"]))
