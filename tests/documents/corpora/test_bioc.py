import gzip
import json
import tracemalloc

import pytest

from spacy_connorm.documents.corpora import CorpusReport, read_corpus
from spacy_connorm.documents.corpora.bioc import read_bioc_corpus
from spacy_connorm.documents.mentions import Mention
from spacy_connorm.errors import ConnormError, ConnormWarning

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
        (XML, "a.xml"),
        (XML.replace("\n<", "<"), "a.bioc"),
    ],
    ids=["collection", "document", "list", "PubTator", "XML", "one line"],
)
def test_all_forms_are_read(read, text, name):
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
    assert [(each.text, each.fragments) for each in mentions] == [
        ("White", ((11, 16),)),
        ("cells", ((4, 9),)),
    ]


@pytest.mark.parametrize(
    ("infons", "ids"),
    [
        ({"identifier": "-"}, ""),
        ({"Identifier": "MESH:D1;MESH:D2"}, "D1|D2"),
        ({"identifier": None, "MESH": "D3"}, "D3"),
        ({"MESH": "-1"}, ""),
        ({"OMIM": "123"}, "OMIM:123"),
        ({"NCBI Taxonomy": 9606}, "NCBITAXON:9606"),
        ({"colour": "red"}, ""),
    ],
)
def test_ids_have_many_keys(read, infons, ids):
    cancer = {**CANCER, "infons": {"type": "Disease", **infons}}
    _, (mentions,), _ = read(collection(document(title=[cancer], abstract=[])), name="a.json")
    assert mentions[0].kb_id == ids


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
        ("<a></a>", "CN214", 1),
        (XML.replace("</passage>", "", 1), "CN214", 13),
        (XML[:-30], "CN214", 12),
        (XML.replace('offset="14"', 'offset="x"'), "CN214", 9),
        (XML.replace('length="3"', ""), "CN214", 9),
        (XML.replace("<offset>14</offset>", ""), "CN214", 8),
        (xml(head=BOMB, id="&b;"), "CN214", 2),
        (xml(head=OUTSIDE, id="&a;"), "CN214", 2),
        (xml(id="&a;"), "CN214", 4),
        (XML.replace("Skin", "Skin\x01"), "CN214", 5),
        (xml(title=in_xml(1, [(0, 4)], "Skin")), "CN208", 6),
        (xml(title=in_xml(1, [(90, 99)], "Skin", infon("type", "x"))), "CN207", 6),
        (xml(title=in_xml(1, [(4, 4)], "", infon("type", "x"))), "CN206", 6),
    ],
)
def test_broken_xml_is_named(read, text, code, line):
    with pytest.raises(ConnormError, match=rf"\[{code}\] .*a\.xml', line {line}:"):
        read(text, name="a.xml")


DOCUMENT = "<document><passage><offset>0</offset><text>café</text></passage></document>"


def test_a_lone_surrogate_in_xml_is_named(read):
    with pytest.raises(ConnormError, match=r"CN214.*a\.xml', line 5: .*lone surrogate"):
        read(XML.replace("Skin", "Skin\ud800"), name="a.xml")


def test_the_encoding_that_xml_declares_is_read(tmp_path):
    content = f'<?xml version="1.0" encoding="ISO-8859-1"?><collection>{DOCUMENT}</collection>'
    (tmp_path / "a.xml").write_text(content, "iso-8859-1")
    (document,) = read_bioc_corpus(tmp_path / "a.xml", report=CorpusReport())
    assert document.text == "café"


def test_xml_without_line_breaks_is_not_read_whole(tmp_path):
    one = DOCUMENT.replace("café", "x" * 4000)
    path = tmp_path / "a.xml"
    path.write_text(f"<collection>{one * 1000}</collection>")
    tracemalloc.start()
    try:
        assert sum(1 for _ in read_bioc_corpus(path, report=CorpusReport())) == 1000
        assert tracemalloc.get_traced_memory()[1] < 1_500_000
    finally:
        tracemalloc.stop()


def lines(value):
    return json.dumps(value, indent=0)


@pytest.mark.parametrize(
    ("text", "code", "line"),
    [
        ("7", "CN214", 1),
        ("{}", "CN214", 1),
        ("[" * 100_000, "CN214", 1),
        ('{"documents": [\n' + "[" * 100_000, "CN214", 2),
        ('{"documents": [\n7]}', "CN214", 2),
        ('{"documents": [\n{"id": "7"},\n]}', "CN214", 3),
        ('{"documents": [\n{"passages": [7]}]}', "CN214", 2),
        ('{"documents": [\n{"passages": {}}]}', "CN214", 2),
        ('{"documents": [\n{"passages": [{"text": "a"}]}]}', "CN214", 2),
        ('{"documents": [\n{"passages": [{"text": "a", "offset": true}]}]}', "CN214", 2),
        ('{"documents": [\n{"id": "a" "b"}]}', "CN214", 2),
        ('{"documents": [\n{"id": 7}', "CN214", 2),
        ("{7: 1}", "CN214", 1),
        ('{"documents" []}', "CN214", 1),
        ('{"documents": []}\n]', "CN214", 2),
        (collection(document(title=[{**CANCER, "infons": []}])), "CN214", 7),
        (collection(document(title=[{**CANCER, "locations": [{"offset": "x"}]}])), "CN214", 7),
        (collection(document(title=[annotation(1, [(0, 99)], "", type="x")])), "CN207", 7),
        (collection(document(title=[annotation(1, [(0, 4)], "Skin")])), "CN208", 7),
        ('{"documents": []}', "CN203", None),
        ("", "CN203", None),
    ],
)
def test_broken_json_is_named(read, text, code, line):
    place = f", line {line}:" if line else "'"
    with pytest.raises(ConnormError, match=rf"\[{code}\] .*a\.json'{place}".replace("''", "'")):
        read(text, name="a.json")
