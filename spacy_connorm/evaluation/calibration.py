"""Fit settings of a pipeline to dev data: the thresholds of its sieve, the NIL threshold and its
probabilities (Guo et al. 2017); and cross-validate them.
"""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from spacy.language import Language

from ..encoders import choose_device
from ..errors import ConnormError, Errors, Warnings, warn
from ..files.atomic import require_apart
from ..files.folders import read_object, replaced, require_replaceable
from ..index.vectors.metric import COSINE
from ..linker.interpretations import Calibration, margins, written_id
from ..linker.sieve import Sieve
from ..pipeline.concept_normalizer import ConceptNormalizer
from ..pipeline.loading import component_name, find_normalizer, load_pipeline
from ..pipeline.saving import write_pipeline
from .metrics import (
    ALL,
    Gold,
    Prediction,
    by_part,
    hits,
    lenient_rank,
    mean,
    read_all_gold,
    score_predictions,
    strict_rank,
)
from .queries import answer_queries, read_queries
from .report import Row, Section, nil_scores, percent

FOLDS = 10
SEED = 0
# Weak regularization, which only keeps weights from growing without limit if dev data are
# separable.
_INVERSE_PENALTY = 100.0
_MAX_CONFIDENCE = 0.999
_BINS = 10
# The decimals of fitted numbers.
DIGITS = 8
_ROUNDED = 1e-4
# The shares of mentions with written ids that `curve_points` shows.
_COVERAGES = (1.0, 0.95, 0.9, 0.8, 0.7, 0.6, 0.5)
# For each search, what it finds: one prediction per mention.
Found = Mapping[str, Sequence[Prediction]]


class CalibrationData(NamedTuple):
    """The first candidates of mentions, and of each part of split mentions.

    features (Floats2d): float64 (n, 2), score and margin.
    right (Bools1d): bool (n,), whether the concept is in the gold standard.
    """

    features: np.ndarray
    right: np.ndarray


def read_calibration_data(
    gold: Sequence[Gold], predictions: Sequence[Prediction]
) -> CalibrationData:
    """Collect the first candidates, whether they are written or not.

    gold (Sequence[Gold]): The gold standard of b mentions, including those without a concept.
    predictions (Sequence[Prediction]): The pipeline's answers.
    RETURNS (CalibrationData): One answer per mention with candidates, or one per part.
    """
    rows = [
        (part[0].score, next(margins(part)), part[0].concept_id in each.concept_ids)
        for each, prediction in zip(gold, predictions, strict=True)
        for part in by_part(prediction.candidates)
    ]
    table = np.asarray(rows, dtype="float64").reshape(-1, 3)
    return CalibrationData(table[:, :2], table[:, 2].astype("bool"))


def fit_calibration(data: CalibrationData) -> Calibration:
    """Fit a logistic regression of score and margin.

    data (CalibrationData): Right and wrong answers.
    RETURNS (Calibration): Its parameters, to eight decimals.
    """
    from sklearn.linear_model import LogisticRegression

    model = LogisticRegression(C=_INVERSE_PENALTY).fit(data.features, data.right)
    numbers = [*model.intercept_.tolist(), *model.coef_[0].tolist()]
    return Calibration(*(round(number, DIGITS) for number in numbers))


def measure_reliability(
    probabilities: np.ndarray, right: np.ndarray
) -> tuple[float | None, float | None]:
    """Compare probabilities with outcomes.

    probabilities (Floats1d): (n,), 0 to 1.
    right (Bools1d): bool (n,), whether each answer is right.
    RETURNS (Tuple[Optional[float], Optional[float]]): The log loss: the mean of -ln(probability of
        the true outcome), in nats; and the expected calibration error, 0 to 1: the distance of the
        mean probability of each of ten equal ranges from its share of right answers, averaged over
        all answers. None without answers.
    """
    if not len(right):
        return None, None
    of_outcome = np.where(right, probabilities, 1 - probabilities)
    log_loss = -float(np.log(np.maximum(of_outcome, np.finfo("float64").tiny)).mean())
    places = np.minimum((probabilities * _BINS).astype("int64"), _BINS - 1)
    # The sum of the differences over a range is its size times the distance of its means.
    distances = np.bincount(places, weights=probabilities - right)
    return log_loss, float(np.abs(distances).sum()) / len(right)


class NilCurve(NamedTuple):
    """The effect of each NIL threshold, highest first. Shares of an empty set are 0.

    threshold (Floats1d): float64 (n,), scores, descending: ids with at least this score are
        written.
    written (Ints1d): int64 (n,), the number of mentions for which ids are written.
    right (Ints1d): int64 (n,), the number of these whose ids equal the gold standard.
    linked (int): The number of mentions with gold ids.
    mentions (int): The number of all mentions.
    """

    threshold: np.ndarray
    written: np.ndarray
    right: np.ndarray
    linked: int
    mentions: int

    @property
    def precision(self) -> np.ndarray:
        """The share of right mentions among those with written ids."""
        return self.right / np.maximum(self.written, 1)

    @property
    def recall(self) -> np.ndarray:
        """The share of right mentions among those with gold ids."""
        return self.right / max(self.linked, 1)

    @property
    def coverage(self) -> np.ndarray:
        """The share of mentions with written ids."""
        return self.written / max(self.mentions, 1)

    @property
    def f1(self) -> np.ndarray:
        """The harmonic mean of precision and recall. Ids written for mentions without a concept
        (NIL) lower the precision.
        """
        return 2 * self.right / np.maximum(self.written + self.linked, 1)


def trace_nil_curve(gold: Sequence[Gold], predictions: Sequence[Prediction]) -> NilCurve:
    """Lower the threshold from the highest score to the lowest.

    gold (Sequence[Gold]): The gold standard of b mentions, including those without a concept.
    predictions (Sequence[Prediction]): The pipeline's candidates; the written ids do not matter.
    RETURNS (NilCurve): One point for each score of a first candidate.
    """
    steps = sorted(
        (step for pair in zip(gold, predictions, strict=True) for step in _steps(*pair)),
        reverse=True,
    )
    table = np.asarray(steps, dtype="float64").reshape(-1, 3)
    # Only the last of equal scores is a point, since they all pass at once.
    last = np.flatnonzero(np.diff(table[:, 0], append=-np.inf))
    totals = table[:, 1:].cumsum(axis=0).astype("int64")[last]
    linked = sum(bool(each.concept_ids) for each in gold)
    return NilCurve(table[last, 0], totals[:, 0], totals[:, 1], linked, len(gold))


def _steps(gold: Gold, prediction: Prediction) -> Iterator[tuple[float, int, int]]:
    """List the thresholds at which the written ids of a mention change.

    YIELDS (Tuple[float, int, int]): The threshold, and the changes in the number of written and of
        right mentions.
    """
    was_written = was_right = False
    scores = {_within_one(part[0].score) for part in by_part(prediction.candidates)}
    for score in sorted(scores, reverse=True):
        ids = prediction._replace(written=written_id(prediction.candidates, score)).written_ids
        is_right = bool(ids) and ids == gold.concept_ids
        yield score, bool(ids) - was_written, is_right - was_right
        was_written, was_right = bool(ids), is_right


def _within_one(score: float) -> float:
    # Cosines rounded above 1 are set to 1, since no threshold is higher. Inner products may be.
    return 1.0 if 1 < score < 1 + _ROUNDED else score


def choose_threshold(curve: NilCurve) -> float | None:
    """Choose the NIL threshold with the highest F1.

    curve (NilCurve): The curve of dev data.
    RETURNS (Optional[float]): Halfway between the last score that passes and the first that does
        not; None if it is best to write an id for every mention.
    """
    if not len(curve.threshold):
        return None
    # The last one: of equally good thresholds, the one with the fewest NILs.
    best = len(curve.f1) - 1 - int(np.argmax(curve.f1[::-1]))
    if best == len(curve.threshold) - 1:
        return None
    return float(curve.threshold[best : best + 2].mean())


def apply_threshold(predictions: Sequence[Prediction], threshold: float | None) -> list[Prediction]:
    """Keep the candidates, but write the ids that another NIL threshold would give."""
    return [each._replace(written=written_id(each.candidates, threshold)) for each in predictions]


def curve_points(curve: NilCurve) -> list[Row]:
    """Show the effect of a few thresholds.

    curve (NilCurve): The curve.
    RETURNS (List[Dict[str, Any]]): "NIL below", to four decimals, and "coverage", "precision",
        "recall" and "f1" in percent, at thresholds where about as many mentions have written ids as
        given by `_COVERAGES`.
    """
    last = len(curve.threshold) - 1
    reached = (int((curve.coverage < share).sum()) for share in _COVERAGES)
    places = dict.fromkeys(min(place, last) for place in reached) if last >= 0 else ()
    names = ("coverage", "precision", "recall", "f1")
    return [
        {"NIL below": f"{curve.threshold[place]:.4f}"}
        | {name: percent(float(getattr(curve, name)[place])) for name in names}
        for place in places
    ]


def choose_thresholds(
    gold: Sequence[Gold], found: Found, searches: Sequence[str], current: Sequence[float]
) -> list[float]:
    """For each search except the last, choose the cosine from which it answers better than the
    following searches: by strict, then by lenient Acc@1. The last threshold is chosen first, then
    the one before it, over all mentions; so for two searches, the result is the best possible
    threshold, and for more searches, each is a good one.

    gold (Sequence[Gold]): The gold standard of n mentions; those without a concept do not count.
    found (Mapping[str, Sequence[Prediction]]): What each search alone finds.
    searches (Sequence[str]): The searches of the sieve, in order.
    current (Sequence[float]): The current thresholds: of equally good ones, the nearest to these is
        chosen.
    RETURNS (List[float]): One per search except the last, -1 to 1.
    """
    linked = np.asarray([bool(each.concept_ids) for each in gold], dtype="bool")
    after = _right(gold, found[searches[-1]])[linked]
    thresholds: list[float] = []
    for search, now in reversed(list(zip(searches, current, strict=False))):
        scores = np.asarray(list(map(best_score, found[search])))[linked]
        right = _right(gold, found[search])[linked]
        threshold = _best_threshold(scores, right - after, now)
        after = np.where((scores >= threshold)[:, None], right, after)
        thresholds.insert(0, threshold)
    return thresholds


def best_score(prediction: Prediction) -> float:
    """Find the score that thresholds are compared with.

    prediction (Prediction): The answer to a mention.
    RETURNS (float): The first candidate's score; for a split mention, that of its worst part; -2.0,
        below any threshold, without candidates. Scores rounded above 1 are set to 1, since no
        threshold is higher.
    """
    scores = (part[0].score for part in by_part(prediction.candidates))
    return min(1.0, min(scores, default=-2.0))


def _right(gold: Sequence[Gold], predictions: Sequence[Prediction]) -> np.ndarray:
    """Mark mentions that are right strictly, and leniently, by 1 in int64 (n, 2)."""
    rows = [
        (strict_rank(prediction, each) == 1, lenient_rank(prediction.candidates, each) == 1)
        for each, prediction in zip(gold, predictions, strict=True)
    ]
    return np.asarray(rows, dtype="int64").reshape(-1, 2)


def _best_threshold(scores: np.ndarray, gains: np.ndarray, current: float) -> float:
    """Find the threshold above which the sum of gains (n, 2), at scores (n,), is best, comparing
    the first column before the second. Of equally good thresholds, the nearest to the current one
    is chosen.
    """
    order = np.argsort(-scores, kind="stable")
    last = np.flatnonzero(np.diff(scores[order], append=-np.inf))
    # All thresholds between a score and the next lower one have the same effect; above the best
    # score, the search never answers.
    reached = np.append(1.0, scores[order][last])
    totals = np.vstack([np.zeros((1, 2), dtype="int64"), gains[order].cumsum(axis=0)[last]])
    following = np.append(reached[1:], -2.0)
    nearest = np.where(
        (following < current) & (current <= reached),
        current,
        np.clip(current, np.maximum((reached + following) / 2, -1.0), reached),
    )
    never = 1 if scores.max(initial=-1.0) >= 1 else 0
    options = [
        (*total, -abs(threshold - current), threshold)
        for total, threshold in zip(totals[never:].tolist(), nearest[never:].tolist(), strict=True)
        if threshold >= -1
    ]
    return max(options)[-1]


def make_folds(texts: Sequence[str], *, folds: int = FOLDS, seed: int = SEED) -> list[np.ndarray]:
    """Assign each mention to a fold, so that settings are judged on unseen mentions. Mentions with
    the same text stay together, since they have the same answer, which would be known from the
    other folds.

    texts (Sequence[str]): n mentions, with at least as many different texts as folds.
    folds (int): The number of folds, with about equally many texts.
    seed (int): The seed of the random order of the texts.
    RETURNS (List[Bools1d]): For each fold, the mentions in it, bool (n,).
    """
    distinct, text_of = np.unique(np.asarray([text.lower() for text in texts]), return_inverse=True)
    fold_of = (np.random.default_rng(seed).permutation(len(distinct)) % folds)[text_of]
    return [fold_of == fold for fold in range(folds)]


class Tuning(NamedTuple):
    """The tuned settings of a pipeline.

    sieve (Sieve): The searches and the thresholds from which they answer.
    nil_threshold (Optional[float]): The score below which "NIL" is written; None for never.
    calibration (Calibration): Turns scores into probabilities.
    """

    sieve: Sieve
    nil_threshold: float | None
    calibration: Calibration


class Outcome(NamedTuple):
    """The answers with tuned settings.

    gold (List[Gold]): The gold standard of b mentions.
    predictions (List[Prediction]): The answers to them.
    probabilities (Floats1d): float64 (n,), for the first candidates.
    right (Bools1d): bool (n,), which of these are right.
    """

    gold: list[Gold]
    predictions: list[Prediction]
    probabilities: np.ndarray
    right: np.ndarray

    @property
    def curve(self) -> NilCurve:
        """The effect of other NIL thresholds."""
        return trace_nil_curve(self.gold, self.predictions)


def tune(gold: Sequence[Gold], found: Found, sieve: Sieve) -> Tuning:
    """Choose the thresholds of the sieve, then, from the resulting candidates, the NIL threshold
    and the calibration.

    gold (Sequence[Gold]): The gold standard of n mentions.
    found (Mapping[str, Sequence[Prediction]]): The answers of each search alone.
    sieve (Sieve): The searches and their current thresholds.
    RETURNS (Tuning): The settings. The NIL threshold is None if no mention is NIL, since such a
        corpus says nothing about it.
    """
    thresholds = choose_thresholds(gold, found, sieve.searches, sieve.thresholds)
    predictions = Sieve(sieve.searches, thresholds).choose(found, best_score)
    has_nil = any(not each.concept_ids for each in gold)
    nil_threshold = choose_threshold(trace_nil_curve(gold, predictions)) if has_nil else None
    return Tuning(
        Sieve(sieve.searches, [round(each, DIGITS) for each in thresholds]),
        None if nil_threshold is None else round(nil_threshold, DIGITS),
        fit_calibration(read_calibration_data(gold, predictions)),
    )


def apply_tuning(tuning: Tuning, gold: Sequence[Gold], found: Found) -> Outcome:
    """Answer with tuned settings.

    tuning (Tuning): The settings.
    gold (Sequence[Gold]): As for `tune`.
    found (Mapping[str, Sequence[Prediction]]): As for `tune`.
    RETURNS (Outcome): The answers.
    """
    answered = tuning.sieve.choose(found, best_score)
    return judge(gold, apply_threshold(answered, tuning.nil_threshold), tuning.calibration)


def judge(
    gold: Sequence[Gold], predictions: Sequence[Prediction], calibration: Calibration | None
) -> Outcome:
    """Judge answers and their probabilities.

    gold (Sequence[Gold]): The gold standard of b mentions.
    predictions (Sequence[Prediction]): The answers to them.
    calibration (Optional[Calibration]): Computes the probabilities; without it, these are the
        scores.
    RETURNS (Outcome): The answers.
    """
    features, right = read_calibration_data(gold, predictions)
    if calibration is None:
        # Clipped, since a single error would otherwise dominate the log loss.
        probabilities = np.clip(features[:, 0], 1 - _MAX_CONFIDENCE, _MAX_CONFIDENCE)
    else:
        found = [calibration.probability(*pair) for pair in features.tolist()]
        probabilities = np.asarray(found, dtype="float64")
    return Outcome(list(gold), list(predictions), probabilities, right)


def cross_validate(gold: Sequence[Gold], found: Found, sieve: Sieve) -> Outcome:
    """For each fold, tune on all other folds and answer the mentions of this one.

    gold (Sequence[Gold]): As for `tune`.
    found (Mapping[str, Sequence[Prediction]]): As for `tune`.
    sieve (Sieve): As for `tune`.
    RETURNS (Outcome): The answers to all mentions, fold by fold.
    """
    outcomes = []
    for held_out in make_folds([each.text for each in gold]):
        tuning = tune(*_choose(gold, found, ~held_out), sieve)
        outcomes.append(apply_tuning(tuning, *_choose(gold, found, held_out)))
    return Outcome(
        [each for outcome in outcomes for each in outcome.gold],
        [each for outcome in outcomes for each in outcome.predictions],
        np.concatenate([outcome.probabilities for outcome in outcomes]),
        np.concatenate([outcome.right for outcome in outcomes]),
    )


def _choose(
    gold: Sequence[Gold], found: Found, mask: np.ndarray
) -> tuple[list[Gold], dict[str, list[Prediction]]]:
    chosen = np.flatnonzero(mask).tolist()
    return (
        [gold[number] for number in chosen],
        {search: [listed[number] for number in chosen] for search, listed in found.items()},
    )


def outcome_row(outcome: Outcome) -> Row:
    """Flatten the scores of tuned answers into one row, shares in percent.

    outcome (Outcome): The answers.
    RETURNS (Dict[str, Any]): "mentions"; "strict@1" and "lenient@1" of those with gold ids;
        "concept_p", "concept_r" and "concept_f" of the written ids, strictly; "coverage", the share
        of mentions with written ids; "nil_mentions", "nil_precision", "nil_recall", "nil_f1";
        "log_loss" in nats and "calibration_error" of the first candidates' probabilities.
    """
    evaluation = score_predictions(outcome.gold, outcome.predictions)
    ranks = evaluation.ranks[ALL]
    right = int(hits(ranks.strict, 1).sum())
    written = sum(bool(each.written_ids) for each in outcome.predictions)
    linked = len(ranks.strict)
    log_loss, error = measure_reliability(outcome.probabilities, outcome.right)
    return {
        "mentions": len(outcome.gold),
        "strict@1": percent(mean(hits(ranks.strict, 1))),
        "lenient@1": percent(mean(hits(ranks.lenient, 1))),
        "concept_p": percent(right / written if written else None),
        "concept_r": percent(right / linked if linked else None),
        "concept_f": percent(2 * right / (written + linked) if written + linked else None),
        "coverage": percent(written / len(outcome.gold) if outcome.gold else None),
        **nil_scores(evaluation.nil),
        "log_loss": log_loss,
        "calibration_error": percent(error),
    }


# The minimum number of different mentions with a right answer, and with a wrong one.
_FEWEST = 10
_MOST_SEEN = 0.98
_BEFORE, _SAME, _HELD_OUT = "as they were", "fitted, same mentions", "fitted, held-out mentions"


class Calibrated(NamedTuple):
    """Settings that were fitted to dev data.

    nlp (Language): The pipeline; `write` puts the fitted settings into it.
    normalizer (ConceptNormalizer): Its component.
    tuning (Tuning): Thresholds of the sieve, NIL threshold and calibration.
    outcomes (Dict[str, Outcome]): The results of the old settings, of the fitted ones on the
        mentions that they were fitted to, and on mentions that were held out.
    sections (List[Section]): Tables of the settings, of the outcomes, and of other NIL thresholds.
    """

    nlp: Language
    normalizer: ConceptNormalizer
    tuning: Tuning
    outcomes: dict[str, Outcome]
    sections: list[Section]

    def write(self, path: str | Path) -> None:
        """Write the pipeline with the fitted settings.

        path (Union[str, Path]): The folder to create or replace.
        RAISES (ConnormError): CN705 if the path is something else, CN108 if it cannot be written.
        """
        fitted: dict[str, Any] = {
            "nil_threshold": self.tuning.nil_threshold,
            "calibration": self.tuning.calibration._asdict(),
        }
        config = self.nlp.get_pipe_config(component_name(self.nlp, self.normalizer))
        config.update(fitted)
        config["sieve"]["thresholds"] = list(self.tuning.sieve.thresholds)
        self.normalizer.cfg.update(fitted)
        with replaced(Path(path), is_ours=_is_calibrated) as folder:
            write_pipeline(self.nlp, folder)


def require_output(output_path: Path) -> None:
    """Check, before any work is done, that the calibrated pipeline can be written.

    output_path (Path): Its folder.
    RAISES (ConnormError): CN705 if the path is something else.
    """
    require_replaceable(output_path, is_ours=_is_calibrated)


def _is_calibrated(folder: Path) -> bool:
    names = read_object(folder / "meta.json").get("components", [])
    return any(read_object(folder / name / "cfg").get("calibration") for name in names)


def calibrate(
    pipeline: str | Path,
    corpus_path: str | Path,
    output_path: str | Path | None = None,
    *,
    gpu_id: int = -1,
    component: str | None = None,
) -> Calibrated:
    """Fit a pipeline's thresholds and probabilities to dev data: `connorm evaluate
    --calibrate`.

    pipeline (Union[str, Path]): An installed package, or a pipeline's folder; it is not changed.
    corpus_path (Union[str, Path]): A `.spacy` file with gold ids that is not in the index.
    output_path (Optional[Union[str, Path]]): The folder for a copy of the pipeline with the fitted
        settings; nothing is written if None.
    gpu_id (int): The GPU for the encoder; -1 for the CPU.
    component (Optional[str]): The concept normalizer to use, if there are several.
    RETURNS (Calibrated): The fitted settings and their results.
    RAISES (ConnormError): CN600 for a corpus without gold ids, CN611 for one that is too small,
        CN705 if the output is something else, and CN700 to CN704 as for `load_normalizer`.
    WARNS (ConnormWarning): CNW610 if the corpus seems to be in the index.
    """
    corpus = Path(corpus_path)
    require_apart(output_path, pipeline, corpus)
    if output_path is not None:
        require_output(Path(output_path))
    choose_device(gpu_id)
    nlp = load_pipeline(pipeline)
    normalizer = find_normalizer(nlp, component=component)
    queries = read_queries(corpus, nlp, normalizer)
    gold = read_all_gold(normalizer.lookup, [query.mention for query in queries])
    own, sieve = answer_queries(normalizer, queries), normalizer.lookup.sieve
    _check(gold, own, corpus)
    found = {search: answer_queries(normalizer, queries, search) for search in sieve.searches}
    tuning = tune(gold, found, sieve)
    fitted = apply_tuning(tuning, gold, found)
    outcomes = {
        _BEFORE: _as_it_was(normalizer, gold, own),
        _SAME: fitted,
        _HELD_OUT: cross_validate(gold, found, sieve),
    }
    where = f"calibrated on {corpus.name}"
    title = f"Percent, log loss in nats, {where}; {FOLDS} folds, no text in two of them"
    sections = [
        Section(f"Settings {where}", _settings(normalizer, tuning, gold)),
        Section(title, [_show_outcome(label, each) for label, each in outcomes.items()]),
        Section("Other NIL thresholds, percent, same mentions", curve_points(fitted.curve)),
    ]
    calibrated = Calibrated(nlp, normalizer, tuning, outcomes, sections)
    if output_path is not None:
        calibrated.write(output_path)
    return calibrated


def _settings(normalizer: ConceptNormalizer, tuning: Tuning, gold: Sequence[Gold]) -> list[Row]:
    sieve, old = normalizer.lookup.sieve, normalizer.cfg["calibration"] or {}
    never = "null" if any(not each.concept_ids for each in gold) else "null: no mention is NIL"
    rows = [
        (f"threshold of {search}", f"{before:.4f}", f"{after:.4f}")
        for search, before, after in zip(
            sieve.searches, sieve.thresholds, tuning.sieve.thresholds, strict=False
        )
    ]
    before = _shown(normalizer.cfg["nil_threshold"])
    rows.append(("nil_threshold", before, _shown(tuning.nil_threshold, none=never)))
    rows += [
        (f"calibration: {key}", _shown(old.get(key)), _shown(value))
        for key, value in tuning.calibration._asdict().items()
    ]
    return [dict(zip(("setting", "as it was", "fitted"), row, strict=True)) for row in rows]


def _shown(number: float | None, none: str = "null") -> str:
    return none if number is None else f"{number:.4f}"


def _check(gold: Sequence[Gold], own: Sequence[Prediction], path: Path) -> None:
    texts: dict[bool, set[str]] = {True: set(), False: set()}
    for each, prediction in zip(gold, own, strict=True):
        for part in by_part(prediction.candidates):
            texts[part[0].concept_id in each.concept_ids].add(each.text.lower())
    if min(map(len, texts.values())) < _FEWEST:
        counts = {"right": len(texts[True]), "wrong": len(texts[False]), "fewest": _FEWEST}
        raise ConnormError(Errors.CN611.format(path=path, **counts))
    linked = [each for each in gold if each.concept_ids]
    seen = sum(bool(each.seen) for each in linked) / len(linked)
    if seen > _MOST_SEEN:
        warn(Warnings.CNW610.format(path=path, percent=100 * seen))


def _as_it_was(normalizer: ConceptNormalizer, gold: list[Gold], own: list[Prediction]) -> Outcome:
    calibration = normalizer.calibration
    outcome = judge(gold, own, calibration)
    if calibration is not None or normalizer.lookup.index.metric == COSINE:
        return outcome
    # Inner products are not probabilities.
    return outcome._replace(probabilities=np.empty(0), right=np.empty(0, dtype="bool"))


def _show_outcome(label: str, outcome: Outcome) -> Row:
    row = {key.replace("_", " "): value for key, value in outcome_row(outcome).items()}
    loss, error = row.pop("log loss"), row.pop("calibration error")
    text = None if loss is None else f"{loss:.3f}"
    return {"settings": label, **row, "log loss": text, "ECE": error}
