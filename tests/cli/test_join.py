from spacy_connorm.concepts import Concept, Ontology
from spacy_connorm.concepts.ontology import read_licence


def test_what_was_joined_is_printed(invoke, words, refused, tmp_path):
    first, second, out = (tmp_path / f"{name}.jsonl" for name in ("first", "second", "out"))
    Ontology([Concept("A:1", "one", xrefs=("X:1",)), Concept("A:2", "two")]).to_disk(first)
    Ontology([Concept("B:1", "uno", xrefs=("X:1",))]).to_disk(second)
    (tmp_path / "second.jsonl.licence.txt").write_text("Be kind.\n")
    result = invoke("join", first, second, out)
    assert result.exit_code == 0, result.output
    for line in ("Concepts 2", "Names 3", "... by the only cross-reference 1", "Terms of use:"):
        assert line in words(result)
    assert Ontology.from_disk(out)["B:1"].concept_id == "A:1"
    assert read_licence(out) == "second.jsonl: Be kind."
    refused(invoke("join", first, second, second), "CN121")
    refused(invoke("join", first, tmp_path / "out.txt"), "CN708")
