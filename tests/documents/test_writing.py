import pytest
import spacy

from spacy_connorm.documents import export_docs, read_corpus
from spacy_connorm.errors import ConnormError


def test_a_corpus_is_written_with_its_gold_ids(tmp_path):
    note = "7|t|Fever after a bite\n7|a|Lyme?\n7\t0\t5\tFever\tSymptom\tD1|D2\n"
    source, out = tmp_path / "a.pubtator", tmp_path / "b.pubtator"
    source.write_text(note, encoding="utf8")
    assert export_docs(read_corpus(source, nlp=spacy.blank("en")), out) == 1
    assert out.read_text(encoding="utf8") == note + "\n"


def test_a_failure_leaves_the_old_file(docs, tmp_path):
    def failing():
        yield docs[0]
        raise RuntimeError("stop")

    path = tmp_path / "a.csv"
    path.write_text("old")
    with pytest.raises(RuntimeError, match="stop"):
        export_docs(failing(), path)
    assert [path.read_text(), list(tmp_path.iterdir())] == ["old", [path]]


def test_documents_are_written_as_they_come(docs, tmp_path):
    path = tmp_path / "new" / "a.jsonl"

    def watched():
        yield docs[0].copy()
        for _ in range(2_000):
            yield docs[1]
        (part,) = path.parent.glob(".a.part-*")
        assert part.stat().st_size > 0
        yield docs[2]

    assert export_docs(watched(), path) == 2_002


@pytest.mark.parametrize(
    ("name", "code"), [("a.docx", "CN111"), (".", "CN111"), ("a.csv/b.csv", "CN108")]
)
def test_bad_outputs_and_options_are_refused(docs, tmp_path, name, code):
    (tmp_path / "a.csv").write_text("old")
    with pytest.raises(ConnormError, match=code):
        export_docs(docs, tmp_path / name)
    with pytest.raises(ConnormError, match="CN113"):
        export_docs(docs, tmp_path / "b.csv", colour="blue")
