"""The arguments of `transformers.Trainer`. Imports torch and transformers: use in functions."""

from dataclasses import fields
from pathlib import Path
from typing import Any

import torch
from transformers.trainer_utils import IntervalStrategy, SaveStrategy
from transformers.training_args import ParallelMode, TrainingArguments
from transformers.utils import cached_property

from ..errors import ConnormError, Errors
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
    RAISES (ConnormError): CN821 for an invalid argument, or one that the config sets elsewhere.
    """
    known = {field.name for field in fields(TrainingArguments) if field.init}
    for name in training.arguments:
        if name in _OWN_ARGUMENTS:
            reason = f"'{name}' is set by the rest of the config"
            raise ConnormError(Errors.CN821.format(reason=reason))
        if name not in known:
            raise ConnormError(Errors.CN821.format(reason=f"there is no '{name}'"))
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
        raise ConnormError(Errors.CN821.format(reason=error)) from error
    if not scored:
        arguments.eval_strategy = IntervalStrategy.NO
    elif not _saves_what_it_scores(arguments):
        reason = "with dev data, `save_` strategy and steps must be those of `eval_`"
        raise ConnormError(Errors.CN821.format(reason=reason))
    return arguments


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
