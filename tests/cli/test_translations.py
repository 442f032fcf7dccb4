import pytest

BABELON = (
    "subject_id\ttranslation_language\ttranslation_value\n"
    "DEMO:0000006\tfr\tInfarctus du myocarde\n"
    "DEMO:0000008\tde\tRhythmusstörung\n"
)


@pytest.mark.parametrize("values", [["fr", "en"], ["fr,en"]])
def test_an_option_may_have_several_values(invoke, monkeypatch, values):
    given = {}
    monkeypatch.setattr("spacy_connorm.cli.ontology.convert_ontology", given.update)
    tables = ["a.babelon.tsv", "b.tsv.gz"]
    options = ("--translations", *tables, "--language", *values)
    invoke("ontology", "in.obo", *options, "out.jsonl")
    assert given["language"] == ("fr", "en")
    assert [*map(str, given["translations"])] == tables


def test_index_prints_the_names_by_language(invoke, words, tmp_path, demo_ontology):
    table = tmp_path / "demo-fr.babelon.tsv"
    table.write_text(BABELON)
    options = ("--encoder", "ngrams", "--translations", table, "--language", "fr")
    result = invoke("index", demo_ontology, tmp_path / "out", *options)
    assert result.exit_code == 0, result.output
    for line in ("Names in fr 1", "Left out: a translation into another language 1"):
        assert line in words(result)
