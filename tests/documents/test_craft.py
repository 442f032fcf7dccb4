import json

import pytest

from spacy_connorm.documents.mentions import Mention
from spacy_connorm.errors import ConnormError, ConnormWarning

TEXT = "White and red blood cells meet in the 🩸 vessel wall."
CELL = {"spans": [[14, 25]], "text": "blood cells", "id": "DEMO:0000081", "ontology": "CELL"}
WHITE = {
    "spans": [[0, 5], [14, 25]],
    "text": "White ... blood cells",
    "id": "DEMO:0000738",
    "ontology": "CELL",
}
WALL = {"spans": [[40, 51]], "text": "vessel wall", "id": "DEMO:0001637", "ontology": "BODY"}


def article(*mentions, text=TEXT, **fields):
    return json.dumps({"pmcid": "PMC1", "text": text, "mentions": mentions} | fields)


def test_a_discontinuous_mention_stands_in_the_span_group_only(read):
    (doc,), (mentions,), report = read(article(WHITE, WALL), name="craft.jsonl")
    assert mentions[0] == Mention("White blood cells", "CELL", "DEMO:0000738", ((0, 5), (14, 25)))
    assert [span.text for span in doc.spans["mentions"]] == [
        "White and red blood cells",
        "vessel wall",
    ]
    assert [(ent.text, ent.kb_id_) for ent in doc.ents] == [("vessel wall", "DEMO:0001637")]
    assert (report.discontinuous, report.overlapping, report.misaligned) == (1, 0, 0)
    assert not report.mismatched


def test_parts_are_put_in_order(read):
    turned = WHITE | {"spans": [[14, 25], [0, 5]]}
    _, (mentions,), _ = read(article(turned), name="craft.jsonl")
    assert mentions[0].fragments == ((0, 5), (14, 25))


def test_one_ontology_can_be_chosen(read):
    _, (mentions,), report = read(article(CELL, WALL), name="craft.jsonl", types=["BODY"])
    assert [mention.kb_id for mention in mentions] == ["DEMO:0001637"]
    assert report.left_out == {"CELL": 1}


def test_escaped_lone_surrogates_are_replaced(read):
    with pytest.warns(ConnormWarning, match="CNW202"):
        (doc,), (mentions,), _ = read(
            article(CELL | {"id": "DEMO:\ud83d"}, text="\ud83d" + TEXT[1:]), name="craft.jsonl"
        )
    assert doc.text == "\ufffd" + TEXT[1:]
    assert mentions[0].kb_id == "DEMO:\ufffd"


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ("not JSON", "CN204"),
        ("[1, 2]", "CN204"),
        ("[" * 100_000, "CN204"),
        (json.dumps({"text": TEXT}), "CN204"),
        (article(text=None), "CN204"),
        (article("blood"), "CN204"),
        (article({"spans": [[14, 25]], "text": "blood cells", "id": "DEMO:1"}), "CN204"),
        (article(CELL | {"id": 7}), "CN204"),
        (article(CELL | {"spans": []}), "CN204"),
        (article(CELL | {"spans": [14, 25]}), "CN204"),
        (article(CELL | {"spans": [[14, 19, 25]]}), "CN204"),
        (article(CELL | {"spans": [["14", 25]]}), "CN204"),
        (article(CELL | {"spans": [[25, 14]]}), "CN207"),
        (article(CELL | {"spans": [[14, 25], [40, 4000]]}), "CN207"),
        (article(CELL | {"ontology": " "}), "CN204"),
    ],
)
def test_bad_lines_are_named(read, line, code):
    with pytest.raises(ConnormError, match=rf"\[{code}\] .*craft\.jsonl', line 2"):
        read(f"{article(CELL)}\n{line}\n", name="craft.jsonl")
