import pytest
from spacy.tokens import DocBin
from spacy.vocab import Vocab


@pytest.fixture
def run(invoke, pubtator_note, monkeypatch):
    monkeypatch.chdir(pubtator_note.parent)
    return lambda *arguments: invoke("corpus", *arguments)


def ents(path):
    (doc,) = DocBin().from_disk(path).get_docs(Vocab())
    return [ent.text for ent in doc.ents]


def test_corpus_prints_counts(run, words):
    result = run("note.pubtator", "note.spacy")
    assert result.exit_code == 0, result.output
    assert "Disease 2 0" in words(result)
    assert "Composite mentions, ids joined by | 1" in words(result)
    assert "Distinct concept ids 4" in words(result)
    assert ents("note.spacy") == ["Fever", "Lyme disease", "flu or mumps"]


def test_corpus_takes_types_and_the_language(run, words, tmp_path):
    result = run("note.pubtator", "note.spacy", "--types", "Symptom, Drug", "--lang", "xx")
    assert result.exit_code == 0, result.output
    assert "CNW204" in result.output
    assert "Left out: mentions of type Disease 2" in words(result)
    assert ents("note.spacy") == ["Fever"]
    assert run("note.pubtator", "label.spacy", "--label", "X").exit_code == 0
    (doc,) = DocBin().from_disk("label.spacy").get_docs(Vocab())
    assert {ent.label_ for ent in doc.ents} == {"X"}
    (tmp_path / "a.tsv").write_text("mention\tid\nflu\tD007251\n", encoding="utf8")
    result = run("a.tsv", "a.spacy", "--columns", "mention,id", "--header")
    assert result.exit_code == 0, result.output
    assert ents("a.spacy") == ["flu"]


def test_corpus_refuses_missing_files_and_options_of_other_formats(run, refused):
    refused(run("absent.pubtator", "a.spacy"), "CN100")
    refused(run("note.pubtator", "a.spacy", "--columns", "id,mention"), "CN113")


def test_ids_are_replaced_by_those_of_an_ontology(run, words, tmp_path):
    line = (
        '{"concept_id": "HP:1", "canonical_name": "Fever", "aliases": [], "xrefs": ["MSH:D005334"]}'
    )
    (tmp_path / "hp.jsonl").write_text(line, encoding="utf8")
    result = run("note.pubtator", "note.spacy", "--ids-of", "hp.jsonl")
    assert result.exit_code == 0, result.output
    assert "Ids: replaced by the id of the concept that refers to it 1" in words(result)
    assert "Ids: no concept refers to it, kept 3" in words(result)
    (doc,) = DocBin().from_disk("note.spacy").get_docs(Vocab())
    assert [ent.kb_id_ for ent in doc.ents] == ["HP:1", "D008193", "D007251|D009107"]
