import os
from dataclasses import replace

import pytest

from spacy_connorm.documents import MappingSet, TermMapping, read_sssom, write_sssom
from spacy_connorm.errors import ConnormError
from spacy_connorm.server.review_file import ReviewFile
from spacy_connorm.workflows.mapping_ids import MappingIds

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
    assert [each.author_label for each in read_sssom(table).mappings] == ["Ann", "Bob"]
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
    monkeypatch.setattr("spacy_connorm.server.review_file._SECONDS_TO_WAIT", 0.01)
    first, second = ReviewFile(table), ReviewFile(table)
    with first.locked(), pytest.raises(ConnormError, match="CN109"), second.locked():
        pass
