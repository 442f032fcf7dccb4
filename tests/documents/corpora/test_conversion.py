import pytest
from spacy.tokens import DocBin

from spacy_connorm.documents.corpora import convert_corpus
from spacy_connorm.documents.mentions import annotated_mentions
from spacy_connorm.errors import ConnormError, ConnormWarning

NOTE = """\
7|t|Fever after a tick bite
7|a|Lyme disease, not flu or mumps.
7\t0\t5\tFever\tSymptom\tD005334
7\t24\t36\tLyme disease\tDisease\tD008193
7\t42\t54\tflu or mumps\tDisease\tD007251|D009107
"""


@pytest.fixture
def source(tmp_path):
    path = tmp_path / "note.pubtator"
    path.write_text(NOTE, encoding="utf8")
    return path


def ents(path, nlp):
    return [
        (ent.text, ent.kb_id_)
        for doc in DocBin().from_disk(path).get_docs(nlp.vocab)
        for ent in doc.ents
    ]


def test_a_corpus_is_converted_and_counted(source, tmp_path, nlp, capsys):
    report = convert_corpus(source, tmp_path / "new" / "note.spacy")
    assert [kb_id for _, kb_id in ents(tmp_path / "new" / "note.spacy", nlp)] == [
        *("D005334", "D008193", "D007251|D009107")
    ]
    assert report.doc_ids == {"7"}
    assert report.mentions == {"Symptom": 1, "Disease": 2}
    assert (report.composite, len(report.concept_ids)) == (1, 4)
    assert capsys.readouterr() == ("", "")


def test_types_and_language(source, tmp_path, nlp):
    out = tmp_path / "note.spacy"
    with pytest.warns(ConnormWarning, match="CNW204"):
        report = convert_corpus(str(source), str(out), types=["Symptom", "Drug"], lang="xx")
    assert report.left_out == {"Disease": 2}
    assert ents(out, nlp) == [("Fever", "D005334")]


def test_one_label_for_all(source, tmp_path, nlp):
    out = tmp_path / "note.spacy"
    report = convert_corpus(source, out, label="MENTION")
    assert set(report.mentions) == {"Symptom", "Disease"}, "what the corpus has is counted"
    (doc,) = DocBin().from_disk(out).get_docs(nlp.vocab)
    for spans in (doc.ents, doc.spans["mentions"]):
        assert [(span.text, span.label_, span.kb_id_) for span in spans] == [
            ("Fever", "MENTION", "D005334"),
            ("Lyme disease", "MENTION", "D008193"),
            ("flu or mumps", "MENTION", "D007251|D009107"),
        ]
    assert next(mention.kb_id for mention in annotated_mentions(doc)) == "D005334"


def test_options_of_a_format(tmp_path, nlp):
    (tmp_path / "a.txt").write_text("mention\tid\nflu\tD007251\n", encoding="utf8")
    out = tmp_path / "a.spacy"
    convert_corpus(tmp_path / "a.txt", out, format="tsv", columns=["mention", "id"], header=True)
    assert ents(out, nlp) == [("flu", "D007251")]


def test_bad_input_leaves_the_old_file(source, tmp_path):
    out = tmp_path / "a.spacy"
    out.write_text("old")
    for path, options, code in (
        (tmp_path / "absent.pubtator", {}, "CN100"),
        (source, {"format": "excel"}, "CN201"),
        (source, {"columns": ["id", "mention"]}, "CN202"),
        (source, {"lang": "qq"}, "CN213"),
    ):
        with pytest.raises(ConnormError, match=code):
            convert_corpus(path, out, **options)
    assert out.read_text() == "old"
    for target, code in ((tmp_path / "a.txt", "CN212"), (source / "a.spacy", "CN108")):
        with pytest.raises(ConnormError, match=code):
            convert_corpus(source, target)
