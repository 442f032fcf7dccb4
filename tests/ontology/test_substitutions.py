"""Tables of substitutions."""

import pytest
from spacy.util import registry

from spacy_connorm.concepts import Concept, Ontology
from spacy_connorm.concepts.ontology import read_licence
from spacy_connorm.errors import ConnormError
from spacy_connorm.ontology import learn_substitutions, read_substitutions, write_substitutions
from spacy_connorm.text.substitutions import Substitution

TABLE = [
    Substitution(("kidney",), ("renal",), 161, 1),
    Substitution((), ("type",), 767, 84),
    Substitution(("membrane", "mucous"), ("mucosa",), 186, 0),
    # Normalized again, both would be the same.
    Substitution(("ofd",), ("ofds",), 8, 0),
]


@pytest.mark.parametrize("name", ["table.tsv", "table.tsv.gz"])
def test_what_is_read_is_what_was_written(tmp_path, name):
    write_substitutions(TABLE, tmp_path / name)
    assert list(read_substitutions(tmp_path / name)) == TABLE


def test_lines_by_hand_are_sorted(tmp_path):
    (tmp_path / "table.tsv").write_text("Tumor\tneoplasm\t5\t0\n\n")
    assert list(read_substitutions(tmp_path / "table.tsv")) == [
        Substitution(("neoplasm",), ("tumor",), 5, 0)
    ]


@pytest.mark.parametrize(
    "line",
    ["a\tb", "a\tb\t1", "a\tb\tone\t1", "a\tb\t-1\t1", "a\ta\t1\t1", "x y z\td\t1\t1", "\t\t1\t1"],
    ids=repr,
)
def test_bad_lines_are_named(tmp_path, line):
    path = tmp_path / "table.tsv"
    path.write_text(f"words\tothers\tsame\tdifferent\nx\ty\t2\t0\n{line}\n")
    with pytest.raises(ConnormError, match=r"CN115.*table\.tsv', line 3"):
        list(read_substitutions(path))


def test_the_terms_of_use_of_all_ontologies_stay_beside_the_table(tmp_path):
    for name in ("one", "two"):
        Ontology([Concept(f"{name}:1", f"kidney {name}", (f"renal {name}",))]).to_disk(
            tmp_path / f"{name}.jsonl"
        )
        (tmp_path / f"{name}.jsonl.licence.txt").write_text(f"Terms of {name}.\n")
    out = tmp_path / "table.tsv"
    learned = learn_substitutions([tmp_path / "one.jsonl", tmp_path / "two.jsonl"], out)
    assert learned.substitutions == [Substitution(("kidney",), ("renal",), 2, 0)]
    assert (learned.concepts, learned.names) == (2, 4)
    assert list(read_substitutions(out)) == learned.substitutions
    assert learned.licence == "one.jsonl: Terms of one.\n\ntwo.jsonl: Terms of two."
    assert read_licence(out) == learned.licence


def test_the_registered_reader(tmp_path):
    write_substitutions(TABLE, tmp_path / "table.tsv")
    read = registry.get("readers", "spacy-connorm.Substitutions.v1")(tmp_path / "table.tsv")
    assert read() == TABLE
