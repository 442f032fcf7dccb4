from spacy_connorm.evaluation import evaluate


def titles(report):
    return [section.title for section in report.sections]


def test_searches_alone_are_compared_with_the_sieve(here):
    report = evaluate("pipeline", "gold.spacy", searches=["D-T", "OD-T"])
    assert [row["search"] for row in report.rows] == ["D-T+OD-T", "D-T", "OD-T"]
    assert "strict@1_p" not in report.rows[0]
    assert report.rows[1]["strict@1_difference"] == 0.0
    assert any(title.startswith("Compared with D-T+OD-T") for title in titles(report))


def test_pipelines_stand_beside_each_other_and_are_compared(here):
    report = evaluate(here / "pipeline", "gold.spacy", beside=[here / "other"], labels=["first"])
    one, other = report.rows
    assert (one["pipeline"], one["corpus"], "against" in one) == ("first", "gold", False)
    assert (other["pipeline"], other["against"]) == ("other", "first D-T+OD-T")
    assert other["lenient@1_difference"] == other["lenient@1"] - one["lenient@1"]
    assert any(title.startswith("Compared with first D-T+OD-T") for title in titles(report))
    assert set(report.mistakes) == {"first", "other"}


def test_the_grid_is_fourteen_rows_a_pipeline(here):
    report = evaluate(
        "pipeline",
        "gold.spacy",
        beside=["other"],
        grid=True,
        corpus_name="mine",
        markdown_path="grid.md",
    )
    rows = report.rows
    assert len(rows) == 28
    assert {row["corpus"] for row in rows} == {"mine"}
    by_name = {(row["pipeline"], row["search"]): row for row in rows}
    # the sieve that the other rows are compared with, and the same search of the first pipeline
    assert "against" not in by_name["pipeline", "D-T+OD-T"]
    assert by_name["pipeline", "O-C"]["against"] == "pipeline D-T+OD-T"
    assert by_name["other", "O-C"]["against"] == "pipeline O-C"
    assert by_name["other", "D-C+O-T"]["threshold"] == 0.98
    assert {"lenient@1_rank", "lenient@1_average_rank", "seen_mentions"} <= rows[0].keys()
    text = (here / "grid.md").read_text(encoding="utf8")
    written = [line.removeprefix("## ") for line in text.splitlines() if line.startswith("## ")]
    assert written == titles(report)
    protocol = "(protocol: as written)"
    assert written[0] == f"Lenient Acc@1 by corpus, percent {protocol}"
    assert written[-1] == f"mine: Compared with another run, paired bootstrap {protocol}"
    assert text.count("| D-C+OD-C |") == 2 * len(written) == 12


def test_a_row_of_the_grid_is_what_the_pipeline_and_searches_alone_give(here):
    grid = {row["search"]: row for row in evaluate("pipeline", "gold.spacy", grid=True).rows}
    for row in evaluate("pipeline", "gold.spacy", searches=["O-T", "D-T", "OD-T"]).rows:
        same = {key: value for key, value in row.items() if key not in ("against", "protocol")}
        assert same == {key: grid[row["search"]][key] for key in same}


def test_the_grid_has_no_sieves_of_inner_products(here):
    report = evaluate("dot", "gold.spacy", grid=True)
    searches = ["O-T", "O-C", "D-T", "D-C", "OD-T", "OD-C"]
    assert sorted(row["search"] for row in report.rows) == sorted(searches)


def test_the_threshold_of_the_grid_can_be_another(here):
    report = evaluate("pipeline", "gold.spacy", grid=True, threshold=0.5)
    (row,) = [row for row in report.rows if row["search"] == "D-T+OD-T"]
    assert row["threshold"] == 0.5
    assert row["against"] == "D-T+OD-T"  # at the pipeline's own


def test_the_grid_splits_under_the_papers_protocol_too(here):
    report = evaluate("pipeline", "composite.spacy", protocol="biosyn", grid=True)
    (row,) = [row for row in report.rows if row["search"] == "OD-T"]
    assert (row["lenient@1"], row["strict@1"], row["protocol"]) == (100.0, 100.0, "biosyn")
