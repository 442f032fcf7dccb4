"""Training an encoder on the names of the ontology that it will search, and what that gains:
`connorm index --train`.
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
from ..errors import ConnormError, Errors
from ..index.backends.exact import ExactIndex
from ..linker.linking import Query, candidates_of
from ..linker.lookup import ConceptLookup
from ..linker.sieve import Sieve

NGRAMS = {"@architectures": "spacy-connorm.NgramEncoder.v1"}
# What each encoder of `connorm index --encoder` is trained from, and how: the network as in
# assets/dan.cfg, the transformer as in assets/minilm-cpu.cfg, with the batches of the other.
STARTS: dict[str, dict[str, Any]] = {
    "fast": {
        "encoder.@architectures": "spacy-connorm.DanEncoder.v1",
        "encoder.buckets": 65536,
        "encoder.dtype": "int8",
        "training.micro_batch_tokens": 10_000_000,
        "training.batcher.size": 2000,
        "training.arguments.num_train_epochs": 8,
        "training.arguments.learning_rate": 3e-3,
        "training.arguments.max_grad_norm": 0.0,
    },
    "accurate": {
        "encoder.@architectures": "spacy-connorm.TransformerEncoder.v1",
        "training.micro_batch_tokens": 1024,
        "training.interpolation": 0.5,
        "training.batcher.size": 512,
        "training.arguments.num_train_epochs": 5,
        "training.arguments.learning_rate": 2e-4,
        "training.arguments.weight_decay": 0.01,
    },
}
_TRAINING = """
[encoder]

[data]
@misc = "spacy-connorm.TrainingData.v1"

[training]
@misc = "spacy-connorm.Training.v1"

[training.batcher]
@batchers = "spacy-connorm.GroupBatcher.v1"
per_concept = 2

[training.objective]
@losses = "spacy-connorm.SupervisedContrastive.v1"
temperature = 0.05

[training.arguments]
warmup_steps = 10
optim = "adamw_torch_fused"
save_strategy = "no"
"""
# A tenth of the synonyms is left out to measure by, but no more than needed.
_SHARE = 0.1
_FEWEST, _MOST = 20, 1000
# So many batches tell how long all of them take.
_MEASURED_STEPS = 8
# A gain is what chance alone seldom shows: two standard deviations of the names that only one of
# two encoders links right.
_DEVIATIONS = 2.0
_SEED = 0
_SEARCH = "O-T"


class TrainingPlan(NamedTuple):
    """What a training on names will do.

    steps (int): Batches that it will train on.
    epochs (float): How often it will see each name.
    seconds (float): How long it will take, from the time of a few batches.
    is_shortened (bool): Whether it stops early to keep to its time.
    """

    steps: int
    epochs: float
    seconds: float
    is_shortened: bool


class TrainingGain(NamedTuple):
    """What a training on names has gained, by synonyms that were left out of it.

    names (int): How many were left out.
    ngrams (float): Percent of them whose concept n-grams find first.
    trained (float): Percent of them whose concept the trained encoder finds first.
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
    minutes: float,
    settings: dict[str, Any],
    gpu_id: int = -1,
    on_plan: Callable[[TrainingPlan], Any] | None = None,
) -> tuple[dict[str, Any], TrainingGain]:
    """Train an encoder on all names of an ontology but a few, and link those with it.

    ontology (Ontology): The ontology.
    encoder (str): One of `STARTS`.
    folder (Path): Where the encoder is written, and what is needed meanwhile.
    minutes (float): At most how long to train.
    settings (Dict[str, Any]): Settings of the retriever that links; see `ConceptLookup.tune`.
    gpu_id (int): The GPU; -1 for the CPU.
    on_plan (Optional[Callable[[TrainingPlan], Any]]): Told what is planned before it is done.
    RETURNS (Tuple[Dict[str, Any], TrainingGain]): The block of the better encoder in a pipeline's
        config, and what the training gained.
    RAISES (ConnormError): CN810 if there are too few synonyms, and what `train` raises.
    """
    from ..training import train

    rest, left_out = leave_out_names(ontology)
    path = folder / "names.jsonl"
    rest.to_disk(path)
    overrides = {**STARTS[encoder], "data.ontology": str(path)}
    config = Config().from_str(_TRAINING, overrides=overrides)
    measured = train(
        config,
        folder / "measured",
        overrides={"training.arguments.max_steps": _MEASURED_STEPS},
        gpu_id=gpu_id,
    )
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
    block = {"@architectures": config["encoder"]["@architectures"], "name": str(trained)}
    right = [_is_right(each, rest, left_out, settings) for each in (NGRAMS, block)]
    gain = _compare(*right)
    return block if gain.pays else NGRAMS, gain


def leave_out_names(ontology: Ontology) -> tuple[Ontology, list[tuple[str, str]]]:
    """Leave out some synonyms, of at most a thousand concepts, which keep other names.

    ontology (Ontology): The ontology.
    RETURNS (Tuple[Ontology, List[Tuple[str, str]]]): It without them, and these synonyms, each with
        its concept's id. No other concept has them.
    RAISES (ConnormError): CN810 if there are too few.
    """
    times = Counter(name.casefold() for each in ontology for name in {*each.names})
    draw = random.Random(_SEED)
    possible = [
        (draw.choice(own), each.concept_id)
        for each in ontology
        if (own := [name for name in each.names[1:] if times[name.casefold()] == 1])
    ]
    synonyms = sum(len(each.names) - 1 for each in ontology)
    count = min(_MOST, round(_SHARE * synonyms), len(possible))
    if count < _FEWEST:
        reason = f"the ontology has {synonyms:,} synonyms, too few to learn from"
        raise ConnormError(Errors.CN810.format(reason=reason, mend="an index without `train`"))
    left_out = draw.sample(possible, count)
    of_concept = {concept_id: name for name, concept_id in left_out}
    rest = (_without(each, of_concept.get(each.concept_id)) for each in ontology)
    return Ontology(rest, source=ontology.source), left_out


def _without(concept: Concept, name: str | None) -> Concept:
    """RETURNS (Concept): The same without a synonym."""
    if name is None:
        return concept
    left: dict[str, Any] = {
        field: tuple(each for each in getattr(concept, field) if each != name)
        for field in ("aliases", *SCOPES)
    }
    return replace(concept, **left)


def _plan(
    config: Config, *, seconds: float, steps_per_epoch: float, minutes: float
) -> TrainingPlan:
    """RETURNS (TrainingPlan): All epochs of a config, or as much as the time allows.

    seconds (float): For a batch.
    """
    wanted = round(config["training"]["arguments"]["num_train_epochs"] * steps_per_epoch)
    steps = max(1, min(wanted, int(60 * minutes / seconds)))
    return TrainingPlan(steps, steps / steps_per_epoch, steps * seconds, steps < wanted)


def _is_right(
    block: dict[str, Any],
    ontology: Ontology,
    left_out: Sequence[tuple[str, str]],
    settings: dict[str, Any],
) -> list[bool]:
    """RETURNS (List[bool]): For each name that was left out, whether its concept comes first."""
    sieve = Sieve([_SEARCH], [])
    encoder = registry.resolve({"encoder": block})["encoder"]
    lookup = ConceptLookup(encoder, sieve, ExactIndex())
    lookup.tune(settings)
    lookup.build(ontology, (), searches=sieve.searches)
    query = Query(sieve, 1, split_composites=False)
    found = candidates_of(lookup.retriever, [name for name, _ in left_out], query)
    return [
        bool(candidates) and candidates[0].concept_id == concept_id
        for candidates, (_, concept_id) in zip(found, left_out, strict=True)
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
