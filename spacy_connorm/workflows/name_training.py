"""Train an encoder on the names of the ontology to be searched, and measure the gain: `connorm
index --train`.
"""

import random
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from math import sqrt
from pathlib import Path
from typing import Any, NamedTuple

from spacy.util import registry
from thinc.api import Config

from ..concepts import SCOPES, Concept, Ontology
from ..errors import Errors
from ..files.package_data import read_package_text
from ..index.backends.exact import ExactIndex
from ..linker.linking import candidates_of
from ..linker.lookup import ConceptLookup
from ..linker.query import Query
from ..linker.rescoring import COMPARE_WORDS
from ..linker.sieve import Sieve
from ..pipeline.presets import NGRAMS, TRAINED_ENCODERS

# A tenth of the synonyms is held out for measuring, but no more than needed.
_SHARE = 0.1
_FEWEST, _MOST = 20, 1000
# The number of batches that show how long all of them will take.
_MEASURED_STEPS = 8
# A gain counts if it is unlikely by chance: two standard deviations of the number of names that
# only one of the two encoders links correctly.
_DEVIATIONS = 2.0
_SEED = 0
_SEARCH = "O-T"


class TrainingPlan(NamedTuple):
    """The plan of a training on names.

    steps (int): The number of batches.
    epochs (float): How often each name is seen.
    seconds (float): The expected time, estimated from a few batches.
    is_shortened (bool): Whether it stops early to stay within the time limit.
    """

    steps: int
    epochs: float
    seconds: float
    is_shortened: bool


class TrainingGain(NamedTuple):
    """What a training on names has gained, measured on held-out synonyms.

    names (int): The number of held-out synonyms.
    ngrams (float): Percentage of them whose concept n-grams rank first.
    trained (float): Percentage of them whose concept the trained encoder ranks first.
    pays (bool): Whether the trained encoder is better by more than chance.
    """

    names: int
    ngrams: float
    trained: float
    pays: bool


def train_on_names(
    ontology: Ontology,
    encoder: str,
    folder: Path,
    *,
    architecture: str,
    minutes: float,
    language: str,
    gpu_id: int = -1,
    on_plan: Callable[[TrainingPlan], Any] | None = None,
) -> tuple[dict[str, Any], TrainingGain]:
    """Train an encoder on all names of an ontology except held-out ones, and link those with it.

    ontology (Ontology): The ontology.
    encoder (str): One of `TRAINED_ENCODERS`.
    folder (Path): The folder for the encoder and temporary files.
    architecture (str): What the trained encoder is used with.
    minutes (float): The maximum time to train.
    language (str): The language of the names, as in `nlp.lang`.
    gpu_id (int): The GPU; -1 for the CPU.
    on_plan (Optional[Callable[[TrainingPlan], Any]]): Called with the plan before training.
    RETURNS (Tuple[Dict[str, Any], TrainingGain]): The config block of the better encoder, and what
        the training gained.
    RAISES (ConnormError): CN810 if there are too few synonyms, and the errors of `train`.
    """
    from ..training import train

    rest, left_out = leave_out_names(ontology)
    path = folder / "names.jsonl"
    rest.to_disk(path)
    overrides = {**TRAINED_ENCODERS[encoder], "data.ontology": str(path)}
    settings = read_package_text(__package__, "name_training.cfg")
    config = Config().from_str(settings, overrides=overrides)
    steps = {"training.arguments.max_steps": _MEASURED_STEPS}
    measured = train(config, folder / "measured", overrides=steps, gpu_id=gpu_id)
    plan = _plan(
        config,
        seconds=measured.trained.seconds / _MEASURED_STEPS,
        steps_per_epoch=_MEASURED_STEPS / measured.trained.history[-1]["epoch"],
        minutes=minutes,
    )
    if on_plan is not None:
        on_plan(plan)
    trained = folder / "encoder"
    train(config, trained, overrides={"training.arguments.max_steps": plan.steps}, gpu_id=gpu_id)
    block = {"@architectures": architecture, "name": str(trained)}
    right = [_is_right(encoder, rest, left_out, language) for encoder in (NGRAMS, block)]
    gain = _compare(*right)
    return block if gain.pays else NGRAMS, gain


def leave_out_names(ontology: Ontology) -> tuple[Ontology, list[tuple[str, str]]]:
    """Hold out some synonyms, of at most a thousand concepts that keep other names.

    ontology (Ontology): The ontology.
    RETURNS (Tuple[Ontology, List[Tuple[str, str]]]): The ontology without these synonyms, and the
        synonyms with the ids of their concepts. No other concept has them.
    RAISES (ConnormError): CN810 if there are too few.
    """
    times = Counter(name.casefold() for concept in ontology for name in {*concept.names})
    draw = random.Random(_SEED)
    possible = [
        (draw.choice(unique), concept.concept_id)
        for concept in ontology
        if (unique := [name for name in concept.names[1:] if times[name.casefold()] == 1])
    ]
    synonyms = sum(len(concept.names) - 1 for concept in ontology)
    count = min(_MOST, round(_SHARE * synonyms), len(possible))
    if count < _FEWEST:
        reason = f"the ontology has {synonyms:,} synonyms, too few to learn from"
        raise Errors.CN810(reason=reason, mend="an index without `train`")
    left_out = draw.sample(possible, count)
    of_concept = {concept_id: name for name, concept_id in left_out}
    rest = (_without(concept, of_concept.get(concept.concept_id)) for concept in ontology)
    return Ontology(rest, source=ontology.source), left_out


def _without(concept: Concept, name: str | None) -> Concept:
    """Remove a synonym from a concept."""
    if name is None:
        return concept
    left: dict[str, Any] = {
        field: tuple(other for other in getattr(concept, field) if other != name)
        for field in ("aliases", *SCOPES)
    }
    return replace(concept, **left)


def _plan(
    config: Config, *, seconds: float, steps_per_epoch: float, minutes: float
) -> TrainingPlan:
    """Plan all epochs of a config, or as many as the time allows.

    seconds (float): The time for a batch.
    RETURNS (TrainingPlan): The plan.
    """
    wanted = round(config["training"]["arguments"]["num_train_epochs"] * steps_per_epoch)
    steps = max(1, min(wanted, int(60 * minutes / seconds)))
    return TrainingPlan(steps, steps / steps_per_epoch, steps * seconds, steps < wanted)


def _is_right(
    block: dict[str, Any], ontology: Ontology, left_out: Sequence[tuple[str, str]], language: str
) -> list[bool]:
    """Check for each held-out name whether its concept is ranked first."""
    sieve = Sieve([_SEARCH], [])
    encoder = registry.resolve({"encoder": block})["encoder"]
    lookup = ConceptLookup(encoder, sieve, ExactIndex(), language=language)
    lookup.build(ontology, (), searches=sieve.searches)
    query = Query(sieve, 1, rescorers=COMPARE_WORDS, split_composites=False)
    answers = candidates_of(lookup.retriever, [name for name, _ in left_out], query)
    return [
        bool(candidates) and candidates[0].concept_id == concept_id
        for candidates, (_, concept_id) in zip(answers, left_out, strict=True)
    ]


def _compare(ngrams: Sequence[bool], trained: Sequence[bool]) -> TrainingGain:
    pairs = list(zip(ngrams, trained, strict=True))
    gained, lost = pairs.count((False, True)), pairs.count((True, False))
    return TrainingGain(
        len(pairs),
        100 * sum(ngrams) / len(pairs),
        100 * sum(trained) / len(pairs),
        gained - lost > _DEVIATIONS * sqrt(gained + lost),
    )
