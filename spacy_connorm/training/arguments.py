"""The arguments of `transformers.Trainer`. Imports torch and transformers, so import this module
only inside functions.
"""

import math
from functools import cached_property
from pathlib import Path
from typing import Any

import torch
from transformers.integrations.integration_utils import INTEGRATION_TO_CALLBACK
from transformers.trainer_utils import IntervalStrategy
from transformers.training_args import ParallelMode, TrainingArguments

from ..errors import ConnormError, Errors, tell_reason
from .config import Training

# Never set: `seed` is for the data, too.
_REFUSED = {
    "data_seed",
    # Pickled weights are never read.
    "save_safetensors",
    # Replaced by `cache_gradients`.
    "gradient_checkpointing",
    # `--resume` continues exactly, so it needs the states of the optimizer and of random
    # generators.
    "save_only_model",
}
# Numbers that are often changed. `TrainingArguments` accepts anything for them, and the trainer
# would fail, or train nothing.
_AT_LEAST_ZERO = ("learning_rate", "weight_decay", "num_train_epochs")


def make_arguments(
    training: Training, folder: Path, *, use_cpu: bool, scored: bool
) -> TrainingArguments:
    """Create the trainer's arguments.

    training (Training): The settings; their `arguments` override the defaults set here.
    folder (Path): The folder for checkpoints and logs.
    use_cpu (bool): Whether to train on the CPU even if there is a GPU.
    scored (bool): Whether there are dev data to choose the best epoch.
    RETURNS (transformers.TrainingArguments): The arguments.
    RAISES (ConnormError): CN711 for an invalid argument, or one that the config sets elsewhere.
    """
    # Set by the rest of the config, or by the way batches are made.
    fixed: dict[str, Any] = {
        "output_dir": str(folder),
        "seed": training.seed,
        "use_cpu": use_cpu,
        "per_device_train_batch_size": 1,
        "remove_unused_columns": False,
        "label_names": [],
        "metric_for_best_model": training.metric if scored else None,
        "greater_is_better": True if scored else None,
        "load_best_model_at_end": scored,
        # Early stopping continues counting.
        "restore_callback_states_from_checkpoint": True,
    }
    for name, value in training.arguments.items():
        if name in fixed or name in _REFUSED:
            raise _invalid(f"'{name}' is set by the rest of the config")
        if name in _AT_LEAST_ZERO and not _is_at_least_zero(value):
            raise _invalid(f"`{name}` must be a number, at least 0")
    defaults: dict[str, Any] = {
        "eval_strategy": "epoch" if scored else "no",
        "save_strategy": "epoch",
        "save_total_limit": 2,
        "logging_steps": 20,
        "logging_dir": str(folder / "runs"),
        "disable_tqdm": True,
        "dataloader_pin_memory": not use_cpu,
        # 24 hours: the others wait while one process draws batches or scores dev data.
        "ddp_timeout": 86_400,
    }
    # Scores leave the machine only if the config says so; to the trainer, null means all services.
    reporters = training.arguments.get("report_to") or "none"
    try:
        given = {**defaults, **training.arguments, "report_to": reporters}
        arguments = _Arguments(**given, **fixed)
        # As in the trainer, but only after the batches are drawn.
        for name in arguments.report_to or ():
            INTEGRATION_TO_CALLBACK[name]()
    except KeyError as error:
        services = ", ".join(sorted(INTEGRATION_TO_CALLBACK))
        raise _invalid(f"`report_to` must be none, all, or some of {services}") from error
    except (TypeError, ValueError, ImportError, RuntimeError) as error:
        raise _invalid(tell_reason(error)) from error
    if not scored:
        arguments.eval_strategy = IntervalStrategy.NO
    elif not _saves_what_it_scores(arguments):
        raise _invalid("with dev data, `save_` strategy and steps must be those of `eval_`")
    return arguments


def _invalid(reason: str) -> ConnormError:
    return Errors.CN711(reason=f"[training.arguments]: {reason}")


def _is_at_least_zero(value: Any) -> bool:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return is_number and math.isfinite(value) and value >= 0


def _saves_what_it_scores(arguments: TrainingArguments) -> bool:
    # The best encoder is loaded from its checkpoint, so every scored encoder needs one.
    by_steps = arguments.eval_strategy == IntervalStrategy.STEPS
    same_steps = not by_steps or arguments.eval_steps == arguments.save_steps
    return same_steps and arguments.save_strategy == arguments.eval_strategy


class _Arguments(TrainingArguments):
    """Use only the current GPU. The trainer would use the first one and split each batch among all
    visible GPUs, but an objective needs the whole batch.
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
    """Describe the devices or threads that a training uses.

    RETURNS (str): A description for the model card.
    """
    if arguments.device.type == "cuda":
        return f"{arguments.world_size} x {torch.cuda.get_device_name(arguments.device)}"
    return f"CPU, {arguments.world_size} process(es) of {torch.get_num_threads()} threads"
