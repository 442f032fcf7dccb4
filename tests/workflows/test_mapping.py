import csv
from dataclasses import replace
from itertools import count

import pytest

from spacy_connorm import Concept, Ontology, map_terms
from spacy_connorm.documents.sssom import (
    ACCEPTED,
    MANUAL,
    NO_TERM,
    REVIEW,
    UNMATCHED,
    MappingSet,
    read_sssom,
    write_sssom,
)
from spacy_connorm.errors import ConnormError
from spacy_connorm.workflows import decide_mapping

TABLE = """\
code,term,count
1,Heart Attack,10
2,low temperatures,5
3,zzqq,3
4,aspirin 100 mg,2
"""
CALIBRATION = {"intercept": -6.0, "score": 10.0, "margin": 0.0}


@pytest.fixture
def terms(tmp_path):
    path = tmp_path / "terms.csv"
    path.write_text(TABLE, encoding="utf8")
    return path


@pytest.fixture
def out(tmp_path):
    return tmp_path / "out.sssom.tsv"


def decide(path, count=1):
    """Decide the first rows of a file."""
    found = read_sssom(path)
    decision = {"object_id": "concept:C1", "object_label": "x", "author": "A"}
    found.mappings[:count] = [
        decide_mapping(mapping, **decision) for mapping in found.mappings[:count]
    ]
    write_sssom(found, path)


def rows(path):
    return {mapping.subject_id.partition(":")[2]: mapping for mapping in read_sssom(path).mappings}


def test_a_table_becomes_mappings(make_pipeline, terms, out):
    summary = map_terms(make_pipeline(compare_words=False), terms, out, prefix="ward", accept=0.99)
    assert summary.measure == "cosine"
    assert summary.rows == {ACCEPTED: 1, REVIEW: 2, UNMATCHED: 1}
    assert summary.counts == {ACCEPTED: 10, REVIEW: 7, UNMATCHED: 3}
    found = rows(out)
    assert [each.subject_id for each in found.values()] == ["ward:1", "ward:2", "ward:3", "ward:4"]
    attack, cold, nothing, aspirin = found.values()
    assert (attack.object_id, attack.object_label) == ("concept:C2", "heart attack")
    assert (attack.predicate_id, attack.match_string) == ("skos:exactMatch", "heart attack")
    assert attack.mapping_justification == "semapv:LexicalMatching"
    assert attack.confidence == attack.similarity_score == 1
    assert (cold.object_id, cold.status) == ("concept:C4", REVIEW)
    assert (aspirin.predicate_id, aspirin.object_id) == ("skos:broadMatch", "concept:C6")
    assert aspirin.candidates[0].object_id == "concept:C6"
    assert (nothing.object_id, nothing.confidence) == (NO_TERM, None)
    metadata = read_sssom(out).metadata
    assert metadata["mapping_tool"] == "spacy_connorm"
    assert metadata["curie_map"].keys() == {"concept", "ontology", "ward"}
    assert "cosine" in metadata["comment"]


def find_errors(path):
    """What the package of the standard says against a file."""
    from sssom.constants import SchemaValidationType
    from sssom.parsers import parse_sssom_table
    from sssom.validators import validate

    kinds = [
        SchemaValidationType.JsonSchema,
        SchemaValidationType.PrefixMapCompleteness,
        SchemaValidationType.StrictCurieFormat,
    ]
    reports = validate(parse_sssom_table(path), kinds, fail_on_error=False)
    return [result.message for report in reports.values() for result in report.results]


def test_it_is_valid_for_the_package_of_the_standard(pipeline, terms, out):
    map_terms(pipeline, terms, out)
    row, *others = read_sssom(out).mappings
    decision = {"object_id": NO_TERM, "object_label": "", "author": "0000-0002-1825-0097"}
    row = replace(decide_mapping(row, **decision), correction="1")
    metadata = read_sssom(out).metadata
    metadata["curie_map"]["orcid"] = "https://orcid.org/"
    write_sssom(MappingSet(metadata, [row, *others]), out)
    assert find_errors(out) == []


def test_a_list_becomes_valid_mappings_whose_codes_are_the_terms(pipeline, out, tmp_path):
    terms = tmp_path / "terms.txt"
    terms.write_text("heart attack\nFièvre: 39 °C, 'high'\nHP:0001\ncold\n", encoding="utf8")
    map_terms(pipeline, terms, out)
    found = read_sssom(out).mappings
    assert [(each.subject_id, each.subject_label) for each in found] == [
        ("local:heart%20attack", "heart attack"),
        ("local:Fi%C3%A8vre%3A%2039%20%C2%B0C%2C%20%27high%27", "Fièvre: 39 °C, 'high'"),
        ("HP:0001", "HP:0001"),
        ("local:cold", "cold"),
    ]
    assert found[0].object_id == "concept:C2"
    assert find_errors(out) == []


def test_probabilities_are_the_confidence_of_a_calibrated_pipeline(make_pipeline, terms, out):
    nlp = make_pipeline(calibration=CALIBRATION)
    assert map_terms(nlp, terms, out, accept=0.97).measure == "probability"
    attack = rows(out)["1"]
    assert attack.confidence == pytest.approx(0.982, abs=0.001)
    assert (attack.similarity_score, attack.status) == (1, ACCEPTED)


def test_thresholds_divide(make_pipeline, terms, out):
    pipeline = make_pipeline(compare_words=False)
    # The one to a broader concept is never accepted.
    assert map_terms(pipeline, terms, out, accept=0.0, review=0.0).rows[REVIEW] == 1
    assert map_terms(pipeline, terms, out, accept=1.0, review=1.0).rows[UNMATCHED] == 3
    found = rows(out)["4"]
    assert (found.object_id, found.candidates[0].object_id) == (NO_TERM, "concept:C6")
    for accept, review in ((1.1, 0.5), (0.5, 0.6), (0.5, -0.1)):
        with pytest.raises(ConnormError, match="CN006"):
            map_terms(pipeline, terms, out, accept=accept, review=review)


def test_what_the_pipeline_would_not_write_is_not_accepted(make_pipeline, terms, out):
    # A name has a probability of 0.95.
    calibration = {"intercept": -3.0, "score": 6.0, "margin": 0.0}
    nlp = make_pipeline(calibration=calibration, nil_threshold=0.95, compare_words=False)
    summary = map_terms(nlp, terms, out, accept=0.1, review=0.1)
    assert summary.rows == {ACCEPTED: 1, REVIEW: 3, UNMATCHED: 0}


def test_a_name_of_several_concepts_is_not_accepted(blank_pipeline, terms, out):
    nlp = blank_pipeline()
    concepts = [
        Concept("A1", "first", ("heart attack",)),
        Concept("A2", "second", ("heart attack", "low temperatures", "zzqq")),
        Concept("A3", "low temperatures"),
        Concept("A4", "zzqq", related=("zzqq q",), aliases=("zzqq q",)),
    ]
    ontology = Ontology(concepts)
    nlp.get_pipe("concept_normalizer").initialize(lambda: [], nlp=nlp, ontology=ontology)
    map_terms(nlp, terms, out)
    found = rows(out)
    assert found["1"].status == REVIEW
    # The preferred name of one of them.
    assert (found["2"].status, found["2"].object_id) == (ACCEPTED, "concept:A3")


def test_what_people_have_decided_stays(pipeline, terms, out):
    map_terms(pipeline, terms, out)
    decide(out)
    terms.write_text(TABLE.replace("2,low temperatures", "2,other"), encoding="utf8")
    assert map_terms(pipeline, terms, out).decided == 1
    assert rows(out)["1"].mapping_justification == MANUAL
    out.write_text("# a: b\nbroken\n", encoding="utf8")
    with pytest.raises(ConnormError, match="CN115"):
        map_terms(pipeline, terms, out)
    assert out.read_text(encoding="utf8") == "# a: b\nbroken\n"


@pytest.mark.parametrize("change", ["mark", "metadata", "row"])
def test_decisions_outlive_spreadsheets_and_rows_that_are_gone(pipeline, terms, out, change):
    map_terms(pipeline, terms, out)
    decide(out)
    text = out.read_text(encoding="utf8")
    if change == "mark":
        out.write_text(text, encoding="utf-8-sig")
    elif change == "metadata":
        lines = text.splitlines(keepends=True)
        out.write_text("".join(line for line in lines if not line.startswith("#")), encoding="utf8")
    else:
        terms.write_text(TABLE.replace("1,Heart Attack,10\n", ""), encoding="utf8")
    summary = map_terms(pipeline, terms, out)
    assert summary.decided + summary.gone == 1 and summary.gone == (change == "row")
    assert rows(out)["1"].mapping_justification == MANUAL


def test_the_summary_is_of_the_terms_of_the_table(pipeline, terms, out):
    map_terms(pipeline, terms, out)
    decide(out, 2)
    # One is called otherwise, the other one is more frequent.
    changed = TABLE.replace("Heart Attack", "heart attacks").replace(
        "temperatures,5", "temperatures,7"
    )
    terms.write_text(changed, encoding="utf8")
    for _ in range(2):
        summary = map_terms(pipeline, terms, out)
        assert (summary.decided, summary.gone) == (1, 1)
        assert sum(summary.rows.values()) == 4 and sum(summary.counts.values()) == 22
        written = read_sssom(out).mappings
        assert [row.count for row in written] == [10, 7, 3, 2, 0]
        assert written[-1].subject_label == "Heart Attack" and written[-1].is_decided
    terms.write_text(TABLE, encoding="utf8")
    summary = map_terms(pipeline, terms, out)
    assert (summary.decided, summary.gone) == (2, 0)
    assert sum(summary.counts.values()) == 20


def test_a_saved_pipeline_and_a_csv(saved_pipeline, terms, tmp_path):
    summary = map_terms(saved_pipeline, terms, tmp_path / "out.csv", top_k=1)
    assert sum(summary.rows.values()) == 4
    lines = (tmp_path / "out.csv").read_text(encoding="utf8").splitlines()
    assert len(lines) == 5 and lines[0].startswith("subject_id,")


def test_a_second_run_gives_the_same_bytes(pipeline, terms, out):
    terms.write_text(f"{TABLE}2,low temperatures,5\n", encoding="utf8")
    map_terms(pipeline, terms, out)
    first = out.read_bytes()
    map_terms(pipeline, terms, out)
    assert out.read_bytes() == first
    # Of two rows with the same code and term, the second one is decided; one was mapped long ago.
    found = read_sssom(out)
    last = decide_mapping(found.mappings[-1], object_id=NO_TERM, object_label="", author="A")
    old = replace(found.mappings[0], mapping_date="2020-01-01")
    write_sssom(MappingSet(found.metadata, [old, *found.mappings[1:-1], last]), out)
    map_terms(pipeline, terms, out)
    second = out.read_bytes()
    written = read_sssom(out).mappings
    assert [row.is_decided for row in written] == [False, False, False, False, True]
    assert written[0].mapping_date == "2020-01-01"
    map_terms(pipeline, terms, out)
    assert out.read_bytes() == second


def test_nothing_is_drawn_unless_on_a_terminal(pipeline, terms, out, monkeypatch, capsys):
    # Each look at the clock takes a minute, so that any bar would be drawn.
    monkeypatch.setattr("tqdm.std.time", count(step=60).__next__)
    map_terms(pipeline, terms, out)
    assert capsys.readouterr().err == ""


def test_a_csv_file_holds_no_formulas(pipeline, terms, out, tmp_path):
    terms.write_text('code,term,context\n1,=cold,"+1, a cold"\n2,@aspirin,\n', encoding="utf8")
    for raw, mark in ((False, "'"), (True, "")):
        map_terms(pipeline, terms, tmp_path / "out.csv", raw=raw)
        with (tmp_path / "out.csv").open(newline="", encoding="utf8") as file:
            first, second = csv.DictReader(file)
        assert first["subject_label"] == f"{mark}=cold" and first["context"] == f"{mark}+1, a cold"
        assert second["subject_label"] == f"{mark}@aspirin"
    map_terms(pipeline, terms, out)
    assert [mapping.subject_label for mapping in read_sssom(out).mappings] == ["=cold", "@aspirin"]


def test_what_can_not_be_mapped(pipeline, terms, out, tmp_path):
    for options, code in (
        ({"types": ["planet"]}, "CN406"),
        ({"branches": ["C99"]}, "CN406"),
        ({"component": "ner"}, "CN704"),
        ({"top_k": 0}, "CN006.*top_k"),
        ({"delimiter": ";;"}, "CN006.*delimiter"),
        ({"prefix": "a b"}, "CN006"),
        ({"sheet": "one"}, "CN733"),
        ({"term": "name"}, "CN114"),
    ):
        with pytest.raises(ConnormError, match=code):
            map_terms(pipeline, terms, out, **options)
    for output, code in ((tmp_path / "out.xlsx", "CN708"), (terms, "CN121")):
        with pytest.raises(ConnormError, match=code):
            map_terms(pipeline, terms, output)
    with pytest.raises(ConnormError, match="CN006.*terms_path.*`search`.*type list"):
        map_terms(pipeline, ["cold"], out)
    assert not out.exists()


def test_thresholds_depend_on_what_probabilities_were_fitted_to(make_pipeline, terms, out):
    plain = make_pipeline(compare_words=False)
    assert "accepted from 0.9, to be reviewed from 0.5" in told(plain, terms, out)
    assert "accepted from 0.5, to be reviewed from 0.05" in told(make_pipeline(), terms, out)


def told(nlp, terms, out):
    map_terms(nlp, terms, out)
    return read_sssom(out).metadata["comment"]
