import csv
import gzip
import io
import json

import pytest

from spacy_connorm.documents.exports.csv import COLUMNS

from .conftest import FOUND


@pytest.mark.parametrize("name", ["found.csv", "found.csv.gz"])
def test_every_mention_is_a_row(export, documents, name):
    path = export(name)
    content = path.read_bytes()
    content = gzip.decompress(content) if path.suffix == ".gz" else content
    rows = list(csv.DictReader(io.StringIO(content.decode(), newline="")))
    assert len(rows) == len(FOUND)
    for row, mention in zip(rows, documents[0].mentions, strict=True):
        assert tuple(row) == COLUMNS
        assert (row["doc_id"], int(row["start"]), int(row["end"])) == (
            *("note 7|a", mention.start, mention.end),
        )
        label, kb_id, candidates = FOUND[row["text"]]
        assert (row["label"], row["kb_id"], row["long_form"]) == (label, kb_id, mention.long_form)
        assert json.loads(row["candidates"]) == [each._asdict() for each in candidates]


def test_parts_are_joined(export):
    with export("found.csv").open(newline="") as file:
        rows = {row["text"]: row for row in csv.DictReader(file)}
    both = rows["breast and ovarian cancer"]
    assert both["name"] == "Breast Neoplasms|Ovarian Neoplasms"
    assert both["matched"] == "breast cancer|ovarian cancer"
    assert (both["search"], both["score"], both["probability"]) == ("O-T|D-T", "0.9", "0.75")
    nil = rows["myste\u0301ry"]
    assert (nil["kb_id"], nil["name"], nil["score"]) == ("NIL", "", "0.2")
