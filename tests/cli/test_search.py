import re

import pytest
import spacy
from nil_settings import nil_below

from spacy_connorm import save_pipeline
from spacy_connorm.cli import search as cli_search


def test_a_table_of_candidates(invoke, words, demo_index):
    result = invoke("search", demo_index, "hart attack", " ", "--top-k", "2")
    assert result.exit_code == 0, result.output
    assert re.search(r"hart attack 0\.\d+ DEMO:0000006 myocardial infarction", words(result))
    assert "- nothing found" in words(result)
    assert result.output.count("DEMO:") == 2
    assert invoke("search", demo_index, "hart attack").output.count("DEMO:") == 3


def test_each_search_is_explained(invoke, words, demo_index):
    result = invoke("search", demo_index, " hart  attack", "--explain", "-k", "1")
    assert "The mention is searched as hart attack" in words(result)
    assert "D-T, needs 0.98: does not answer" in words(result)
    assert "OD-T, the last search: this one answers" in words(result)


def test_each_part_of_a_composite_is_explained(invoke, words, demo_index):
    mention = "flu and heart attack"
    shown = words(invoke("search", demo_index, mention, "--explain", "-k", "1"))
    first, second = shown.partition("Part 1 is searched as flu")[2].split(
        "Part 2 is searched as heart attack"
    )
    assert "flu 0.950 DEMO:" in first and "this one answers" in first
    assert "heart attack 0.949 DEMO:0000006" in second and "this one answers" in second
    assert f"{mention} DEMO:" not in shown


@pytest.fixture(scope="module")
def strict_index(demo_index, tmp_path_factory):
    """The demo index with a threshold for NIL."""
    nlp = spacy.load(demo_index)
    nlp.get_pipe("concept_normalizer").cfg |= nil_below(0.75)
    return save_pipeline(nlp, tmp_path_factory.mktemp("strict") / "index")


def test_nil_is_shown_above_the_candidates(invoke, words, strict_index):
    shown = words(invoke("search", strict_index, "flu", "asdf qwer", "-k", "1"))
    assert re.search(
        r"flu 1.000 DEMO:\S+ .* asdf qwer NIL the first is less probable than 0.5 ", shown
    )
    assert shown.count("NIL") == 1 and shown.count("DEMO:") == 2


def test_nil_is_shown_for_each_part_of_a_composite(invoke, words, strict_index, demo_index):
    mention = "fever and chilsl and flu"
    shown = words(invoke("search", strict_index, mention, "-k", "1"))
    assert f"{mention} (chilsl) NIL the first" in shown and shown.count("NIL") == 1
    shown = words(invoke("search", demo_index, mention, "asdf qwer", "-k", "1"))
    assert shown.count("NIL") == 1 and "asdf qwer NIL" in shown


def test_nil_is_explained(invoke, words, strict_index):
    shown = words(invoke("search", strict_index, "asdf qwer", "--explain", "-k", "1"))
    assert re.search(r"The mention is NIL: its probability is 0\.000, below 0\.5", shown)
    assert "NIL" not in words(invoke("search", strict_index, "flu", "--explain"))


def test_codes_that_cannot_be_billed_are_marked(invoke, words, billing_index, demo_index):
    shown = words(invoke("search", billing_index, "nose fever", "cold nose", "-k", "1"))
    assert "A90 Nose fever 1.000 Nose fever OD-T not valid" in shown
    assert shown.endswith("A91 Cold nose 1.000 Cold nose OD-T")
    assert "Billing" not in words(invoke("search", demo_index, "flu"))
    explained = words(invoke("search", billing_index, "nose fever", "-k", "1", "--explain"))
    assert "Nose fever OD-T not valid" in explained


def test_long_names_are_shortened(invoke, tmp_path, ngrams):
    ontology = tmp_path / "long.jsonl"
    ontology.write_text('{"concept_id": "C1", "canonical_name": "%s"}' % ("very long " * 10))
    assert invoke("index", ontology, tmp_path / "out", *ngrams).exit_code == 0
    assert "very lo..." in invoke("search", tmp_path / "out", "very long").output


def test_both_cosines_of_a_hybrid_are_shown(invoke, words, tmp_path, make_pipeline, hybrid):
    make_pipeline(**hybrid).to_disk(tmp_path / "hybrid")
    shown = words(invoke("search", tmp_path / "hybrid", "heart attack", "-k", "1"))
    assert "Score Dense Lexical Found as Search" in shown
    assert "heart attack 1.000 1.000 1.000 heart attack" in shown
    assert "nothing found" in words(invoke("search", tmp_path / "hybrid", " "))


def test_search_refuses_a_missing_pipeline_and_one_search_with_explain(invoke, refused, demo_index):
    refused(invoke("search", "nowhere", "flu"), "CN700")
    refused(invoke("search", demo_index, "flu", "--search", "O-T", "--explain"), "CN736")


def test_codes_are_shown_also_that_there_are_none(invoke, refused, words, tmp_path, ngrams):
    ontology = tmp_path / "codes.jsonl"
    ontology.write_text(
        '{"concept_id": "D1", "canonical_name": "sniffles", "xrefs": ["ICD10CM:A90"]}\n'
        '{"concept_id": "D2", "canonical_name": "sneezing"}\n'
    )
    assert invoke("index", ontology, tmp_path / "out", *ngrams).exit_code == 0
    search = ("search", tmp_path / "out", "sniffles")
    shown = words(invoke(*search, "--code-systems", "ICD10CM"))
    assert "ICD10CM:A90" in shown and "ICD10CM:none" in shown
    refused(invoke(*search, "--code-systems", "LOINC"), "CN413")
    explained = words(invoke(*search, "--explain", "--code-systems", "ICD10CM"))
    assert "ICD10CM:A90" in explained and "ICD10CM:none" in explained


def test_lines_of_standard_input_are_answered_one_by_one(invoke, demo_index, words, monkeypatch):
    loads, load = [], cli_search.load_pipeline
    monkeypatch.setattr(cli_search, "load_pipeline", lambda name: loads.append(name) or load(name))
    result = invoke("search", demo_index, "-k", "1", input="hart attack\n\n  flu \r\n")
    assert result.exit_code == 0, result.output
    assert len(loads) == 1
    assert result.output.count("Mention") == 2
    assert re.search(r"hart attack 0\.\d+ DEMO:0000006 myocardial infarction", words(result))
    assert "OD-T, the last search" in words(
        invoke("search", demo_index, "--explain", input="hart attack")
    )
    assert invoke("search", demo_index, input="").output == ""


def test_a_line_of_standard_input_that_is_not_a_text(invoke, refused, demo_index):
    result = invoke("search", demo_index, input=b"flu\n\xff\xfe\n")
    refused(result, "CN107")
    assert "standard input" in result.output and "flu" in result.output
