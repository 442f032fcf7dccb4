"""What a document brings along besides its text: its id in a corpus, other fields of its JSON."""

from typing import Any

from spacy.tokens import Doc

DOC_ID_KEY = "spacy_connorm.doc_id"
_FIELDS_KEY = "fields"


def set_other_fields(doc: Doc, fields: dict[str, Any]) -> None:
    """Store what else was in the JSON object of a document's text.

    doc (Doc): The document.
    fields (Dict[str, Any]): The other fields.
    """
    doc.user_data[_FIELDS_KEY] = fields


def other_fields(doc: Doc) -> dict[str, Any]:
    """RETURNS (Dict[str, Any]): What else was in the JSON object of a document's text."""
    return doc.user_data.get(_FIELDS_KEY, {})


def find_doc_id(doc: Doc, field: str) -> str | None:
    """Find the id of a document.

    doc (Doc): The document.
    field (str): The field of its JSON object that may hold the id.
    RETURNS (Optional[str]): What the field holds, if that is a text or a whole number, or else the
        id that it has in the corpus that it was read from, or None.
    """
    return find_id(other_fields(doc), field) or doc.user_data.get(DOC_ID_KEY)


def find_id(fields: dict[str, Any], field: str) -> str | None:
    """RETURNS (Optional[str]): What a field holds, if that is a text or a whole number."""
    value = fields.get(field)
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    if isinstance(value, str) and value.strip():
        return value.strip()
    return None
