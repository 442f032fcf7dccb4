"""Rows of `peers.py`: pure functions of measurements."""

from collections.abc import Sequence
from statistics import median
from typing import NamedTuple

from _common.scoring import predict
from _measure.interleaved import ratio_columns, ratios, speed_columns

from spacy_connorm.concepts import Candidate
from spacy_connorm.evaluation import Gold, score_predictions
from spacy_connorm.evaluation.report import Row, score_row

Found = Sequence[tuple[str, float]]


class Passes(NamedTuple):
    """Seconds to search all mentions, twice.

    first (float): In a process that has seen none of them.
    again (float): The same mentions right after.
    """

    first: float
    again: float


class Start(NamedTuple):
    """What a process needs to serve.

    ready (float): Seconds from its start to its first answer.
    peak (float): Peak megabytes up to the end of the first pass.
    """

    ready: float
    peak: float


class Turn(NamedTuple):
    """One process of a side.

    start (Start): Its start.
    passes (Dict[int, Passes]): By documents per call.
    """

    start: Start
    passes: dict[int, Passes]


def speed_row(own: Sequence[Passes], peer: Sequence[Passes], mentions: int) -> Row:
    """Describe the speed of searching mentions.

    own (Sequence[Passes]): Its turns.
    peer (Sequence[Passes]): The peer's, in the same order.
    mentions (int): Mentions of a pass.
    RETURNS (Dict[str, Any]): Mentions per second and their ratio to the peer's; the same of the
        second pass, with the prefix "again_".
    """
    row: Row = {"mentions": mentions, "repeats": len(own)}
    for field, prefix in (("first", ""), ("again", "again_")):
        ours, theirs = ([getattr(turn, field) for turn in turns] for turns in (own, peer))
        speeds = [mentions / seconds for seconds in ours]
        row |= speed_columns(speeds, "mentions_per_s", prefix=prefix)
        row |= ratio_columns(ours, theirs, prefix=prefix)
    return row


def start_row(own: Sequence[Start], peer: Sequence[Start]) -> Row:
    """RETURNS (Dict[str, Any]): Medians; how many times as fast it is ready as the peer; and its
    share of the peer's memory.
    """
    return {
        "repeats": len(own),
        "ready_s": round(median(each.ready for each in own), 2),
        **ratio_columns([each.ready for each in own], [each.ready for each in peer]),
        "peak_mb": round(median(each.peak for each in own)),
        "peak_share": round(median(ratios([x.peak for x in peer], [x.peak for x in own])), 2),
    }


def ranked(found: Found) -> list[Candidate]:
    """Sort concepts as scispaCy's EntityLinker does: by similarity, ties in their order.

    found (Sequence[Tuple[str, float]]): Concepts and scores.
    RETURNS (List[Candidate]): Best first.
    """
    return [
        Candidate(concept_id, name="", score=score, text="", search="")
        for concept_id, score in sorted(found, key=lambda each: each[1], reverse=True)
    ]


def answer_row(gold: Sequence[Gold], found: Sequence[Found]) -> Row:
    """Score the concepts found for mentions.

    gold (Sequence[Gold]): The gold ids.
    found (Sequence[Sequence[Tuple[str, float]]]): Concepts and scores of each mention.
    RETURNS (Dict[str, Any]): Mentions with a gold id, and lenient Acc@1 and Acc@5 in percent.
    """
    scores = score_row(score_predictions(gold, predict([*map(ranked, found)])))
    return {key: scores[key] for key in ("mentions", "lenient@1", "lenient@5")}
