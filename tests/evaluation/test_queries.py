"""Mentions under the papers' protocol and as a pipeline reads them."""

import pytest
import spacy
from spacy.tokens import DocBin

from spacy_connorm.evaluation import evaluate
from spacy_connorm.evaluation.queries import biosyn_ids, biosyn_texts

LONG_FORMS = {"HD": "Huntington's disease", "BOC": "breast and ovarian cancer"}


@pytest.mark.parametrize(
    ("mention", "gold_ids", "texts"),
    [
        ("HD", ["D1"], ("huntington s disease",)),
        (
            "Non-Insulin  dependent\tDiabetes (NIDDM)",
            ["D1"],
            ("non insulin dependent diabetes niddm",),
        ),
        # split if, and only if, there are as many parts as gold ids
        ("breast and ovarian cancer", ["D1", "D2"], ("breast cancer", "ovarian cancer")),
        ("breast and ovarian cancer", ["D1"], ("breast and ovarian cancer",)),
        ("breast and ovarian cancer", ["D1", "D2", "D3"], ("breast and ovarian cancer",)),
        ("BOC", ["D1", "D2"], ("breast cancer", "ovarian cancer")),
        ("HD", ["D1", "D2"], ("huntington s disease",)),
        ("Éclampsia", [], ("éclampsia",)),
        ("--", ["D1"], ("--",)),
        ("", [], ("",)),
    ],
)
def test_texts(mention, gold_ids, texts):
    assert biosyn_texts(mention, gold_ids, LONG_FORMS, "en") == texts


@pytest.mark.parametrize(
    ("gold_ids", "left"),
    [
        (["D1", "OMIM:1", "D2"], ("D1", "D2")),
        (["OMIM:1", "OMIM:2"], ("OMIM:1", "OMIM:2")),
        (["D1"], ("D1",)),
        ([], ()),
    ],
)
def test_omim_ids_go_where_there_are_others(gold_ids, left):
    assert biosyn_ids(gold_ids) == left


def test_a_pipeline_that_resolves_abbreviations_reads_the_corpus_with_them(here):
    nlp = spacy.load("pipeline")
    # not the angle or the stroke that the index calls CVA
    doc = nlp.make_doc("Cardiac vein attack (CVA) is known. CVA was seen.")
    doc.ents = [doc.char_span(36, 39, label="Disease", kb_id="C1")]
    DocBin(docs=[doc], store_user_data=True).to_disk("short.spacy")
    nlp.add_pipe("abbreviation_resolver", first=True)
    nlp.to_disk("resolving")
    report = evaluate("resolving", "short.spacy", beside=["pipeline"])
    assert [row["strict@1"] for row in report.rows] == [100.0, 0.0]
    # the papers' protocol reads definitions by itself
    (row,) = evaluate("pipeline", "short.spacy", protocol="biosyn").rows
    assert row["strict@1"] == 100.0
