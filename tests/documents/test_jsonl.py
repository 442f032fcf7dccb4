import json

import pytest

from spacy_connorm.documents import export_docs
from spacy_connorm.documents.document import set_other_fields
from spacy_connorm.errors import ConnormError

from .conftest import FIELDS, FOUND, TEXT


def test_each_text_is_a_line_with_all_its_fields(export):
    first, second, _ = (
        json.loads(line) for line in export("a.jsonl").read_text(encoding="utf8").splitlines()
    )
    assert second == {"text": "Nothing here.", "ents": []}
    assert {key: first[key] for key in FIELDS} == FIELDS
    assert first["text"] == TEXT and [each["text"] for each in first["ents"]] == list(FOUND)


@pytest.mark.parametrize("field", ["text", "ents"])
def test_a_field_that_would_be_lost_is_refused(docs, tmp_path, field):
    set_other_fields(docs[1], {field: "mine"})
    with pytest.raises(ConnormError, match=f"CN774.*number 2.*'{field}'"):
        export_docs(docs, tmp_path / "a.jsonl")
