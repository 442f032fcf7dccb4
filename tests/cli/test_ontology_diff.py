from spacy_connorm import Concept, Ontology

OLD = Ontology([Concept("A", "a"), Concept("B", "b")])
NEW = Ontology([Concept("B", "bee", alt_ids=("A",)), Concept("C", "c")])


def test_a_new_release_is_shown_beside_the_command_that_converts(invoke, words, tmp_path):
    OLD.to_disk(tmp_path / "old.jsonl")
    NEW.to_disk(tmp_path / "new.jsonl")
    (tmp_path / "own.tsv").write_text("one\tA\ntwo\tX\n")
    result = invoke(
        *("ontology", "diff", tmp_path / "old.jsonl", tmp_path / "new.jsonl"),
        *("--synonyms", tmp_path / "own.tsv", "--moved", tmp_path / "moved.tsv"),
    )
    shown = words(result)
    assert result.exit_code == 0, result.output
    assert "Concepts added 1" in shown and "Concepts renamed 1" in shown
    assert "alternate id" in shown and "two X unknown" in shown
    assert "0 synonyms keep their id, 1 have another" in shown
    assert (tmp_path / "moved.tsv").read_text() == "one\tB\t1\n"
    assert invoke("ontology", tmp_path / "old.jsonl", tmp_path / "again.jsonl").exit_code == 0


def test_bad_input(invoke, refused, tmp_path):
    OLD.to_disk(tmp_path / "old.jsonl")
    missing = ("ontology", "diff", tmp_path / "old.jsonl", tmp_path / "new.jsonl")
    refused(invoke(*missing), "CN100")
    own = ("ontology", "diff", tmp_path / "old.jsonl", tmp_path / "old.jsonl")
    refused(invoke(*own, "--moved", tmp_path / "moved.tsv"), "CN733")
    assert invoke("ontology", "diff", tmp_path / "old.jsonl").exit_code == 2
