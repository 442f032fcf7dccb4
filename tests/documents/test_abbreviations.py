"""Abbreviations of documents: ours, scispaCy's and what medspaCy says of a span."""

import pytest
import spacy
from spacy.tokens import Doc, DocBin, Span

from spacy_connorm.documents.abbreviations import (
    Abbreviations,
    external_long_form,
    find_long_forms,
    get_abbreviations,
    get_long_form,
    read_abbreviations,
    register_abbreviation_attributes,
    set_abbreviations,
)
from spacy_connorm.text.abbreviations import Abbreviation, find_abbreviations

TEXT = "Angelman syndrome (AS). AS, mild."
OTHER = "Aortic stenosis (AS), severe AS."
NAMES = {"doc": (Doc, "abbreviations"), "long": (Span, "long_form"), "literal": (Span, "literal")}


@pytest.fixture(scope="module")
def nlp():
    return spacy.blank("en")


@pytest.fixture(autouse=True)
def free_names():
    """No component has registered an attribute; what was registered is put back afterwards."""
    taken = [
        (owner, name, owner.remove_extension(name))
        for owner, name in NAMES.values()
        if owner.has_extension(name)
    ]
    yield
    for owner, name in NAMES.values():
        if owner.has_extension(name):
            owner.remove_extension(name)
    for owner, name, (default, method, getter, setter) in taken:
        if getter or method:
            owner.set_extension(name, method=method, getter=getter, setter=setter)
        else:
            owner.set_extension(name, default=default)


def define(doc):
    set_abbreviations(doc, find_abbreviations(doc.text, "en"))
    return doc


def register_scispacy():
    """As scispaCy 0.6's detector does."""
    Doc.set_extension("abbreviations", default=[], force=True)
    Span.set_extension("long_form", default=None, force=True)


def spans(doc, *texts):
    return [
        doc.char_span(doc.text.rindex(text), doc.text.rindex(text) + len(text)) for text in texts
    ]


@pytest.mark.parametrize(
    ("offset", "expected"),
    [(5, "one"), (7, "one"), (8, "two"), (20, "two"), (21, "three"), (99, "three")],
)
def test_of_several_abbreviations_the_nearest_before_counts_or_else_the_first(offset, expected):
    defined = [
        Abbreviation(short, long, start, start + 1, start, start)
        for short, long, start in (("X", "three", 21), ("X", "one", 5), ("X", "two", 8))
    ]
    found = Abbreviations([(0, [*defined, Abbreviation("Y", "why", 50, 51, 50, 50)])])
    assert found.at(offset) == {"X": expected, "Y": "why"}


def test_abbreviations_need_no_document():
    text = "Zoster (Z1). Mitral stenosis (MS). Multiple sclerosis (MS)."
    found = Abbreviations([(0, find_abbreviations(text, "en"))])
    assert found.long_form("MS", 40) == "Mitral stenosis"
    assert found.long_form("old MS", 60) == "old Multiple sclerosis"
    assert found.long_form("old", 60) == ""
    assert Abbreviations([(0, [])]) and not Abbreviations()


def test_without_abbreviations_nothing_is_known(nlp):
    assert Abbreviations().at(0) == {}
    assert read_abbreviations(nlp("Angelman syndrome (AS)")).at(3) == {}
    assert find_long_forms(nlp(""), []) == []


def test_spans_stand_for_their_long_forms(nlp):
    doc = define(nlp("Angelman syndrome (AS). AS, mild. Aortic stenosis (AS). AS again"))
    whole = doc.char_span(0, doc.text.index("."), alignment_mode="contract")
    found = find_long_forms(doc, [doc[3:4], doc[6:7], doc[-2:-1], whole, doc[8:9]])
    assert found == [
        "Angelman syndrome",
        "Angelman syndrome",
        "Aortic stenosis",
        "Angelman syndrome",
        "",
    ]


@pytest.mark.parametrize("text", ["Angelman\nsyndrome (AS)", "AS (Angelman  syndrome)"])
def test_white_space_in_a_span_hides_no_long_form(nlp, text):
    doc = define(nlp(f"Angelman syndrome (AS). {text}"))
    span = doc.char_span(24, len(doc.text))
    assert find_long_forms(doc, [span]) == ["Angelman syndrome"]


@pytest.mark.parametrize(
    "copy",
    [
        lambda doc: next(DocBin(docs=[doc], store_user_data=True).get_docs(doc.vocab)),
        lambda doc: Doc(doc.vocab).from_bytes(doc.to_bytes()),
        lambda doc: doc.copy(),
    ],
    ids=["DocBin", "bytes", "copy"],
)
def test_abbreviations_are_kept_with_their_document(nlp, copy):
    doc = define(nlp(TEXT))
    again = copy(doc)
    assert get_abbreviations(again) == find_abbreviations(TEXT, "en")
    assert find_long_forms(again, spans(again, "AS")) == ["Angelman syndrome"]


def test_joined_documents_keep_their_own_abbreviations(nlp):
    docs = [define(nlp(text)) for text in ("AS at first.", TEXT, OTHER, "AS at last.")]
    joined = Doc.from_docs(docs)
    for abbreviation in get_abbreviations(joined):
        assert joined.text[abbreviation.start : abbreviation.end] == abbreviation.short == "AS"
        assert joined.text[abbreviation.long_start : abbreviation.long_end] == abbreviation.long
    uses = [joined[token.i : token.i + 1] for token in joined if token.text == "AS"]
    angelman, stenosis = "Angelman syndrome", "Aortic stenosis"
    assert find_long_forms(joined, uses) == ["", angelman, angelman, stenosis, stenosis, ""]
    register_abbreviation_attributes()
    assert joined._.abbreviations == uses[1:-1]


def test_a_part_of_a_document_keeps_its_abbreviations(nlp):
    doc = define(nlp("Before. " + TEXT))
    part = doc[8:].as_doc(copy_user_data=True)
    assert part.text == "AS, mild." and find_long_forms(part, [part[0:1]]) == ["Angelman syndrome"]


def test_abbreviations_set_again_replace_all_others(nlp):
    joined = Doc.from_docs([define(nlp(TEXT)), define(nlp(OTHER))])
    set_abbreviations(joined, [])
    assert get_abbreviations(joined) == []


def test_attributes_can_be_read_by_users(nlp):
    register_abbreviation_attributes()
    doc = define(nlp(TEXT))
    assert [(span.text, span.start_char) for span in doc._.abbreviations] == [
        ("AS", 19),
        ("AS", 24),
    ]
    assert {span._.long_form for span in doc._.abbreviations} == {"Angelman syndrome"}
    assert doc[0:2]._.long_form is None and nlp("AS")._.abbreviations == []


def test_attributes_of_others_are_left_alone(nlp):
    register_scispacy()
    register_abbreviation_attributes()
    assert (
        Doc.get_extension("abbreviations")[0] == [] and Span.get_extension("long_form")[2] is None
    )
    doc = define(nlp(TEXT))
    before = dict(doc.user_data)
    assert find_long_forms(doc, spans(doc, "AS")) == ["Angelman syndrome"]
    assert doc.user_data == before


def test_others_may_take_the_attributes_over(nlp):
    register_abbreviation_attributes()
    register_scispacy()
    doc = define(nlp(TEXT))
    assert find_long_forms(doc, spans(doc, "AS")) == ["Angelman syndrome"]


def test_what_scispacy_found_is_read_in_the_place_of_ours(nlp):
    register_scispacy()
    doc = define(nlp(TEXT + " Ankylosing spondylitis, AS type"))
    (short,) = spans(doc, "AS")
    short._.long_form = spans(doc, "Ankylosing spondylitis")[0]
    doc._.abbreviations.append(short)
    assert find_long_forms(doc, spans(doc, "AS", "AS type")) == [
        "Ankylosing spondylitis",
        "Ankylosing spondylitis type",
    ]


def test_what_scispacy_found_may_be_serializable(nlp):
    register_scispacy()
    doc = nlp(TEXT)
    short, long = doc[3:4], doc[0:2]
    short._.long_form = long.text
    texts = {"short_text": short.text, "long_text": "Asperger syndrome"}
    places = {"short_start": 3, "short_end": 4, "long_start": 0, "long_end": 2}
    doc._.abbreviations = [{**texts, **places}]
    again = next(DocBin(docs=[doc], store_user_data=True).get_docs(nlp.vocab))
    assert find_long_forms(again, [again[3:4], *spans(again, "AS")]) == [
        "Angelman syndrome",
        "Asperger syndrome",
    ]


@pytest.mark.parametrize(
    "found", [True, {"AS": "Angelman syndrome"}, [("AS", "Angelman syndrome")], [{"AS": 1}], ["AS"]]
)
def test_what_others_keep_under_the_same_names_is_passed_over(nlp, found):
    register_scispacy()
    doc = define(nlp(TEXT))
    doc._.abbreviations = found
    (short,) = spans(doc, "AS")
    short._.long_form = found
    assert find_long_forms(doc, [short]) == ["Angelman syndrome"]


@pytest.mark.parametrize(
    ("text", "literal", "expected"),
    [
        ("afib", "atrial fibrillation", "atrial fibrillation"),
        ("CHF", "chf", None),
        ("heart attack", "rule for hearts, acute", None),
        ("CHF", None, None),
    ],
)
def test_the_name_of_a_rule_counts_if_it_spells_the_mention_out(nlp, text, literal, expected):
    Span.set_extension("literal", getter=lambda span: literal)
    assert external_long_form(nlp(text)[:]) == expected


def test_nothing_is_registered_nothing_is_read(nlp):
    assert external_long_form(nlp("CHF")[:]) is None
    assert not Doc.has_extension("abbreviations") and not Span.has_extension("long_form")
    assert read_abbreviations(nlp("CHF")).at(0) == {}


def test_changed_abbreviations_are_read_again(nlp):
    doc = define(nlp(TEXT))
    register_abbreviation_attributes()
    (span,) = spans(doc, "AS")
    assert span._.long_form == "Angelman syndrome"
    set_abbreviations(doc, [Abbreviation("AS", "another", 19, 21, 0, 17)])
    assert span._.long_form == "another"
    set_abbreviations(doc, [])
    assert span._.long_form is None
    assert get_long_form(spans(define(nlp(TEXT)), "AS")[0]) == "Angelman syndrome"
