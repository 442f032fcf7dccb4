import pytest

from spacy_connorm.documents.sssom import NO_TERM, read_sssom, write_sssom
from spacy_connorm.workflows import decide_mapping

TABLE = "id,name\n7,heart attack\n8,raised blood pressure\n9,qqq zzz\n"
COLUMNS = ("--code", "id", "--term", "name")


@pytest.fixture
def terms(tmp_path):
    (tmp_path / "terms.csv").write_text(TABLE, encoding="utf8")
    return tmp_path / "terms.csv"


def test_a_table_is_mapped(invoke, words, demo_index, terms, tmp_path):
    out = tmp_path / "out.sssom.tsv"
    demo = "DEMO=https://example.org/demo/"
    result = invoke("map", demo_index, terms, out, *COLUMNS, "--address", demo, "-k", "2")
    assert result.exit_code == 0, result.output
    told = words(result)
    assert "accepted 2 66.7% 2 66.7%" in told
    assert "The thresholds apply to the probability" in told
    written = out.read_text(encoding="utf8")
    assert "#   DEMO: https://example.org/demo/" in written
    assert "local:7\tskos:exactMatch\tDEMO:0000006\t" in written


def test_decisions_of_terms_that_are_gone_are_told(invoke, words, demo_index, terms, tmp_path):
    out = tmp_path / "out.sssom.tsv"
    invoke("map", demo_index, terms, out, *COLUMNS)
    found = read_sssom(out)
    found.mappings[0] = decide_mapping(found.mappings[0], object_id=NO_TERM, object_label="")
    write_sssom(found, out)
    assert "Decided by people: 1" in words(invoke("map", demo_index, terms, out, *COLUMNS))
    terms.write_text(TABLE.replace("7,heart attack\n", ""), encoding="utf8")
    told = words(invoke("map", demo_index, terms, out, *COLUMNS))
    assert "Decisions on terms that are not in the table now: 1" in told
    assert "Decided by people" not in told


def test_map_refuses_unknown_columns_and_bad_addresses(
    invoke, refused, demo_index, terms, tmp_path
):
    command = ("map", demo_index, terms, tmp_path / "out.tsv")
    refused(invoke(*command), "CN114")
    refused(invoke(*command, *COLUMNS, "--address", "DEMO"), "CN006")


def test_the_delimiter_can_be_named(invoke, demo_index, tmp_path):
    terms, out = tmp_path / "terms.txt", tmp_path / "out.sssom.tsv"
    terms.write_text("code!term\n7!heart attack\n")
    assert invoke("map", demo_index, terms, out, "--delimiter", "!").exit_code == 0
    assert "local:7\tskos:exactMatch\tDEMO:0000006\t" in out.read_text(encoding="utf8")
