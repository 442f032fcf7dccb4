"""Counts of corpora, beside the paper's."""


def test_all_parts_are_counted_beside_the_published_numbers(rows_of, data):
    (row,) = rows_of("corpora.py", "--dataset", "ncbi", "--data", data)
    ours = {key: value for key, value in row.items() if not key.startswith("published_")}
    assert ours == {
        "dataset": "ncbi",
        "concepts": 3,
        "names": 6,
        "documents": 7,
        # OMIM:100 is D1's other id; those of a composite count one by one.
        "annotated_concepts": 4,
        "mentions": 7,
    }
    published = [value for key, value in row.items() if key.startswith("published_")]
    assert published == [11_915, 71_923, 792, 750, 6_881]


def test_dev_has_train_beside_it(rows_of, data):
    (row,) = rows_of("corpora.py", "--dataset", "ncbi", "--data", data, "--part", "dev")
    assert (row["documents"], row["annotated_concepts"]) == (3, 3)
