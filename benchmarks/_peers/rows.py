"""Rows of `peers.py`: pure functions of what was measured."""

from collections.abc import Sequence
from statistics import median
from typing import NamedTuple

from spacy_connorm.concepts import NIL, Candidate
from spacy_connorm.evaluation import Gold, Prediction, score_predictions
from spacy_connorm.evaluation.report import Row, score_row

Found = Sequence[tuple[str, float]]


class Reading(NamedTuple):
    """How long it took to look all mentions up, in seconds.

    first (float): In a process that has seen none of them.
    again (float): The same ones right after.
    """

    first: float
    again: float


class Start(NamedTuple):
    """What a process takes to serve.

    ready (float): Seconds from its start to its first answer.
    open (float): Seconds of which it opened the index.
    peak (float): Megabytes, at most, until it had looked all mentions up.
    """

    ready: float
    open: float
    peak: float


class Build(NamedTuple):
    """What building an index takes.

    seconds (float): From names on disk to an index on disk; importing what both sides import
        before they are asked is not counted.
    processor (float): Seconds that all threads worked, added up.
    peak (float): Megabytes, at most.
    """

    seconds: float
    processor: float
    peak: float


def ratios(own: Sequence[float], peer: Sequence[float], *, prefix: str = "") -> Row:
    """Compare times turn by turn.

    own (Sequence[float]): Seconds of each turn.
    peer (Sequence[float]): Those of the peer, in the same turns.
    prefix (str): Of the row's keys.
    RETURNS (Dict[str, Any]): How many times as fast it is: median, lowest and highest.
    """
    each = [theirs / ours for ours, theirs in zip(own, peer, strict=True)]
    return {
        f"{prefix}ratio": round(median(each), 2),
        f"lowest_{prefix}ratio": round(min(each), 2),
        f"highest_{prefix}ratio": round(max(each), 2),
    }


def speed_row(own: Sequence[Reading], peer: Sequence[Reading], mentions: int) -> Row:
    """Describe how fast mentions are looked up.

    own (Sequence[Reading]): Its turns.
    peer (Sequence[Reading]): The peer's, in the same order.
    mentions (int): Mentions of a turn.
    RETURNS (Dict[str, Any]): Mentions a second, median, slowest and fastest turn, times as many as
        the peer's; and the same of looking them up again.
    """
    row: Row = {"mentions": mentions, "repeats": len(own)}
    for field, prefix in (("first", ""), ("again", "again_")):
        ours, theirs = ([getattr(turn, field) for turn in turns] for turns in (own, peer))
        speeds = [mentions / seconds for seconds in ours]
        row[f"{prefix}mentions_per_s"] = round(median(speeds))
        row[f"{prefix}slowest"] = round(min(speeds))
        row[f"{prefix}fastest"] = round(max(speeds))
        row |= ratios(ours, theirs, prefix=prefix)
    return row


def start_row(own: Sequence[Start], peer: Sequence[Start]) -> Row:
    """RETURNS (Dict[str, Any]): Medians; how many times as soon it is ready as the peer; and which
    share of the peer's memory it takes.
    """
    return {
        "repeats": len(own),
        "ready_s": round(median(each.ready for each in own), 2),
        **ratios([each.ready for each in own], [each.ready for each in peer]),
        "open_s": round(median(each.open for each in own), 2),
        **_peak_row([each.peak for each in own], [each.peak for each in peer]),
    }


def build_row(own: Sequence[Build], peer: Sequence[Build]) -> Row:
    """RETURNS (Dict[str, Any]): Medians, slowest and fastest turn; how many times as fast as the
    peer, also by processor time, which other work on the machine does not change; and which share
    of the peer's memory it takes.
    """
    seconds = [each.seconds for each in own]
    processor = [each.processor for each in own]
    return {
        "repeats": len(own),
        "build_s": round(median(seconds), 1),
        "fastest_s": round(min(seconds), 1),
        "slowest_s": round(max(seconds), 1),
        **ratios(seconds, [each.seconds for each in peer]),
        "processor_s": round(median(processor), 1),
        "processor_ratio": ratios(processor, [each.processor for each in peer])["ratio"],
        **_peak_row([each.peak for each in own], [each.peak for each in peer]),
    }


def _peak_row(own: Sequence[float], peer: Sequence[float]) -> Row:
    shares = [ours / theirs for ours, theirs in zip(own, peer, strict=True)]
    return {"peak_mb": round(median(own)), "peak_share": round(median(shares), 2)}


def ranked(found: Found, *, threshold: float | None = None) -> list[Candidate]:
    """Order what was found as scispaCy's EntityLinker does: by similarity, equal ones as they come.

    found (Sequence[Tuple[str, float]]): Concepts and scores.
    threshold (Optional[float]): Keep only what scores higher.
    RETURNS (List[Candidate]): Best first.
    """
    kept = [each for each in found if threshold is None or each[1] > threshold]
    return [
        Candidate(concept_id, name="", score=score, text="", search="")
        for concept_id, score in sorted(kept, key=lambda each: each[1], reverse=True)
    ]


def answer_row(
    gold: Sequence[Gold], found: Sequence[Found], *, threshold: float | None = None
) -> Row:
    """Score what was found for mentions.

    gold (Sequence[Gold]): What is right.
    found (Sequence[Sequence[Tuple[str, float]]]): Concepts and scores of each mention.
    threshold (Optional[float]): Keep only what scores higher.
    RETURNS (Dict[str, Any]): Mentions with a gold id, and lenient Acc@1 and Acc@5 in percent.
    """
    candidates = [ranked(each, threshold=threshold) for each in found]
    predictions = [Prediction(each, each[0].concept_id if each else NIL) for each in candidates]
    scores = score_row(score_predictions(gold, predictions))
    return {key: scores[key] for key in ("mentions", "lenient@1", "lenient@5")}
