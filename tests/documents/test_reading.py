"""Gold ids of a corpus in another vocabulary than the ontology's."""

import gzip

import pytest
import spacy
from hypothesis import given
from hypothesis import strategies as st
from spacy.tokens import DocBin
from spacy.training import Corpus

from spacy_connorm import Concept, Ontology
from spacy_connorm.documents import CorpusReport, convert_corpus, read_corpus
from spacy_connorm.documents.docbin import write_docs
from spacy_connorm.documents.document import (
    AMBIGUOUS,
    DOC_ID_KEY,
    KNOWN,
    TRANSLATED,
    UNKNOWN,
    Document,
    make_doc,
)
from spacy_connorm.documents.formats import find_corpus_format
from spacy_connorm.documents.mentions import Mention, annotated_mentions
from spacy_connorm.errors import ConnormError, ConnormWarning

NOTE = "7|t|Fever, not flu\n7\t0\t5\tFever\tSymptom\tD1|D2\n7\t11\t14\tflu\tDisease\t-1\n"
BLANK = spacy.blank("en")


def texts(path, nlp, **settings):
    return [doc.text for doc in read_corpus(path, nlp=nlp, **settings)]


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
        ("a.xml.tsv.gz", "tsv"),
        ("a.xml.bak", None),
    ],
)
def test_only_the_end_of_the_name_tells_the_format(tmp_path, name, format):
    if format is None:
        with pytest.raises(ConnormError, match="CN111"):
            find_corpus_format(tmp_path / name)
    else:
        assert find_corpus_format(tmp_path / name).name == format


def test_gzip_is_read_as_it_is(tmp_path, nlp):
    path = tmp_path / "a.pubtator.gz"
    path.write_bytes(gzip.compress(NOTE.encode()))
    assert texts(path, nlp) == ["Fever, not flu"]


def test_windows_line_ends_and_a_byte_order_mark_are_not_text(tmp_path, nlp):
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
        ("corpus", b"", {}, "CN111"),
        ("corpus.txt", NOTE.encode(), {"format": "excel"}, "CN118"),
        ("corpus.txt", NOTE.encode(), {"columns": ["id"]}, "CN113"),
        ("empty.pubtator", b"", {}, "CN104"),
        ("blank.pubtator", b"\n \n\n", {}, "CN104"),
        ("textless.pubtator", b"7|t|\n7|a|\n", {}, "CN104"),
        ("wrong.tsv", NOTE.encode(), {}, "CN204"),
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
def test_a_folder_is_not_a_corpus(tmp_path, nlp, name):
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
    with pytest.raises(ConnormError, match="CN708"):
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


def ents(path, nlp):
    return [
        (ent.text, ent.kb_id_)
        for doc in DocBin().from_disk(path).get_docs(nlp.vocab)
        for ent in doc.ents
    ]


def test_a_corpus_is_converted_and_counted(pubtator_note, tmp_path, nlp, capsys):
    report = convert_corpus(pubtator_note, tmp_path / "new" / "note.spacy")
    assert [kb_id for _, kb_id in ents(tmp_path / "new" / "note.spacy", nlp)] == [
        "D005334",
        "D008193",
        "D007251|D009107",
    ]
    assert report.doc_ids == {"7"}
    assert report.mentions == {"Symptom": 1, "Disease": 2}
    assert (report.composite, len(report.concept_ids)) == (1, 4)
    assert capsys.readouterr() == ("", "")


def test_types_and_language(pubtator_note, tmp_path, nlp):
    out = tmp_path / "note.spacy"
    with pytest.warns(ConnormWarning, match="CNW204"):
        report = convert_corpus(str(pubtator_note), str(out), types=["Symptom", "Drug"], lang="xx")
    assert report.left_out == {"Disease": 2}
    assert ents(out, nlp) == [("Fever", "D005334")]


def test_one_label_for_all(pubtator_note, tmp_path, nlp):
    out = tmp_path / "note.spacy"
    report = convert_corpus(pubtator_note, out, label="MENTION")
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


def test_bad_input_leaves_the_old_file(pubtator_note, tmp_path):
    out = tmp_path / "a.spacy"
    out.write_text("old")
    for path, options, code in (
        (tmp_path / "absent.pubtator", {}, "CN100"),
        (pubtator_note, {"format": "excel"}, "CN118"),
        (pubtator_note, {"columns": ["id", "mention"]}, "CN113"),
        (pubtator_note, {"lang": "qq"}, "CN213"),
    ):
        with pytest.raises(ConnormError, match=code):
            convert_corpus(path, out, **options)
    assert out.read_text() == "old"
    for target, code in ((tmp_path / "a.txt", "CN708"), (pubtator_note / "a.spacy", "CN108")):
        with pytest.raises(ConnormError, match=code):
            convert_corpus(pubtator_note, target)


ONTOLOGY = Ontology(
    [
        Concept("MONDO:1", "influenza", xrefs=("MSH:D007251", "UMLS:C0021400")),
        Concept("MONDO:2", "mumps", xrefs=("MESH:D009107",), alt_ids=("MONDO:22",)),
        Concept("MONDO:3", "breast cancer", xrefs=("MESH:D001943",)),
        Concept("MONDO:4", "benign breast neoplasm", xrefs=("MESH:D001943", "OMIM:114480")),
    ]
)


@pytest.fixture
def read(tmp_path, nlp):
    def read(*ids, ontology=ONTOLOGY):
        lines = ["7|t|flu", *(f"7\t0\t3\tflu\tDisease\t{concept_id}" for concept_id in ids)]
        path = tmp_path / "a.pubtator"
        path.write_text("\n".join(lines) + "\n", encoding="utf8")
        report = CorpusReport()
        (doc,) = read_corpus(path, nlp=nlp, report=report, ids_of=ontology)
        return [mention.kb_id for mention in annotated_mentions(doc)], report

    return read


@pytest.mark.parametrize(
    ("given", "written", "outcomes"),
    [
        ("D007251", "MONDO:1", [TRANSLATED]),
        ("MESH:D007251", "MONDO:1", [TRANSLATED]),
        ("C0021400", "MONDO:1", [TRANSLATED]),
        ("OMIM:114480", "MONDO:4", [TRANSLATED]),
        ("D007251|D009107", "MONDO:1|MONDO:2", [TRANSLATED, TRANSLATED]),
        ("D007251|-1", "MONDO:1|-1", [TRANSLATED]),
        ("MONDO:1", "MONDO:1", [KNOWN]),
        ("MONDO:22", "MONDO:2", [KNOWN]),
        ("D001943|D007251", "D001943|MONDO:1", [AMBIGUOUS, TRANSLATED]),
        ("X1|D007251", "X1|MONDO:1", [UNKNOWN, TRANSLATED]),
    ],
)
def test_ids_that_one_concept_refers_to_are_replaced(read, given, written, outcomes):
    (found,), report = read(given)
    assert found == written
    assert sorted(report.translated.elements()) == sorted(outcomes)
    assert report.concept_ids == set(written.replace("+", "|").split("|")) - {"-1"}


def test_mentions_without_an_id_stay_so(read):
    found, report = read("-1", "D007251")
    assert found == ["", "MONDO:1"]
    assert report.translated.total() == 1


def test_an_ontology_of_another_vocabulary_warns(read):
    with pytest.warns(ConnormWarning, match=r"CNW205.* 2 "):
        found, _ = read("D007251", "D001943", ontology=Ontology([Concept("HP:1", "fever")]))
    assert found == ["D007251", "D001943"]


def test_a_corpus_is_converted_with_a_file(tmp_path):
    path, ontology = tmp_path / "a.pubtator", tmp_path / "o.jsonl"
    path.write_text("7|t|flu\n7\t0\t3\tflu\tDisease\tD007251\n", encoding="utf8")
    ONTOLOGY.to_disk(ontology)
    report = convert_corpus(path, tmp_path / "a.spacy", ids_of=ontology)
    assert report.concept_ids == {"MONDO:1"}
    with pytest.raises(ConnormError, match="CN121"):
        convert_corpus(path, ontology, ids_of=ontology)
    with pytest.raises(ConnormError, match="CN100"):
        convert_corpus(path, tmp_path / "a.spacy", ids_of=tmp_path / "absent.jsonl")
    with pytest.raises(ConnormError, match=r"CN115.*a\.pubtator"):
        convert_corpus(path, tmp_path / "a.spacy", ids_of=path)


# By format: the file, its first lines, an annotation of "pain", an odd one, and the last lines.
_BIOC = (
    '{{"id": "{0}", "infons": {{"type": "Disease"}}, "text": "pain", '
    '"locations": [{{"offset": 0, "length": 4}}]}}'
)
READERS = {
    "pubtator": ("a.pubtator", "1|t|pain", "1\t0\t4\tpain\tDisease\tD{0}", "1\tpain\tDisease", ""),
    "bioc": (
        "a.json",
        '{"id": "1", "passages": [{"offset": 0, "text": "pain", "annotations": [',
        _BIOC,
        _BIOC.format(9).replace('"offset": 0', '"offset": 7'),
        "]}]}",
    ),
    "bioc lines": (
        "a.bioc",
        "",
        '{{"id": "{0}", "passages": [{{"offset": 0, "text": "pain", "annotations": ['
        + _BIOC
        + "]}}]}}",
        '{"id": 3, "passages": [',
        "",
    ),
    "brat": ("a.ann", "", "T{0}\tDisease 0 4\tpain", "T99\tDisease 2 2\t", ""),
    "tsv": ("a.tsv", "", "D{0}\tn\tpain", "D9\tpain", ""),
}


@pytest.mark.parametrize("kind", READERS)
def test_one_odd_line_is_skipped_counted_and_named_by_every_reader(tmp_path, nlp, kind):
    name, head, annotation, odd, tail = READERS[kind]
    path = tmp_path / name
    lines = [annotation.format(number) for number in range(1, 61)]
    (tmp_path / "a.txt").write_text("pain")

    def read(lines, **settings):
        items = (",\n" if name.endswith(".json") else "\n").join(lines)
        path.write_text("\n".join(filter(None, [head, items, tail])) + "\n")
        docs = read_corpus(path, nlp=nlp, **settings)
        return [mention for doc in docs for mention in annotated_mentions(doc)]

    expected = read(lines)
    assert len(expected) == 60
    with_one = [*lines[:40], odd, *lines[40:]]
    with pytest.warns(ConnormWarning, match=rf"CNW110.*{name}': 1 of \d+ lines.*line \d") as caught:
        assert read(with_one) == expected
    assert len(caught) == 1
    with pytest.raises(ConnormError, match=r"line \d"):
        read(with_one, max_odd=0)
    with pytest.raises(ConnormError, match="--max-odd"):
        read([*lines, *[odd] * 20])


def test_an_odd_file_of_a_folder_does_not_stop_the_others(tmp_path, nlp):
    for number in range(40):
        (tmp_path / f"{number:02}.txt").write_text("pain")
        line = "T1\tDisease 0 4\tpain\n" if number else "T1\tDisease 0 0\t\n"
        (tmp_path / f"{number:02}.ann").write_text(line)
    with pytest.warns(ConnormWarning) as caught:
        assert len(list(read_corpus(tmp_path, nlp=nlp))) == 40
    assert ["00.ann', line 1" in str(warning.message) for warning in caught] == [True, False]
