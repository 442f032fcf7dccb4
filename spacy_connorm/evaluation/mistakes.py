"""What went wrong, in rows that a person can read."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from .protocol import Gold, Prediction, lenient_rank, strict_rank
from .report import Row


def list_mistakes(
    gold: Sequence[Gold], predictions: Sequence[Prediction], names: Mapping[str, str]
) -> list[Row]:
    """List the mentions with gold ids for which the strict protocol does not count what was
    written, the most frequent first; a mention that occurs often with one answer is one row.

    gold (Sequence[Gold]): What is right for n mentions.
    predictions (Sequence[Prediction]): What the pipeline says of them.
    names (Mapping[str, str]): Preferred names by concept id; an id that has none is shown as not in
        the index.
    RETURNS (List[Dict[str, Any]]): "times", "mention", "gold", "gold_names", "written", "name",
        "score", "text" and "search" of the answer, "lenient": whether it counts there, "rank": the
        place of the first right candidate under that protocol, None if there is none.
    """
    rows = [
        tuple(_describe(each, prediction, names).items())
        for each, prediction in zip(gold, predictions, strict=True)
        if each.concept_ids and strict_rank(prediction, each) != 1
    ]
    return [{"times": times, **dict(row)} for row, times in Counter(rows).most_common()]


def _describe(gold: Gold, prediction: Prediction, names: Mapping[str, str]) -> Row:
    rank = lenient_rank(prediction.candidates, gold)
    first = prediction.candidates[0] if prediction.candidates else None
    return {
        "mention": gold.text,
        "gold": " ".join(sorted(gold.concept_ids)),
        "gold_names": "; ".join(_names(gold, names)),
        "written": prediction.written,
        "name": first.name if first else "",
        "score": round(first.score, 4) if first else None,
        "text": first.text if first else "",
        "search": first.search if first else "",
        "lenient": rank == 1,
        "rank": rank or None,
    }


def _names(gold: Gold, names: Mapping[str, str]) -> Iterator[str]:
    for concept_id in sorted(gold.concept_ids):
        yield names.get(concept_id, "not in the index")
