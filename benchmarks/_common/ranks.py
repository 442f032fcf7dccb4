"""Average ranks, as in Table 4 of Xu and Bethard (2021)."""

from collections.abc import Sequence

from spacy_connorm.evaluation.report import Row

SCORES = ("lenient@1", "strict@1")


def add_ranks(rows: Sequence[Row]) -> list[Row]:
    """Rank the searches of each pipeline by Acc@1 in each corpus, and average the ranks over the
    corpora (section 5 of the paper). Equal scores share the best rank, as in "1, 1, 3". From the
    paper's accuracies this gives 21 of its 28 average ranks; no other way to rank equal scores
    gives more than 9.

    rows (Sequence[Dict[str, Any]]): One per "corpus", "pipeline" and "search".
    RETURNS (List[Dict[str, Any]]): Copies with `lenient@1_rank`, from 1, and
        `lenient@1_average_rank`, and likewise for `strict@1`. The rank is None without a score, the
        average if the search lacks a score in one of the corpora.
    """
    ranked = [dict(row) for row in rows]
    corpora = {row["corpus"] for row in ranked}
    for key in SCORES:
        for row in ranked:
            rivals = [each[key] for each in ranked if _alike(row, each, "corpus", "pipeline")]
            row[f"{key}_rank"] = _rank(row[key], rivals)
        for row in ranked:
            same = [each for each in ranked if _alike(row, each, "pipeline", "search")]
            ranks = [each[f"{key}_rank"] for each in same if each[f"{key}_rank"] is not None]
            whole = len(ranks) == len(corpora)
            row[f"{key}_average_rank"] = round(sum(ranks) / len(ranks), 2) if whole else None
    return ranked


def _alike(one: Row, other: Row, *keys: str) -> bool:
    return all(one[key] == other[key] for key in keys)


def _rank(score: float | None, rivals: Sequence[float | None]) -> int | None:
    return score if score is None else 1 + sum(each is not None and each > score for each in rivals)
