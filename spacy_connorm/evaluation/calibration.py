"""Fit a pipeline's thresholds and probabilities to dev data, and write it with them."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from spacy.language import Language

from ..concepts.concept import by_part
from ..encoders import choose_device
from ..errors import Errors, Warnings
from ..files.atomic import require_apart
from ..files.folders import read_object, replaced, require_replaceable
from ..index.search import COSINE
from ..pipeline.concept_normalizer import ConceptNormalizer
from ..pipeline.loading import component_name, find_normalizer, load_pipeline
from ..pipeline.saving import write_pipeline
from .metrics import Gold, Prediction, read_all_gold
from .nil_curve import curve_points, trace_nil_curve
from .queries import answer_queries, read_queries
from .report import Row, Section
from .tuning import FOLDS, Outcome, Tuning, apply_tuning, cross_validate, judge, outcome_row, tune

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
        with replaced(Path(path), is_ours=is_calibrated) as folder:
            write_pipeline(self.nlp, folder)


def is_calibrated(folder: Path) -> bool:
    """Check whether a folder is a pipeline that `calibrate` wrote.

    folder (Path): Any folder.
    RETURNS (bool): Whether a component has a calibration of its own.
    """
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
        require_replaceable(Path(output_path), is_ours=is_calibrated)
    choose_device(gpu_id)
    nlp = load_pipeline(pipeline)
    normalizer = find_normalizer(nlp, component=component)
    queries = read_queries(corpus, nlp, normalizer)
    gold = read_all_gold(normalizer.lookup, [query.mention for query in queries])
    predictions, sieve = answer_queries(normalizer, queries), normalizer.lookup.sieve
    _check(gold, predictions, corpus)
    answers = {search: answer_queries(normalizer, queries, search) for search in sieve.searches}
    tuning = tune(gold, answers, sieve)
    fitted = apply_tuning(tuning, gold, answers)
    outcomes = {
        _BEFORE: _as_it_was(normalizer, gold, predictions),
        _SAME: fitted,
        _HELD_OUT: cross_validate(gold, answers, sieve),
    }
    curve = trace_nil_curve(fitted.gold, fitted.predictions)
    where = f"calibrated on {corpus.name}"
    title = f"Percent, log loss in nats, {where}; {FOLDS} folds, no text in two of them"
    sections = [
        Section(f"Settings {where}", _settings(normalizer, tuning, gold)),
        Section(title, [_show_outcome(label, outcome) for label, outcome in outcomes.items()]),
        Section("Other NIL thresholds, percent, same mentions", curve_points(curve)),
    ]
    calibrated = Calibrated(nlp, normalizer, tuning, outcomes, sections)
    if output_path is not None:
        calibrated.write(output_path)
    return calibrated


def _settings(normalizer: ConceptNormalizer, tuning: Tuning, gold: Sequence[Gold]) -> list[Row]:
    sieve, calibration = normalizer.lookup.sieve, normalizer.calibration
    thresholds = zip(sieve.searches, sieve.thresholds, tuning.sieve.thresholds, strict=False)
    rows = [_setting(f"threshold of {search}", old, new) for search, old, new in thresholds]
    rows.append(_setting("nil_threshold", normalizer.cfg["nil_threshold"], tuning.nil_threshold))
    if all(mention.concept_ids for mention in gold):
        rows[-1]["fitted"] = "null: no mention is NIL"
    before = {} if calibration is None else calibration._asdict()
    fitted = tuning.calibration._asdict()
    rows += [_setting(f"calibration: {key}", before.get(key), fitted[key]) for key in fitted]
    return rows


def _setting(name: str, before: float | None, fitted: float | None) -> Row:
    return {"setting": name, "as it was": _shown(before), "fitted": _shown(fitted)}


def _shown(number: float | None) -> str:
    return "null" if number is None else f"{number:.4f}"


def _check(gold: Sequence[Gold], predictions: Sequence[Prediction], path: Path) -> None:
    texts: dict[bool, set[str]] = {True: set(), False: set()}
    for mention, prediction in zip(gold, predictions, strict=True):
        for part in by_part(prediction.candidates):
            texts[part[0].concept_id in mention.concept_ids].add(mention.text.lower())
    if min(map(len, texts.values())) < _FEWEST:
        counts = {"right": len(texts[True]), "wrong": len(texts[False]), "fewest": _FEWEST}
        raise Errors.CN611(path=path, **counts)
    linked = [mention for mention in gold if mention.concept_ids]
    seen = sum(bool(mention.seen) for mention in linked) / len(linked)
    if seen > _MOST_SEEN:
        Warnings.CNW610.warn(path=path, percent=100 * seen)


def _as_it_was(
    normalizer: ConceptNormalizer, gold: list[Gold], predictions: list[Prediction]
) -> Outcome:
    outcome = judge(gold, predictions)
    if normalizer.calibration is not None or normalizer.lookup.index.metric == COSINE:
        return outcome
    # Inner products are not probabilities.
    return outcome._replace(probabilities=np.empty(0), right=np.empty(0, dtype="bool"))


def _show_outcome(label: str, outcome: Outcome) -> Row:
    row = {key.replace("_", " "): value for key, value in outcome_row(outcome).items()}
    loss, error = row.pop("log loss"), row.pop("calibration error")
    text = None if loss is None else f"{loss:.3f}"
    return {"settings": label, **row, "log loss": text, "ECE": error}
