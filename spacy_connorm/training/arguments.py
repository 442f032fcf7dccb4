"""The arguments of `transformers.Trainer`. Imports torch and transformers: use in functions."""

import math
from collections.abc import Mapping
from dataclasses import fields
from numbers import Integral, Real
from pathlib import Path
from typing import Any, NamedTuple

import torch
from transformers.integrations.integration_utils import INTEGRATION_TO_CALLBACK
from transformers.trainer_utils import IntervalStrategy, SaveStrategy
from transformers.training_args import ParallelMode, TrainingArguments
from transformers.utils import cached_property

from ..errors import ConnormError, Errors, tell_reason
from .config import Training

# The rest of the config, or the way batches are made, sets these.
_OWN_ARGUMENTS = {
    "output_dir",
    "seed",
    "data_seed",
    "use_cpu",
    "per_device_train_batch_size",
    "remove_unused_columns",
    "label_names",
    "metric_for_best_model",
    "greater_is_better",
    "load_best_model_at_end",
    "restore_callback_states_from_checkpoint",
    # Pickled weights are never read.
    "save_safetensors",
    # `cache_gradients` does that.
    "gradient_checkpointing",
    # `--resume` continues exactly, so it needs the states of the optimizer and of random draws.
    "save_only_model",
}


class _Number(NamedTuple):
    """What a number must be."""

    expected: str
    kind: type
    least: float = -math.inf

    def takes(self, value: Any) -> bool:
        is_number = isinstance(value, self.kind) and not isinstance(value, bool)
        return is_number and math.isfinite(value) and value >= self.least


_EPOCHS = "a number above 0"
# `TrainingArguments` takes anything here; the trainer would stumble over it, or train nothing.
_NUMBERS = {
    "learning_rate": _Number("a number, at least 0", Real, 0),
    "weight_decay": _Number("a number, at least 0", Real, 0),
    # Those that `max_steps` overrides may be 0 or less.
    "num_train_epochs": _Number(_EPOCHS, Real),
    "max_steps": _Number("a whole number above 0, or -1", Integral, -1),
    "gradient_accumulation_steps": _Number("a whole number, at least 1", Integral, 1),
    "dataloader_num_workers": _Number("a whole number, at least 0", Integral, 0),
}


def make_arguments(
    training: Training, folder: Path, *, use_cpu: bool, scored: bool
) -> TrainingArguments:
    """Make the trainer's arguments.

    training (Training): The settings; their `arguments` override the defaults here.
    folder (Path): For checkpoints and logs.
    use_cpu (bool): Whether to train on the CPU even if there is a GPU.
    scored (bool): Whether there is dev data to choose the best epoch by.
    RETURNS (transformers.TrainingArguments): The arguments.
    RAISES (ConnormError): CN711 for an invalid argument, or one that the config sets elsewhere.
    """
    known = {field.name for field in fields(TrainingArguments) if field.init}
    for name in training.arguments:
        if name in _OWN_ARGUMENTS:
            reason = f"'{name}' is set by the rest of the config"
            raise _invalid(reason)
        if name not in known:
            raise _invalid(f"there is no '{name}'")
    _require_numbers(training.arguments)
    _require_reporters(training.arguments)
    defaults: dict[str, Any] = {
        "eval_strategy": "epoch" if scored else "no",
        "save_strategy": "epoch",
        "save_total_limit": 2,
        "logging_steps": 20,
        "logging_dir": str(folder / "runs"),
        # Scores leave the machine only if the config says so.
        "report_to": "none",
        "disable_tqdm": True,
        "dataloader_pin_memory": not use_cpu,
        # 24 hours: the others wait while one process draws batches or scores dev data.
        "ddp_timeout": 86_400,
    }
    try:
        arguments = _Arguments(
            **{**defaults, **training.arguments},
            output_dir=str(folder),
            seed=training.seed,
            use_cpu=use_cpu,
            per_device_train_batch_size=1,
            remove_unused_columns=False,
            label_names=[],
            metric_for_best_model=training.metric if scored else None,
            greater_is_better=True if scored else None,
            load_best_model_at_end=scored,
            # Early stopping goes on counting.
            restore_callback_states_from_checkpoint=True,
        )
    except (TypeError, ValueError, ImportError) as error:
        raise _invalid(error) from error
    if not scored:
        arguments.eval_strategy = IntervalStrategy.NO
    elif not _saves_what_it_scores(arguments):
        reason = "with dev data, `save_` strategy and steps must be those of `eval_`"
        raise _invalid(reason)
    return arguments


def _require_numbers(arguments: Mapping[str, Any]) -> None:
    for name, number in _NUMBERS.items():
        if name in arguments and not number.takes(arguments[name]):
            raise _must_be(name, number.expected)
    steps = arguments.get("max_steps", -1)
    if steps == 0:
        raise _must_be("max_steps", _NUMBERS["max_steps"].expected)
    if steps < 0 and arguments.get("num_train_epochs", 1) <= 0:
        raise _must_be("num_train_epochs", _EPOCHS)


def _require_reporters(arguments: Mapping[str, Any]) -> None:
    names = arguments.get("report_to", "none")
    names = [names] if isinstance(names, str) else names
    # The trainer takes None for all.
    known = isinstance(names, list) and all(
        isinstance(name, str) and name in INTEGRATION_TO_CALLBACK for name in names
    )
    if not known and names not in (["none"], ["all"]):
        services = ", ".join(sorted(INTEGRATION_TO_CALLBACK))
        raise _must_be("report_to", f"none, all, or some of {services}")
    for name in names:
        if name in INTEGRATION_TO_CALLBACK:
            _require_service(name)


def _require_service(name: str) -> None:
    """Make the callback of a service, as the trainer does only after the batches are prepared."""
    try:
        INTEGRATION_TO_CALLBACK[name]()
    except (RuntimeError, ImportError, ValueError) as error:
        reason = f"`report_to`: {tell_reason(error)}"
        raise _invalid(reason) from error


def _must_be(name: str, expected: str) -> ConnormError:
    return _invalid(f"`{name}` must be {expected}")


def _invalid(reason: object) -> ConnormError:
    return ConnormError(Errors.CN711.format(reason=f"[training.arguments]: {reason}"))


def _saves_what_it_scores(arguments: TrainingArguments) -> bool:
    # The best encoder is loaded from its checkpoint, so all that are scored need one.
    if arguments.eval_strategy == IntervalStrategy.EPOCH:
        return arguments.save_strategy == SaveStrategy.EPOCH
    by_steps = arguments.eval_strategy == IntervalStrategy.STEPS
    return by_steps and arguments.eval_steps == arguments.save_steps


class _Arguments(TrainingArguments):
    """Uses the current GPU only. The trainer would take the first and split each batch among all
    GPUs that it sees, but an objective needs the whole batch.
    """

    @cached_property
    def _setup_devices(self) -> torch.device:
        current = torch.cuda.current_device() if torch.cuda.is_available() else -1
        device = super()._setup_devices
        if device.type != "cuda" or self.parallel_mode == ParallelMode.DISTRIBUTED:
            return device
        self._n_gpu = 1
        torch.cuda.set_device(current)
        return torch.device("cuda", current)


def describe_hardware(arguments: TrainingArguments) -> str:
    """RETURNS (str): The devices or threads that a training runs on."""
    if arguments.device.type == "cuda":
        return f"{arguments.world_size} x {torch.cuda.get_device_name(arguments.device)}"
    return f"CPU, {arguments.world_size} process(es) of {torch.get_num_threads()} threads"
