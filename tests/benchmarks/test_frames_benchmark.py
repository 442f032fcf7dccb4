"""Names of an ontology in frames of sentences."""

import pytest

from spacy_connorm.concepts import Concept, Ontology

NAMES = ("Enlarged liver", "Liver failure", "Dry skin", "Nail biting", "Skin", "Liver")


@pytest.fixture
def names(tmp_path):
    path = tmp_path / "names.jsonl"
    concepts = [Concept(f"C{number}", name) for number, name in enumerate(NAMES, start=1)]
    Ontology(concepts).to_disk(path)
    return path


def test_names_are_asked_for_in_the_frames_of_their_form(rows_of, names, capsys):
    rows = {row["frame"]: row for row in rows_of("frames.py", "--ontology", names, "--show", 9)}
    assert rows["No {name} was seen."] == {
        "frame": "No {name} was seen.",
        "mark": "negated",
        "found": 4,
        "asked": 4,
    }
    assert rows["The {part} is {quality}."]["asked"] == 2
    assert rows["There is {finding} of the {part}."]["asked"] == 1
    shown = [line for line in capsys.readouterr().out.splitlines() if ", C" in line]
    assert len(shown) == sum(row["asked"] - row["found"] for row in rows.values())
    assert len(rows_of("frames.py", "--ontology", names, "--language", "fr")) == 3
