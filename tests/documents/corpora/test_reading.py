import gzip

import pytest
import spacy
from hypothesis import given
from hypothesis import strategies as st
from spacy.tokens import DocBin
from spacy.training import Corpus

from spacy_connorm.documents.corpora import FORMATS, CorpusReport, read_corpus, write_docs
from spacy_connorm.documents.corpora.documents import DOC_ID_KEY, Document, make_doc
from spacy_connorm.documents.corpora.formats import find_corpus_format
from spacy_connorm.documents.mentions import Mention, annotated_mentions
from spacy_connorm.errors import ConnormError

NOTE = "7|t|Fever, not flu\n7\t0\t5\tFever\tSymptom\tD1|D2\n7\t11\t14\tflu\tDisease\t-1\n"
BLANK = spacy.blank("en")


def texts(path, nlp, **settings):
    return [doc.text for doc in read_corpus(path, nlp=nlp, **settings)]


@pytest.mark.parametrize("name", FORMATS)
def test_every_format_has_a_reader(name):
    assert callable(FORMATS[name].reader)


@pytest.mark.parametrize(
    "name", ["a.pubtator", "a.PubTator", "a.pubtator.txt", "NCBItrainset_corpus.txt", "v1.2.txt"]
)
def test_the_name_tells_the_format(tmp_path, nlp, name):
    path = tmp_path / name
    path.write_text(NOTE, encoding="utf8")
    assert texts(path, nlp) == ["Fever, not flu"]


@pytest.mark.parametrize(
    ("name", "format"),
    [
        ("a.pipe.txt.bioc.xml", "bioc"),
        ("x.bioc.xml.bak.txt", "pubtator"),
        ("a.PIPE.txt", "shareclef"),
        ("a.txt.pipe", "shareclef"),
        ("a.xml.tsv.gz", "tsv"),
        ("a.xml.bak", None),
    ],
)
def test_only_the_end_of_the_name_tells_the_format(tmp_path, name, format):
    if format is None:
        with pytest.raises(ConnormError, match="CN200"):
            find_corpus_format(tmp_path / name)
    else:
        assert find_corpus_format(tmp_path / name).name == format


def test_gzip_is_read_as_it_is(tmp_path, nlp):
    path = tmp_path / "a.pubtator.gz"
    path.write_bytes(gzip.compress(NOTE.encode()))
    assert texts(path, nlp) == ["Fever, not flu"]


def test_windows_line_ends_and_a_byte_order_mark_are_no_text(tmp_path, nlp):
    path = tmp_path / "a.pubtator"
    path.write_bytes(("\ufeff" + NOTE.replace("\n", "\r\n")).encode())
    assert texts(path, nlp) == ["Fever, not flu"]


def test_a_format_can_be_named(tmp_path, nlp):
    path = tmp_path / "corpus"
    path.write_text(NOTE, encoding="utf8")
    assert texts(path, nlp, format="pubtator") == ["Fever, not flu"]


@pytest.mark.parametrize(
    ("name", "content", "settings", "code"),
    [
        ("absent.pubtator", None, {}, "CN100"),
        ("corpus", b"", {}, "CN200"),
        ("corpus.txt", NOTE.encode(), {"format": "excel"}, "CN201"),
        ("corpus.txt", NOTE.encode(), {"columns": ["id"]}, "CN202"),
        ("empty.pubtator", b"", {}, "CN203"),
        ("blank.pubtator", b"\n \n\n", {}, "CN203"),
        ("textless.pubtator", b"7|t|\n7|a|\n", {}, "CN203"),
        ("wrong.jsonl", NOTE.encode(), {}, "CN209"),
        ("wrong.tsv", NOTE.encode(), {}, "CN210"),
        ("plain.pubtator.gz", NOTE.encode(), {}, "CN106"),
        ("cut.pubtator.gz", gzip.compress(NOTE.encode(), mtime=0)[:-9], {}, "CN106"),
        ("latin1.pubtator", "7|t|Fi\xe8vre".encode("latin1"), {}, "CN107"),
    ],
)
def test_files_that_cannot_be_read_are_named(tmp_path, nlp, name, content, settings, code):
    path = tmp_path / name
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(ConnormError, match=rf"\[{code}\]"):
        list(read_corpus(path, nlp=nlp, **settings))


@pytest.mark.parametrize("name", ["folder", "folder.pubtator"])
def test_a_folder_is_no_corpus(tmp_path, nlp, name):
    (tmp_path / name).mkdir()
    with pytest.raises(ConnormError, match="CN105"):
        list(read_corpus(tmp_path / name, nlp=nlp))


def test_what_is_written_is_read_by_spacy_with_all_its_mentions(tmp_path, nlp):
    source = tmp_path / "a.pubtator"
    source.write_text(NOTE, encoding="utf8")
    target = tmp_path / "deep" / "a.spacy"
    write_docs(read_corpus(source, nlp=nlp), target)
    (example,) = Corpus(target)(spacy.blank("en"))
    assert [ent.kb_id_ for ent in example.reference.ents] == ["D1|D2", ""]
    assert example.reference.user_data[DOC_ID_KEY] == "7"
    assert list(annotated_mentions(example.reference)) == [
        Mention("Fever", "Symptom", "D1|D2", ((0, 5),)),
        Mention("flu", "Disease", "", ((11, 14),)),
    ]
    assert [span.kb_id_ for span in example.reference.spans["mentions"]] == ["D1|D2", ""]
    assert [path.name for path in target.parent.iterdir()] == ["a.spacy"]


def test_only_spacy_files_are_written(tmp_path, nlp):
    with pytest.raises(ConnormError, match="CN212"):
        write_docs([nlp.make_doc("Flu")], tmp_path / "a.jsonl")


def test_a_file_that_cannot_be_written_is_named(tmp_path, nlp):
    (tmp_path / "file").write_text("")
    with pytest.raises(ConnormError, match="CN108"):
        write_docs([nlp.make_doc("Flu")], tmp_path / "file" / "a.spacy")


def test_a_corpus_that_breaks_leaves_the_old_file(tmp_path, nlp):
    target = tmp_path / "a.spacy"
    target.write_bytes(b"old")
    source = tmp_path / "a.pubtator"
    source.write_text(f"{NOTE}\nbroken\n", encoding="utf8")
    with pytest.raises(ConnormError, match="CN204"):
        write_docs(read_corpus(source, nlp=nlp), target)
    assert target.read_bytes() == b"old"


SAFE_TEXT = st.text(st.characters(exclude_categories=["Cs"]), min_size=1)


@given(SAFE_TEXT, st.data())
def test_any_offsets_that_hold_a_character_survive(text, data):
    start = data.draw(st.integers(0, len(text) - 1))
    end = data.draw(st.integers(start + 1, len(text)))
    if not text[start:end].strip():
        return
    mention = Mention(text[start:end], "X", "D1", ((start, end),))
    doc = make_doc(Document("1", text, (mention,)), nlp=BLANK, report=CorpusReport())
    stored = DocBin().from_bytes(DocBin(docs=[doc], store_user_data=True).to_bytes())
    (doc,) = stored.get_docs(BLANK.vocab)
    assert doc.text == text
    assert list(annotated_mentions(doc)) == [mention]
    (span,) = doc.spans["mentions"]
    assert text[start:end].strip() in span.text
