"""`connorm evaluate --calibrate`: thresholds and probabilities fitted to dev data."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from spacy.language import Language
from wasabi import msg

from ...errors import ConnormError, Errors, Warnings, warn
from ...files.atomic import atomic_file
from ...files.folders import read_object, replaced, require_replaceable
from ...linker.calibration import read_calibration
from ...pipeline.concept_normalizer import ConceptNormalizer
from ...pipeline.loading import find_normalizer, load_pipeline
from .. import Gold, Prediction, read_gold
from ..folds import FOLDS, make_folds
from ..nil_curve import NilCurve, curve_points, trace_nil_curve
from ..protocol import by_part
from ..reliability import cosines_as_probabilities, predict_probabilities, read_calibration_data
from ..report import Row, to_json
from ..sections import Section
from ..tuning import Outcome, Tuning, apply_tuning, cross_validate, outcome_row, tune
from .gold import find_known, find_seen
from .lexical_weights import reweigh
from .queries import answer_queries, read_queries

_POINTS = ".json"
CURVES = (".svg", ".png", _POINTS)
# Different mentions that are answered rightly, and wrongly.
_FEWEST = 10
_MOST_SEEN = 0.98
_BEFORE, _SAME, _HELD_OUT = "as they were", "fitted, same mentions", "fitted, held-out mentions"


class Calibrated(NamedTuple):
    """A pipeline, and what was fitted for it.

    nlp (Language): The pipeline, as it was.
    normalizer (ConceptNormalizer): Its component.
    corpus (str): What was fitted to.
    tuning (Tuning): What was fitted.
    outcomes (Dict[str, Outcome]): What comes of the settings as they were, of the fitted ones for
        the mentions that they were fitted to, and for mentions that were held out.
    curve (NilCurve): Of all NIL thresholds, with the fitted sieve.
    """

    nlp: Language
    normalizer: ConceptNormalizer
    corpus: str
    tuning: Tuning
    outcomes: dict[str, Outcome]
    curve: NilCurve

    @property
    def sections(self) -> list[Section]:
        """RETURNS (List[Section]): The settings, and what comes of them."""
        where = f"calibrated on {self.corpus}"
        return [
            Section(f"Settings {where}", self._settings()),
            Section(
                f"Percent, log loss in nats, {where}; {FOLDS} folds, no text in two of them",
                [_shown(label, outcome) for label, outcome in self.outcomes.items()],
            ),
        ]

    def _settings(self) -> list[Row]:
        sieve, nil = self.normalizer.lookup.sieve, self.tuning.nil_threshold
        gold = self.outcomes[_SAME].gold
        pairs = zip(sieve.thresholds, self.tuning.sieve.thresholds, strict=True)
        rows = [
            (f"threshold of {search}", f"{before:.4f}", f"{after:.4f}")
            for search, (before, after) in zip(sieve.searches, pairs, strict=False)
        ]
        without = (
            "null" if any(not each.concept_ids for each in gold) else "null: no mention is NIL"
        )
        before = self.normalizer.cfg["nil_threshold"]
        rows.append(
            (
                "nil_threshold",
                "null" if before is None else f"{before:.4f}",
                without if nil is None else f"{nil:.4f}",
            )
        )
        known = self.normalizer.cfg["calibration"] or {}
        rows += [
            (f"calibration: {key}", f"{known[key]:.4f}" if known else "null", f"{value:.4f}")
            for key, value in self.tuning.calibration.to_dict().items()
        ]
        return [dict(zip(("setting", "as it was", "fitted"), row, strict=True)) for row in rows]

    def write(self, path: Path) -> None:
        """Write the pipeline with the fitted settings: what the component keeps, and the config.

        path (Path): The folder to make.
        RAISES (ConnormError): CN705 if something else is there, CN405 if it cannot be written.
        """
        fitted: dict[str, Any] = {
            "nil_threshold": self.tuning.nil_threshold,
            "calibration": self.tuning.calibration.to_dict(),
        }
        (name,) = (name for name, pipe in self.nlp.pipeline if pipe is self.normalizer)
        config = self.nlp.get_pipe_config(name)
        config.update(fitted)
        config["sieve"]["thresholds"] = list(self.tuning.sieve.thresholds)
        self.normalizer.cfg.update(fitted)
        with replaced(path, is_ours=_is_calibrated) as folder:
            self.nlp.to_disk(folder)
        msg.good(f"Wrote the calibrated pipeline: {path}")

    def write_curves(self, path: Path) -> None:
        """Draw the curves, or write their points.

        path (Path): A `.svg`, `.png` or `.json` file.
        RAISES (ConnormError): CN105 or CN108 if it cannot be written.
        """
        with atomic_file(path) as aside:
            if path.suffix == _POINTS:
                aside.write_text(to_json(self._points()), encoding="utf8")
            else:
                from ..calibration_picture import draw_calibration

                shown = {key: self.outcomes[key].reliability for key in (_BEFORE, _HELD_OUT)}
                draw_calibration(shown, self.curve, self.tuning.nil_threshold, aside)
        msg.good(f"Wrote reliability and NIL curve: {path}")

    def _points(self) -> list[Row]:
        outcomes = self.outcomes.items()
        return [
            *({"table": "outcome", "settings": key, **outcome_row(each)} for key, each in outcomes),
            *(
                {"table": "reliability", "settings": key, **point._asdict()}
                for key, each in outcomes
                for point in each.reliability.bins
            ),
            *({"table": "nil_curve", "settings": _SAME, **row} for row in curve_points(self.curve)),
        ]


def require_new(path: Path) -> None:
    """Refuse a folder in which something else is than what `--calibrate` wrote.

    path (Path): The folder to make.
    RAISES (ConnormError): CN705.
    """
    require_replaceable(path, is_ours=_is_calibrated)


def require_drawable(paths: Sequence[Path]) -> None:
    """Refuse to begin with curves that could not be drawn.

    paths (Sequence[Path]): The files to write.
    RAISES (ConnormError): CN604 if one is a picture and matplotlib is not installed.
    """
    if any(path.suffix != _POINTS for path in paths):
        from ..figures import require_matplotlib

        require_matplotlib()


def _is_calibrated(folder: Path) -> bool:
    names = read_object(folder / "meta.json").get("components", [])
    return any(read_object(folder / name / "cfg").get("calibration") for name in names)


def calibrate_pipeline(
    source: str,
    path: Path,
    *,
    component: str | None = None,
    lexical_weight: float | None = None,
) -> Calibrated:
    """Fit a pipeline's thresholds and probabilities.

    source (str): An installed package, or a folder.
    path (Path): A `.spacy` file with gold ids, not indexed.
    component (Optional[str]): Which concept normalizer, if there are several.
    lexical_weight (Optional[float]): What its hybrid encoder is to weigh n-grams with from now on;
        as before if None.
    RETURNS (Calibrated): What was fitted; nothing is written yet.
    RAISES (ConnormError): CN600 for a corpus without gold ids, CN611 for one that is too small.
    WARNS (ConnormWarning): CNW610 if the index seems to hold the corpus.
    """
    nlp = load_pipeline(source)
    normalizer = find_normalizer(nlp, component=component)
    if lexical_weight is not None:
        reweigh(nlp, normalizer, lexical_weight)
    queries = read_queries(path, nlp, normalizer)
    mentions = [query.mention for query in queries]
    known = find_known(normalizer.lookup, mentions)
    seen = find_seen(normalizer.lookup, mentions)
    pairs = zip(mentions, seen, strict=True)
    gold = [read_gold(mention, known, seen=each) for mention, each in pairs]
    own = answer_queries(normalizer, queries)
    _check(gold, own, path)
    sieve = normalizer.lookup.sieve
    found = {search: answer_queries(normalizer, queries, search) for search in sieve.searches}
    tuning = tune(gold, found, sieve)
    fitted = apply_tuning(tuning, gold, found)
    folds = make_folds([each.text for each in gold])
    outcomes = {
        _BEFORE: _as_it_was(normalizer, gold, own),
        _SAME: fitted,
        _HELD_OUT: cross_validate(gold, found, sieve, folds),
    }
    curve = trace_nil_curve(gold, fitted.predictions)
    return Calibrated(nlp, normalizer, path.name, tuning, outcomes, curve)


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
    answers = read_calibration_data(gold, own)
    calibration = read_calibration(normalizer.cfg["calibration"])
    probabilities = (
        cosines_as_probabilities(answers)
        if calibration is None
        else predict_probabilities(answers, calibration)
    )
    return Outcome(gold, own, probabilities, answers.right)


def _shown(label: str, outcome: Outcome) -> Row:
    row = outcome_row(outcome)
    loss = row.pop("log_loss")
    error = row.pop("calibration_error")
    return {
        "settings": label,
        **{key.replace("_", " "): value for key, value in row.items()},
        "log loss": None if loss is None else f"{loss:.3f}",
        "ECE": error,
    }
