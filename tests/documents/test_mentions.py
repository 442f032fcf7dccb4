from functools import partial

import pytest
import spacy
from spacy.tokens import Doc, DocBin, Span

from spacy_connorm.documents.mentions import (
    MENTIONS_KEY,
    Mention,
    annotated_mentions,
    annotated_synonyms,
    expanded_mentions,
    normalize_ids,
    set_mentions,
    split_ids,
)


@pytest.fixture(scope="module")
def nlp():
    return spacy.blank("en")


@pytest.mark.parametrize(
    "pair",
    [
        " > ",
        "NIL > ",
        "CUI-less > ",
        "cui-less > ",
        "CUI_less|C0027051 > C0027051",
        "CUI-less:1 > CUI-less:1",
        "D001943|D010051 > D001943 D010051",
        "OMIM:300322+OMIM:102600 > OMIM:300322 OMIM:102600",
        "D1|D2+D1 > D1 D2",
        " D1 |  > D1",
    ],
)
def test_ids_are_split_and_those_of_no_concept_are_left_out(pair):
    kb_id, expected = pair.split(" > ")
    assert split_ids(kb_id) == tuple(expected.split())


def test_extent_spans_all_parts():
    assert Mention("a b", "X", "", ((2, 3), (8, 9))).extent == (2, 9)


def test_shifted_moves_every_part():
    mention = Mention("a b", "X", "D1", ((2, 3), (8, 9)))
    assert mention.shifted(10) == Mention("a b", "X", "D1", ((12, 13), (18, 19)))


def test_mentions_survive_a_doc_bin_to_the_character(nlp):
    doc = nlp.make_doc("non-hypertensive rats")
    mentions = [
        Mention("hypertensive", "Disease", "D006973", ((4, 16),)),
        Mention("rats", "Species", "", ((17, 21),)),
    ]
    set_mentions(doc, mentions)
    doc_bin = DocBin(docs=[doc], store_user_data=True)
    (stored,) = DocBin().from_bytes(doc_bin.to_bytes()).get_docs(nlp.vocab)
    assert list(annotated_mentions(stored)) == mentions


def test_without_records_the_span_group_is_read(nlp):
    doc = nlp.make_doc("severe heart attack")
    doc.spans[MENTIONS_KEY] = [
        Span(doc, 1, 3, label="Disease", kb_id="D009203"),
        Span(doc, 1, 2, label="Organ"),
    ]
    doc.ents = [Span(doc, 0, 1, label="Severity")]
    assert list(annotated_mentions(doc)) == [
        Mention("heart attack", "Disease", "D009203", ((7, 19),)),
        Mention("heart", "Organ", "", ((7, 12),)),
    ]


def test_without_a_span_group_the_entities_are_read(nlp):
    doc = nlp.make_doc("severe heart attack")
    doc.ents = [Span(doc, 1, 3, label="Disease", kb_id="D009203")]
    assert list(annotated_mentions(doc)) == [
        Mention("heart attack", "Disease", "D009203", ((7, 19),))
    ]


def test_a_document_without_annotation_has_no_mentions(nlp):
    assert list(annotated_mentions(nlp.make_doc("Nothing."))) == []
    assert list(annotated_mentions(Doc(nlp.vocab))) == []


@pytest.mark.parametrize(
    "pair",
    [
        "D012878 > D012878",
        "MESH:D012878 > D012878",
        "UMLS:C0012833 > C0012833",
        "OMIM: 106210 > OMIM:106210",
        " D015842+D058499 > D015842+D058499",
        "D1 | OMIM:2 > D1|OMIM:2",
        "msh:D1|MIM:2 > D1|OMIM:2",
        "tmVar:p|SUB > tmVar:p|SUB",
        "MESH:D1,MESH:D2 > D1+D2",
        "1;2 > 1|2",
        "MESH:D005947,- > D005947+-1",
        "-1 > ",
        " > ",
        "-1|-1 > ",
        "CUI-less > ",
        "C0027051|CUI-less > C0027051|-1",
        "UMLS:CUI-less > ",
        "p|SUB|D|506|G > p_SUB_D_506_G",
        "tmVar:c|DEL|35|G;HGVS:c.35delG;RS#:8033 > tmVar:c_DEL_35_G+HGVS:c.35delG+RS#:8033",
        "|Allele|C > _Allele_C",
        "D1|SUB|D2 > D1|SUB|D2",
    ],
)
def test_normalize_ids(pair):
    annotated, expected = pair.split(" > ")
    assert normalize_ids(annotated) == expected


@pytest.fixture
def doc():
    """A composite mention, an abbreviation that the text defines, and a mention without ids."""
    doc = spacy.blank("en").make_doc("breast or ovarian cancer, myocardial infarct (MI), fatigue")
    set_mentions(
        doc,
        [
            Mention("breast or ovarian cancer", "Disease", "D001943|D010051", ((0, 24),)),
            Mention("MI", "Disease", "D009203", ((46, 48),)),
            Mention("fatigue", "Symptom", "CUI-less", ((51, 58),)),
        ],
    )
    return doc


WRITTEN = [
    ("breast or ovarian cancer", "D001943"),
    ("breast or ovarian cancer", "D010051"),
    ("MI", "D009203"),
]


def test_every_concept_of_a_mention_has_its_text_as_a_synonym(doc):
    assert list(annotated_synonyms([doc])) == WRITTEN
    assert list(annotated_synonyms([doc, doc])) == WRITTEN * 2


def test_a_defined_long_form_is_a_synonym_too(doc):
    synonyms = list(annotated_synonyms([doc], long_forms=True))
    assert synonyms == [*WRITTEN, ("myocardial infarct", "D009203")]
    texts = [mention.text for mention in expanded_mentions(doc)]
    assert texts == ["breast or ovarian cancer", "MI", "myocardial infarct", "fatigue"]


@pytest.mark.parametrize("long_forms", [False, True])
def test_only_mentions_with_the_labels_are_read(doc, long_forms):
    read = partial(annotated_synonyms, [doc], long_forms=long_forms)
    assert list(read(labels=["Symptom"])) == []
    assert list(read(labels=["Disease"])) == list(read())
