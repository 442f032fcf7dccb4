import logging
from dataclasses import replace

import pytest

from spacy_connorm.documents import (
    MappingCandidate,
    MappingSet,
    TermMapping,
    read_sssom,
    write_sssom,
)
from spacy_connorm.documents.sssom import ACCEPTED, MANUAL, NO_TERM, REVIEW, UNMATCHED
from spacy_connorm.errors import ConnormError

METADATA = {
    "sssom_version": "1.1",
    "mapping_set_id": "urn:uuid:11111111-1111-4111-8111-111111111111",
    "license": "https://creativecommons.org/publicdomain/zero/1.0/",
    "comment": 'a "quoted" # comment: with\nlines',
    "curie_map": {"local": "urn:local:", "MESH": "http://id.nlm.nih.gov/mesh/"},
}
LEXICAL = "semapv:LexicalMatching"
MAPPINGS = [
    TermMapping(
        subject_id="local:A%201",
        predicate_id="skos:exactMatch",
        object_id="MESH:D003139",
        mapping_justification=LEXICAL,
        subject_label='the "cold"',
        object_label="Common Cold",
        mapping_date="2026-01-02",
        confidence=0.9312,
        similarity_score=1.0,
        match_string="cold",
        status=ACCEPTED,
        count=12,
        context="had a cold, # 1",
        candidates=(
            MappingCandidate("MESH:D003139", 0.9312, "Common Cold"),
            MappingCandidate("MESH:D000067", 0.5, r"Cold | frost \ ice"),
        ),
    ),
    TermMapping("local:A2", "skos:exactMatch", NO_TERM, LEXICAL, "zzz", status=UNMATCHED),
    TermMapping(
        "local:A3",
        "skos:broadMatch",
        "MESH:D1",
        MANUAL,
        "x",
        author_label="Ann",
        status=ACCEPTED,
        proposal='{"a": "b"}',
    ),
]
FOREIGN = """\
#mapping_set_id: https://example.org/set
subject_id\tpredicate_id\tobject_id\tmapping_justification\tobject_category\tconfidence
A:1\tskos:exactMatch\tB:1\tsemapv:LexicalMatching\tDisease\t0.8
A:2\tskos:exactMatch\tsssom:NoTermFound\tsemapv:LexicalMatching\t\t
A:3\tskos:exactMatch\tB:3\tsemapv:ManualMappingCuration\t\t
"""


@pytest.fixture
def path(tmp_path):
    write_sssom(MappingSet(METADATA, MAPPINGS), tmp_path / "a.sssom.tsv")
    return tmp_path / "a.sssom.tsv"


def test_what_is_written_is_read(path):
    found = read_sssom(path)
    assert found.mappings == MAPPINGS
    assert {name: found.metadata[name] for name in METADATA} == METADATA


def test_reading_and_writing_again_changes_nothing(path, tmp_path):
    write_sssom(read_sssom(path), tmp_path / "b.tsv")
    assert (tmp_path / "b.tsv").read_bytes() == path.read_bytes()


def test_it_is_valid_for_the_package_of_the_standard(path, caplog):
    from sssom.constants import SchemaValidationType
    from sssom.parsers import parse_sssom_table
    from sssom.validators import validate

    with caplog.at_level(logging.WARNING):
        found = parse_sssom_table(path)
    assert not [message for message in caplog.messages if "Metadata key" in message]
    kinds = (
        SchemaValidationType.JsonSchema,
        SchemaValidationType.PrefixMapCompleteness,
        SchemaValidationType.StrictCurieFormat,
    )
    reports = validate(found, list(kinds), fail_on_error=False)
    assert {kind: [result.message for result in reports[kind].results] for kind in kinds} == {
        kind: [] for kind in kinds
    }
    assert found.df["object_id"].tolist() == ["MESH:D003139", NO_TERM, "MESH:D1"]
    assert found.df["subject_label"].tolist() == ['the "cold"', "zzz", "x"]
    assert found.df["match_string"].tolist() == ["cold", "", ""]


def test_those_of_others_are_read_and_kept(tmp_path):
    path = tmp_path / "foreign.tsv"
    path.write_text(FOREIGN, encoding="utf8")
    found = read_sssom(path)
    assert [mapping.status for mapping in found.mappings] == [REVIEW, UNMATCHED, ACCEPTED]
    assert [mapping.is_decided for mapping in found.mappings] == [False, False, True]
    write_sssom(found, tmp_path / "again.tsv")
    again = read_sssom(tmp_path / "again.tsv")
    assert again.mappings == found.mappings
    assert again.mappings[0].others == {"object_category": "Disease"}
    assert again.metadata["mapping_set_id"] == "https://example.org/set"


@pytest.mark.parametrize("name", ["a.csv", "A.CSV"])
def test_a_csv_has_the_table_alone(tmp_path, name):
    write_sssom(MappingSet(METADATA, MAPPINGS), tmp_path / name)
    lines = (tmp_path / name).read_text(encoding="utf8").splitlines()
    assert lines[0].startswith("subject_id,predicate_id,object_id,")
    assert len(lines) == 4 and '"the ""cold"""' in lines[1]


@pytest.mark.parametrize(
    ("old", "new", "line"),
    [
        ("subject_id\t", "id\t", 2),
        ("#mapping_set_id: ", "#: [", 1),
        ("#mapping_set_id: https://example.org/set", "# one\n# two", 1),
        ("A:2\t", "\t", 4),
        ("0.8", "high", 3),
        ("0.8", "1.8", 3),
        ("B:3", "B:3\t\t\t\t\t\t", 5),
    ],
)
def test_a_damaged_row_is_named_with_its_line(tmp_path, old, new, line):
    path = tmp_path / "a.tsv"
    path.write_text(FOREIGN.replace(old, new), encoding="utf8")
    with pytest.raises(ConnormError, match=rf"CN115.*a\.tsv', line {line}:"):
        read_sssom(path)


@pytest.mark.parametrize("label", ["a\tb", "two\nlines", '"quoted" first', 'a "\t" tab', "# no"])
def test_cells_of_any_text_are_read_again(tmp_path, label):
    mappings = [replace(mapping, subject_label=label, context=label) for mapping in MAPPINGS]
    write_sssom(MappingSet(METADATA, mappings), tmp_path / "a.tsv")
    assert read_sssom(tmp_path / "a.tsv").mappings == mappings


def test_quoted_cells_of_others_are_read(tmp_path):
    text = FOREIGN.replace("Disease", '"a ""b""\tc\nd"').replace("\tobject_c", '\t"object_c', 1)
    text = text.replace("object_category", 'object_category"', 1)
    (tmp_path / "a.tsv").write_text(text, "utf8")
    found = read_sssom(tmp_path / "a.tsv").mappings
    assert [each.subject_id for each in found] == ["A:1", "A:2", "A:3"]
    assert found[0].others == {"object_category": 'a "b"\tc\nd'}
    (tmp_path / "b.tsv").write_text(text.replace("B:3", ""), "utf8")
    with pytest.raises(ConnormError, match=r"CN115.*b\.tsv', line 6:"):
        read_sssom(tmp_path / "b.tsv")


@pytest.mark.parametrize(("cell", "line"), [('"Disease', 3), ('"Bob" disease', 3)])
def test_a_quotation_mark_in_the_wrong_place(tmp_path, cell, line):
    (tmp_path / "a.tsv").write_text(FOREIGN.replace("Disease", cell), "utf8")
    with pytest.raises(ConnormError, match=rf"CN115.*a\.tsv', line {line}:"):
        read_sssom(tmp_path / "a.tsv")


def test_two_columns_of_one_name(tmp_path):
    text = FOREIGN.replace("\tobject_category", "\tconfidence", 1)
    (tmp_path / "a.tsv").write_text(text, "utf8")
    with pytest.raises(ConnormError, match=r"CN125.*a\.tsv.*'confidence'"):
        read_sssom(tmp_path / "a.tsv")


def test_an_unknown_status_of_a_mapping_is_refused(path):
    path.write_text(path.read_text(encoding="utf8").replace("\taccepted\t", "\tfine\t"), "utf8")
    with pytest.raises(ConnormError, match=r"CN115.*its status"):
        read_sssom(path)


def test_a_missing_or_empty_sssom_file_is_refused(tmp_path):
    with pytest.raises(ConnormError, match="CN100"):
        read_sssom(tmp_path / "none.tsv")
    (tmp_path / "empty.tsv").touch()
    with pytest.raises(ConnormError, match="CN115"):
        read_sssom(tmp_path / "empty.tsv")
