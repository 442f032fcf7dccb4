import pytest

from spacy_connorm.documents.corpora.ids import normalize_ids


@pytest.mark.parametrize(
    ("annotated", "expected"),
    [
        ("D012878", "D012878"),
        ("MESH:D012878", "D012878"),
        ("MeSH:C562589", "C562589"),
        ("UMLS:C0012833", "C0012833"),
        ("OMIM:106210 ", "OMIM:106210"),
        ("OMIM: 106210", "OMIM:106210"),
        (" D015842+D058499", "D015842+D058499"),
        ("D1 | OMIM:2", "D1|OMIM:2"),
        ("CL:0000604", "CL:0000604"),
        ("msh:D1|MIM:2", "D1|OMIM:2"),
        ("tmVar:p|SUB", "tmVar:p|SUB"),
        ("MESH:D1,MESH:D2", "D1+D2"),
        ("1;2", "1|2"),
        ("D002544|-1", "D002544|-1"),
        ("MESH:D005947,-", "D005947+-1"),
        ("-1", ""),
        ("-", ""),
        ("", ""),
        ("-1|-1", ""),
        ("CUI-less", ""),
        ("CUI less", ""),
        ("C0027051|CUI-less", "C0027051|-1"),
        ("UMLS:CUI-less", ""),
        ("NIL", ""),
    ],
)
def test_normalize_ids(annotated, expected):
    assert normalize_ids(annotated) == expected
