from spacy_connorm.workflows import Correction, CorrectionsFile


def test_what_can_not_be_served(invoke, refused, demo_index, tmp_path):
    options = ("--corrections", tmp_path / "corrections.jsonl", "--port", "0", "--component", "ner")
    refused(invoke("serve", demo_index, *options), "CN704")


def test_corrections_become_synonyms(invoke, words, refused, tmp_path):
    path, out = tmp_path / "corrections.jsonl", tmp_path / "d.tsv"
    file = CorrectionsFile(path)
    with file.locked():
        for kb_id in ("C3", "NIL", "C4"):
            file.append(Correction(f"cold {kb_id}", 0, 4, kb_id, author="Ann"))
    result = invoke("corrections", path, out)
    assert result.exit_code == 0, result.output
    shown = words(result)
    assert "Records: 3, corrections that apply: 3, without a concept: 1, texts: 3" in shown
    assert "Given different concepts, the last one applies (texts: 1)" in shown
    assert "cold C3, NIL, C4 Ann, Ann, Ann" in shown
    assert out.read_text(encoding="utf8") == "cold\tC4\t1\n"
    assert "Documents keep" not in shown
    documents = words(invoke("corrections", path, tmp_path / "d.spacy"))
    assert "an index built from them uses the most frequent one" in documents
    assert "Wrote" not in words(invoke("corrections", path))
    refused(invoke("corrections", tmp_path / "missing.jsonl"), "CN100")
