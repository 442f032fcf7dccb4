import csv
import datetime
import json

import pytest
import spacy

from spacy_connorm.documents import export_docs
from spacy_connorm.documents.document import set_other_fields
from spacy_connorm.documents.mentions import Mention, set_mentions
from spacy_connorm.errors import ConnormError, ConnormWarning

from .conftest import BREAST, TEXT

# The published columns of NOTE_NLP, Common Data Model 5.4: type, and whether it must be filled.
NOTE_NLP = {
    "note_nlp_id": (int, True),
    "note_id": (int, True),
    "section_concept_id": (int, False),
    "snippet": (250, False),
    "offset": (50, False),
    "lexical_variant": (250, True),
    "note_nlp_concept_id": (int, False),
    "note_nlp_source_concept_id": (int, False),
    "nlp_system": (250, False),
    "nlp_date": (datetime.date.fromisoformat, True),
    "nlp_datetime": (datetime.datetime.fromisoformat, False),
    "term_exists": (1, False),
    "term_temporal": (50, False),
    "term_modifiers": (2000, False),
}


def read(path):
    with path.open(encoding="utf8", newline="") as file:
        rows = list(csv.DictReader(file))
    for row in rows:
        assert list(row) == list(NOTE_NLP)
        for name, (kind, is_required) in NOTE_NLP.items():
            assert row[name] or not is_required
            if row[name] and isinstance(kind, int):
                assert len(row[name]) <= kind
            elif row[name]:
                kind(row[name])
    return rows


def test_rows_have_the_published_columns(export, documents):
    with pytest.warns(ConnormWarning, match="CNW770.*whole numbers.*times: 1"):
        rows = read(export("found.omop.csv", date="2024-05-31"))
    assert [int(row["note_nlp_id"]) for row in rows] == [1, 2, 3, 4, 5, 6]
    assert {(row["note_id"], row["nlp_date"]) for row in rows} == {("-1", "2024-05-31")}
    composite = documents[0].mentions[1]
    assert [row["lexical_variant"] for row in rows].count(composite.text) == 2
    for row in rows:
        start, end = int(row["offset"]), json.loads(row["term_modifiers"])["end"]
        assert TEXT[start:end] == row["lexical_variant"]
        assert row["lexical_variant"] in row["snippet"]
        assert (row["note_nlp_concept_id"], row["term_exists"]) == ("0", "")
    told = [json.loads(row["term_modifiers"]) for row in rows]
    assert [row["concept_id"] for row in told] == [
        "D051436",
        "D001943",
        "MESH:D010051",
        "MESH:D010051",
        "D051436",
        "NIL",
    ]
    assert told[1]["name"] == BREAST.name and told[1]["probability"] == 0.75
    assert told[4]["long_form"] == "chronic kidney disease"
    assert told[5]["score"] == 0.2 and "name" not in told[5]


@pytest.mark.parametrize(("says_so", "concept"), [(True, "4329847"), (False, "0")])
def test_concept_ids_of_omop_are_taken_if_they_are(tmp_path, says_so, concept):
    doc = spacy.blank("xx")("MI " + "x" * 600)
    mentions = [("MI", "4329847", (0, 2)), ("x" * 600, "9" * 12, (3, 603))]
    set_mentions(doc, [Mention(text, "\x01" * 400, ids, (at,)) for text, ids, at in mentions])
    path = tmp_path / "found.csv"
    with pytest.warns(ConnormWarning, match="CNW770.*250 characters were truncated.*times: 1"):
        export_docs([doc], path, format="omop", omop_concept_ids=says_so)
    first, second = read(path)
    assert first["note_nlp_concept_id"] == first["note_nlp_source_concept_id"] == concept
    assert second["note_nlp_concept_id"] == "0"
    assert first["nlp_date"] == datetime.date.today().isoformat()


def write(path, *ids):
    """Write a text for each id, with one mention."""
    docs = [spacy.blank("xx")("MI") for _ in ids]
    for doc, each in zip(docs, ids, strict=True):
        set_mentions(doc, [Mention("MI", "Disease", "C1", ((0, 2),))])
        set_other_fields(doc, {} if each is None else {"id": each})
    export_docs(docs, path)
    return [row["note_id"] for row in read(path)]


def test_a_whole_number_stays_the_id_of_a_note(tmp_path):
    ids = [2, "10000000001", str(2**63 - 1), "0"]
    assert write(tmp_path / "a.omop.csv", *ids) == [str(note_id) for note_id in ids]


@pytest.mark.parametrize("other", [2**63, "note 3", "03", "-3", None])
def test_no_note_gets_the_id_of_another(tmp_path, recwarn, other):
    """Its number could be the id of one that comes later."""
    assert write(tmp_path / "a.omop.csv", other, "1", "2", "3") == ["-1", "1", "2", "3"]
    told = [str(warning.message)[:8] for warning in recwarn]
    assert told == ([] if other is None else ["[CNW770]"])


def test_a_date_is_a_date(export):
    with pytest.raises(ConnormError, match="CN006.*`date`"):
        export("found.omop.csv", date="31.5.2024")
