"""From plain text to scores: `connorm evaluate --end-to-end`."""

import json

import pytest
import spacy
from spacy.tokens import DocBin

from spacy_connorm import evaluate
from spacy_connorm.concepts import Concept, Ontology
from spacy_connorm.documents.mentions import Mention, set_mentions
from spacy_connorm.errors import ConnormError, ConnormWarning
from spacy_connorm.evaluation.plain_text import score_plain_text

TEXT = "A heart attack, then a stroke. Aspirin helps; myocardial infarction and gout came."
GOLD = [
    ("heart attack", "Disease", "OLD1"),  # an alternate id
    ("then a stroke", "Disease", "C2"),  # wider than what is found
    ("Aspirin", "Drug", "D9"),  # of another ontology
    ("gout", "Disease", ""),
    ("helps", "Disease", "C77"),  # an id that the index lacks
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("plain")
    nlp = spacy.blank("en")
    nlp.add_pipe("mention_finder")
    settings = {
        "encoder": {"@architectures": "spacy-connorm.NgramEncoder.v1"},
        "index": {"@misc": "spacy-connorm.ExactIndex.v1"},
    }
    concepts = [
        Concept("C1", "heart attack", ("myocardial infarction",), alt_ids=("OLD1",)),
        Concept("C2", "stroke"),
    ]
    normalizer = nlp.add_pipe("concept_normalizer", config=settings)
    normalizer.initialize(lambda: [], nlp=nlp, ontology=Ontology(concepts))
    nlp.to_disk(path / "pipeline")
    doc = nlp.make_doc(TEXT)
    mentions = []
    for text, label, kb_id in GOLD:
        start = TEXT.index(text)
        mentions.append(Mention(text, label, kb_id, ((start, start + len(text)),)))
    set_mentions(doc, mentions)
    DocBin(docs=[doc], store_user_data=True).to_disk(path / "gold.spacy")
    set_mentions(doc, mentions[3:4])
    DocBin(docs=[doc], store_user_data=True).to_disk(path / "none.spacy")
    return path


def test_a_pipeline_is_scored_from_plain_text(folder):
    found = score_plain_text(folder / "pipeline", folder / "gold.spacy")
    row = found.row
    # Found: heart attack, stroke, myocardial infarction; Aspirin is of another ontology.
    assert (row["documents"], row["mentions"], row["found"]) == (1, 4, 3)
    assert (row["without_id"], row["unknown_ids"], row["other_types"]) == (1, 1, 1)
    assert row["mention_precision"] == pytest.approx(33.33)
    assert row["overlap_recall"] == 50
    assert (row["document_precision"], row["document_recall"]) == (100, pytest.approx(66.67))
    kinds = {row["kind"]: row["times"] for row in found.mistakes}
    assert kinds == {"missed": 1, "invented": 1, "wrong boundary": 1}
    assert [section.title for section in found.sections][-1] == "Mistakes"


def test_labels_of_the_normalizer_choose_gold_types(folder):
    nlp = spacy.load(folder / "pipeline")
    nlp.get_pipe("mention_finder")._accept({"label": "Drug"})
    nlp.get_pipe("concept_normalizer").cfg["labels"] = ["Drug"]
    row = score_plain_text(nlp, folder / "gold.spacy").row
    assert (row["mentions"], row["found"], row["other_types"]) == (1, 3, 4)


def test_a_pipeline_that_finds_nothing_says_how_to_find(folder):
    nlp = spacy.load(folder / "pipeline", exclude=["mention_finder"])
    with pytest.warns(ConnormWarning, match="CNW701.*1 texts.*'concept_normalizer'"):
        row = score_plain_text(nlp, folder / "gold.spacy").row
    assert row["found"] == 0


def test_a_corpus_without_ids_is_refused(folder):
    with pytest.raises(ConnormError, match="CN600"):
        score_plain_text(folder / "pipeline", folder / "none.spacy")


def test_evaluate_writes_scores_and_mistakes(folder, tmp_path):
    report = evaluate(
        folder / "pipeline",
        folder / "gold.spacy",
        end_to_end=True,
        json_path=tmp_path / "scores.json",
        markdown_path=tmp_path / "tables.md",
        errors_path=tmp_path / "errors.tsv",
    )
    (row,) = json.loads((tmp_path / "scores.json").read_text())
    assert row == report.rows[0]
    assert (row["corpus"], row["pipeline"]) == ("gold", "pipeline")
    assert "ids of a document" in (tmp_path / "tables.md").read_text()
    assert "invented" in (tmp_path / "errors.tsv").read_text()


@pytest.mark.parametrize(
    ("options", "code"),
    [
        ({"grid": True}, "CN736"),
        ({"beside": ["other"]}, "CN736"),
        ({"errors_path": "errors.md"}, "CN708"),
    ],
)
def test_options_that_do_not_fit_are_refused(folder, options, code):
    with pytest.raises(ConnormError, match=code):
        evaluate(folder / "pipeline", folder / "gold.spacy", end_to_end=True, **options)
    with pytest.raises(ConnormError, match="CN733"):
        evaluate(folder / "pipeline", end_to_end=True, neighbours=["stroke"])
