"""Callbacks of the trainer. Imports transformers: import it in functions."""

from collections.abc import Callable
from typing import Any

from transformers.trainer_callback import TrainerCallback
from transformers.trainer_utils import IntervalStrategy


class BeginEpoch(TrainerCallback):
    """Has the batches of each epoch drawn."""

    def __init__(self, begin_epoch: Callable[[int], None]) -> None:
        """begin_epoch (Callable[[int], None]): Draws the batches of an epoch, by its number."""
        self._begin_epoch = begin_epoch

    def on_epoch_begin(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        # The trainer counts in fractions: resumed within the third epoch, it says 2.4.
        self._begin_epoch(int(state.epoch or 0))


class ScoreLastStep(TrainerCallback):
    """Scores the last weights, which are saved, even if no scoring is due at the last step."""

    def on_step_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        if args.eval_strategy == IntervalStrategy.STEPS and state.global_step >= state.max_steps:
            control.should_evaluate = True
