from spacy_connorm.concepts import Concept, Ontology


def test_what_was_learned_is_printed(invoke, words, refused, tmp_path):
    path, out = tmp_path / "kidney.jsonl", tmp_path / "table.tsv"
    names = [("kidney cyst", "renal cyst"), ("kidney stone", "renal stone"), ("fever",)]
    Ontology(Concept(f"K:{n}", own[0], own[1:]) for n, own in enumerate(names)).to_disk(path)
    result = invoke("substitutions", path, out)
    assert result.exit_code == 0, result.output
    for line in ("kidney renal 2 0", "Read 3 concepts with 5 names", "Wrote 1 substitutions"):
        assert line in words(result)
    assert out.read_text() == "words\tothers\tsame\tdifferent\nkidney\trenal\t2\t0\n"
    refused(invoke("substitutions", path, path), "CN121")
    refused(invoke("substitutions", tmp_path / "none.jsonl", out), "CN100")


def test_a_table_without_rows_is_told(invoke, words, tmp_path):
    path, out = tmp_path / "fever.jsonl", tmp_path / "table.tsv"
    Ontology([Concept("K:1", "fever")]).to_disk(path)
    result = invoke("substitutions", path, out)
    assert result.exit_code == 0, result.output
    assert "No words are used in place of each other often enough" in words(result)
    assert "Wrote 0 substitutions" in words(result)
