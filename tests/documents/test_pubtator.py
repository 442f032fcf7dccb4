import pytest
import spacy
from bioc import pubtator
from spacy.training import Example
from spacy.util import registry

from spacy_connorm.documents import CorpusReport, export_docs, read_corpus
from spacy_connorm.documents.document import DOC_ID_KEY
from spacy_connorm.documents.mentions import Mention, annotated_mentions, set_mentions
from spacy_connorm.documents.reading import create_pubtator_reader
from spacy_connorm.errors import ConnormError, ConnormWarning

from .conftest import FOUND, TEXT

NOTE = """\
7|t|Fever after a tick bite
7|a|Lyme disease, not flu or mumps.
7\t0\t5\tFever\tSymptom\tMESH:D005334
7\t24\t36\tLyme disease\tDisease\tD008193
7\t42\t54\tflu or mumps\tDisease\tD007251|OMIM: 123 \tflu|mumps
7\tCID\tD005334\tD008193
"""


def test_title_and_abstract_are_joined_by_one_character(read):
    (doc,), _, _ = read(NOTE)
    assert doc.text == "Fever after a tick bite\nLyme disease, not flu or mumps."


def test_mentions_are_entities_with_gold_ids(read):
    (doc,), (mentions,), report = read(NOTE)
    assert [(ent.text, ent.label_, ent.kb_id_) for ent in doc.ents] == [
        ("Fever", "Symptom", "D005334"),
        ("Lyme disease", "Disease", "D008193"),
        ("flu or mumps", "Disease", "D007251|OMIM:123"),
    ]
    assert mentions[2] == Mention("flu or mumps", "Disease", "D007251|OMIM:123", ((42, 54),))
    assert report.composite == 1
    assert report.skipped == {"relation lines": 1}
    assert report.mentions == {"Symptom": 1, "Disease": 2}
    assert report.concept_ids == {"D005334", "D008193", "D007251", "OMIM:123"}


def test_relations_of_five_columns_are_passed_over(read):
    _, _, report = read(NOTE + "7\tAssociation\tD1\tD2\tNovel\n")
    assert report.skipped == {"relation lines": 2}


def test_a_mention_without_an_id_column_has_no_id(read):
    _, (mentions,), report = read("7|t|Fever\n7\t0\t5\tFever\tSymptom\n")
    assert mentions == [Mention("Fever", "Symptom", "", ((0, 5),))]
    assert report.without_id == {"Symptom": 1}


def test_blocks_in_a_row_with_one_id_are_one_document(read):
    text = (
        "9|t|Aspirin\n9|a|\n9\t0\t7\tAspirin\tChemical\tMESH:D001241\n\n"
        "9|t|Methods\n9|a|\n\n"
        "9|t|With NaCl\n9|a|\n9\t5\t9\tNaCl\tChemical\tMESH:D012964,MESH:D002713\n"
    )
    (doc,), (mentions,), report = read(text)
    assert doc.text == "Aspirin\nMethods\nWith NaCl"
    assert mentions == [
        Mention("Aspirin", "Chemical", "D001241", ((0, 7),)),
        Mention("NaCl", "Chemical", "D012964+D002713", ((21, 25),)),
    ]
    assert (len(report.doc_ids), report.passages, report.combination) == (1, 3, 1)


def test_blocks_need_no_blank_line_between_them(read):
    docs, _, _ = read(
        "1|t|Fever\n1\t0\t5\tFever\tSymptom\tD1\n2|t|Flu\n2\t0\t3\tFlu\tDisease\tD2\n"
    )
    assert [doc.text for doc in docs] == ["Fever", "Flu"]


def test_a_document_that_returns_is_kept_and_counted(read):
    other = "8|t|Flu\n8\t0\t3\tFlu\tDisease\tD007251\n"
    with pytest.warns(ConnormWarning, match="CNW203.*: 1"):
        docs, _, report = read(f"{NOTE}\n{other}\n{NOTE}")
    assert [doc.text[:3] for doc in docs] == ["Fev", "Flu", "Fev"]
    assert (len(report.doc_ids), report.repeated, report.mentions.total()) == (2, 1, 7)


def test_types_not_to_be_linked_are_kept_only_when_asked_for(read):
    text = "1|t|It and salt\n1\t0\t2\tIt\tOTHER\t-\n1\t7\t11\tsalt\tChemical\tD017673\n"
    _, (mentions,), report = read(text)
    assert [mention.text for mention in mentions] == ["salt"]
    assert report.left_out == {"OTHER": 1}
    _, (mentions,), report = read(text, types=["OTHER"])
    assert [mention.text for mention in mentions] == ["It"]
    assert report.left_out == {"Chemical": 1}


def test_offsets_inside_tokens_survive(read):
    text = "1|t|non-hypertensive1 rats\n1\t4\t16\thypertensive\tDisease\tD006973\n"
    (doc,), (mentions,), report = read(text)
    assert mentions == [Mention("hypertensive", "Disease", "D006973", ((4, 16),))]
    assert doc.ents[0].text == "hypertensive1"
    assert report.misaligned == 1


def test_of_overlapping_mentions_the_longest_is_an_entity(read):
    text = (
        "1|t|acute heart failure\n"
        "1\t6\t11\theart\tOrgan\tD006321\n"
        "1\t6\t19\theart failure\tDisease\tD006333\n"
    )
    (doc,), (mentions,), report = read(text)
    assert [span.text for span in doc.spans["mentions"]] == ["heart", "heart failure"]
    assert [ent.text for ent in doc.ents] == ["heart failure"]
    assert len(mentions) == 2
    assert report.overlapping == 1


@pytest.mark.parametrize(
    "title", ["a\x00b mumps", "mild 🤒🤒 mumps", "חזרת mumps", "\u202eright to left\u202c mumps"]
)
def test_offsets_stay_true_in_unusual_text(read, title):
    start = title.index("mumps")
    row = f"1\t{start}\t{start + 5}\tmumps\tDisease\tD009107"
    (doc,), (mentions,), report = read(f"1|t|{title}\n{row}\n")
    assert doc.text == title
    assert doc.ents[0].text == "mumps"
    assert mentions[0].fragments == ((start, start + 5),)
    assert not report.mismatched


def test_lone_surrogates_are_replaced_one_for_one(read):
    with pytest.warns(ConnormWarning, match="CNW202.*: 3"):
        (doc,), (mentions,), _ = read(
            "1|t|\ud83d\ud83d mum\udc00ps\n1\t3\t9\tmum\ufffdps\tDisease\tD009107\n"
        )
    assert doc.text == "\ufffd\ufffd mum\ufffdps"
    assert mentions[0].text == "mum\ufffdps"


def test_a_mention_that_differs_from_its_text_is_kept_and_counted(read):
    with pytest.warns(ConnormWarning, match="CNW200.*: 1, the first in .*line 2"):
        _, (mentions,), _ = read("1|t|Mild mumps\n1\t4\t9\tmumps\tDisease\tD009107\n")
    assert mentions == [Mention("mumps", "Disease", "D009107", ((4, 9),))]


def test_space_around_an_annotated_text_is_ignored(read):
    _, (mentions,), report = read("1|t|Mild mumps\n1\t5\t10\tmumps  \tDisease\tD009107\n")
    assert mentions[0].text == "mumps"
    assert not report.mismatched


def test_a_document_without_mentions_is_kept_and_counted(read):
    with pytest.warns(ConnormWarning, match="CNW201.*: 1"):
        docs, _, _ = read(f"{NOTE}\n8|t|Nothing found\n8|a|\n")
    assert [len(doc.ents) for doc in docs] == [3, 0]


def test_a_document_without_text_is_passed_over(read):
    docs, _, report = read(f"{NOTE}\n8|t|\n8|a|\n")
    assert len(docs) == 1
    assert report.skipped["documents without text"] == 1


def test_a_type_that_does_not_occur_is_warned_of(read):
    with pytest.warns(ConnormWarning, match="CNW204.* Diseases. .*: 2 "):
        read(NOTE, types=["Diseases"])


@pytest.mark.parametrize(
    ("text", "code", "line"),
    [
        ("7\t0\t5\tFever\tSymptom\tD1\n", "CN204", 1),
        ("7|t|Fever\n8|a|Fever\n", "CN204", 2),
        ("7|t|Fever\n7|a|Fever\n7|a|Fever\n", "CN204", 3),
        ("7|t|Fever\n\n8\t0\t5\tFever\tSymptom\tD1\n", "CN204", 3),
        ("7|t|Fever\n7 0 5 Fever Symptom D1\n", "CN204", 2),
        ('{"text": "Fever"}\n', "CN204", 1),
        ("7|t|Fever\n7\t0\t5.0\tFever\tSymptom\tD1\n", "CN204", 2),
        ("7|t|Fever\n7\t2\t2\tFever\tSymptom\tD1\n", "CN207", 2),
        ("7|t|Fever  \n7\t5\t7\t  \tSymptom\tD1\n", "CN207", 2),
        ("7|t|Fever\n7\t0\t6\tFever\tSymptom\tD1\n", "CN207", 2),
        ("7|t|Fever\n7\t-5\t5\tFever\tSymptom\tD1\n", "CN207", 2),
        ("7|t|Fever\n7\t0\t5\tFever\t\tD1\n", "CN204", 2),
    ],
)
def test_bad_lines_are_named(read, text, code, line):
    with pytest.raises(ConnormError, match=rf"\[{code}\] .*corpus\.pubtator', line {line}:"):
        read(text)


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "corpus.pubtator"
    path.write_text(NOTE, encoding="utf8")
    return path


def test_the_registered_reader_gives_examples(path, nlp):
    read_examples = create_pubtator_reader(path, types=["Disease"])
    (example,) = read_examples(nlp)
    assert isinstance(example, Example)
    assert not example.predicted.ents
    assert len(example.reference.ents) == 2
    assert [mention.kb_id for mention in annotated_mentions(example.reference)] == [
        "D008193",
        "D007251|OMIM:123",
    ]
    assert list(read_examples(nlp)), "every epoch reads the corpus anew"


def test_the_reader_is_registered_and_trains_from_a_config(path):
    assert registry.readers.get("spacy-connorm.PubTatorCorpus.v1") is create_pubtator_reader
    corpora = registry.resolve(
        {
            "train": {
                "@readers": "spacy-connorm.PubTatorCorpus.v1",
                "path": str(path),
                "types": ["Symptom"],
            }
        }
    )
    (example,) = corpora["train"](spacy.blank("en"))
    assert [ent.text for ent in example.reference.ents] == ["Fever"]


ONE_LINE = TEXT.translate(str.maketrans("\r\n\t", "   "))


@pytest.fixture
def written_path(export):
    with pytest.warns(ConnormWarning, match="CNW770.*times: 1"):
        return export("found.pubtator")


def test_our_reader_reads_it_back(written_path, documents):
    with pytest.warns(ConnormWarning, match="CNW201.*: 1"):
        docs = list(read_corpus(written_path, nlp=spacy.blank("xx")))
    assert [doc.text for doc in docs] == [
        ONE_LINE.replace("(CKD). ", "(CKD).\n"),
        "Nothing here.",
    ]
    found = [
        (mention.text, mention.label, mention.kb_id, mention.extent)
        for mention in annotated_mentions(docs[0])
    ]
    assert found == [
        # The reader writes MeSH ids without a prefix.
        (mention.text, mention.label, ids(mention), mention.extent)
        for mention in documents[0].mentions
    ]


def ids(mention):
    return "" if mention.is_nil else mention.kb_id.replace("MESH:", "")


def test_a_mention_with_gaps_is_written_as_one_span(tmp_path):
    doc = spacy.blank("xx")("White and red blood cells")
    set_mentions(doc, [Mention("White blood cells", "CELL", "CL:1", ((0, 5), (14, 25)))])
    written_path = tmp_path / "a.pubtator"
    export_docs([doc], written_path)
    report = CorpusReport()
    (read,) = read_corpus(written_path, nlp=spacy.blank("xx"), report=report)
    assert list(annotated_mentions(read)) == [Mention(doc.text, "CELL", "CL:1", ((0, 25),))]
    assert not report.mismatched


def test_documents_have_ids_of_their_own(tmp_path):
    docs = [spacy.blank("xx")(f"White cell {number}") for number in range(4)]
    for doc, doc_id in zip(docs, ("d", "d-2", "d", "d"), strict=True):
        set_mentions(doc, [Mention("cell", "CELL", "CL:1", ((6, 10),))])
        doc.user_data[DOC_ID_KEY] = doc_id
    written_path = tmp_path / "a.pubtator"
    with pytest.warns(ConnormWarning, match="CNW770.*`ID-2`.*times: 2"):
        export_docs(docs, written_path)
    with written_path.open(encoding="utf8") as file:
        read = pubtator.load(file)
    assert [doc.pmid for doc in read] == ["d", "d-2", "d-3", "d-4"]
    assert [doc.title for doc in read] == [doc.text for doc in docs]
    assert all(doc.annotations[0].pmid == doc.pmid for doc in read)


def test_another_reader_reads_it_back(written_path, documents):
    with written_path.open(encoding="utf8") as file:
        first, other = pubtator.load(file)
    assert first.pmid == "note_7_a" and other.pmid == "2"
    assert first.text == ONE_LINE.replace("(CKD). ", "(CKD).\n")
    for annotation, mention in zip(first.annotations, documents[0].mentions, strict=True):
        assert (annotation.start, annotation.end) == mention.extent
        assert first.text[annotation.start : annotation.end] == annotation.text == mention.text
        label, kb_id, _ = FOUND[annotation.text]
        assert (annotation.type, annotation.id) == (label, "-1" if kb_id == "NIL" else kb_id)
