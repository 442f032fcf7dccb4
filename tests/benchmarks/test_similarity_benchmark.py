"""Rank correlations with what people say of pairs of terms."""

import pytest

from .organs import write_medic

FILES = {
    "MayoSRS": "Mean",
    "MiniMayoSRS": "Physicians,Coders",
    "UMNSRS_relatedness": "Mean",
    "UMNSRS_similarity": "Mean",
}
# Spelling agrees with the scores.
PAIRS = [("heart attack", "heart attack", 4), ("heart pain", "heart rash", 3), ("foot", "eye", 1)]


@pytest.fixture
def scored(data):
    write_medic(data)
    (data / "term_similarity").mkdir()
    for name, columns in FILES.items():
        count = columns.count(",") + 1
        lines = [f"{columns},Term1,Term2"]
        lines += [f"{','.join([str(score)] * count)},{a},{b}" for a, b, score in PAIRS]
        (data / "term_similarity" / f"{name}.csv").write_text("\n".join(lines))
    return data


def test_correlations_stand_beside_the_published_ones(rows_of, scored, few_vectors):
    rows = rows_of("similarity.py", "--encoder", "ngram", "vectors", "--data", scored)
    ours = [row for row in rows if row["encoder"] == "ngram"]
    assert [row["benchmark"] for row in ours] == [
        "MayoSRS",
        "MiniMayoSRS",
        "UMNSRS relatedness",
        "UMNSRS similarity",
    ]
    assert all(row["spearman"] == 1.0 and row["pairs"] == 3 for row in ours)
    assert {row["encoder"] for row in rows} >= {"vectors", "fastText (published)"}
    published = [row for row in rows if "published" in row["encoder"]]
    assert len(published) == 24
    assert all(row["unknown"] is None and 0.4 < row["spearman"] < 0.7 for row in published)


def test_there_are_no_pairs(run, data, capsys):
    with pytest.raises(SystemExit):
        run("similarity.py", "--encoder", "ngram", "--data", data)
    assert "MayoSRS.csv is not there" in capsys.readouterr().err
