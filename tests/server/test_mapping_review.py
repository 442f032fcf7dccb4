import pytest

from spacy_connorm import map_terms
from spacy_connorm.documents import read_sssom
from spacy_connorm.documents.sssom import MANUAL, NO_TERM
from spacy_connorm.errors import ConnormError
from spacy_connorm.server import MappingReview
from spacy_connorm.workflows import CorrectedPipeline, convert_corrections

TABLE = "code,term,count\n1,heart attack,9\n2,head spinning,5\n3,low temperatures,7\n4,+,1\n"


@pytest.fixture
def out(make_pipeline, tmp_path):
    (tmp_path / "terms.csv").write_text(TABLE, encoding="utf8")
    map_terms(make_pipeline(), tmp_path / "terms.csv", tmp_path / "out.tsv", accept=0.99, review=0)
    return tmp_path / "out.tsv"


@pytest.fixture
def review(corrected, out):
    return MappingReview(corrected, out)


def decide(review, row, concept, **options):
    return review.decide(row, version=review.row(row)["version"], concept=concept, **options)


def test_frequent_terms_come_first(review):
    found = review.rows("review", offset=0, limit=10)
    assert [each["term"] for each in found["rows"]] == ["low temperatures", "head spinning"]
    assert [each["term"] for each in review.rows("review", offset=1, limit=1)["rows"]] == [
        "head spinning"
    ]
    assert review.rows("all", offset=0, limit=2)["total"] == 4
    assert review.rows("unmatched", offset=0, limit=9)["total"] == 1
    told = review.overview()
    assert told["rows"] == {"accepted": 1, "review": 2, "unmatched": 1}
    assert (told["counts"]["review"], told["decided"]) == (12, 0)


def test_a_decision_is_a_row_and_a_synonym(review, corrected, out):
    row = decide(review, 1, "C5", author="Ann")
    assert (row["concept_id"], row["status"], row["author"]) == ("concept:C5", "accepted", "Ann")
    written = read_sssom(out).mappings[1]
    assert (written.object_id, written.mapping_justification) == ("concept:C5", MANUAL)
    ((kb_id, candidates),) = corrected.search(["head spinning"])
    assert (kb_id, candidates[0].search) == ("C5", "D-T")
    assert review.overview()["decided"] == 1
    assert review.rows("decided", offset=0, limit=9)["total"] == 1


def test_none_fits(review, corrected, out):
    decide(review, 2, "NIL")
    assert read_sssom(out).mappings[2].object_id == NO_TERM
    assert corrected.search(["low temperatures"])[0][0] == "NIL"


def test_a_broader_concept_gets_no_synonym(review, corrected, out):
    decide(review, 1, "concept:C5")
    decide(review, 1, "concept:C5", predicate="skos:broadMatch")
    assert read_sssom(out).mappings[1].predicate_id == "skos:broadMatch"
    assert corrected.effective == []


def test_undo_brings_back_what_was_found(review, corrected, out):
    before = read_sssom(out).mappings
    decide(review, 1, "C5")
    decide(review, 1, "C1")
    assert len(corrected.effective) == 1
    row = review.undo(1, version=review.row(1)["version"])
    assert not row["decided"]
    assert read_sssom(out).mappings == before
    assert corrected.effective == []


def test_decisions_are_there_after_a_restart(review, out, path, make_pipeline):
    decide(review, 1, "C5", author="Ann")
    again = MappingReview(CorrectedPipeline(make_pipeline(), path), out)
    assert again.row(1)["author"] == "Ann"
    again.undo(1, version=again.row(1)["version"])
    assert convert_corrections(path).corrections == 0


def test_a_term_that_can_be_no_synonym(review, corrected, out):
    decide(review, 3, "C1")
    assert read_sssom(out).mappings[3].object_id == "concept:C1"


def test_what_is_refused_changes_nothing(review, corrected, out, monkeypatch):
    before, seen = out.read_bytes(), review.row(1)["version"]
    for row, options, code in (
        (1, {"concept": "C99"}, "CN411"),
        (1, {"concept": "C5", "predicate": "owl:sameAs"}, "CN788"),
        (1, {"concept": "C5", "version": "0"}, "CN787"),
        (1, {"concept": "C5", "author": "Ann|Bob"}, "CN006"),
        (9, {"concept": "C5"}, "CN786"),
    ):
        with pytest.raises(ConnormError, match=code):
            review.decide(row, **{"version": seen, **options})
    with pytest.raises(ConnormError, match="CN786"):
        review.row(-1)
    from spacy_connorm.server import review_file

    def fail(*args):
        raise ConnormError("[CN108] full")

    monkeypatch.setattr(review_file, "write_lines", fail)
    with pytest.raises(ConnormError, match="CN108"):
        review.decide(1, version=seen, concept="C5")
    assert out.read_bytes() == before
    assert corrected.effective == []
