import gzip
import json
import re
import tracemalloc

import pytest
import spacy
from bioc import biocjson, biocxml
from bioc.validator import BioCValidator

from spacy_connorm.documents import CorpusReport, export_docs, read_corpus
from spacy_connorm.documents.bioc import read_bioc
from spacy_connorm.documents.document import DOC_ID_KEY
from spacy_connorm.documents.mentions import Mention, annotated_mentions, set_mentions
from spacy_connorm.errors import ConnormError, ConnormWarning

from .conftest import FIELDS, FOUND, TEXT

TITLE, ABSTRACT = "Skin 😀 cancer", "Red and white cells, cafe\u0301."


def annotation(number, place, text, **infons):
    locations = [{"offset": start, "length": end - start} for start, end in place]
    infons = {key.replace("_", " "): value for key, value in infons.items()}
    return {"id": str(number), "infons": infons, "text": text, "locations": locations}


CANCER = annotation(1, [(0, 13)], TITLE, type="Disease", identifier="MESH:D012878")
CELLS = annotation(2, [(14, 17), (28, 33)], "Red cells", type="Cell", MESH="D1|-1")
GENE = annotation(3, [(35, 40)], "cafe\u0301", type="Gene", NCBI_Gene="12;34")


def document(*, doc_id="7", title=(CANCER,), abstract=(CELLS, GENE), **fields):
    return {
        "id": doc_id,
        "infons": {},
        "passages": [
            {"offset": 0, "infons": {}, "text": TITLE, "annotations": [*title]},
            {"offset": 14, "infons": {}, "text": ABSTRACT, "annotations": [*abstract]},
        ],
        "relations": [{"id": "R1", "infons": {}, "nodes": []}],
        **fields,
    }


def collection(*documents):
    about = {"source": "x", "date": "y", "key": "z", "infons": {}}
    return json.dumps({**about, "documents": documents}, ensure_ascii=False, indent=1)


def infon(key, value):
    return f'<infon key="{key}">{value}</infon>'


def in_xml(number, places, text, *infons):
    locations = "".join(
        f'<location offset="{start}" length="{end - start}"/>' for start, end in places
    )
    return (
        f'<annotation id="{number}">{"".join(infons)}{locations}<text>{text}</text></annotation>\n'
    )


def xml(*, head="", title="", abstract="", id="7"):
    return f"""<?xml version="1.0"?>
<!DOCTYPE collection SYSTEM "BioC.dtd" {head}>
<collection><source>x</source><date/><key/>
<document><id>{id}</id>
<passage><infon key="type">title</infon><offset>0</offset><text>{TITLE}</text>
{title}</passage>
<passage><offset>14</offset><text>{ABSTRACT}</text>
{abstract}</passage>
<relation id="R1"><node refid="1" role="a"/></relation>
</document></collection>
"""


XML = xml(
    title=in_xml(
        1, [(0, 13)], TITLE, infon("type", "Disease"), infon("identifier", "MESH:D012878")
    ),
    abstract=in_xml(
        2, [(14, 17), (28, 33)], "Red cells", infon("MESH", "D1|-1"), infon("type", "Cell")
    )
    + in_xml(3, [(35, 40)], "cafe\u0301", infon("NCBI Gene", "12;34"), infon("type", "Gene")),
)
MENTIONS = [
    Mention(TITLE, "Disease", "D012878", ((0, 13),)),
    Mention("Red cells", "Cell", "D1|-1", ((14, 17), (28, 33))),
    Mention("cafe\u0301", "Gene", "NCBIGene:12|NCBIGene:34", ((35, 40),)),
]


@pytest.mark.parametrize(
    ("text", "name"),
    [
        (collection(document()), "a.json"),
        (json.dumps(document()), "a.json"),
        (json.dumps([document()]), "a.json"),
        (json.dumps({"PubTator3": [document()]}), "a.json"),
        (f"[{collection(document())}]", "a.json"),
        (XML, "a.xml"),
        (XML.replace("\n<", "<"), "a.bioc"),
    ],
    ids=["collection", "document", "list", "PubTator", "collections", "XML", "one line"],
)
def test_xml_and_json_of_bioc_give_the_same_mentions(read, text, name):
    (doc,), (mentions,), report = read(text, name=name)
    assert doc.text == f"{TITLE}\n{ABSTRACT}"
    assert mentions == MENTIONS
    assert (report.passages, report.discontinuous, report.mismatched) == (2, 1, [])
    assert report.skipped == {"relations": 1}


def test_documents_on_lines_and_compressed(nlp, tmp_path):
    path = tmp_path / "a.json.gz"
    lines = [json.dumps(document(doc_id=str(number))) for number in range(3)]
    path.write_bytes(gzip.compress("\n\n".join(lines).encode()))
    docs = list(read_corpus(path, nlp=nlp))
    assert [doc.user_data["spacy_connorm.doc_id"] for doc in docs] == ["0", "1", "2"]


def test_sentences_and_annotations_beside_the_text(read):
    passage = {
        "offset": 0,
        "sentences": [
            {"offset": 0, "text": "Red cells.", "annotations": []},
            {"offset": 13, "text": "White cells.", "annotations": []},
        ],
        "annotations": [annotation(1, [(13, 18)], "White", type="Cell")],
    }
    outer = [annotation(2, [(4, 9)], "cells", type="Cell", identifier="CL:1")]
    (doc,), (mentions,), _ = read(
        collection({"id": 7, "passages": [passage], "annotations": outer}), name="a.json"
    )
    assert doc.text == "Red cells. White cells."
    assert [(mention.text, mention.fragments) for mention in mentions] == [
        ("White", ((11, 16),)),
        ("cells", ((4, 9),)),
    ]


def test_annotations_in_sentences_of_a_passage_with_text(read):
    inside = [annotation(1, [(4, 9)], "cells", type="Cell", identifier="CL:1")]
    passage = {
        "offset": 0,
        "text": "Red cells. White cells.",
        "annotations": [annotation(2, [(11, 16)], "White", type="Cell")],
        "sentences": [{"offset": 0, "text": "Red cells.", "annotations": inside}],
    }
    (doc,), (mentions,), _ = read(collection({"id": 7, "passages": [passage]}), name="a.json")
    assert doc.text == "Red cells. White cells."
    assert sorted(mention.text for mention in mentions) == ["White", "cells"]


@pytest.mark.parametrize(
    ("infons", "ids"),
    [
        ({"identifier": "-"}, ""),
        ({"identifier": ["MESH:D1", "MESH:D2"]}, "D1|D2"),
        ({"Identifier": "MESH:D1;MESH:D2"}, "D1|D2"),
        ({"identifier": None, "MESH": "D3"}, "D3"),
        ({"MESH": "-1"}, ""),
        ({"OMIM": "123"}, "OMIM:123"),
        ({"colour": "red"}, ""),
        ({"Disease": "MESH:D4"}, "D4"),
        ({"disease": "D4", "OMIM": "5"}, "OMIM:5"),
    ],
)
def test_ids_have_many_keys(read, infons, ids):
    cancer = {**CANCER, "infons": {"type": "Disease", **infons}}
    _, (mentions,), _ = read(collection(document(title=[cancer], abstract=[])), name="a.json")
    assert mentions[0].kb_id == ids


def test_values_of_infons_that_are_not_texts_are_counted(read):
    infons = {"type": "Disease", "identifier": ["D1", None, "D2"], "other": {"a": 1}, "none": None}
    listed = collection(document(title=[{**CANCER, "infons": infons}], abstract=[]))
    _, (mentions,), report = read(listed, name="a.json")
    assert mentions[0].kb_id == "D1|D2"
    assert report.skipped["values of infons that are not texts"] == 2


def test_annotations_that_count_otherwise_are_reported(read):
    # UTF-16 has two units for an emoji.
    shifted = annotation(1, [(8, 14)], "cancer", type="Disease")
    with pytest.warns(ConnormWarning, match="CNW200.*: 1,"):
        read(collection(document(title=[shifted], abstract=[])), name="a.json")


def test_lone_surrogates_are_replaced(read):
    odd = document(abstract=[{**GENE, "text": "caf\ud83d"}])
    with pytest.warns(ConnormWarning, match="CNW20[02]"):
        read(json.dumps({"documents": [odd]}), name="a.json")


def test_annotations_of_no_text_are_counted(read):
    _, (mentions,), report = read(
        collection(document(abstract=[annotation(1, [], "", type="x")])), name="a.json"
    )
    assert len(mentions) == 1
    assert report.skipped["annotations without a location"] == 1


BOMB = '[<!ENTITY a "aaaaaaaaaa"> <!ENTITY b "&a;&a;&a;&a;">]'
OUTSIDE = '[<!ENTITY a SYSTEM "file:///etc/passwd">]'


@pytest.mark.parametrize(
    ("text", "code", "line"),
    [
        ("<a></a>", "CN204", 1),
        (XML.replace("</passage>", "", 1), "CN115", 13),
        (XML[:-30], "CN115", 12),
        (XML.replace('offset="14"', 'offset="x"'), "CN204", 9),
        (XML.replace('length="3"', ""), "CN204", 9),
        (XML.replace("<offset>14</offset>", ""), "CN204", 8),
        (xml(head=BOMB, id="&b;"), "CN115", 2),
        (xml(head=OUTSIDE, id="&a;"), "CN115", 2),
        (xml(id="&a;"), "CN115", 4),
        (XML.replace("Skin", "Skin\x01"), "CN115", 5),
        (xml(title=in_xml(1, [(0, 4)], "Skin")), "CN204", 6),
        (xml(title=in_xml(1, [(90, 99)], "Skin", infon("type", "x"))), "CN207", 6),
        (xml(title=in_xml(1, [(4, 4)], "", infon("type", "x"))), "CN207", 6),
    ],
)
def test_broken_xml_is_named(read, text, code, line):
    with pytest.raises(ConnormError, match=rf"\[{code}\] .*a\.xml', line {line}[:,]"):
        read(text, name="a.xml")


DOCUMENT = "<document><passage><offset>0</offset><text>café</text></passage></document>"


def test_a_lone_surrogate_in_xml_is_named(read):
    with pytest.raises(ConnormError, match=r"CN115.*a\.xml', line 5: .*lone surrogate"):
        read(XML.replace("Skin", "Skin\ud800"), name="a.xml")


def test_the_encoding_that_xml_declares_is_read(tmp_path):
    content = f'<?xml version="1.0" encoding="ISO-8859-1"?><collection>{DOCUMENT}</collection>'
    (tmp_path / "a.xml").write_text(content, "iso-8859-1")
    (document,) = read_bioc(tmp_path / "a.xml", report=CorpusReport())
    assert document.text == "café"


def test_xml_without_line_breaks_is_not_read_whole(tmp_path):
    one = DOCUMENT.replace("café", "x" * 4000)
    path = tmp_path / "a.xml"
    path.write_text(f"<collection>{one * 1000}</collection>")
    tracemalloc.start()
    try:
        assert sum(1 for _ in read_bioc(path, report=CorpusReport())) == 1000
        assert tracemalloc.get_traced_memory()[1] < 1_500_000
    finally:
        tracemalloc.stop()


def lines(value):
    return json.dumps(value, indent=0)


@pytest.mark.parametrize(
    ("text", "code", "line"),
    [
        ("7", "CN204", 1),
        ("{}", "CN204", 1),
        ("[" * 100_000, "CN204", 1),
        ('{"documents": [\n' + "[" * 100_000, "CN204", 1),
        ('{"documents": [\n7]}', "CN204", 1),
        ('{"documents": [\n{"id": "7"},\n]}', "CN204", 3),
        ('{"documents": [\n{"passages": [7]}]}', "CN204", 2),
        ('{"documents": [\n{"passages": {}}]}', "CN204", 2),
        ('{"documents": [\n{"passages": [{"text": "a"}]}]}', "CN204", 2),
        ('{"documents": [\n{"passages": [{"text": "a", "offset": true}]}]}', "CN204", 2),
        ('{"documents": [\n{"id": "a" "b"}]}', "CN204", 2),
        ('{"documents": [\n{"id": 7}', "CN204", 2),
        ('{"documents" []}', "CN204", 1),
        ('{"documents": []}\n]', "CN204", 2),
        (collection(document(title=[{**CANCER, "infons": []}])), "CN204", 16),
        (collection(document(title=[{**CANCER, "locations": [{"offset": "x"}]}])), "CN204", 24),
        (collection(document(title=[annotation(1, [(0, 99)], "", type="x")])), "CN207", 16),
        (collection(document(title=[annotation(1, [(0, 4)], "Skin")])), "CN204", 16),
        ('{"documents": []}', "CN104", None),
        ("", "CN104", None),
    ],
)
def test_broken_json_is_named(read, text, code, line):
    place = f", line {line}[:,]" if line else "'"
    with pytest.raises(ConnormError, match=rf"\[{code}\] .*a\.json'{place}".replace("''", "'")):
        read(text, name="a.json")


@pytest.mark.parametrize("name", ["a.json", "a.xml"])
def test_the_document_and_the_mention_are_named(read, name):
    broken = annotation("T2", [(0, 99)], "", type="x")
    text = json.dumps({"documents": [document(doc_id="PMC12", title=[broken])]})
    if name == "a.xml":
        text = xml(title=in_xml("T2", [(90, 99)], "Skin", infon("type", "x")))
    with pytest.raises(ConnormError, match=r"line \d+, document '\w*\d', annotation 'T2': no "):
        read(text, name=name)


FILES = ("found.xml", "found.xml.gz", "found.bioc.json")


def load(path):
    with path.open(encoding="utf8", newline="") as file:
        if path.suffix == ".json":
            return biocjson.load(file)
    return biocxml.load(str(path))


@pytest.mark.parametrize("name", [FILES[0], FILES[2]])
def test_the_library_reads_everything_back(export, documents, name):
    collection = load(export(name, date="2024-05-31"))
    assert collection.date == "2024-05-31"
    BioCValidator().validate(collection)
    first, second, third = collection.documents
    assert [document.id for document in collection.documents] == ["note 7|a", "2", "3"]
    assert [each.passages[0].text or "" for each in (second, third)] == ["Nothing here.", ""]
    assert first.infons == {"id": "note 7|a", "patient": "3", "ward": '{"name": "B"}'}
    (passage,) = first.passages
    assert passage.text == TEXT
    for annotation, mention in zip(passage.annotations, documents[0].mentions, strict=True):
        (location,) = annotation.locations
        assert (location.offset, location.end) == mention.extent
        label, kb_id, candidates = FOUND[annotation.text]
        infons = annotation.infons
        assert infons["type"] == label
        assert infons["identifier"] == ("-1" if kb_id == "NIL" else kb_id)
        assert infons.get("long_form", "") == mention.long_form
        assert json.loads(infons["candidates"]) == [candidate._asdict() for candidate in candidates]
        assert float(infons["score"]) == min(each.score for each in mention.leading)
    composite = passage.annotations[1].infons
    assert composite["name"] == "Breast Neoplasms|Ovarian Neoplasms"
    assert composite["probability"] == "0.75"


@pytest.mark.parametrize("name", FILES)
def test_our_reader_reads_it_back(export, documents, name):
    with pytest.warns(ConnormWarning, match="CNW201"):
        first, _ = read_corpus(export(name), nlp=spacy.blank("xx"))
    # In XML, \r is written as a reference.
    assert first.text == TEXT
    assert list(annotated_mentions(first)) == [
        Mention(mention.text, mention.label, ids(mention), mention.fragments)
        for mention in documents[0].mentions
    ]


def ids(mention):
    return "" if mention.is_nil else mention.kb_id.replace("MESH:", "")


@pytest.mark.parametrize("name", FILES)
def test_gaps_and_odd_characters(tmp_path, name):
    doc = spacy.blank("xx")("White\x0b and red \ufffe blood ]]> cells\x85 \t&amp; more")
    gap = Mention("White blood", "CELL \x01", "CL:1", ((0, 5), (17, 22)))
    set_mentions(doc, [gap])
    path = tmp_path / name
    if "xml" in name:
        with pytest.warns(ConnormWarning, match="CNW770.*U.FFFD.*times: 2"):
            export_docs([doc], path)
        text, label = re.sub("[\x0b\ufffe]", "\ufffd", doc.text), "CELL \ufffd"
    else:
        export_docs([doc], path)
        text, label = doc.text, "CELL \x01".strip()
    report = CorpusReport()
    (read,) = read_corpus(path, nlp=spacy.blank("xx"), report=report)
    assert read.text == text
    assert list(annotated_mentions(read)) == [gap._replace(label=label)]
    assert (report.discontinuous, report.mismatched) == (1, [])


@pytest.mark.parametrize("name", FILES)
def test_documents_with_the_same_id_stay_apart(tmp_path, name):
    docs = [spacy.blank("xx")(text) for text in ("one", "two")]
    for doc in docs:
        set_mentions(doc, [Mention(doc.text, "D", "C1", ((0, 3),))])
        doc.user_data[DOC_ID_KEY] = "d"
    export_docs(docs, tmp_path / name)
    with pytest.warns(ConnormWarning, match="CNW203.*: 1"):
        read = list(read_corpus(tmp_path / name, nlp=spacy.blank("xx")))
    assert [doc.text for doc in read] == ["one", "two"]
    assert [doc.user_data[DOC_ID_KEY] for doc in read] == ["d", "d"]


def test_documents_stand_on_lines(export):
    lines = export("found.bioc.json").read_text(encoding="utf8").splitlines()
    assert [json.loads(line.rstrip(","))["id"] for line in lines[1:-1]] == [FIELDS["id"], "2", "3"]
    assert json.loads("".join(lines))["infons"] == {}


@pytest.mark.parametrize("date", ["yesterday", "2024-13-01", 7])
def test_a_date_is_a_date(export, date):
    with pytest.raises(ConnormError, match="CN006.*`date`"):
        export("found.xml", date=date)
