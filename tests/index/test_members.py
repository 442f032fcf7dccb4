from spacy_connorm.index.members import D, Denotation, Members, O, gather

DENOTATIONS = [
    (b"a", Denotation("a", 0, O, True)),
    (b"both", Denotation("Both", 1, O, False)),
    (b"shared", Denotation("shared", 1, O, False)),
    (b"shared", Denotation("Shared", 2, O, True)),
    (b"data", Denotation("data", 2, D, False)),
    (b"both", Denotation("both", 1, D, False)),
    (b"both", Denotation("both", 1, D, False)),
    (b"both", Denotation("both", 0, D, False)),
]


def test_rows_are_ordered_by_target():
    table = gather(DENOTATIONS)
    assert table.keys == [b"a", b"shared", b"both", b"data"]
    assert table.members.rows_of(O) == (0, 3)
    assert table.members.rows_of(D) == (2, 4)
    assert table.members.rows_of(O | D) == (0, 4)


def test_a_row_denotes_each_concept_once():
    members = gather(DENOTATIONS).members
    assert members.start.tolist() == [0, 1, 3, 5, 6]
    assert members.concept.tolist() == [0, 1, 2, 1, 0, 2]
    assert members.target.tolist() == [O, O, O, O | D, D, D]
    assert members.row_numbers().tolist() == [0, 1, 1, 2, 2, 3]


def test_repetitions_in_data_are_counted():
    assert gather(DENOTATIONS).members.count.tolist() == [0, 0, 0, 2, 1, 1]


def test_text_is_as_the_ontology_writes_it():
    table = gather(DENOTATIONS)
    assert table.texts == ["a", "shared", "Shared", "Both", "both", "data"]
    assert table.members.preferred.tolist() == [True, False, True, False, False, False]


def test_no_row_of_a_target_that_says_nothing():
    assert gather(DENOTATIONS[:4]).members.rows_of(D) == (0, 0)


def test_opened_as_written(tmp_path):
    members = gather(DENOTATIONS).members
    members.write(tmp_path)
    opened = Members.open(tmp_path)
    assert opened.start.tolist() == members.start.tolist()
    assert opened.preferred.tolist() == members.preferred.tolist()
