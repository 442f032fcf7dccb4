from spacy_connorm.evaluation.ranks import add_ranks


def row(corpus, pipeline, search, lenient, strict=50.0):
    return {
        "corpus": corpus,
        "pipeline": pipeline,
        "search": search,
        "lenient@1": lenient,
        "strict@1": strict,
    }


# Rows 15, 17, 18, 20 and 25 of the paper's Table 4, in its first two corpora.
PAPER = [
    *(
        row("NCBI", "OD", search, score)
        for search, score in zip("abcde", (89.58, 86.40, 86.40, 91.61, 91.61), strict=True)
    ),
    *(
        row("BC5", "OD", search, score)
        for search, score in zip("abcde", (87.82, 79.01, 78.41, 89.92, 91.22), strict=True)
    ),
]


def test_equal_scores_share_the_better_rank_and_ranks_are_averaged_over_corpora():
    ranked = add_ranks(PAPER)
    assert [each["lenient@1_rank"] for each in ranked] == [3, 4, 4, 1, 1, 3, 4, 5, 2, 1]
    averages = [each["lenient@1_average_rank"] for each in ranked]
    assert averages == [3.0, 4.0, 4.5, 1.5, 1.0] * 2
    assert {each["strict@1_rank"] for each in ranked} == {1}


def test_each_pipeline_is_ranked_alone():
    ranked = add_ranks([*PAPER, row("NCBI", "O", "a", 99.0), row("BC5", "O", "a", 10.0)])
    assert ranked[3]["lenient@1_rank"] == 1
    assert ranked[-1]["lenient@1_average_rank"] == 1.0


def test_a_search_that_a_corpus_lacks_has_no_average():
    ranked = add_ranks([*PAPER, row("BC5", "OD", "f", 99.0), row("BC5", "OD", "g", None)])
    assert ranked[-2]["lenient@1_rank"] == 1
    assert ranked[-2]["lenient@1_average_rank"] is None
    assert ranked[-1]["lenient@1_rank"] is None


def test_rows_are_copied():
    add_ranks(PAPER)
    assert "lenient@1_rank" not in PAPER[0]
