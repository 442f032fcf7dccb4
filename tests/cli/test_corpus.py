import pytest
import spacy
from spacy.cli import app
from spacy.tokens import DocBin
from typer.testing import CliRunner

import spacy_connorm.cli  # noqa: F401

NOTE = """\
7|t|Fever after a tick bite
7|a|Lyme disease, not flu or mumps.
7\t0\t5\tFever\tSymptom\tD005334
7\t24\t36\tLyme disease\tDisease\tD008193
7\t42\t54\tflu or mumps\tDisease\tD007251|D009107
"""


@pytest.fixture(scope="module")
def nlp():
    return spacy.blank("en")


@pytest.fixture
def run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def invoke(*arguments):
        return CliRunner().invoke(app, ["connorm", "corpus", *arguments])

    return invoke


@pytest.fixture
def source(tmp_path):
    path = tmp_path / "note.pubtator"
    path.write_text(NOTE, encoding="utf8")
    return path.name


def test_a_corpus_is_converted_and_reported(run, source, nlp):
    result = run(source, "note.spacy")
    assert result.exit_code == 0, result.output
    (doc,) = DocBin().from_disk("note.spacy").get_docs(nlp.vocab)
    assert [ent.kb_id_ for ent in doc.ents] == ["D005334", "D008193", "D007251|D009107"]
    counts = " ".join(result.output.split())
    assert "Disease 2 0" in counts
    assert "Composite mentions, ids joined by | 1" in counts
    assert "Distinct concept ids 4" in counts


def test_types_and_language(run, source, nlp):
    result = run(source, "note.spacy", "--types", "Symptom, Drug", "--lang", "xx")
    assert result.exit_code == 0, result.output
    assert "CNW204" in result.output
    assert "Left out: mentions of type Disease 2" in " ".join(result.output.split())
    (doc,) = DocBin().from_disk("note.spacy").get_docs(nlp.vocab)
    assert [ent.text for ent in doc.ents] == ["Fever"]


def test_columns_and_header(run, tmp_path, nlp):
    (tmp_path / "a.tsv").write_text("mention\tid\nflu\tD007251\n", encoding="utf8")
    result = run("a.tsv", "a.spacy", "--columns", "mention,id", "--header")
    assert result.exit_code == 0, result.output
    (doc,) = DocBin().from_disk("a.spacy").get_docs(nlp.vocab)
    assert [(ent.text, ent.kb_id_) for ent in doc.ents] == [("flu", "D007251")]


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["absent.pubtator", "a.spacy"], "CN100"),
        (["note.pubtator", "a.txt"], "CN212"),
        (["note.pubtator", "note.pubtator/a.spacy"], "CN108"),
        (["note.pubtator", "a.spacy", "--format", "brat"], "CN201"),
        (["note.pubtator", "a.spacy", "--columns", "id,mention"], "CN202"),
        (["note.pubtator", "a.spacy", "--lang", "qq"], "CN213"),
    ],
)
def test_bad_input_is_one_clear_message_and_exit_code_1(run, source, arguments, code):
    result = run(*arguments)
    assert result.exit_code == 1
    assert f"[{code}]" in result.output
    assert "Traceback" not in result.output


def test_help_has_an_example(run):
    result = run("--help")
    assert result.exit_code == 0
    assert "python -m spacy connorm corpus" in result.output
