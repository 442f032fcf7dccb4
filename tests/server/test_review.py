import os
from dataclasses import replace

import pytest

from spacy_connorm import Concept, Ontology, map_terms
from spacy_connorm.documents import MappingSet, TermMapping, read_sssom, write_sssom
from spacy_connorm.documents.sssom import MANUAL, NO_TERM
from spacy_connorm.errors import ConnormError
from spacy_connorm.server import MappingReview
from spacy_connorm.server.review import ReviewFile
from spacy_connorm.workflows import CorrectedPipeline, convert_corrections
from spacy_connorm.workflows.mapping_ids import MappingIds

TABLE = "code,term,count\n1,heart attack,9\n2,head spinning,5\n3,low temperatures,7\n4,+,1\n"


@pytest.fixture
def out(map_table):
    return map_table(TABLE, accept=0.99)


@pytest.fixture
def review(corrected, out):
    return MappingReview(corrected, out)


def decide(review, row, concept, **options):
    return review.decide(row, version=review.row(row)["version"], concept=concept, **options)


def test_frequent_terms_come_first(review):
    found = review.rows("review", offset=0, limit=10)
    assert [row["term"] for row in found["rows"]] == ["low temperatures", "head spinning"]
    assert [row["term"] for row in review.rows("review", offset=1, limit=1)["rows"]] == [
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


def test_a_decision_writes_the_id_that_the_map_offered(blank_pipeline, tmp_path, path):
    # The form of the id does not show its vocabulary, which its cross-reference states.
    nlp = blank_pipeline()
    concept = Concept("25064002", "Headache", xrefs=("SNOMEDCT:25064002",))
    nlp.get_pipe("concept_normalizer").initialize(lambda: [], nlp=nlp, ontology=Ontology([concept]))
    (tmp_path / "terms.csv").write_text("code,term\n1,headache\n", encoding="utf8")
    out = tmp_path / "out.tsv"
    map_terms(nlp, tmp_path / "terms.csv", out)
    offered = read_sssom(out).mappings[0].object_id
    decided = decide(MappingReview(CorrectedPipeline(nlp, path), out), 0, offered)
    assert decided["concept_id"] == offered == "SNOMEDCT:25064002"
    assert "concept" not in read_sssom(out).metadata["curie_map"]


def test_a_term_that_can_be_no_synonym(review, corrected, out):
    decide(review, 3, "C1")
    assert read_sssom(out).mappings[3].object_id == "concept:C1"


def test_what_is_refused_changes_nothing(review, corrected, out, monkeypatch):
    before, seen = out.read_bytes(), review.row(1)["version"]
    for row, options, code in (
        (1, {"concept": "C99"}, "CN411"),
        (1, {"concept": "C5", "predicate": "owl:sameAs"}, "CN118"),
        (1, {"concept": "C5", "version": "0"}, "CN787"),
        (1, {"concept": "C5", "author": "Ann|Bob"}, "CN006"),
        (9, {"concept": "C5"}, "CN786"),
    ):
        with pytest.raises(ConnormError, match=code):
            review.decide(row, **{"version": seen, **options})
    with pytest.raises(ConnormError, match="CN786"):
        review.row(-1)
    from spacy_connorm.server import review as review_file

    def fail(*args):
        raise ConnormError("[CN108] full")

    monkeypatch.setattr(review_file, "write_sssom", fail)
    with pytest.raises(ConnormError, match="CN108"):
        review.decide(1, version=seen, concept="C5")
    assert out.read_bytes() == before
    assert corrected.effective == []


ROWS = [
    TermMapping(f"local:{code}", "skos:closeMatch", "concept:C3", "semapv:LexicalMatching", code)
    for code in ("cold", "flu")
]
ADDRESSES = MappingIds("local", {}).addresses_of


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "out.sssom.tsv"
    metadata = {"license": "x:y", "curie_map": {"local": "urn:mine:"}}
    write_sssom(MappingSet(metadata, ROWS), path)
    return path


def change(file, row, **values):
    with file.locked():
        mapping = file.require(row, file.version(row))
        file.change(row, replace(mapping, **values), ADDRESSES)


def test_a_changed_row_is_in_the_file(table):
    before = table.read_text(encoding="utf8").splitlines()
    file = ReviewFile(table)
    change(file, 1, author_id="orcid:0000-0002-1825-0097")
    found = read_sssom(table)
    assert found.mappings == [ROWS[0], replace(ROWS[1], author_id="orcid:0000-0002-1825-0097")]
    assert found.metadata["license"] == "x:y"
    assert found.metadata["curie_map"]["local"] == "urn:mine:"
    assert found.metadata["curie_map"]["orcid"] == "https://orcid.org/"
    assert before[-2] in table.read_text(encoding="utf8").splitlines()


def test_two_processes_lose_nothing(table):
    first, second = ReviewFile(table), ReviewFile(table)
    seen = second.version(0)
    change(first, 0, author_label="Ann")
    change(second, 1, author_label="Bob")
    assert [mapping.author_label for mapping in read_sssom(table).mappings] == ["Ann", "Bob"]
    with second.locked(), pytest.raises(ConnormError, match="CN787"):
        second.require(0, seen)
    with pytest.raises(ConnormError, match="CN786"):
        second.require(2, seen)
    first.refresh()
    assert first.mappings[1].author_label == "Bob"


def test_a_full_disk_changes_nothing(table, monkeypatch):
    file = ReviewFile(table)
    before, revision = table.read_bytes(), file.revision

    def fail(*args):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(ConnormError, match="CN108"):
        change(file, 0, author_label="Ann")
    assert (table.read_bytes(), file.mappings, file.revision) == (before, ROWS, revision)


def test_what_can_not_be_reviewed(tmp_path, table):
    for path, code in ((tmp_path / "none.tsv", "CN100"), (tmp_path / "a.csv", "CN708")):
        with pytest.raises(ConnormError, match=code):
            ReviewFile(path)
    table.write_text("code\tterm\n", encoding="utf8")
    with pytest.raises(ConnormError, match="CN115"):
        ReviewFile(table)


def test_another_process_decides(table, monkeypatch):
    monkeypatch.setattr("spacy_connorm.server.review._SECONDS_TO_WAIT", 0.01)
    first, second = ReviewFile(table), ReviewFile(table)
    with first.locked(), pytest.raises(ConnormError, match="CN109"), second.locked():
        pass
