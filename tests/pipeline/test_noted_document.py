import pytest
from asserted_pipeline import default_pipeline
from spacy.attrs import LOWER

from spacy_connorm.pipeline.noted_document import NotedDocument, texts_of
from spacy_connorm.text.statements import find_statements


def noted(text):
    nlp = default_pipeline()
    doc = nlp(text)
    rules = nlp.get_pipe("assertion_marker")._assertions()
    starts = find_statements([token.text for token in doc], rules.classes)
    return NotedDocument(rules, doc, list(doc.ents), starts)


@pytest.mark.parametrize(
    "text, expected",
    [
        ("Fever (39) and cough", ["Fever (39)", "cough"]),
        ("Fever (39) [R50]: cough", ["Fever (39) [R50]", "cough"]),
        ("Fever (no cough)", ["Fever", "cough"]),
        ("Fever (39 and cough", ["Fever", "cough"]),
    ],
)
def test_a_mention_ends_with_its_brackets(text, expected):
    note = noted(text)
    assert [note.doc[start:end].text for start, end in note.mentions.items()] == expected


def test_texts_of_tokens_are_those_that_spacy_gives():
    doc = default_pipeline().make_doc("No FEVER,\ncouldn't walk")
    assert texts_of(doc, LOWER) == [token.lower_ for token in doc]
