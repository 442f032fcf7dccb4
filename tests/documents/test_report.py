import pytest

from spacy_connorm.documents import CorpusReport, Mention
from spacy_connorm.errors import ConnormWarning

GAP = Mention("a c", "X", "D1|D2", ((0, 1), (4, 5)))


def test_mentions_and_documents_are_counted():
    report = CorpusReport()
    for doc_id in ("7", "8", "7"):
        report.count_document(doc_id, passages=2)
    for mention in (GAP, GAP._replace(kb_id="D1+D3"), GAP._replace(kb_id="-1", label="Y")):
        report.count_mention(mention)
    assert (len(report.doc_ids), report.repeated, report.passages) == (2, 1, 6)
    assert (report.mentions, report.without_id) == ({"X": 2, "Y": 1}, {"X": 0, "Y": 1})
    assert report.concept_ids == {"D1", "D2", "D3"}
    assert (report.composite, report.combination, report.discontinuous) == (1, 1, 3)


@pytest.mark.parametrize(
    ("counts", "types", "code"),
    [
        ({"mismatched": ["'a.txt', line 2"]}, (), "CNW200.*line 2"),
        ({"without_mentions": 3}, (), "CNW201.*3"),
        ({"surrogates": 3}, (), "CNW202.*3"),
        ({"repeated": 3}, (), "CNW203.*3"),
        ({}, ("Drug",), "CNW204.*Drug"),
    ],
)
def test_likely_problems_are_warned_of(counts, types, code):
    with pytest.warns(ConnormWarning, match=code):
        CorpusReport(**counts).warn(types=types)
